"""Discovery: which files of a folder are documents, and what is told of the rest."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lancebrain.errors import ConfigError
from lancebrain.sources import Discovery, IgnoreRules, discover, root_state
from lancebrain.sources.walk import Walk
from lancebrain.types import Source
from tests.trees import Link, write_tree


def look(root: Path, **options: object) -> Discovery:
    fields = {key: options.pop(key) for key in list(options) if key in Source.__slots__}
    return discover(Source(name="s", root=root, **fields), **options)  # type: ignore[arg-type]


def found(root: Path, **options: object) -> list[str]:
    return sorted(file.path.removeprefix("s/") for file in look(root, **options).files)


def reported(discovery: Discovery) -> list[tuple[str, str]]:
    return [(problem.path, problem.code) for problem in discovery.problems]


@contextmanager
def without_privileges(folder: Path) -> Iterator[None]:
    """Within, permissions hold: the superuser, for whom they do not, becomes somebody else."""
    if os.geteuid() != 0:
        yield
        return
    nobody = 65534
    for path in (folder, *folder.rglob("*")):
        os.chown(path, nobody, nobody)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that anyone can reach, unlike ``tmp_path``."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for path in folder.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    shutil.rmtree(folder)


def test_a_file_is_told_as_stat_sees_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"sub/a.md": "12345"})

    (file,) = look(tmp_path).files

    status = (tmp_path / "sub/a.md").stat()
    assert file.path == "s/sub/a.md"
    assert file.file == str(tmp_path / "sub/a.md")
    assert (file.size, file.mtime_ns, file.ctime_ns) == (5, status.st_mtime_ns, status.st_ctime_ns)
    assert file.source.root == tmp_path


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        (None, ["..md", ".md", "a.MD", "b.Markdown", "c.txt", "d.log", "x.md/in.rst"]),
        ("md", ["..md", ".md", "a.MD", "b.Markdown"]),
        ("text", ["c.txt", "d.log", "x.md/in.rst"]),
        ("claude", ["f.jsonl"]),
        ("jsonl", ["f.jsonl", "g.ndjson"]),
    ],
)
def test_a_kind_takes_its_extensions_in_any_case(
    tmp_path: Path, kind: str | None, taken: list[str]
) -> None:
    names = ["a.MD", "b.Markdown", "c.txt", "d.log", ".md", "..md", "x.md/in.rst", "f.jsonl"]
    others = ["g.ndjson", "md", "h.png", "i.md.gz", "README", ".gitignore", "j.mdd", "k."]
    write_tree(tmp_path, dict.fromkeys(names + others, ""))

    assert found(tmp_path, kind=kind) == taken


def test_include_narrows_and_may_name_extensions_and_names_of_its_own(tmp_path: Path) -> None:
    names = ["a.md", "docs/a.md", "docs/draft/a.md", "docs/x.png", "b.py", "src/c.PY", "Makefile"]
    write_tree(tmp_path, dict.fromkeys(names, ""))

    assert found(tmp_path, include=("docs/",)) == ["docs/a.md", "docs/draft/a.md"]
    assert found(tmp_path, include=("docs/", "!draft/")) == ["docs/a.md"]
    assert found(tmp_path, include=("docs/", "!docs/draft/", "a.md")) == [
        "a.md",
        "docs/a.md",
        "docs/draft/a.md",
    ]
    assert found(tmp_path, kind="text", include=("*.py", "Makefile")) == ["Makefile", "b.py"]
    assert found(tmp_path, include=("/src/*.PY",)) == ["src/c.PY"]


def test_exclude_leaves_out_and_nothing_below_comes_back(tmp_path: Path) -> None:
    names = ["a.md", "_old/a.md", "b/_old/keep.md", "b/c.md", "b/d.md"]
    write_tree(tmp_path, dict.fromkeys(names, ""))

    assert found(tmp_path, exclude=("_old/", "!keep.md", "b/*", "!b/c.md")) == ["a.md", "b/c.md"]


@pytest.mark.parametrize("key", ["include", "exclude"])
def test_a_configured_line_that_is_no_pattern_is_an_error(tmp_path: Path, key: str) -> None:
    with pytest.raises(ConfigError, match=rf"'s': {key} holds '!'"):
        look(tmp_path, **{key: ("a", "!")})


def test_a_flat_source_takes_only_what_is_directly_in_it(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "", "sub/b.md": "", "c.md": Link("sub/b.md")})

    assert found(tmp_path, recursive=False) == ["a.md", "c.md"]


def test_folders_of_tools_are_out_and_other_hidden_ones_are_ordinary(tmp_path: Path) -> None:
    out = [".git", ".hg", ".svn", "node_modules", ".obsidian", ".trash", "__pycache__", ".venv"]
    out += ["venv", ".tox", ".stversions", ".dropbox.cache"]
    write_tree(tmp_path, {f"{folder}/deep/a.md": "" for folder in [*out, *(f"x/{n}" for n in out)]})
    write_tree(tmp_path, {".github/a.md": "", "Venv/b.md": "", "node_modules.md": ""})

    assert found(tmp_path) == [".github/a.md", "Venv/b.md", "node_modules.md"]


def test_an_own_ignore_file_takes_in_what_is_out_by_default_but_never_version_control(
    tmp_path: Path,
) -> None:
    write_tree(
        tmp_path,
        {
            ".lancebrainignore": "!venv/\n!.git/\n!drafts/\n/b.md\n",
            ".gitignore": "drafts\n",
            "venv/a.md": "",
            ".git/a.md": "",
            "drafts/a.md": "",
            "b.md": "",
            "sub": {".lancebrainignore": "!b.md\nc.md\n", "b.md": "", "c.md": ""},
        },
    )

    assert found(tmp_path) == ["drafts/a.md", "sub/b.md", "venv/a.md"]
    assert found(tmp_path, gitignore=False) == ["drafts/a.md", "sub/b.md", "venv/a.md"]
    assert found(tmp_path, exclude=("venv/",)) == ["drafts/a.md", "sub/b.md"]


def test_temporary_files_of_editors_and_sync_tools_are_out(tmp_path: Path) -> None:
    out = [
        "a.md~", ".#a.md", "#a.md#", ".a.md.swp", ".a.md.swx", "~$a.md", ".~lock.a.md#", ".~a.md",
        "a.md.tmp", ".a.md.tmp123", "a.md.part", "a.md.crdownload", "._a.md", ".!1234!a.md",
        ".syncthing.a.md.tmp", ".syncthing.a.md", "~syncthing~a.md", ".a.md.Xy12Zq", "4913",
        "a.md___jb_tmp___", ".goutputstream-1.md", ".DS_Store",
    ]  # fmt: skip
    ordinary = ["#.md", "-.md", "a.sync-conflict-20260101-1.md", "a~.md", "~.md"]
    write_tree(tmp_path, dict.fromkeys(out + ordinary, ""))

    assert found(tmp_path) == ordinary


def test_the_index_folder_is_out_wherever_it_lies(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "", "my/index/b.md": "", "my/c.md": "", "i": Link("my/index")})

    assert found(tmp_path, index_folder=tmp_path / "my/index") == ["a.md", "my/c.md"]
    assert found(tmp_path, index_folder=tmp_path / "i") == ["a.md", "my/c.md"]
    assert found(tmp_path, index_folder=tmp_path.parent / "elsewhere") == [
        "a.md",
        "my/c.md",
        "my/index/b.md",
    ]


def test_a_file_under_two_roots_belongs_to_the_innermost(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "", "in/b.md": "", "in/deep/c.md": "", "in2/d.md": ""})
    inner, deepest = tmp_path / "in", tmp_path / "in/deep"

    assert found(tmp_path, other_roots=[inner, deepest]) == ["a.md", "in2/d.md"]
    assert found(inner, other_roots=[tmp_path, deepest]) == ["b.md"]
    assert found(deepest, other_roots=[tmp_path, inner]) == ["c.md"]
    assert found(inner, other_roots=[inner]) == ["b.md", "deep/c.md"]


def test_a_root_may_be_spelled_through_a_symlink(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real": {"a.md": "", "in/b.md": ""}, "alias": Link("real")})

    (file,) = look(tmp_path / "alias", other_roots=[tmp_path / "real/in"]).files

    assert (file.path, file.file) == ("s/a.md", str(tmp_path / "alias/a.md"))


HOSTILE = [
    "it's a test/don't.md", "x' OR 1=1 --.md", "a''b;DROP TABLE t.md", 'say "hi".md', "%.md",
    "back\\slash.md", "under_score%.md", "🦉.md", "°.md", "----=-.md", "-rf.md", "%2e%2e.md",
    "[x]*?|<>.md", "a#b?c&d=e.md", "trail .md", " lead.md", "two\nlines.md", "tab\tbed.md",
    "日本語 ノート.md", "長" * 80 + ".md", "\u202eltr.md", "nel\u0085.md", "\ufffd.md", "\ue000.md",
]  # fmt: skip


def test_every_name_is_kept_as_it_is(tmp_path: Path) -> None:
    write_tree(tmp_path, dict.fromkeys(HOSTILE, ""))

    discovery = look(tmp_path)

    assert sorted(file.path for file in discovery.files) == sorted(f"s/{name}" for name in HOSTILE)
    assert discovery.problems == []


def test_a_name_that_is_no_utf8_is_valid_unicode_and_leads_to_its_file(tmp_path: Path) -> None:
    write_tree(tmp_path, {"d\udcff/caf\udce9.md": "one", "d/caf\ufffde9.md": "two"})

    discovery = look(tmp_path)

    contents = {file.path: Path(file.file).read_text() for file in discovery.files}
    assert contents == {
        "s/d\ufffdff/caf\ufffde9.md": "one",
        "s/d/caf\ufffdef\ufffdbf\ufffdbde9.md": "two",
    }
    for path in contents:
        path.encode("utf-8")


def test_names_that_differ_only_in_case_form_or_extension_are_apart(tmp_path: Path) -> None:
    composed = unicodedata.normalize("NFC", "café.md")
    decomposed = unicodedata.normalize("NFD", "café.md")
    names = ["Note.md", "note.md", "n.md", "n.markdown", composed, decomposed]
    names += [f"p{number}/README.md" for number in range(10)]
    write_tree(tmp_path, dict.fromkeys(names, ""))

    assert found(tmp_path) == sorted(names)


def test_special_files_are_reported_and_never_opened(tmp_path: Path) -> None:
    write_tree(tmp_path, {"ok.md": "", "folder.md/inside.md": "", "broken.md": Link("nowhere")})
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / "pipe.png")
    os.mkfifo(tmp_path / ".gitignore")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(tmp_path)  # the name of a socket is limited to some hundred bytes
        try:
            listener.bind("socket.md")
        finally:
            os.chdir(here)

        discovery = look(tmp_path)

    assert sorted(file.path for file in discovery.files) == ["s/folder.md/inside.md", "s/ok.md"]
    assert reported(discovery) == [
        ("s/broken.md", "symlink-broken"),
        ("s/pipe.md", "not-a-file"),
        ("s/socket.md", "not-a-file"),
    ]


def test_a_file_above_the_limit_is_reported(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "1234", "b.md": "12345", "c.png": "123456"})

    discovery = look(tmp_path, max_file_bytes=4)

    assert [file.path for file in discovery.files] == ["s/a.md"]
    assert reported(discovery) == [("s/b.md", "too-large")]


def test_a_folder_that_cannot_be_read_is_reported_and_its_documents_are_not_gone(
    open_folder: Path,
) -> None:
    write_tree(
        open_folder, {"ok.md": "", "closed/in.md": "", "closed/deep/in.md": "", "x/y.md": ""}
    )
    with without_privileges(open_folder):
        (open_folder / "closed").chmod(0)
        discovery = look(open_folder)
        scoped = look(open_folder, only=["s/closed/in.md", "s/ok.md"])

    assert sorted(file.path for file in discovery.files) == ["s/ok.md", "s/x/y.md"]
    assert reported(discovery) == [("s/closed", "folder-unreadable")]
    assert discovery.state == "ok"
    assert discovery.unseen("s/closed/in.md")
    assert discovery.unseen("s/closed/deep/in.md")
    assert not discovery.unseen("s/closed.md")
    assert not discovery.unseen("s/x/gone.md")
    assert [file.path for file in scoped.files] == ["s/ok.md"]
    assert reported(scoped) == reported(discovery)
    assert scoped.unseen("s/closed/in.md")


def test_a_folder_whose_files_cannot_be_told_is_reported_once(open_folder: Path) -> None:
    write_tree(open_folder, {"listed/a.md": "", "listed/b.md": "", "c.md": ""})
    with without_privileges(open_folder):
        (open_folder / "listed").chmod(0o444)
        discovery = look(open_folder)

    assert [file.path for file in discovery.files] == ["s/c.md"]
    assert reported(discovery) == [("s/listed", "folder-unreadable")]
    assert discovery.unseen("s/listed/a.md")


def test_a_file_without_permission_is_found_since_it_is_there(open_folder: Path) -> None:
    write_tree(open_folder, {"secret.md": "x"})
    with without_privileges(open_folder):
        (open_folder / "secret.md").chmod(0)
        assert found(open_folder) == ["secret.md"]


@pytest.mark.parametrize("name", [".gitignore", ".lancebrainignore"])
def test_what_an_ignore_file_that_cannot_be_read_leaves_out_is_not_known(
    open_folder: Path, name: str
) -> None:
    write_tree(open_folder, {f"d/{name}": "a.md", "d/a.md": "", "d/e/b.md": "", "c.md": ""})
    with without_privileges(open_folder):
        (open_folder / "d" / name).chmod(0)
        discovery = look(open_folder)
        scoped = look(open_folder, only=["s/d/a.md", "s/d/e", "s/c.md"])

    for one in (discovery, scoped):
        assert [file.path for file in one.files] == ["s/c.md"]
        assert reported(one) == [(f"s/d/{name}", "ignore-rule")]
        assert one.unseen("s/d/a.md")
        assert one.unseen("s/d/e/b.md")
        assert not one.unseen("s/gone.md")
    assert str(open_folder / "d") in discovery.folders


def test_git_s_rules_above_the_root_that_cannot_be_read_keep_all_of_it(open_folder: Path) -> None:
    write_tree(open_folder, {".git": {}, ".gitignore": "a.md", "root/a.md": "", "root/b.md": ""})
    with without_privileges(open_folder):
        (open_folder / ".gitignore").chmod(0)
        discovery = look(open_folder / "root")

    assert discovery.files == []
    assert reported(discovery) == [("s", "ignore-rule")]
    assert discovery.unseen("s/a.md")
    assert not discovery.rules.is_ignored(open_folder / "root/b.md", is_dir=False)


def test_a_linked_folder_whose_target_cannot_be_told_keeps_its_documents(
    open_folder: Path,
) -> None:
    tree = {"store/x/a.md": "", ".lancebrainignore": "store/", "link": Link("store/x")}
    write_tree(open_folder, tree)
    with without_privileges(open_folder):
        assert found(open_folder) == ["link/a.md"]
        (open_folder / "store").chmod(0)
        discovery = look(open_folder)
        scoped = look(open_folder, only=["s/link/a.md"])

    for one in (discovery, scoped):
        assert one.files == []
        assert one.unseen("s/link/a.md")


@pytest.mark.parametrize("instead", ["nothing", "a file"])
def test_a_folder_that_goes_between_two_listings_keeps_its_documents_until_the_next_look(
    tmp_path: Path, instead: str
) -> None:
    write_tree(tmp_path, {"d/a.md": "", "e/b.md": ""})
    walk = Walk(
        IgnoreRules(Source(name="s", root=tmp_path)), max_file_bytes=9, follow_symlinks=True
    )
    (root,) = walk.root()
    with os.scandir(tmp_path) as listing:
        folders = walk.entries(root, walk.rules.inside(root.rules, "", ()), listing)
    shutil.rmtree(tmp_path / "d")
    if instead == "a file":
        write_tree(tmp_path, {"d": ""})

    for folder in folders:
        walk.everything(folder)

    assert [file.path for file in walk.files] == ["s/e/b.md"]
    assert (walk.unreadable, walk.problems) == (["s/d/"], [])


def test_a_path_that_is_too_long_for_the_system_is_an_unreadable_folder(tmp_path: Path) -> None:
    part = "d" * 250
    deep = os.open(tmp_path, os.O_RDONLY)
    for _ in range(18):
        os.mkdir(part, dir_fd=deep)
        below = os.open(part, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    write_tree(tmp_path, {"a.md": ""})

    discovery = look(tmp_path)

    shutil.rmtree(tmp_path / part)
    assert [file.path for file in discovery.files] == ["s/a.md"]
    assert [problem.code for problem in discovery.problems] == ["folder-unreadable"]
    assert discovery.unseen(f"s/{'/'.join([part] * 18)}/a.md")


def test_the_state_of_a_root_is_told(tmp_path: Path, open_folder: Path) -> None:
    write_tree(tmp_path, {"full/a.png": "", "bare": {}, "dropped/.DS_Store": "", "file": ""})
    states = {
        name: (look(tmp_path / name).state, root_state(Source(name="s", root=tmp_path / name)))
        for name in ("full", "bare", "dropped", "file", "nowhere")
    }
    write_tree(open_folder, {"closed/a.md": ""})
    with without_privileges(open_folder):
        (open_folder / "closed").chmod(0)
        closed = look(open_folder / "closed")

    assert states == {
        "full": ("ok", "ok"),
        "bare": ("empty", "empty"),
        "dropped": ("empty", "empty"),
        "file": ("missing", "missing"),
        "nowhere": ("missing", "missing"),
    }
    assert reported(look(tmp_path / "nowhere")) == [("s", "source-missing")]
    assert reported(look(tmp_path / "bare")) == []
    assert (closed.state, reported(closed)) == ("unreadable", [("s", "source-unreadable")])


def test_the_folders_to_watch_are_those_that_are_not_out(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "build/\n",
            "a/b/c.md": "",
            "build/x/y.md": "",
            "node_modules/p/README.md": "",
            "a/.git/HEAD": "",
        },
    )

    folders = {Path(folder) for folder in look(tmp_path).folders}

    assert folders == {tmp_path, tmp_path / "a", tmp_path / "a/b"}


def test_rules_of_the_tree_hold_as_they_are_now(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "build/\n*.gen.md\n!keep.gen.md\n/only-top.md\n",
            "build/x.md": "",
            "a.gen.md": "",
            "keep.gen.md": "",
            "only-top.md": "",
            "sub/only-top.md": "",
            "web": {
                ".gitignore": ".output/\ncache/**\n!cache/keep.md\n",
                "ok.md": "",
                ".output/y.md": "",
                "cache": {"keep.md": "", "drop.md": "", "deep/keep.md": ""},
            },
        },
    )
    taken = ["keep.gen.md", "sub/only-top.md", "web/cache/keep.md", "web/ok.md"]
    assert found(tmp_path) == taken

    with (tmp_path / "web/.gitignore").open("a") as rules:
        rules.write("ok.md\n")
    assert found(tmp_path) == [name for name in taken if name != "web/ok.md"]

    (tmp_path / "web/.gitignore").unlink()
    assert found(tmp_path) == sorted(
        [*taken, "web/.output/y.md", "web/cache/drop.md", "web/cache/deep/keep.md"]
    )


def test_the_rules_say_of_every_file_and_folder_what_the_walk_does(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "out*\n!out.md\n",
            ".lancebrainignore": "secret/\n",
            "out.md": "",
            "out2.md": "",
            "a.md": "",
            "a.png": "",
            ".#a.md": "",
            "outer/a.md": "",
            "secret/a.md": "",
            "node_modules/a.md": "",
            "docs/a.md": "",
            "docs/sub/b.md": "",
        },
    )
    source = Source(name="s", root=tmp_path, exclude=("sub/",))
    discovery = discover(source)
    files = {Path(file.file) for file in discovery.files}
    folders = {Path(folder) for folder in discovery.folders}

    for rules in (IgnoreRules(source), discovery.rules):
        for path in (tmp_path, *tmp_path.rglob("*")):
            taken = path in (folders if path.is_dir() else files)
            assert rules.is_ignored(path, path.is_dir()) is not taken, path
        assert rules.is_ignored(tmp_path.parent / "a.md", False)
        # What is not there yet, or no longer, is judged too.
        assert not rules.is_ignored(tmp_path / "new/folder/a.md", False)
        assert rules.is_ignored(tmp_path / "new/node_modules/a.md", False)
