"""Looking through the texts by the letter: any needle is taken as it stands."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from lancebrain.store import RowBatch, Snapshot, Store
from lancebrain.types import Chunk, DocumentState, Filter

NEEDLES = [
    "a.b", "x|y", "(z)", "[0-9]", "{2}", "^$", "a*b+c?", "\\d", "'quoted'", '"double"', "50%_",
    "a-b", "#tag", "&amp;", "~/", "<br>", "tab\there", "two\nlines", "end\\", "Ünï", "索引", "검색",
    "🎉", "@@", "x y", "a/b", "é", "e\u0301",
]  # fmt: skip


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    store = Store.create(
        tmp_path_factory.mktemp("letters"), model="stand-in", fingerprint="f", dim=8
    )
    rows = RowBatch()
    now = datetime(2026, 11, 30, tzinfo=UTC)
    for number, needle in enumerate(NEEDLES):
        state = DocumentState(
            path=f"n/{number}.md", source="n", domain="d", kind="md", sha256="", size=0, mtime_ns=0,
            looked_at_ns=0, mime="", encoding="utf-8", title="",
        )  # fmt: skip
        rows.document(state)
        text = f"before {needle} after"
        rows.chunk(state, 0, Chunk(text, str(number), (), (), 1), None, now, now)
    with store.lock(10):
        store.commit(rows, reason="sync", counts={}, started=time.monotonic())
    return store.snapshot()


@pytest.mark.parametrize("needle", NEEDLES)
def test_a_needle_finds_exactly_the_texts_that_hold_it(snapshot: Snapshot, needle: str) -> None:
    found = {row.path for row in snapshot.substring_candidates(needle, Filter(), 100)}
    expected = {f"n/{at}.md" for at, text in enumerate(NEEDLES) if needle in f"before {text} after"}
    assert found == expected


@pytest.mark.parametrize(("needle", "number"), [("ÜNÏ", 19), ("A.B", 0), ("&AMP;", 13)])
def test_the_case_makes_no_difference(snapshot: Snapshot, needle: str, number: int) -> None:
    found = [row.path for row in snapshot.substring_candidates(needle, Filter(), 100)]
    assert found == [f"n/{number}.md"]
