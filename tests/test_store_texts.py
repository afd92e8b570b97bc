"""Texts that are kept by the id of their row: right in every version, and of one table alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from lancebrain.store import Store, texts
from lancebrain.store.texts import RecentTexts
from lancebrain.types import Filter
from tests.stored import make_store, put


def found(store: Store, word: str, version: int | None = None) -> list[tuple[str, str]]:
    candidates = store.snapshot(version).keyword_candidates(word, Filter(), 10)
    return sorted((one.path, one.text) for one in candidates)


def test_texts_are_those_of_the_version_that_is_asked(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    first = put(store, {"n/a.md": ["alpha one"], "n/b.md": ["alpha two"]})
    assert found(store, "alpha") == [("n/a.md", "alpha one"), ("n/b.md", "alpha two")]
    put(store, {"n/a.md": ["alpha three"]})
    assert found(store, "alpha") == [("n/a.md", "alpha three"), ("n/b.md", "alpha two")]
    assert found(store, "alpha", first) == [("n/a.md", "alpha one"), ("n/b.md", "alpha two")]
    with store.lock(1):
        store.restore(first)
    put(store, {"n/c.md": ["alpha four"]})
    wanted = [("n/a.md", "alpha one"), ("n/b.md", "alpha two"), ("n/c.md", "alpha four")]
    assert found(store, "alpha") == wanted


def test_no_text_of_a_table_is_given_for_a_row_of_the_one_that_took_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "lancebrain.store.folder_storage.FolderStorage.table_identity", lambda _: None
    )  # as on object storage
    store = make_store(tmp_path)
    put(store, {"n/a.md": ["alpha one"]})
    assert found(store, "alpha") == [("n/a.md", "alpha one")]
    (store.folder / "chunks.lance").rename(tmp_path / "away")
    other = make_store(tmp_path)
    put(other, {"z/z.md": ["alpha zed"]})
    put(other, {"z/y.md": ["alpha why"]})
    assert found(store, "alpha") == [("z/y.md", "alpha why"), ("z/z.md", "alpha zed")]


def test_those_that_were_asked_for_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_KEPT", 3)
    taken: list[list[int]] = []

    def take(row_ids: list[int], _: Sequence[str]) -> pa.Table:
        taken.append(row_ids)
        names = [f"n/{row_id}.md" for row_id in row_ids]
        return pa.table({"path": names, "chunk_index": row_ids, "text": names})

    recent = RecentTexts()
    for asked, read in (
        ([1, 2, 3], [1, 2, 3]),
        ([3, 1], None),
        ([4, 1], [4]),
        ([3, 1], None),
        ([2], [2]),
    ):
        before = len(taken)
        wanted = [(f"n/{row_id}.md", row_id, f"n/{row_id}.md") for row_id in asked]
        assert recent.of(asked, take) == wanted
        assert taken[before:] == ([] if read is None else [read])


def test_fewer_than_are_kept_stay_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "_KEPT", 10)
    taken: list[int] = []

    def take(row_ids: list[int], _: Sequence[str]) -> pa.Table:
        taken.extend(row_ids)
        names = [str(row_id) for row_id in row_ids]
        return pa.table({"path": names, "chunk_index": row_ids, "text": names})

    recent = RecentTexts()
    for row_id in [*range(8), *range(8)]:
        recent.of([row_id], take)
    assert taken == list(range(8))
