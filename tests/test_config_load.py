"""Settings: which place wins, and what a person is told when a value is wrong."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from lancebrain.config import Settings, load_settings, remember_source, remembered_sources
from lancebrain.config.entries import _Fields
from lancebrain.errors import ConfigError
from lancebrain.readers.jsonl import Fields
from lancebrain.types import Source
from tests.trees import write_tree

Load = Callable[..., Settings]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of its own, so that no configuration of the machine is found."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def load(home: Path, tmp_path: Path) -> Load:
    def load(environ: Mapping[str, str] | None = None, **arguments: object) -> Settings:
        arguments.setdefault("cwd", tmp_path)
        return load_settings(environ=environ or {}, **arguments)  # type: ignore[arg-type]

    return load


def test_without_any_configuration_there_are_defaults(load: Load, home: Path) -> None:
    settings = load()

    assert settings.index.is_relative_to(home)
    assert settings.index.parts[-2:] == ("lancebrain", "index")
    assert settings.sources == ()
    assert settings.config_file is None
    assert (settings.model, settings.threads, settings.gitignore) == ("auto", 1, True)


def test_flags_win_over_the_environment_over_the_file(load: Load, tmp_path: Path) -> None:
    write_tree(tmp_path, {"lancebrain.toml": "threads = 2\nlook_interval_s = 5\nmodel = 'a'\n"})
    environ = {"LANCEBRAIN_THREADS": "3", "LANCEBRAIN_LOOK_INTERVAL_S": "6.5"}

    settings = load(environ, overrides={"threads": 4, "look_interval_s": None})

    assert (settings.threads, settings.look_interval_s, settings.model) == (4, 6.5, "a")


def test_the_file_is_found_upwards_and_its_paths_are_relative_to_it(
    load: Load, tmp_path: Path
) -> None:
    write_tree(
        tmp_path / "work",
        {
            "lancebrain.toml": 'index = "ix"\n[[sources]]\nroot = "../notes"\n',
            "deep/er": {},
        },
    )

    settings = load(cwd=tmp_path / "work/deep/er")

    assert settings.config_file == tmp_path / "work/lancebrain.toml"
    assert settings.index == tmp_path / "work/ix"
    assert settings.sources == (Source(name="notes", root=tmp_path / "notes"),)


def test_the_users_own_file_is_read_when_none_is_found_upwards(load: Load, home: Path) -> None:
    from lancebrain.config import user_config_file

    own = user_config_file()
    assert own.is_relative_to(home)
    own.parent.mkdir(parents=True)
    own.write_text("threads = 7\n")

    assert load().threads == 7


def test_a_file_may_be_named_by_flag_or_variable(load: Load, tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.toml": "threads = 2", "b.toml": "threads = 3"})

    assert load({"LANCEBRAIN_CONFIG": "a.toml"}).threads == 2
    assert load({"LANCEBRAIN_CONFIG": "a.toml"}, config_file=tmp_path / "b.toml").threads == 3
    with pytest.raises(ConfigError, match=r"nowhere\.toml cannot be read"):
        load(config_file=tmp_path / "nowhere.toml")


def test_a_tilde_expands_everywhere(load: Load, home: Path, tmp_path: Path) -> None:
    write_tree(tmp_path, {"lancebrain.toml": 'index = "~/ix"\n[[sources]]\nroot = "~/notes"\n'})

    settings = load({"LANCEBRAIN_SOURCES": '[{"root": "~/wiki"}]'})

    assert settings.index == home / "ix"
    assert settings.sources == (Source(name="wiki", root=home / "wiki"),)
    assert load(index="~/other").index == home / "other"


def test_the_index_may_come_from_a_variable_or_a_flag(load: Load, tmp_path: Path) -> None:
    environ = {"LANCEBRAIN_INDEX": "by-variable"}

    assert load(environ).index == tmp_path / "by-variable"
    assert load(environ, index=tmp_path / "by-flag").index == tmp_path / "by-flag"


def test_sources_come_from_a_variable_as_json(load: Load, tmp_path: Path) -> None:
    entries = [
        {
            "root": "/data/notes",
            "kind": "md",
            "domain": "work",
            "exclude_dirs": ["_archive", "a/b", "/top", "#x", "/data/notes/drafts"],
            "recursive": False,
        },
        {"root": "rel", "name": "mine", "kind": None},
    ]

    settings = load({"LANCEBRAIN_SOURCES": json.dumps(entries)})

    assert settings.sources == (
        Source(
            name="notes",
            root=Path("/data/notes"),
            kind="md",
            domain="work",
            exclude=("_archive/", "a/b/", "/top/", "\\#x/", "/drafts/"),
            recursive=False,
        ),
        Source(name="mine", root=tmp_path / "rel"),
    )


def test_sources_of_the_environment_replace_those_of_the_file(load: Load, tmp_path: Path) -> None:
    write_tree(tmp_path, {"lancebrain.toml": '[[sources]]\nroot = "a"\n'})

    assert [source.name for source in load().sources] == ["a"]
    assert [s.name for s in load({"LANCEBRAIN_SOURCES": '[{"root": "b"}]'}).sources] == ["b"]
    assert load({"LANCEBRAIN_SOURCES": "[]"}).sources == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.json", '[{"root": "b", "name": "from-file"}]'),
        ("s.json", '{"sources": [{"root": "b", "name": "from-file"}]}'),
        ("s.toml", '[[sources]]\nroot = "b"\nname = "from-file"\n'),
    ],
)
def test_a_file_of_sources_adds_to_the_variable(
    load: Load, tmp_path: Path, name: str, content: str
) -> None:
    write_tree(tmp_path, {f"sub/{name}": content})

    settings = load(
        {"LANCEBRAIN_SOURCES": '[{"root": "a"}]', "LANCEBRAIN_SOURCES_FILE": f"sub/{name}"}
    )

    assert [(source.name, source.root) for source in settings.sources] == [
        ("a", tmp_path / "a"),
        ("from-file", tmp_path / "sub/b"),
    ]


def test_an_unknown_key_is_told_with_its_file_and_the_nearest_valid_one(
    load: Load, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"lancebrain.toml": "thread = 2\n"})

    with pytest.raises(ConfigError) as caught:
        load()

    assert str(tmp_path / "lancebrain.toml") in caught.value.message
    assert "'thread'" in caught.value.message
    assert caught.value.hint == "Did you mean 'threads'?"


def test_an_unknown_key_of_a_source_is_told_with_the_nearest_valid_one(
    load: Load, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"lancebrain.toml": '[[sources]]\nroot = "a"\nexcludes = ["x"]\n'})

    with pytest.raises(ConfigError, match=r"source 1: unknown key 'excludes'.*'exclude'"):
        load()


def test_an_unknown_variable_or_flag_is_told_with_the_nearest_valid_one(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"LANCEBRAIN_THREDS.*'LANCEBRAIN_THREADS'"):
        load({"LANCEBRAIN_THREDS": "2"})
    with pytest.raises(ConfigError, match=r"'modle'.*'model'"):
        load(overrides={"modle": "x"})


def test_the_place_of_the_file_is_not_a_key_of_the_file(load: Load, tmp_path: Path) -> None:
    write_tree(tmp_path, {"lancebrain.toml": 'config_file = "x"\n'})

    with pytest.raises(ConfigError, match="unknown key 'config_file'"):
        load()


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("threads = 0", r"threads = 0: must be greater than or equal to 1"),
        ('threads = "4"', r"threads = '4': must be a valid integer"),
        ("threads = true", r"threads = True: must be a valid integer"),
        ('gitignore = "yes"', r"gitignore = 'yes': must be a valid boolean"),
        ("look_interval_s = nan", r"look_interval_s = nan: must be a finite number"),
        ('model = ""', r"model = '': "),
        ("index = 3", r"index must be a folder"),
        ("sources = 3", r"sources is a list of tables"),
        ("sources = ['a']", r"source 1 is a table"),
        ("[[sources]]\nname = 'a'", r"source 1: root is missing"),
        ("[[sources]]\nroot = 3", r"root = 3: must be a valid string"),
        ("[[sources]]\nroot = 'a'\nkind = 'mdd'", r"must be one of md, text, claude, codex"),
        ("[[sources]]\nroot = 'a'\ninclude = '*.md'", r"include = '\*.md': must be a valid tuple"),
        ("[[sources]]\nroot = 'a'\nexclude = ['b', 3]", r"exclude\[1\] = 3: must be a valid str"),
        ("[[sources]]\nroot = 'a'\nname = 'b/c'", r"has no '/' and no control characters"),
        ("[[sources]]\nroot = 'a'\nname = '..'", r"is not empty, '\.' or '\.\.'"),
        ("[[sources]]\nroot = 'a\\u0000b'", r"NUL"),
    ],
)
def test_a_wrong_value_is_told_with_its_place_and_what_is_allowed(
    load: Load, tmp_path: Path, toml: str, told: str
) -> None:
    toml = toml.replace("'a\\u0000b'", '"a\\u0000b"')
    write_tree(tmp_path, {"lancebrain.toml": toml})

    with pytest.raises(ConfigError, match=told) as caught:
        load()

    assert "lancebrain.toml" in caught.value.message


def test_a_wrong_variable_is_told_by_its_name(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"LANCEBRAIN_THREADS: threads = 'many'"):
        load({"LANCEBRAIN_THREADS": "many"})
    with pytest.raises(ConfigError, match=r"LANCEBRAIN_SOURCES is not valid JSON.*line 1"):
        load({"LANCEBRAIN_SOURCES": "[{"})
    with pytest.raises(ConfigError, match=r"LANCEBRAIN_SOURCES: sources is a list"):
        load({"LANCEBRAIN_SOURCES": '{"root": "a"}'})


def test_a_syntax_error_is_told_with_its_line(load: Load, tmp_path: Path) -> None:
    write_tree(tmp_path, {"lancebrain.toml": "threads = 1\n\n[[sources\n"})

    with pytest.raises(ConfigError, match=r"lancebrain\.toml is not valid TOML: .*line 3"):
        load()


def test_a_file_that_is_no_text_is_told(load: Load, tmp_path: Path) -> None:
    write_tree(tmp_path, {"lancebrain.toml": b"model = '\xff'"})

    with pytest.raises(ConfigError, match="is not UTF-8"):
        load()


def test_a_file_with_a_byte_order_mark_and_carriage_returns_is_read(
    load: Load, tmp_path: Path
) -> None:
    write_tree(tmp_path, {"lancebrain.toml": b"\xef\xbb\xbfthreads = 2\r\nmodel = 'm'\r\n"})

    assert load().threads == 2


def test_two_sources_of_one_name_are_an_error(load: Load, tmp_path: Path) -> None:
    entry = '[[sources]]\nname = "n"\nroot = "{}"\n'
    write_tree(tmp_path, {"lancebrain.toml": entry.format("a") + entry.format("b")})

    with pytest.raises(ConfigError, match=r"two sources are called 'n'.*/a and .*/b"):
        load()


def test_names_that_are_left_out_come_from_the_folders_and_are_unique(
    load: Load, tmp_path: Path
) -> None:
    roots = [{"root": "x/notes"}, {"root": "y/notes"}, {"root": "z", "name": "notes"}]

    settings = load({"LANCEBRAIN_SOURCES": json.dumps(roots)})

    assert [source.name for source in settings.sources] == ["notes-2", "notes-3", "notes"]


def test_what_the_index_remembers_is_joined_and_the_configuration_wins(
    load: Load, tmp_path: Path
) -> None:
    index = tmp_path / "index"
    for name, root in (("a", "/old/a"), ("b", "/b"), ("c", "/same")):
        remember_source(index, Source(name=name, root=Path(root)))
    configured = [{"root": "/new/a"}, {"root": "/same", "name": "d"}]

    settings = load({"LANCEBRAIN_SOURCES": json.dumps(configured)}, index=index)

    assert [(source.name, str(source.root)) for source in settings.sources] == [
        ("a", "/new/a"),
        ("d", "/same"),
        ("b", "/b"),
    ]


def test_settings_cannot_be_changed(load: Load) -> None:
    settings = load()

    with pytest.raises(ValueError, match="frozen"):
        settings.threads = 2


def test_importing_the_configuration_loads_no_heavy_package() -> None:
    heavy = "{'lancedb', 'lance', 'numpy', 'pyarrow', 'pandas', 'pathspec', 'tomlkit', 'filelock'}"
    code = f"import sys, lancebrain.config; print({heavy} & set(sys.modules))"

    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert printed.strip() == "set()"


def test_a_source_names_the_fields_of_its_chat_exports(load: Load, tmp_path: Path) -> None:
    text = """
    [[sources]]
    root = "chats"
    kind = "jsonl"
    fields = {role = "who", content = ["body", "text"], id = "key"}
    """
    write_tree(tmp_path, {"lancebrain.toml": text})
    (source,) = load().sources
    fields = (("role", ("who",)), ("content", ("body", "text")), ("id", ("key",)))
    assert source.fields == fields
    remember_source(tmp_path / "index", source)
    assert remembered_sources(tmp_path / "index") == (source,)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ('{content = "body"}\nkind = "md"', "kind 'jsonl'"),
        ('{contents = "body"}\nkind = "jsonl"', "'contents'"),
        ('{content = 3}\nkind = "jsonl"', "fields"),
        ('{content = []}\nkind = "jsonl"', "fields"),
        ('{id = ["a", "b"]}\nkind = "jsonl"', "fields"),
        ('"body"\nkind = "jsonl"', "fields"),
    ],
)
def test_wrong_fields_of_chat_exports_are_told(
    load: Load, tmp_path: Path, fields: str, complaint: str
) -> None:
    write_tree(tmp_path, {"lancebrain.toml": f'[[sources]]\nroot = "c"\nfields = {fields}\n'})
    with pytest.raises(ConfigError, match=complaint):
        load()


def test_the_fields_that_can_be_named_are_those_that_the_reader_knows() -> None:
    assert list(_Fields.model_fields) == [field.name for field in dataclasses.fields(Fields)]


def test_secrets_are_masked_in_logs_in_all_files_or_in_none(load: Load) -> None:
    assert load().mask_secrets == "logs"
    assert load({"LANCEBRAIN_MASK_SECRETS": "all"}).mask_secrets == "all"
    with pytest.raises(ConfigError, match="'logs', 'all' or 'none'"):
        load({"LANCEBRAIN_MASK_SECRETS": "true"})


def test_an_index_on_object_storage_has_a_folder_of_its_own_on_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "lancebrain.toml"
    file.write_text(
        'index = "s3://Team/brain/"\n[storage_options]\naws_region = "x"\nallow_http = true\n'
    )
    settings = load_settings(config_file=file, environ={})
    assert settings.index_uri == settings.index_name == "s3://Team/brain"
    assert settings.index.is_absolute()
    assert settings.storage_options == {"aws_region": "x", "allow_http": "true"}
    assert "aws_region" not in repr(settings)
    again = load_settings(index="s3://Team/brain", environ={})
    other = load_settings(environ={"LANCEBRAIN_INDEX": "gs://Team/brain"})
    assert again.index == settings.index != other.index


def test_a_later_place_of_the_index_replaces_an_earlier_one_whole(tmp_path: Path) -> None:
    file = tmp_path / "lancebrain.toml"
    file.write_text('index = "s3://team/brain"\n')
    settings = load_settings(config_file=file, index=tmp_path / "here", environ={})
    assert (settings.index, settings.index_uri) == (tmp_path / "here", None)
    options = {"LANCEBRAIN_STORAGE_OPTIONS": '{"aws_region": "y"}'}
    assert load_settings(environ=options).storage_options == {"aws_region": "y"}


def test_a_file_uri_is_a_folder(tmp_path: Path) -> None:
    settings = load_settings(index=f"file://{tmp_path}/my%20index", environ={})
    assert (settings.index, settings.index_uri) == (tmp_path / "my index", None)


@pytest.mark.parametrize("place", ["http://host/x", "s3://", "s3:///x", "s3://b/x?y=1"])
def test_a_place_where_no_index_can_be_is_told(place: str) -> None:
    with pytest.raises(ConfigError, match="an index cannot be at"):
        load_settings(index=place, environ={})
