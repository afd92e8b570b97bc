"""Following the files: what is saved can be found a moment later, whatever the editor does."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lancebrain.errors import EmbedderError, LancebrainError, StoreError
from lancebrain.sync import (
    Engine,
    embedding,
    following,
    run,
    timetable,
    watcher,
    watchstate,
    worker,
)
from lancebrain.sync.dirty import Dirty, Taken
from lancebrain.sync.watchstate import WatchRecord
from lancebrain.sync.worker import Worker
from lancebrain.types import Problem, Source, SyncReport
from tests.health import assert_healthy
from tests.indexes import Notes
from tests.stand_in import StandIn
from tests.trees import write_tree

PATIENCE_S = 20.0


class Times:
    """How often something was called."""

    count = 0

    def put(self) -> None:
        self.count += 1


class Live:
    """A worker that follows, and what it said."""

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self.reports: list[SyncReport] = []
        self.errors: list[LancebrainError] = []
        self.problems: list[Problem] = []
        self.gave_way = Times()
        self.engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
        self.worker = Worker(
            self.engine,
            reload=lambda: self.notes.settings,
            on_report=self.reports.append,
            on_error=self.errors.append,
            on_problem=self.problems.append,
            give_way=self.gave_way.put,
        )

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for what must come to hold."""
        deadline = time.monotonic() + PATIENCE_S
        while not await asyncio.to_thread(holds):
            assert time.monotonic() < deadline, "it never came to hold"
            await asyncio.sleep(0.02)

    async def finds(self, path: str, text: str) -> None:
        await self.until(lambda: text in self.notes.text(path))

    async def equals_the_disk(self) -> None:
        """At once, or after a moment: the index is what a fresh one would be."""
        wanted = AssertionError("never")
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            await self.worker.settle()
            try:
                await asyncio.to_thread(
                    assert_healthy, self.notes.store, self.notes.settings, StandIn()
                )
                return
            except AssertionError as error:
                wanted = error
                await asyncio.sleep(0.1)
        raise wanted


@asynccontextmanager
async def followed(notes: Notes) -> AsyncIterator[Live]:
    """Follow the files; the block begins when all folders are watched."""
    live = Live(notes)
    running = asyncio.create_task(live.worker.run())
    try:
        await live.until(lambda: live.worker.state.folders > 0 or live.worker.state.reason != "")
        await live.worker.settle()
        yield live
    finally:
        live.worker.stop()
        await running


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path, look_interval_s=600).write(
        {"v.md": "# V\n\nEgret zero.\n", "d/w.md": "# W\n\nHeron.\n", "keep.md": "Keep.\n"}
    )


def test_a_save_is_found_without_a_look_at_everything(notes: Notes) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            assert live.worker.state.mode == "events"
            notes.write({"v.md": "# V\n\nEgret one.\n"})
            await live.finds("notes/v.md", "Egret one.")
            await live.worker.settle()
            assert live.reports[-1].changed == 1

    asyncio.run(play())


def test_edit_after_edit_does_not_leave_a_piece_each(notes: Notes) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            for number in range(12):
                notes.write({f"e{number}.md": f"Egret {number}.\n"})
                await live.finds(f"notes/e{number}.md", f"Egret {number}.")
            await live.until(
                lambda: "maintenance" in {r.reason for r in notes.store.commits.read()}
            )
            await live.equals_the_disk()

    asyncio.run(play())


def test_what_was_saved_before_is_in_when_it_has_settled(notes: Notes) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            for number in range(5):
                notes.write({"d/w.md": f"Heron {number}.\n"})
                await live.worker.settle()
                assert f"Heron {number}." in notes.text("notes/d/w.md")

    asyncio.run(play())


def test_atomic_saves_leave_the_newest_text_and_no_temporary_file(notes: Notes) -> None:
    root = notes.root

    async def play() -> None:
        async with followed(notes) as live:
            (root / ".v.md.tmp123").write_text("Egret renamed over.\n")
            (root / ".v.md.tmp123").replace(root / "v.md")
            await live.finds("notes/v.md", "renamed over")
            shutil.copy(root / "v.md", root / "v.md~")
            (root / "v.md").unlink()
            (root / "v.md").write_text("Egret deleted and made anew.\n")
            await live.finds("notes/v.md", "made anew")
            (root / ".tmpdir").mkdir()
            (root / ".tmpdir" / "v.md").write_text("Egret from a hidden folder.\n")
            (root / ".tmpdir" / "v.md").replace(root / "v.md")
            (root / ".tmpdir").rmdir()
            await live.finds("notes/v.md", "hidden folder")
            for number in range(9):
                (root / "t").write_text(f"Egret fast {number}.\n")
                (root / "t").replace(root / "v.md")
            await live.finds("notes/v.md", "fast 8")
            assert notes.paths() == ["notes/d/w.md", "notes/keep.md", "notes/v.md"]
            await live.equals_the_disk()

    asyncio.run(play())


def test_files_and_folders_come_go_and_move(notes: Notes) -> None:
    root = notes.root

    async def play() -> None:
        async with followed(notes) as live:
            write_tree(root, {"new/deep/a.md": "Alpha.\n"})
            await live.finds("notes/new/deep/a.md", "Alpha")
            write_tree(root, {"new/deep/b.md": "Beta.\n"})
            await live.finds("notes/new/deep/b.md", "Beta")
            live.notes.embedder.reset()
            (root / "new").rename(root / "moved")
            await live.finds("notes/moved/deep/b.md", "Beta")
            write_tree(root, {"moved/deep/b.md": "Beta edited.\n"})
            await live.finds("notes/moved/deep/b.md", "edited")
            (root / "v.md").rename(root / "V.md")
            await live.finds("notes/V.md", "Egret")
            shutil.rmtree(root / "moved")
            await live.until(lambda: "notes/moved/deep/a.md" not in notes.paths())
            await live.equals_the_disk()
            assert len(live.notes.embedder.texts) == 1

    asyncio.run(play())


def test_a_folder_that_is_moved_out_and_in_again_embeds_nothing(notes: Notes) -> None:
    outside = notes.root.parent / "outside"

    async def play() -> None:
        async with followed(notes) as live:
            (notes.root / "d").rename(outside)
            await live.until(lambda: "notes/d/w.md" not in notes.paths())
            notes.embedder.reset()
            outside.rename(notes.root / "D")
            await live.finds("notes/D/w.md", "Heron")
            await live.equals_the_disk()
            assert notes.embedder.texts == []

    asyncio.run(play())


def test_a_file_of_the_same_size_and_time_is_read_when_it_is_written(notes: Notes) -> None:
    file = notes.root / "v.md"
    before = file.stat()

    async def play() -> None:
        async with followed(notes) as live:
            file.write_text("# V\n\nEgret nine.\n")
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
            assert file.stat().st_size == before.st_size
            await live.finds("notes/v.md", "Egret nine.")

    asyncio.run(play())


def test_a_folder_that_is_deleted_and_made_again_is_still_followed(notes: Notes) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            for number in range(3):
                shutil.rmtree(notes.root / "d")
                notes.write({"d/w.md": f"Heron {number}.\n"})
                await live.finds("notes/d/w.md", f"Heron {number}")
            notes.write({"d/w.md": "Heron at last.\n"})
            await live.finds("notes/d/w.md", "at last")

    asyncio.run(play())


def test_ignore_rules_take_effect_as_they_are_saved(notes: Notes) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            notes.write({"d/.gitignore": "w.md\n"})
            await live.until(lambda: "notes/d/w.md" not in notes.paths())
            (notes.root / "d" / ".gitignore").unlink()
            await live.finds("notes/d/w.md", "Heron")

    asyncio.run(play())


def test_a_new_source_takes_effect_with_the_next_look(notes: Notes) -> None:
    other = notes.root.parent / "other"
    write_tree(other, {"o.md": "Osprey.\n"})

    async def play() -> None:
        async with followed(notes) as live:
            notes.with_settings(sources=(*notes.settings.sources, Source("other", other)))
            live.worker.mark_everything()
            await live.finds("other/o.md", "Osprey")
            (other / "o.md").write_text("Osprey edited.\n")
            await live.finds("other/o.md", "edited")

    asyncio.run(play())


def test_a_root_that_is_emptied_before_the_eyes_of_the_watcher_is_emptied(notes: Notes) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            shutil.rmtree(notes.root / "d")
            (notes.root / "keep.md").unlink()
            (notes.root / "v.md").unlink()
            await live.until(lambda: notes.paths() == [])

    asyncio.run(play())


def test_a_checkout_and_back_embeds_nothing_on_the_way_back(notes: Notes) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *arguments],
            cwd=notes.root,
            check=True,
            capture_output=True,
        )

    write_tree(notes.root, {f"n/{n}.md": f"# Bear {n}\n\nBear one {n}.\n" for n in range(80)})
    git("init", "-q", "-b", "one")
    git("add", ".")
    git("commit", "-q", "-m", "one")
    git("checkout", "-q", "-b", "two")
    shutil.rmtree(notes.root / "n")
    write_tree(notes.root, {f"m/{n}.md": f"# Bear {n}\n\nBear two {n}.\n" for n in range(80)})
    git("add", ".")
    git("commit", "-q", "-m", "two")
    git("checkout", "-q", "one")

    async def play() -> None:
        async with followed(notes) as live:
            await live.finds("notes/n/79.md", "Bear one")
            git("checkout", "-q", "two")
            await live.equals_the_disk()
            live.notes.embedder.reset()
            git("checkout", "-q", "one")
            await live.equals_the_disk()
            assert live.notes.embedder.texts == []

    asyncio.run(play())


def test_a_single_edit_goes_before_the_rest_of_a_large_load(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lancebrain.sync import run

    monkeypatch.setattr(run, "_BATCH_ROWS", 40)
    monkeypatch.setattr(run, "_GROUP_PATHS", 20)

    async def play() -> None:
        async with followed(notes) as live:
            bulk = {f"bulk/{n}.md": f"# Bulk {n}\n\nText {n}.\n" for n in range(300)}
            await asyncio.to_thread(write_tree, notes.root, bulk)
            await live.until(lambda: len(notes.paths()) > 3)
            notes.write({"v.md": "Edited amid the load.\n"})
            await live.finds("notes/v.md", "amid")
            assert len(notes.paths()) < 303
            await live.until(lambda: len(notes.paths()) == 303)
            await live.until(lambda: notes.store.snapshot().pending() == 0)
            await live.equals_the_disk()

    asyncio.run(play())


def test_documents_go_before_new_files_and_the_newest_change_first() -> None:
    dirty = Dirty({"n/a.md", "n/b.md"}.__contains__)
    dirty.mark(["n/a.md", "n/new1.md", "n/b.md", "n/new2.md"], gone=["n/b.md"])
    dirty.mark(["n/new1.md"])
    assert dirty.take(3) == Taken(("n/b.md", "n/a.md", "n/new1.md"), frozenset({"n/b.md"}))
    assert dirty
    assert dirty.take(3) == Taken(("n/new2.md",), frozenset({"n/b.md"}))
    assert not dirty
    assert dirty.take(3) == Taken((), frozenset())


def test_settle_waits_for_all_that_was_marked(notes: Notes) -> None:
    async def play() -> None:
        notes.with_settings(use_polling=True)
        async with followed(notes) as live:
            notes.write({"v.md": "Marked.\n"})
            live.worker.mark(["notes/v.md"])
            await live.worker.settle()
            assert notes.text("notes/v.md") == "Marked.\n"

    asyncio.run(play())


def test_where_events_do_not_arrive_everything_is_looked_at_again_and_again(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher.Watcher, "_hand_on", lambda self, events: None)
    monkeypatch.setattr(following, "_START_S", 0.3)

    async def play() -> None:
        async with followed(notes) as live:
            assert live.worker.state.mode == "polling"
            assert "do not arrive" in live.worker.state.reason
            notes.write({"v.md": "Seen all the same.\n"})
            await live.finds("notes/v.md", "Seen all the same")
            told = WatchRecord(notes.settings.index).read()
            assert told is not None
            assert told.mode == "polling"

    asyncio.run(play())


def test_a_limit_of_the_system_is_told_and_polling_takes_over(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("OS file watch limit reached")

    monkeypatch.setattr(watcher.watchfiles, "watch", refuse)

    async def play() -> None:
        async with followed(notes) as live:
            assert live.worker.state.reason == "OS file watch limit reached"
            notes.write({"v.md": "Seen all the same.\n"})
            await live.finds("notes/v.md", "Seen all the same")

    asyncio.run(play())


def test_a_watcher_that_hears_its_canary_but_no_change_is_found_out(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.with_settings(look_interval_s=0.2)
    monkeypatch.setattr(following, "_EVENT_AGE_S", 0.0)
    monkeypatch.setattr(following.Following, "_heard", lambda self, events: None)

    async def play() -> None:
        async with followed(notes) as live:
            for number in range(20):
                notes.write({"v.md": f"Unheard {number}.\n"})
                await live.finds("notes/v.md", f"Unheard {number}")
                if live.worker.state.mode == "polling":
                    break
            assert "without an event" in live.worker.state.reason

    asyncio.run(play())


def test_a_text_that_the_model_fails_on_is_told_once_and_tried_again(notes: Notes) -> None:
    notes.with_settings(look_interval_s=0.2)

    async def play() -> None:
        async with followed(notes) as live:
            notes.embedder.fail_on = "Poison"
            notes.write({"v.md": "Poison.\n"})
            await live.until(lambda: notes.embedder.failures > 5)
            refused = ("notes/v.md", "text-refused")
            assert [(one.path, one.code) for one in live.problems] == [refused]
            assert live.errors == []  # the files are followed
            assert notes.text("notes/v.md") == "Poison.\n"
            notes.embedder.fail_on = None
            await live.until(lambda: notes.store.snapshot().pending() == 0)
            await live.equals_the_disk()
            notes.embedder.fail_on = "Poison"  # and when it comes back, it is told again
            notes.write({"v.md": "Poison again.\n"})
            await live.until(lambda: len(live.problems) == 2)
            assert (live.problems[1].path, live.problems[1].code) == refused

    asyncio.run(play())


def test_the_first_look_that_goes_well_after_one_that_failed_is_told_of(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.with_settings(look_interval_s=0.2)

    async def play() -> None:
        async with followed(notes) as live:
            await live.until(lambda: bool(live.reports))
            run = live.engine.run

            def fail_once(*arguments: Any, **options: Any) -> Any:
                monkeypatch.setattr(live.engine, "run", run)
                raise StoreError("The index cannot be used.")

            monkeypatch.setattr(live.engine, "run", fail_once)
            await live.until(lambda: bool(live.errors))
            told = len(live.reports)
            await live.until(lambda: len(live.reports) > told)
            report = live.reports[-1]
            assert (report.added, report.changed, report.unchanged) == (0, 0, 3)
            assert len(live.errors) == 1

    asyncio.run(play())


def test_what_a_failed_look_was_to_take_in_is_known_to_lack_until_it_is_in(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            await live.until(lambda: bool(live.reports) and not live.worker.is_behind)
            run = live.engine.run

            def fail(*_: Any, **__: Any) -> Any:
                raise StoreError("The index cannot be used.")

            monkeypatch.setattr(live.engine, "run", fail)
            notes.write({"v.md": "Missed at first.\n"})
            await live.until(lambda: bool(live.errors))
            monkeypatch.setattr(live.engine, "run", run)
            live.worker.mark(["notes/keep.md"])
            while "Missed at first" not in notes.text("notes/v.md"):
                assert live.worker.is_behind
                await asyncio.sleep(0.02)
            await live.worker.settle()
            assert not live.worker.is_behind

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


def test_what_was_seen_to_go_is_removed_after_a_look_that_failed(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            await live.until(lambda: not live.worker.is_behind)
            run = live.engine.run

            def fail_once(*_: Any, **__: Any) -> Any:
                monkeypatch.setattr(live.engine, "run", run)
                raise StoreError("The index cannot be used.")

            monkeypatch.setattr(live.engine, "run", fail_once)
            # A source that is emptied unseen is not taken for one whose files were deleted.
            for file in [file for file in notes.root.rglob("*") if file.is_file()]:
                file.unlink()
            await live.until(lambda: bool(live.errors) and not notes.store.snapshot().stats())

    asyncio.run(play())


def test_events_arrive_again_after_the_folder_that_shows_it_was_taken_away(notes: Notes) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            for number in range(3):
                shutil.rmtree(notes.settings.index / "watch")
                if number % 2:
                    (notes.settings.index / "watch").mkdir()
                notes.write({"v.md": f"Round {number}.\n"})
                await live.worker.settle()
                assert notes.text("notes/v.md") == f"Round {number}.\n"
                await live.until(lambda: live.worker.state.folders > 0)
                assert live.worker.state.mode == "events"

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


def test_without_events_what_was_saved_before_is_in_when_it_has_settled(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timetable, "_MIN_POLL_S", 600.0)
    notes.with_settings(use_polling=True)

    async def play() -> None:
        async with followed(notes) as live:
            for number in range(5):
                notes.write({"v.md": f"Round {number}.\n", f"new{number}.md": "New.\n"})
                await live.worker.settle()
                assert notes.text("notes/v.md") == f"Round {number}.\n"
                assert notes.text(f"notes/new{number}.md") == "New.\n"

    asyncio.run(play())


def test_without_events_question_after_question_keeps_no_other_work_from_being_done(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "_IDLE_S", 0.0)
    notes.with_settings(use_polling=True)

    async def play() -> None:
        async with followed(notes) as live:
            maintained = Times()
            monkeypatch.setattr(live.engine, "maintain", maintained.put)
            notes.write({"v.md": "Committed.\n"})
            while not maintained.count:
                await asyncio.gather(*(live.worker.settle() for _ in range(3)))

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


def test_reports_come_without_an_event_loop_until_it_is_stopped(notes: Notes) -> None:
    from lancebrain.sync.follow import follow

    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    stop = threading.Event()
    reports = follow(engine, stop)
    assert next(reports).added == 3
    notes.write({"v.md": "Edited.\n"})
    assert next(reports).changed == 1
    stop.set()
    assert list(reports) == []
    assert WatchRecord(notes.settings.index).read() is None


def test_a_bulk_gives_way_to_questions_again_and_again_and_a_single_edit_does_not(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_GROUP_PATHS", 10)
    monkeypatch.setattr(embedding, "_MAX_PART", 20)
    notes.with_settings(look_interval_s=600)

    async def play() -> None:
        async with followed(notes) as live:
            await live.equals_the_disk()
            await live.until(lambda: live.worker._loading is not None)  # nothing else is to do
            before = live.gave_way.count
            notes.write({"v.md": "One edit.\n"})
            await live.finds("notes/v.md", "One edit")
            await live.worker.settle()
            assert live.gave_way.count == before
            notes.write({f"bulk/{n}.md": f"Note {n}.\n" for n in range(run.SMALL + 50)})
            await live.equals_the_disk()
            await live.until(lambda: notes.store.snapshot().pending() == 0)
            groups, parts = (run.SMALL + 50) // 10, run.SMALL // 20
            assert live.gave_way.count - before >= groups + parts - 2

    asyncio.run(play())


def test_a_model_that_cannot_be_changed_is_told_of_once_while_all_else_goes_well(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.with_settings(look_interval_s=0.1)
    tried = Times()

    def fail() -> None:
        tried.put()
        raise EmbedderError("It is not installed.")

    async def play() -> None:
        async with followed(notes) as live:
            monkeypatch.setattr(live.engine, "settle_model", fail)
            await live.until(lambda: tried.count > 3)
            assert [one.message for one in live.problems] == ["It is not installed."]
            assert live.errors == []

    asyncio.run(play())


def test_what_a_look_within_a_look_has_seen_is_not_taken_for_all_of_it(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_GROUP_PATHS", 20)
    monkeypatch.setattr(run, "_BATCH_ROWS", 20)

    async def play() -> None:
        async with followed(notes) as live:
            for number in range(400):
                notes.write({f"many/{number}.md": f"Number {number}.\n"})
            live.worker.mark_everything()
            await live.until(lambda: len(notes.store.snapshot().stats()) > 10)
            notes.write({"v.md": "In the middle.\n"})
            assert await live.worker.settle()
            assert len(notes.store.snapshot().stats()) == 403
            assert notes.text("notes/v.md") == "In the middle.\n"

    asyncio.run(play())


def test_a_look_that_is_asked_for_does_not_wait_until_all_vectors_are_filled_in(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "SMALL", 0)
    notes.with_settings(use_polling=True, look_interval_s=600)

    async def play() -> None:
        async with followed(notes) as live:
            steps = live.engine.backfill_steps
            going = threading.Event()

            def endless() -> Any:
                going.set()
                while not live.worker._stopping:
                    time.sleep(0.01)
                    yield
                yield from steps()

            monkeypatch.setattr(live.engine, "backfill_steps", endless)
            notes.write({"v.md": "While vectors are filled in.\n"})
            live.worker.mark_everything()
            await live.until(going.is_set)
            notes.write({"v.md": "Saved meanwhile.\n"})
            assert await live.worker.settle()
            assert notes.text("notes/v.md") == "Saved meanwhile.\n"

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


def test_where_events_are_given_up_the_next_look_is_soon(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            await live.until(lambda: not live.worker.is_behind)
            live.worker._following._give_up("for no reason")
            await live.until(lambda: live.worker.state.look_interval_s < 600)
            notes.write({"v.md": "Found by polling.\n"})
            await live.finds("notes/v.md", "Found by polling")

    asyncio.run(play())


def test_while_no_canary_can_be_written_nobody_asks_without_a_pause_and_events_stay(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            await live.until(lambda: not live.worker.is_behind)
            tried = Times()

            def refuse(*_: object, **__: object) -> None:
                tried.put()
                raise OSError(errno.ENOSPC, "No space left on device")

            with monkeypatch.context() as patch:
                patch.setattr(watcher.Path, "write_text", refuse)
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(live.worker.settle(), 1.0)
                await asyncio.to_thread(live.worker._following.check, [])
            assert tried.count < 20
            assert live.worker.state.mode == "events"
            notes.write({"v.md": "Room again.\n"})
            await live.worker.settle()
            assert notes.text("notes/v.md") == "Room again.\n"

    asyncio.run(play())


def test_polling_takes_over_while_the_folder_of_the_canary_cannot_be_made(notes: Notes) -> None:
    (notes.settings.index / "watch").write_text("no folder")

    async def play() -> None:
        async with followed(notes) as live:
            assert "cannot be seen" in live.worker.state.reason
            notes.write({"v.md": "Seen all the same.\n"})
            await live.worker.settle()
            assert notes.text("notes/v.md") == "Seen all the same.\n"
            (notes.settings.index / "watch").unlink()
            live.worker.mark_everything()
            await live.until(lambda: live.worker.state.mode == "events")
            notes.write({"v.md": "By an event.\n"})
            await live.worker.settle()
            assert notes.text("notes/v.md") == "By an event.\n"

    asyncio.run(asyncio.wait_for(play(), PATIENCE_S))


def test_what_killed_processes_left_beside_the_index_goes_after_a_day(notes: Notes) -> None:
    folder = notes.settings.index / "watch"
    folder.mkdir()
    names = ("1.json", "1-22.watched", "1-22-3", "2.json", "2-33.watched")
    for name in names:
        (folder / name).touch()
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(folder / "1.json", (long_ago, long_ago))
    WatchRecord(notes.settings.index).write(watchstate.WatchState("events"))
    assert {file.name for file in folder.iterdir()} == {
        "2.json",
        "2-33.watched",
        f"{os.getpid()}.json",
    }


def test_a_canary_folder_that_may_not_be_looked_at_fails_no_question(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play() -> None:
        async with followed(notes) as live:
            await live.until(lambda: not live.worker.is_behind)

            def refused(method: Callable[..., Any]) -> Callable[..., Any]:
                def refuse(path: Path, *arguments: Any, **options: Any) -> Any:
                    if path.parent.name == "watch":
                        raise PermissionError(errno.EACCES, "Permission denied")
                    return method(path, *arguments, **options)

                return refuse

            with monkeypatch.context() as patch:
                for name in ("write_text", "stat", "unlink"):
                    patch.setattr(Path, name, refused(getattr(Path, name)))
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(live.worker.settle(), 1.0)
            notes.write({"v.md": "May be looked at again.\n"})
            await live.worker.settle()
            assert notes.text("notes/v.md") == "May be looked at again.\n"

    asyncio.run(play())
