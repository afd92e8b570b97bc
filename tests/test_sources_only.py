"""A look at some paths alone: what a look at everything would say of them, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lancebrain import osnames
from lancebrain.errors import UsageError
from lancebrain.sources import Discovery, discover
from lancebrain.types import Source
from tests.trees import Link, Tree, write_tree


def look(root: Path, only: list[str] | None, **options: object) -> Discovery:
    return discover(Source(name="s", root=root), only=only, **options)  # type: ignore[arg-type]


def found(discovery: Discovery) -> list[str]:
    return sorted(file.path for file in discovery.files)


TREE: Tree = {
    ".gitignore": "out/\n*.gen.md\n",
    "a.md": "",
    "big.md": "123456789",
    "x.gen.md": "",
    "p": {".gitignore": "!x.gen.md\n", "x.gen.md": "", "docs": {"b.md": "", "deep/c.md": ""}},
    "pa.md": "",
    "out/d.md": "",
    "link": Link("out"),
    "twice.md": Link("a.md"),
    "away.md": Link("/nowhere"),
    "inner/e.md": "",
}


@pytest.mark.parametrize(
    ("only", "paths"),
    [
        (["s/a.md"], ["s/a.md"]),
        (["s/p"], ["s/p/docs/b.md", "s/p/docs/deep/c.md", "s/p/x.gen.md"]),
        (["s/p/docs/"], ["s/p/docs/b.md", "s/p/docs/deep/c.md"]),
        (["s/p/docs", "s/p/docs/b.md", "s/a.md", "s/a.md"], None),
        (["s/x.gen.md"], []),
        (["s/p/x.gen.md"], ["s/p/x.gen.md"]),
        (["s/out"], []),
        (["s/out/d.md"], []),
        (["s/link"], ["s/link/d.md"]),
        (["s/link/d.md"], ["s/link/d.md"]),
        (["s/twice.md"], []),
        (["s/inner/e.md"], []),
        (["s/gone.md", "s/gone/deep/f.md", "s/a.md/x.md"], []),
        (["s/A.md"], []),
        ([], []),
    ],
)
def test_only_what_was_asked_for_is_found_by_the_same_rules(
    tmp_path: Path, only: list[str], paths: list[str] | None
) -> None:
    write_tree(tmp_path, TREE)

    discovery = look(tmp_path, only, other_roots=[tmp_path / "inner"])

    expected = ["s/a.md", "s/p/docs/b.md", "s/p/docs/deep/c.md"] if paths is None else paths
    assert found(discovery) == expected
    assert discovery.problems == []


def test_the_same_problems_are_told(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)
    os.mkfifo(tmp_path / "pipe.md")

    only = ["s/big.md", "s/away.md", "s/pipe.md"]
    scoped, whole = look(tmp_path, only, max_file_bytes=8), look(tmp_path, None, max_file_bytes=8)

    assert {(p.path, p.code) for p in scoped.problems} == {(p.path, p.code) for p in whole.problems}
    assert len(scoped.problems) == 3


def test_the_whole_source_may_be_asked_for_by_its_name(tmp_path: Path) -> None:
    write_tree(tmp_path, TREE)

    assert found(look(tmp_path, ["s"])) == found(look(tmp_path, None))


def test_the_state_of_the_root_is_told_too(tmp_path: Path) -> None:
    write_tree(tmp_path, {"bare": {}})

    assert look(tmp_path / "bare", ["s/a.md"]).state == "empty"
    assert look(tmp_path / "gone", ["s/a.md"]).state == "missing"
    assert [p.code for p in look(tmp_path / "gone", ["s/a.md"]).problems] == ["source-missing"]


def test_a_path_of_another_source_is_a_wrong_call(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        look(tmp_path, ["t/a.md"])
    with pytest.raises(UsageError):
        look(tmp_path, ["s/../a.md"])


names = st.sampled_from(["a.md", "b.md", "c.png", "d", "e", ".gitignore", "venv", "\udcff.md"])
links = st.sampled_from(["a.md", "../a.md", "d", "../d", "e/d", "..", ".", "venv", "/", "x"])
contents = st.sampled_from(["", "12345", "a.md\n", "d/\n!b.md\n", "*\n!d/\n"])
trees = st.recursive(
    st.dictionaries(names, contents | links.map(Link), max_size=4),
    lambda below: st.dictionaries(names, contents | links.map(Link) | below, max_size=4),
    max_leaves=12,
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=trees)
@example(tree={"d": Link("/")})
def test_a_look_at_any_path_finds_what_a_look_at_everything_finds_there(
    tmp_path: Path, tree: Tree
) -> None:
    root = tmp_path / "root"
    shutil.rmtree(root, ignore_errors=True)
    write_tree(root, tree)
    whole = look(root, None, max_file_bytes=4)
    for path in (*root.rglob("*"), root / "d/e/a.md", root / "gone"):
        asked = "s/" + osnames.to_text(str(path.relative_to(root)))

        scoped = look(root, [asked], max_file_bytes=4)

        for part, all_of_it in ((scoped.files, whole.files), (scoped.problems, whole.problems)):
            assert list(part) == [
                item for item in all_of_it if f"{item.path}/".startswith(f"{asked}/")
            ]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tree=trees)
def test_each_file_is_found_once_and_inside_the_root(tmp_path: Path, tree: Tree) -> None:
    root = tmp_path / "root"
    shutil.rmtree(root, ignore_errors=True)
    write_tree(root, tree)

    discovery = look(root, None)

    paths = [file.path for file in discovery.files]
    assert len(paths) == len(set(paths))
    for file in discovery.files:
        assert os.path.realpath(file.file).startswith(os.path.realpath(root) + "/")
