"""Old versions: read, named, restored, and cleaned up beside the tags that keep some."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.errors import UsageError
from lancebrain.store import Store
from lancebrain.store.manifests import newest_manifests, versions_of
from lancebrain.store.retention import due_versions
from lancebrain.types import Filter
from tests.stored import STEP, make_store, put, unit

DAY = timedelta(days=1)
LATER = datetime.now(UTC) + 30 * DAY


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def versions(store: Store) -> list[int]:
    return sorted(versions_of(store.folder / "chunks.lance"))


def tag(store: Store, name: str, version: int) -> None:
    with store.lock(1):
        store.create_tag(name, version)


def untag(store: Store, name: str) -> None:
    with store.lock(1):
        store.delete_tag(name)


def test_cleaning_up_keeps_the_newest_and_all_that_are_tagged(store: Store) -> None:
    made = [put(store, {"n/a.md": [f"word{n}"]}) for n in range(8)]
    tagged = {f"tag{n}": made[n] for n in (1, 4)}
    for name, version in tagged.items():
        tag(store, name, version)
    size = store.bytes()
    with store.lock(1):
        report = store.maintain(keep_versions=7 * DAY, now=LATER)
        store.maintain(keep_versions=7 * DAY, now=LATER)
    assert report.versions_removed >= 5
    assert set(versions(store)) & set(made) == set(tagged.values())
    assert store.bytes() < size
    assert store.tags() == tagged
    for n in (1, 4):
        old = store.snapshot(made[n])
        assert [c.text for c in old.keyword_candidates(f"word{n}", Filter(), 5)] == [f"word{n}"]
    assert [c.text for c in store.snapshot().keyword_candidates("word7", Filter(), 5)] == ["word7"]
    with pytest.raises(UsageError, match=f"no version {made[0]}"):
        store.snapshot(made[0])
    assert {r.version for r in store.commits.read()} <= set(versions(store))


def test_young_versions_stay_whatever_is_asked_for(store: Store) -> None:
    made = [put(store, {"n/a.md": [f"word{n}"]}) for n in range(3)]
    with store.lock(1):
        store.maintain(keep_versions=timedelta(0))
    assert set(made) <= set(versions(store))


REASONS = st.sampled_from(["sync", "rollback", "backfill", "maintenance", ""])


@given(
    made=st.lists(st.tuples(st.integers(0, 100), REASONS), min_size=1, max_size=14),
    kept=st.sets(st.integers(1, 14)),
    keep=st.integers(0, 100),
)
def test_what_was_current_since_the_limit_can_still_be_read(
    made: list[tuple[int, str]], kept: set[int], keep: int
) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    times = sorted(now - age * DAY for age, _ in made)
    made_at = dict(enumerate(times, start=1))
    reasons = {version: reason for version, (_, reason) in enumerate(made, start=1) if reason}
    due = due_versions(made_at, kept=kept, reasons=reasons, keep=keep * DAY, now=now)
    left = set(made_at) - set(due)
    assert kept & set(made_at) <= left
    assert max(made_at) in left
    texts = texts_of(sorted(made_at), reasons)
    limit = now - keep * DAY
    for moment in (limit, *(t for t in times if t >= limit)):
        current = [version for version, at in made_at.items() if at <= moment]
        readable = [version for version in current if version in left]
        assert not current or texts[max(current)] == texts[max(readable)]


def texts_of(versions: list[int], reasons: dict[int, str]) -> dict[int, int]:
    """A number for each version, equal where their texts are; unrecorded ones go with the next."""
    state, states = 0, {}
    for version in versions:
        reason = next((reasons[v] for v in versions if v >= version and v in reasons), "")
        state += reason not in ("backfill", "maintenance")
        states[version] = state
    return states


def test_between_the_first_and_last_of_the_same_texts_versions_go_after_an_hour(
    store: Store,
) -> None:
    first = put(store, {"n/a.md": [f"word{n}" for n in range(6)]}, embed=False)
    filled = []
    for n in range(6):
        with store.lock(1):
            filled.append(store.set_vectors([("n/a.md", n * STEP)], np.stack([unit(1)])))
    second = put(store, {"n/b.md": ["word"]})
    with store.lock(1):
        store.maintain(keep_versions=7 * DAY, now=datetime.now(UTC) + timedelta(hours=2))
    left = set(versions(store))
    assert left & {first, *filled, second} == {first, filled[-1], second}
    assert store.snapshot(first).pending() == 6
    assert store.snapshot(filled[-1]).pending() == 0


def test_a_restored_version_is_a_new_one_that_equals_it(store: Store) -> None:
    first = put(store, {"n/a.md": ["alpha one"], "n/b.md": ["alpha two"]})
    put(store, {"n/a.md": ["beta"]})
    with store.lock(1):
        store.maintain(keep_versions=DAY)
        restored = store.restore(first)
    snapshot = store.snapshot()
    assert snapshot.version == restored > first
    assert sorted(c.text for c in snapshot.keyword_candidates("alpha beta", Filter(), 5)) == [
        "alpha one",
        "alpha two",
    ]
    put(store, {"n/c.md": ["alpha three"]})
    assert len(store.snapshot().keyword_candidates("alpha", Filter(), 5)) == 3


def test_a_version_from_before_the_first_row_is_searched_and_restored_like_any(
    store: Store,
) -> None:
    empty = store.snapshot().version
    put(store, {"n/a.md": ["alpha"]})
    assert store.snapshot(empty).keyword_candidates("alpha", Filter(), 5) == []
    with store.lock(1):
        store.restore(empty)
    assert store.snapshot().keyword_candidates("alpha", Filter(), 5) == []
    put(store, {"n/a.md": ["alpha"]})
    assert len(store.snapshot().keyword_candidates("alpha", Filter(), 5)) == 1


def test_tags_that_cannot_be_are_told(store: Store) -> None:
    version = put(store, {"n/a.md": ["alpha"]})
    tag(store, "before-trip", version)
    for name, number, said in (
        ("before-trip", version, "is taken"),
        ("no/slash", version, "no/slash"),
        ("", version, "cannot be named"),
        ("late", version + 9, f"no version {version + 9}"),
    ):
        with pytest.raises(UsageError, match=said):
            tag(store, name, number)
    with pytest.raises(UsageError, match="unknown"):
        untag(store, "unknown")
    with pytest.raises(UsageError, match="99"):
        store.snapshot(99)
    assert store.tags() == {"before-trip": version}
    untag(store, "before-trip")
    assert store.tags() == {}


def test_maintenance_is_asked_for_once_there_is_something_to_do(store: Store) -> None:
    assert not store.needs_maintenance()
    for number in range(22):
        put(store, {f"n/{number}.md": ["alpha"]})
    assert store.needs_maintenance()
    with store.lock(1):
        report = store.maintain(only_due=True)
    assert (report.fragments_before, report.fragments_after) == (22, 1)
    assert not store.needs_maintenance()
    assert store.snapshot().document_count() == 22
    with store.lock(1):
        assert store.maintain(only_due=True).version == store.snapshot().version


def test_old_versions_alone_are_a_reason_for_maintenance(store: Store) -> None:
    for number in range(3):
        put(store, {f"n/{number}.md": ["alpha"]})
    for number in range(20):
        put(store, {"n/a.md": [f"alpha {number}"]})
        if number % 9 == 8:
            with store.lock(1):
                store.maintain(keep_versions=DAY)
    assert not store.needs_maintenance()
    long_ago = (datetime.now(UTC) - 30 * DAY).timestamp()
    manifests = newest_manifests(store.folder / "chunks.lance")
    for manifest in manifests:
        os.utime(manifest, (long_ago, long_ago))
    assert Store.open(store.folder).needs_maintenance()
    with store.lock(1):
        assert store.maintain(only_due=True).versions_removed == len(manifests) - 1
    assert store.snapshot().document_count() == 4


def test_indices_cover_a_bulk_of_rows_after_they_were_ensured(store: Store) -> None:
    put(store, {f"n/{number}.md": ["alpha"] for number in range(1_500)}, embed=False)
    assert store.needs_maintenance()
    assert store.is_index_behind()
    with store.lock(1):
        store.ensure_indices()
        version = store.snapshot().version
        store.ensure_indices()
    assert store.snapshot().version == version
    assert not store.needs_maintenance()
    assert len(store.snapshot().keyword_candidates("alpha", Filter(), 2_000)) == 1_500


def test_a_lagging_index_is_caught_up_without_rewriting_the_rows(store: Store) -> None:
    put(store, {f"n/{number}.md": ["alpha"] for number in range(1_500)}, embed=False)
    data = set((store.folder / "chunks.lance" / "data").iterdir())
    with store.lock(1):
        report = store.maintain(only_due=True)
    assert report.rebuilt == ("text",)  # the index was of no rows
    assert set((store.folder / "chunks.lance" / "data").iterdir()) == data
    assert not store.needs_maintenance()
