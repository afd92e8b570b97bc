"""Document paths: every file has one, and it leads back to the file and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.errors import UsageError
from lancebrain.sources import document_path, file_of, source_of
from lancebrain.types import Source
from tests.trees import Link, write_tree

SOURCE = Source(name="my notes", root=Path("/data/n"))

os_names = (
    st.binary(min_size=1, max_size=20)
    .filter(lambda raw: b"/" not in raw and b"\0" not in raw and raw not in (b".", b".."))
    .map(os.fsdecode)
)


@given(st.lists(os_names, min_size=1, max_size=4))
def test_a_document_path_leads_back_to_its_file(names: list[str]) -> None:
    file = SOURCE.root.joinpath(*names)

    path = document_path(SOURCE, file)

    path.encode("utf-8")
    assert path.startswith("my notes/")
    assert file_of(SOURCE, path) == file


@given(st.lists(os_names, min_size=1, max_size=3), st.lists(os_names, min_size=1, max_size=3))
def test_two_files_have_two_paths(one: list[str], other: list[str]) -> None:
    files = SOURCE.root.joinpath(*one), SOURCE.root.joinpath(*other)

    assert (files[0] == files[1]) == (
        document_path(SOURCE, files[0]) == document_path(SOURCE, files[1])
    )


def test_a_folder_and_the_root_have_paths_too() -> None:
    assert document_path(SOURCE, Path("/data/n/a/b")) == "my notes/a/b"
    assert document_path(SOURCE, Path("/data/n")) == "my notes"
    assert file_of(SOURCE, "my notes") == file_of(SOURCE, "my notes/") == SOURCE.root
    assert file_of(SOURCE, "my notes/a/") == SOURCE.root / "a"


@pytest.mark.parametrize(
    "path",
    [
        "other/a.md",
        "my notes2/a.md",
        "",
        "/etc/passwd",
        "my notes/../x.md",
        "my notes/a/../../x.md",
        "my notes/./a.md",
        "my notes//a.md",
        "my notes//etc/passwd",
        "my notes/a\0b.md",
    ],
)
def test_what_is_no_path_of_the_source_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        file_of(SOURCE, path)


def test_a_file_elsewhere_has_no_path_in_the_source() -> None:
    for file in ("/data/n2/a.md", "/data", "/data/n/../x.md"):
        with pytest.raises(UsageError, match="not in the source"):
            document_path(SOURCE, Path(file))


def test_a_file_is_known_by_each_spelling_of_the_root(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/sub/a.md": "", "alias": Link("real")})
    spelled, real = Path("alias/sub/a.md"), Path("real/sub/a.md")

    for root in ("real", "alias"):
        source = Source(name="s", root=tmp_path / root)
        assert document_path(source, tmp_path / spelled) == "s/sub/a.md"
        assert document_path(source, tmp_path / real) == "s/sub/a.md"
        assert document_path(source, tmp_path / "real") == "s"
        assert document_path(source, tmp_path / "alias") == "s"
        assert document_path(source, tmp_path / "real/gone/b.md") == "s/gone/b.md"


def test_a_link_in_a_source_has_its_own_path(tmp_path: Path) -> None:
    write_tree(tmp_path, {"real/a.md": "", "real/link.md": Link("a.md"), "alias": Link("real")})
    source = Source(name="s", root=tmp_path / "real")

    assert document_path(source, tmp_path / "alias/link.md") == "s/link.md"


def test_of_nested_sources_the_innermost_owns_a_file(tmp_path: Path) -> None:
    outer = Source(name="outer", root=tmp_path)
    inner = Source(name="inner", root=tmp_path / "a/b")
    sources = [outer, inner]

    assert source_of(sources, tmp_path / "a/b/c.md") is inner
    assert source_of(sources, tmp_path / "a/b") is inner
    assert source_of(sources, tmp_path / "a/bc.md") is outer
    assert source_of(sources, tmp_path.parent / "x.md") is None
