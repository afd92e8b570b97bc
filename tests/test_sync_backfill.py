"""Text first, vectors after: found by keyword at once, resumable, and never embedded twice."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lancebrain.errors import EmbedderError, IndexMismatchError, StoreError
from lancebrain.store import PlannedChange, Store
from lancebrain.sync import Engine, backfill, embedding, run
from lancebrain.sync.lease import Lease
from lancebrain.types import Filter, Progress
from tests.health import assert_healthy
from tests.indexes import Notes, set_event
from tests.stand_in import StandIn

MANY = run.SMALL + 40


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """More notes than are embedded before the first commit; a higher number is a newer file."""
    notes = Notes(tmp_path)
    for number in range(MANY):
        notes.write({f"{number}.md": f"# Note {number}\n\nWord{number} of it.\n"})
        os.utime(notes.root / f"{number}.md", (1_700_000_000 + number, 1_700_000_000 + number))
    return notes


def pending(notes: Notes) -> int:
    return notes.store.snapshot().pending()


def test_a_large_backlog_is_found_by_keyword_before_anything_is_embedded(notes: Notes) -> None:
    report = notes.sync(fill=False)
    assert (report.added, report.embedded) == (MANY, 0)
    assert pending(notes) == MANY
    found = notes.store.snapshot().keyword_candidates("word7", Filter(), 5)
    assert [candidate.path for candidate in found] == ["notes/7.md"]


def test_a_sync_fills_in_every_vector_before_it_returns(notes: Notes) -> None:
    told: list[Progress] = []
    report = notes.synced(progress=told.append)
    assert report.embedded == MANY
    assert pending(notes) == 0
    assert {progress.phase for progress in told} == {"look", "read", "embed"}
    assert told[-1].chunks == told[-1].chunks_total == MANY
    last_read = [progress for progress in told if progress.phase == "read"][-1]
    assert last_read.files == last_read.files_total == MANY


def test_a_few_chunks_are_committed_with_their_vectors_in_one_version(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({"a.md": "A.\n", "b.md": "B.\n"})
    notes.sync()
    notes.write({"a.md": "Edited.\n"})
    before = notes.store.snapshot().version
    assert notes.sync().version == before + 1
    assert notes.store.snapshot().version == before + 1


def test_the_newest_documents_are_embedded_first(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_FIRST_PART", 10)
    notes.sync(fill=False)
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    next(engine.backfill_steps())
    assert len(notes.embedder.texts) == 10
    assert all(f"Word{number} " in text for number, text in _numbered(notes.embedder.texts))


def _numbered(texts: list[str]) -> list[tuple[int, str]]:
    return [(MANY - 1 - at, text) for at, text in enumerate(texts)]


def test_what_was_embedded_is_kept_when_the_work_is_stopped(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_FIRST_PART", 10)
    notes.sync(fill=False)
    steps = Engine(notes.store, notes.settings, lambda: notes.embedder).backfill_steps()
    next(steps)
    steps.close()
    assert pending(notes) == MANY - 10
    report = notes.synced()
    assert report.embedded == MANY - 10


def test_what_was_embedded_is_kept_when_the_model_fails(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_FIRST_PART", 10)
    monkeypatch.setattr(embedding, "_MAX_PART", 10)
    calls = 0

    class Tired(StandIn):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            nonlocal calls
            calls += 1
            if calls > 3:
                raise IndexMismatchError("Enough.")
            return super().embed_passages(texts)

    notes.embedder = Tired()
    with pytest.raises(IndexMismatchError):
        notes.sync()
    assert pending(notes) == MANY - 30
    assert len(notes.paths()) == MANY
    notes.embedder = StandIn()
    notes.synced()


def test_a_text_that_the_model_fails_on_keeps_no_other_from_its_vector(notes: Notes) -> None:
    notes.embedder.fail_on = f"Word{MANY - 1} "
    for _ in range(2):
        problems = notes.sync().problems
        assert [one.path for one in problems] == [f"notes/{MANY - 1}.md"]
        assert problems[0].message.startswith("1 texts got no vector")
        assert pending(notes) == 1
    notes.embedder.fail_on = None
    assert notes.synced().embedded == 1


def test_a_model_that_fails_on_everything_is_not_asked_about_each_text(notes: Notes) -> None:
    notes.embedder.fail_on = "Word"
    with pytest.raises(EmbedderError, match="told to fail"):
        notes.sync()
    assert len(notes.paths()) == pending(notes) == MANY
    assert notes.embedder.failures < 10


def test_a_row_that_lost_its_vector_gets_it_back(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({"a.md": "A.\n", "b.md": "B.\n"})
    notes.sync(fill=False)
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    wanted = run.Wanted(text_only=True)
    notes.write({"c.md": "C.\n"})
    for _ in engine.run(wanted).steps():
        pass
    assert pending(notes) == 1
    assert notes.synced().embedded == 1


def test_an_edit_made_meanwhile_wins_over_the_vector_of_the_old_text(notes: Notes) -> None:
    notes.sync(fill=False)
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    steps = engine.backfill_steps()
    next(steps)  # the newest texts are embedded, and not yet committed
    notes.write({f"{MANY - 1}.md": "# Edited meanwhile\n"})
    notes.sync([f"notes/{MANY - 1}.md"])
    (notes.root / f"{MANY - 2}.md").unlink()
    notes.sync([f"notes/{MANY - 2}.md"])
    for _ in steps:
        pass
    assert pending(notes) == 0
    assert_healthy(notes.store, notes.settings, StandIn())


def test_equal_texts_are_embedded_once_also_afterwards(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.write({f"{n}.md": f"# Half {n // 2}\n" for n in range(2 * MANY)})
    assert notes.synced().embedded == MANY


def test_two_processes_do_not_embed_the_same_texts(notes: Notes) -> None:
    notes.sync(fill=False)
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    other_model = StandIn()
    other = Engine(Store.open(notes.settings.index), notes.settings, lambda: other_model)
    steps = engine.backfill_steps()
    next(steps)
    assert list(other.backfill_steps()) == []  # someone is at it
    waiting = threading.Thread(target=other.fill)
    waiting.start()
    for _ in steps:
        pass
    waiting.join(20)
    assert not waiting.is_alive()
    assert pending(notes) == 0
    assert other_model.texts == []


@pytest.mark.parametrize("few", [True, False])
def test_an_index_built_anew_with_another_model_gets_no_vector_of_the_first(
    tmp_path: Path, few: bool
) -> None:
    notes = Notes(tmp_path)
    notes.write({f"{n}.md": f"Note {n}.\n" for n in range(2 if few else MANY)})
    first = Engine(notes.store, notes.settings, lambda: notes.embedder)
    first.sync(fill=False)
    steps = first.backfill_steps()
    next(steps, None)
    Store.set_aside(notes.settings.index, timeout_s=5)
    other = StandIn(revision="2")
    notes.store = Store.create(
        notes.settings.index,
        model=notes.settings.model,
        fingerprint=other.fingerprint,
        dim=other.dim,
    )
    Engine(notes.store, notes.settings, lambda: other).sync(fill=False)
    lacking = notes.store.snapshot().pending()
    with suppress(IndexMismatchError):
        list(steps)
    assert notes.store.snapshot().pending() == lacking
    notes.write({"new.md": "Something new.\n"})
    with pytest.raises(IndexMismatchError):
        first.sync()
    Engine(notes.store, notes.settings, lambda: other).sync()
    assert_healthy(notes.store, notes.settings, StandIn(revision="2"))


def test_vectors_of_a_model_that_was_there_for_a_moment_are_not_written(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MAX_PART", 8)
    notes.sync(fill=False)
    first, second = StandIn(), StandIn(revision="2")
    here, elsewhere = Store.open(notes.store.folder), Store.open(notes.store.folder)

    def model() -> StandIn:
        return first if here.info.fingerprint == first.fingerprint else second

    steps = Engine(here, notes.settings, model).backfill_steps()
    next(steps)
    before = elsewhere.snapshot().version
    now = datetime.now(UTC)
    planned = PlannedChange("tests.stand_in:make", second.fingerprint, second.dim, now)
    with elsewhere.lock(5):
        elsewhere.change_model(planned, lambda hashes: {})
    here.snapshot()  # as any question does
    next(steps)
    with elsewhere.lock(5):
        elsewhere.restore(before)
    here.snapshot()
    for _ in steps:
        pass
    assert here.snapshot().pending() == 0
    assert_healthy(here, notes.settings, first)


def test_the_lease_of_one_that_hangs_goes_to_the_next(tmp_path: Path) -> None:
    first, second = Lease(tmp_path), Lease(tmp_path)
    assert first.take()
    assert first.take()
    assert not second.take()
    long_ago = time.time() - 60
    os.utime(tmp_path / "backfill.lease", (long_ago, long_ago))
    assert second.take()
    assert not first.take()
    first.drop()
    assert not first.take()
    second.drop()
    assert first.take()


def test_a_cancelled_backfill_stops_and_keeps_what_it_has(notes: Notes) -> None:
    notes.sync(fill=False)
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    assert engine.fill(cancel=set_event()) == (0, ())
    stop = threading.Event()
    engine.fill(progress=lambda _: stop.set(), cancel=stop)
    assert 0 < pending(notes) < MANY


def test_a_commit_that_fails_is_told_and_the_next_process_goes_on(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.sync(fill=False)
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    real = Store.set_vectors

    def fail(*_: object, **__: object) -> int:
        raise StoreError("No room left.")

    monkeypatch.setattr(Store, "set_vectors", fail)
    stop = threading.Event()
    with pytest.raises(StoreError, match="No room"):
        engine.fill(progress=lambda _: stop.set(), cancel=stop)
    monkeypatch.setattr(Store, "set_vectors", real)
    assert engine.fill()[1] == ()
    assert pending(notes) == 0


def test_many_chunks_of_one_text_that_is_refused_keep_no_others_from_their_vectors(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill, "_COMMIT_ROWS", 10)
    notes.write({f"bad{n}.md": "Poison.\n" for n in range(30)})  # the newest
    notes.sync(fill=False)
    notes.embedder.fail_on = "Poison"
    (problem,) = Engine(notes.store, notes.settings, lambda: notes.embedder).fill()[1]
    assert problem.code == "text-refused"
    assert pending(notes) == 30


def test_progress_never_goes_back(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backfill, "_COMMIT_ROWS", 50)
    monkeypatch.setattr(embedding, "_MAX_PART", 10)
    told: list[Progress] = []
    notes.sync(progress=told.append)
    done = [one.chunks for one in told if one.phase == "embed"]
    assert done == sorted(done)
    assert len(set(done)) > 10
    assert done[-1] == MANY
