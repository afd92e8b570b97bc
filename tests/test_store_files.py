"""The files beside the table: the commit log, the hold, and the cache of vectors."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lancebrain.errors import DamagedError, StoreError
from lancebrain.store import CommitLog, Hold, HoldInfo, Store, VectorCache
from lancebrain.types import CommitRecord
from tests.stored import make_store, put, refuse_by

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def record(version: int, reason: str = "sync", **counts: int) -> CommitRecord:
    return CommitRecord(version, reason, NOON, 0.5, counts)


class TestCommitLog:
    def test_records_come_back_as_they_went_in(self, store: Store) -> None:
        version = put(store, {"n/a.md": ["x"]})
        full = CommitRecord(version, "rollback", NOON, 1.25, {"added": 2}, pinned=True)
        store.commits.append(full)
        assert CommitLog(store.folder).read() == [full]

    def test_times_are_kept_as_instants(self, store: Store) -> None:
        version = put(store, {"n/a.md": ["x"]})
        east = NOON.astimezone(timezone(timedelta(hours=9)))
        store.commits.append(CommitRecord(version, "sync", east, 0))
        assert store.commits.read()[-1].at == NOON

    def test_a_record_without_its_version_is_passed_over(self, store: Store) -> None:
        version = put(store, {"n/a.md": ["x"]})
        store.commits.append(record(version + 5))
        assert [r.version for r in store.commits.read()] == [version]

    def test_a_torn_line_spoils_only_itself(self, store: Store) -> None:
        version = put(store, {"n/a.md": ["x"]})
        log = store.folder / "commits.jsonl"
        log.write_bytes(log.read_bytes() + b'{"version": 9, "rea')
        assert [r.version for r in store.commits.read()] == [version]
        later = put(store, {"n/b.md": ["y"]})
        assert [r.version for r in store.commits.read()] == [version, later]

    @pytest.mark.parametrize("line", [b"[]", b"7", b"{}", b"\xff\xfe", b'{"version": "x"}'])
    def test_a_line_that_is_no_record_is_passed_over(self, store: Store, line: bytes) -> None:
        version = put(store, {"n/a.md": ["x"]})
        log = store.folder / "commits.jsonl"
        log.write_bytes(line + b"\n" + log.read_bytes())
        assert [r.version for r in store.commits.read()] == [version]

    def test_without_a_log_there_are_no_reasons(self, store: Store) -> None:
        put(store, {"n/a.md": ["x"]})
        (store.folder / "commits.jsonl").unlink()
        assert store.commits.read() == []

    def test_lines_of_versions_that_are_gone_are_pruned(self, store: Store) -> None:
        version = put(store, {"n/a.md": ["x"]})
        store.commits.append(record(version + 5))
        store.commits.prune()
        assert len((store.folder / "commits.jsonl").read_bytes().splitlines()) == 1
        assert [r.version for r in store.commits.read()] == [version]

    def test_what_others_append_prune_and_write_anew_is_seen(self, store: Store) -> None:
        log, other = store.commits, CommitLog(store.folder)
        first = put(store, {"n/a.md": ["x"]})
        second = put(store, {"n/b.md": ["y"]})
        assert [r.version for r in log.read()] == [first, second]
        other.append(record(second, "repair"))
        assert [r.reason for r in log.read()] == ["sync", "repair"]
        other.append(record(second + 9))
        other.prune()
        other.append(record(first, "migrate"))
        assert [r.reason for r in log.read()] == ["migrate", "repair"]
        other.clear()
        other.append(record(first, "forget"))
        assert [r.reason for r in log.read()] == ["forget"]
        file = store.folder / "commits.jsonl"
        file.write_bytes(file.read_bytes().replace(b"forget", b"create"))
        assert [r.reason for r in log.read()] == ["create"]
        assert log.read() == CommitLog(store.folder).read()


class TestHold:
    def test_it_is_set_read_by_others_and_lifted(self, tmp_path: Path) -> None:
        assert Hold(tmp_path).read() is None
        Hold(tmp_path).set("昨日", 7, NOON)
        assert Hold(tmp_path).read() == HoldInfo("昨日", 7, NOON)
        Hold(tmp_path).set("v9", 9, NOON)
        assert Hold(tmp_path).read() == HoldInfo("v9", 9, NOON)
        Hold(tmp_path).clear()
        Hold(tmp_path).clear()
        assert Hold(tmp_path).read() is None
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "content", [b"", b"{}", b"[1]", b"\xff", b'{"ref": 1, "version": "x"}']
    )
    def test_a_damaged_hold_is_not_taken_for_none(self, tmp_path: Path, content: bytes) -> None:
        Hold(tmp_path).set("v9", 9, NOON)
        (tmp_path / "hold.json").write_bytes(content)
        with pytest.raises(StoreError, match="damaged") as caught:
            Hold(tmp_path).read()
        assert "resume" in caught.value.hint


def vectors(count: int, dim: int = 512) -> NDArray[np.float32]:
    return np.random.default_rng(1).standard_normal((count, dim)).astype(np.float32)


def names(count: int, prefix: str = "h") -> list[str]:
    return [f"{prefix}{n:05}" for n in range(count)]


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class TestVectorCache:
    def test_vectors_come_back_bit_for_bit_and_only_for_their_model(self, tmp_path: Path) -> None:
        cache = VectorCache(tmp_path)
        given = vectors(3)
        cache.put("model", ["a", "b", "it's"], given)
        found = cache.get("model", ["it's", "a", "unknown"])
        assert found.keys() == {"it's", "a"}
        assert np.array_equal(found["it's"], given[2])
        assert found["a"].dtype == np.float32
        assert cache.get("other", ["a"]) == {}
        assert VectorCache(tmp_path).get("model", ["b"]).keys() == {"b"}

    def test_in_a_folder_that_may_not_be_written_it_counts_as_empty_and_writes_nothing(
        self, tmp_path: Path
    ) -> None:
        assert VectorCache(tmp_path, read_only=True).get("model", ["a"]) == {}
        assert list(tmp_path.iterdir()) == []

    def test_nothing_asked_for_is_nothing(self, tmp_path: Path) -> None:
        cache = VectorCache(tmp_path)
        assert cache.get("model", []) == {}
        cache.put("model", [], vectors(0))
        assert list(tmp_path.iterdir()) == []

    def test_a_newer_vector_takes_the_place_of_the_old(self, tmp_path: Path) -> None:
        cache = VectorCache(tmp_path)
        cache.put("model", ["a"], vectors(1))
        cache.put("model", ["a"], vectors(1) + 1)
        assert np.array_equal(cache.get("model", ["a"])["a"], vectors(1)[0] + 1)

    def test_thousands_are_given_at_once(self, tmp_path: Path) -> None:
        cache = VectorCache(tmp_path)
        cache.put("model", names(3_000), vectors(3_000, 4))
        assert len(cache.get("model", names(5_000))) == 3_000

    def test_it_stays_within_its_budget_and_the_least_used_go(self, tmp_path: Path) -> None:
        clock = Clock()
        budget = 2_000_000
        cache = VectorCache(tmp_path, budget_bytes=budget, clock=clock)
        for day in range(10):
            clock.now += 100_000
            cache.get("model", names(100, "d0-"))
            cache.put("model", names(100, f"d{day}-"), vectors(100))
        cache.close()
        assert (tmp_path / "vectors.sqlite").stat().st_size <= budget * 1.3
        kept = [len(cache.get("model", names(100, f"d{day}-"))) for day in range(10)]
        assert kept[9] == 100
        assert kept[0] == 100  # old, and used each day
        assert kept[1] == 0
        assert sum(kept) >= 500

    @pytest.mark.parametrize(
        "content", [b"this is no database" * 300, b"SQLite format 3\x00broken"]
    )
    def test_a_damaged_file_is_begun_anew(self, tmp_path: Path, content: bytes) -> None:
        cache = VectorCache(tmp_path)
        cache.put("model", ["a"], vectors(1))
        cache.close()
        (tmp_path / "vectors.sqlite").write_bytes(content)
        assert cache.get("model", ["a"]) == {}
        cache.put("model", ["b"], vectors(1))
        assert cache.get("model", ["b"]).keys() == {"b"}

    def test_a_file_damaged_in_the_middle_is_begun_anew(self, tmp_path: Path) -> None:
        cache = VectorCache(tmp_path)
        cache.put("model", names(2_000), vectors(2_000, 64))
        cache.close()
        file = tmp_path / "vectors.sqlite"
        content = bytearray(file.read_bytes())
        content[4096 : len(content) - 4096] = b"\xa5" * (len(content) - 8192)
        file.write_bytes(content)
        assert len(cache.get("model", names(2_000))) in (0, 2_000)
        cache.put("model", ["b"], vectors(1))
        assert cache.get("model", ["b"]).keys() == {"b"}

    def test_a_file_of_another_make_is_begun_anew(self, tmp_path: Path) -> None:
        with sqlite3.connect(tmp_path / "vectors.sqlite") as db:
            db.execute("CREATE TABLE vectors (something TEXT)")
        db.close()
        cache = VectorCache(tmp_path)
        cache.put("model", ["a"], vectors(1))
        assert cache.get("model", ["a"]).keys() == {"a"}

    def test_what_is_forgotten_leaves_no_trace_in_any_file(self, tmp_path: Path) -> None:
        cache = VectorCache(tmp_path)
        given = vectors(50)
        cache.put("model", names(50), given)
        cache.put("other", names(50), given)
        cache.forget(names(50)[:10])
        assert cache.get("model", names(50)).keys() == set(names(50)[10:])
        on_disk = b"".join(file.read_bytes() for file in tmp_path.iterdir())
        for gone in range(10):
            assert given[gone].tobytes()[:200] not in on_disk
        assert given[20].tobytes()[:200] in on_disk

    def test_several_processes_use_it_at_once(self, tmp_path: Path) -> None:
        program = (
            "import sys, numpy as np; from pathlib import Path\n"
            "from lancebrain.store.vector_cache import VectorCache\n"
            "cache = VectorCache(Path(sys.argv[1]))\n"
            "for n in range(100):\n"
            "    cache.put('model', [f'{sys.argv[2]}{n}'], np.ones((1, 8), np.float32))\n"
        )
        command = [sys.executable, "-c", program, str(tmp_path)]
        started = [subprocess.Popen([*command, name]) for name in ("x", "y", "z")]
        assert [process.wait(timeout=60) for process in started] == [0, 0, 0]
        wanted = [f"{name}{n}" for name in "xyz" for n in range(100)]
        assert VectorCache(tmp_path).get("model", wanted).keys() == set(wanted)

    @pytest.mark.parametrize(
        ("pragma", "said"),
        [("max_page_count = 1", "No room left"), ("query_only = ON", "may not be written")],
    )
    def test_what_keeps_it_from_being_written_is_told_and_is_no_damage(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pragma: str, said: str
    ) -> None:
        VectorCache(tmp_path).put("model", names(40), vectors(40))
        with monkeypatch.context() as patch:
            refuse_by(patch, pragma)
            with pytest.raises(StoreError, match=said) as caught:
                VectorCache(tmp_path).put("model", names(400, "more"), vectors(400))
            assert not isinstance(caught.value, DamagedError)
        assert VectorCache(tmp_path).get("model", names(40)).keys() == set(names(40))

    def test_a_place_that_cannot_hold_it_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "vectors.sqlite").mkdir()
        with pytest.raises(StoreError, match="vector cache"):
            VectorCache(tmp_path).put("model", ["a"], vectors(1))


def test_a_cache_is_part_of_the_store(store: Store) -> None:
    wanted: Sequence[str] = ["a"]
    store.vector_cache.put(store.info.fingerprint, wanted, vectors(1))
    assert Store.open(store.folder).vector_cache.get("f1", wanted).keys() == {"a"}
