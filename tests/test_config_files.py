"""Files that are written: what an index remembers, and a configuration that a person edits."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain import osnames
from lancebrain.config import (
    add_source_to_config,
    forget_source,
    load_settings,
    remember_folder,
    remember_source,
    remembered_sources,
    remove_source_from_config,
    source_from_folder,
    source_name_for,
    write_default_config,
)
from lancebrain.errors import ConfigError, StoreError
from lancebrain.types import Source
from tests.trees import Link, write_tree

FULL = Source(
    name="weird 名 'q' \"d\" #",
    root=Path("/data/it's\n\\odd"),
    kind="text",
    domain="work",
    include=("*.py", "#x"),
    exclude=("_a/", "!b"),
    recursive=False,
    writable=True,
)


def test_an_index_that_is_not_there_remembers_nothing(tmp_path: Path) -> None:
    assert remembered_sources(tmp_path / "none") == ()
    assert not forget_source(tmp_path / "none", "a")
    assert not (tmp_path / "none").exists()


def test_a_remembered_source_comes_back_as_it_was(tmp_path: Path) -> None:
    remember_source(tmp_path, FULL)

    assert remembered_sources(tmp_path) == (FULL,)


def test_a_root_whose_name_is_no_utf8_is_remembered(tmp_path: Path) -> None:
    source = Source(name="odd", root=tmp_path / os.fsdecode(b"caf\xe9"))

    remember_source(tmp_path, source)

    assert remembered_sources(tmp_path) == (source,)


def test_a_source_is_changed_by_remembering_it_again(tmp_path: Path) -> None:
    remember_source(tmp_path, Source(name="a", root=Path("/a")))
    remember_source(tmp_path, Source(name="a", root=Path("/a"), kind="md"))

    assert remembered_sources(tmp_path) == (Source(name="a", root=Path("/a"), kind="md"),)


def test_a_name_is_not_given_to_two_folders(tmp_path: Path) -> None:
    remember_source(tmp_path, Source(name="a", root=Path("/a")))

    with pytest.raises(ConfigError, match=r"'a' is taken by the source at /a"):
        remember_source(tmp_path, Source(name="a", root=Path("/b")))

    assert remembered_sources(tmp_path) == (Source(name="a", root=Path("/a")),)


def test_a_folder_is_remembered_once_and_under_a_free_name(tmp_path: Path) -> None:
    first = remember_folder(tmp_path, Path("/x/notes"))
    second = remember_folder(tmp_path, Path("/y/notes"), taken={"notes-2"})

    assert (first.name, second.name) == ("notes", "notes-3")
    assert remember_folder(tmp_path, Path("/x/notes")) == first
    assert remembered_sources(tmp_path) == (first, second)


def test_a_forgotten_source_is_gone_and_the_others_stay(tmp_path: Path) -> None:
    for name in ("a", "b"):
        remember_source(tmp_path, Source(name=name, root=Path("/") / name))

    assert forget_source(tmp_path, "a")
    assert not forget_source(tmp_path, "a")
    assert [source.name for source in remembered_sources(tmp_path)] == ["b"]


def _remember_many(index: Path, worker: int) -> None:
    for number in range(5):
        remember_folder(index, Path(f"/w{worker}/{number}/notes"))


def test_processes_that_remember_at_once_lose_nothing_and_share_no_name(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_remember_many, args=(tmp_path, n)) for n in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    sources = remembered_sources(tmp_path)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert len({source.root for source in sources}) == 15
    assert len({source.name for source in sources}) == 15


def test_an_index_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StoreError, match=r"cannot be written"):
        remember_source(tmp_path / "file/index", Source(name="a", root=Path("/a")))


def test_remembered_sources_that_were_damaged_by_hand_are_an_error(tmp_path: Path) -> None:
    write_tree(tmp_path, {"sources.toml": "[[sources"})

    with pytest.raises(ConfigError, match=r"sources\.toml is not valid TOML"):
        remembered_sources(tmp_path)


def test_a_new_configuration_is_valid_and_every_line_it_shows_is_too(tmp_path: Path) -> None:
    file = tmp_path / "new/lancebrain.toml"
    source = Source(name="notes", root=tmp_path / "notes", kind="md")

    write_default_config(file, [source])

    assert load_settings(config_file=file, environ={}).sources == (source,)
    # Without the '#', the shown defaults are a configuration as well.
    shown = [
        line.removeprefix("# ")
        for line in file.read_text().splitlines()
        if line.startswith(("# [[", "# ")) and (" = " in line or "[[" in line)
    ]
    (tmp_path / "shown.toml").write_text("\n".join(shown))
    settings = load_settings(config_file=tmp_path / "shown.toml", environ={})
    defaults = load_settings(config_file=file, environ={})
    without_a_default = {"model_device", "model_folder", "model_url", "storage_options"}
    unlike = {"sources", "config_file", "index", *without_a_default}
    assert settings.model_dump(exclude=unlike) == defaults.model_dump(exclude=unlike)
    assert [source.include for source in settings.sources] == [("*.md",)]


def test_a_configuration_that_exists_is_not_written_over(tmp_path: Path) -> None:
    write_tree(tmp_path, {"lancebrain.toml": "threads = 2\n"})

    with pytest.raises(ConfigError, match="exists already"):
        write_default_config(tmp_path / "lancebrain.toml")

    assert (tmp_path / "lancebrain.toml").read_text() == "threads = 2\n"


EDITED = """\
# Mine.
threads = 2  # not more

[[sources]]  # first
root = "/a"

# the second
[[sources]]
name = "b"
root = "/b"   # aligned
"""


def test_adding_a_source_keeps_comments_and_layout(tmp_path: Path) -> None:
    file = write_tree(tmp_path, {"lancebrain.toml": EDITED}) / "lancebrain.toml"

    add_source_to_config(file, FULL)

    assert file.read_text().startswith(EDITED)
    assert load_settings(config_file=file, environ={}).sources[2] == FULL


def test_a_name_that_stands_in_the_configuration_is_not_added_again(tmp_path: Path) -> None:
    file = write_tree(tmp_path, {"lancebrain.toml": EDITED}) / "lancebrain.toml"

    with pytest.raises(ConfigError, match="called 'a' already"):
        add_source_to_config(file, Source(name="a", root=Path("/other")))

    assert file.read_text() == EDITED


def test_removing_a_source_keeps_comments_and_layout(tmp_path: Path) -> None:
    file = write_tree(tmp_path, {"lancebrain.toml": EDITED}) / "lancebrain.toml"

    assert remove_source_from_config(file, "a")
    assert not remove_source_from_config(file, "a")

    assert file.read_text().startswith("# Mine.\nthreads = 2  # not more\n")
    assert 'name = "b"\nroot = "/b"   # aligned\n' in file.read_text()
    assert [s.name for s in load_settings(config_file=file, environ={}).sources] == ["b"]


def test_the_last_source_can_be_removed_and_another_added(tmp_path: Path) -> None:
    file = write_tree(tmp_path, {"lancebrain.toml": "[[sources]]\nroot = '/a'\n"})
    file /= "lancebrain.toml"

    assert remove_source_from_config(file, "a")
    assert load_settings(config_file=file, environ={}).sources == ()
    add_source_to_config(file, Source(name="c", root=Path("/c")))

    assert [s.name for s in load_settings(config_file=file, environ={}).sources] == ["c"]


def test_sources_that_are_written_inline_can_be_edited_too(tmp_path: Path) -> None:
    file = write_tree(tmp_path, {"lancebrain.toml": "sources = [{root = '/a'}, {root='/b'}]\n"})
    file /= "lancebrain.toml"

    add_source_to_config(file, Source(name="c", root=Path("/c"), exclude=("x/",)))
    assert remove_source_from_config(file, "b")

    sources = load_settings(config_file=file, environ={}).sources
    assert [(source.name, source.exclude) for source in sources] == [("a", ()), ("c", ("x/",))]


def test_a_root_below_the_home_folder_is_written_with_a_tilde(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    file = tmp_path / "lancebrain.toml"

    write_default_config(file, [Source(name="n", root=tmp_path / "my/notes")])

    assert '\nroot = "~/my/notes"\n' in file.read_text()
    assert load_settings(config_file=file, environ={}).sources[0].root == tmp_path / "my/notes"


def test_a_configuration_behind_a_symlink_stays_a_symlink(tmp_path: Path) -> None:
    write_tree(tmp_path, {"dot/lb.toml": EDITED, "lancebrain.toml": Link("dot/lb.toml")})

    add_source_to_config(tmp_path / "lancebrain.toml", Source(name="c", root=Path("/c")))

    assert (tmp_path / "lancebrain.toml").is_symlink()
    assert "/c" in (tmp_path / "dot/lb.toml").read_text()
    assert [file.name for file in (tmp_path / "dot").iterdir()] == ["lb.toml"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("/home/me/notes", "notes"),
        ("/home/me/日本語 ノート", "日本語 ノート"),
        ("/home/me/it's #1 100%", "it's #1 100%"),
        ("/home/me/two\nlines", "two-lines"),
        ("/", "root"),
        (os.fsdecode(b"/x/caf\xe9"), "caf\ufffde9"),
    ],
)
def test_a_source_is_named_after_its_folder(folder: str, name: str) -> None:
    assert source_name_for(Path(folder)) == name


def test_a_folder_on_the_command_line_is_relative_to_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert source_from_folder("x/../notes", {"notes"}) == Source(
        name="notes-2", root=tmp_path / "notes"
    )


@given(st.binary(min_size=1))
def test_every_file_name_becomes_unicode_and_comes_back(raw: bytes) -> None:
    name = os.fsdecode(raw)

    text = osnames.to_text(name)

    text.encode("utf-8")
    assert osnames.from_text(text) == name


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd")))
def test_a_name_that_is_unicode_stays_as_it_is(name: str) -> None:
    assert osnames.to_text(name) == name


@given(st.text(st.sampled_from("\ufffd\udce9\udcef\udcbf\udcbdé8ae9f"), max_size=12))
def test_names_that_look_escaped_come_back_too(name: str) -> None:
    name = os.fsdecode(os.fsencode(name))

    assert osnames.from_text(osnames.to_text(name)) == name
