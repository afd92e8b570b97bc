"""Symlinks: each file once, no loops, never out of the root."""

from __future__ import annotations

from pathlib import Path

import pytest

from lancebrain.sources import Discovery, discover
from lancebrain.types import Source
from tests.trees import Link, Tree, write_tree


def look(root: Path, **options: object) -> Discovery:
    return discover(Source(name="s", root=root), **options)  # type: ignore[arg-type]


def found(discovery: Discovery) -> list[str]:
    return sorted(file.path for file in discovery.files)


@pytest.mark.parametrize(
    "tree",
    [
        {"loop": Link(".")},
        {"sub/up": Link("..")},
        {"sub/a/b/up": Link("../../..")},
        {"x/to-y": Link("../y"), "y/to-x": Link("../x")},
        {"one": Link("two"), "two": Link("sub"), "sub/b.txt": ""},
        {"twice": Link("a.md"), "sub/twice.md": Link("../a.md"), "chain.md": Link("twice")},
    ],
)
def test_what_has_its_real_place_in_the_source_is_taken_there_alone(
    tmp_path: Path, tree: Tree
) -> None:
    write_tree(tmp_path, {"a.md": "", **tree})

    discovery = look(tmp_path)

    assert found(discovery) == ["s/a.md"] + ["s/sub/b.txt"] * ("one" in tree)
    assert discovery.problems == []


def test_a_link_to_a_place_that_is_left_out_is_a_document_of_its_own(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".git/annex/objects/X1/KEY--123.md": "annexed",
            "paper.md": Link(".git/annex/objects/X1/KEY--123.md"),
            "data.bin": "text",
            "named.md": Link("data.bin"),
            "node_modules/p": {"README.md": "r", "deep/b.md": ""},
            "package": Link("node_modules/p"),
        },
    )

    discovery = look(tmp_path)

    assert found(discovery) == [
        "s/named.md",
        "s/package/README.md",
        "s/package/deep/b.md",
        "s/paper.md",
    ]
    files = {file.path: file for file in discovery.files}
    assert files["s/paper.md"].size == len("annexed")
    assert Path(files["s/package/README.md"].file).read_text() == "r"
    assert found(look(tmp_path, follow_symlinks=False)) == []


def test_links_among_places_that_are_left_out_end(tmp_path: Path) -> None:
    store: Tree = {
        "a.md": "",
        "self": Link("."),
        "up": Link(".."),
        "other": Link("../two"),
        "link.md": Link("a.md"),
    }
    write_tree(tmp_path, {".cache": {"one": store, "two": store}, "in": Link(".cache/one")})

    discovery = look(tmp_path)

    assert found(discovery) == ["s/in/a.md", "s/in/link.md"]


def test_rules_hold_for_the_name_of_a_link(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            ".gitignore": "store/\nout*\n",
            "store/a.md": "",
            "out.md": Link("store/a.md"),
            "outer": Link("store"),
            "in": Link("store"),
            "picture.png": Link("store/a.md"),
        },
    )

    assert found(look(tmp_path)) == ["s/in/a.md"]


def test_a_link_out_of_the_source_is_reported_and_not_followed(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "outside": {"secret.md": "", "picture.png": ""},
            "root": {
                "a.md": "",
                "file.md": Link("../outside/secret.md"),
                "folder": Link("../outside"),
                "absolute": Link(str(tmp_path / "outside")),
                "by-way-of": Link("folder"),
                "picture.png": Link("../outside/picture.png"),
                ".git": Link("../outside"),
            },
            "root-of-another-name": {"b.md": ""},
        },
    )
    write_tree(tmp_path, {"root/sibling": Link("../root-of-another-name")})

    discovery = look(tmp_path / "root")

    assert found(discovery) == ["s/a.md"]
    assert sorted((problem.path, problem.code) for problem in discovery.problems) == [
        (f"s/{name}", "symlink-outside")
        for name in ("absolute", "by-way-of", "file.md", "folder", "sibling")
    ]
    assert str(tmp_path / "outside") in discovery.problems[0].message


def test_a_link_that_leads_nowhere_is_reported_if_it_could_be_a_document(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "gone.md": Link("nowhere"),
            "gone": Link("nowhere"),
            "gone.png": Link("nowhere.png"),
            ".#a.md": Link("user@host.123"),
            "circle.md": Link("circle.md"),
        },
    )

    discovery = look(tmp_path)

    assert found(discovery) == []
    assert [(problem.path, problem.code) for problem in discovery.problems] == [
        ("s/circle.md", "symlink-broken"),
        ("s/gone", "symlink-broken"),
        ("s/gone.md", "symlink-broken"),
    ]


def test_a_link_into_another_source_or_the_index_is_left_to_it(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "inner/deep/a.md": "",
            "index/b.md": "",
            "venv/nested/c.md": "",
            "to-inner": Link("inner"),
            "to-deep": Link("inner/deep"),
            "a.md": Link("inner/deep/a.md"),
            "to-index": Link("index"),
            "to-venv": Link("venv"),
        },
    )

    discovery = look(
        tmp_path,
        index_folder=tmp_path / "index",
        other_roots=[tmp_path / "inner", tmp_path / "venv/nested"],
    )

    assert found(discovery) == []
    assert discovery.problems == []


def test_a_root_that_is_a_symlink_is_followed(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/a.md": "", "real/b": Link("."), "root": Link("real")})

    assert found(look(tmp_path / "root")) == ["s/a.md"]


def test_hard_links_are_documents_each(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "x"})
    (tmp_path / "b.md").hardlink_to(tmp_path / "a.md")

    assert found(look(tmp_path)) == ["s/a.md", "s/b.md"]
