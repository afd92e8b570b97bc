"""A version whose data is cleaned up while it is asked: every asker gets the newest."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lancebrain.search import search
from lancebrain.store import Snapshot, Store
from lancebrain.types import Filter, Query
from tests.stored import make_store, put

LATER = datetime.now(UTC) + timedelta(days=30)
_ASKERS = 4


@pytest.fixture
def switching_often() -> Iterator[None]:
    """Threads take turns as often as they can, so that those that are in each other's way show."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def cleaned_up(folder: Path) -> tuple[Snapshot, int]:
    """A version that is not there any more, and the newest."""
    store = make_store(folder)
    put(store, {f"n/{n}.md": [f"zanzibar {n}"] for n in range(30)})
    old = Store.open(store.folder).snapshot()
    put(store, {f"n/{n}.md": [f"zanzibar again {n}"] for n in range(30)})
    with store.lock(1):
        store.maintain(now=LATER)
    return old, store.snapshot().version


@pytest.mark.usefixtures("switching_often")
def test_all_who_ask_a_version_that_vanished_are_answered_from_the_newest(tmp_path: Path) -> None:
    for attempt in range(4):
        old, newest = cleaned_up(tmp_path / str(attempt))
        query = Query("zanzibar", "keyword")
        with ThreadPoolExecutor(_ASKERS) as pool:
            answers = list(
                pool.map(lambda _, old=old, query=query: search(old, query, None), range(_ASKERS))
            )
        assert {answer.version for answer in answers} == {newest}
        assert all("again" in hit.snippet for answer in answers for hit in answer.hits)
        assert all(answer.hits for answer in answers)


@pytest.mark.usefixtures("switching_often")
def test_questions_about_two_projects_at_once_are_each_narrowed_to_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path)
    put(store, {"n/a.md": ["alpha"]})
    snapshot = store.snapshot()
    logs = {"n/one.jsonl": {"project": "/home/one"}, "n/two.jsonl": {"project": "/home/two"}}
    monkeypatch.setattr(snapshot, "metadata", lambda _: logs)

    def wrong(project: str) -> int:
        asked = Filter(projects=(f"/home/{project}",))
        return sum(f"n/{project}.jsonl" not in snapshot.where(asked) for _ in range(3_000))

    with ThreadPoolExecutor(_ASKERS) as pool:
        assert sum(pool.map(wrong, ["one", "two"] * 2)) == 0
