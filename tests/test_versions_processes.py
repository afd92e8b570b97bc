"""Going back while others serve, sync or die: everyone sees the same, and nothing is half done.

``LANCEBRAIN_KILLS`` sets how many processes are killed (12 by default).
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lancebrain.store import Checkpoints, Store
from lancebrain.versions import NoteRestorer, forget, history, resume, rollback
from lancebrain.versions.problems import problems_in_time
from tests.conftest import Ran
from tests.indexes import Notes
from tests.served import Process
from tests.trees import write_tree

PROJECT = Path(__file__).parent.parent
KILLS = int(os.environ.get("LANCEBRAIN_KILLS", "12"))

SERVER = """
import json, sys
from lancebrain.brain import open as open_brain
from tests.stand_in import StandIn
with open_brain(sys.argv[1], embedder=StandIn(), look_interval_s=3600) as brain:
    brain.status()
    print("ready", flush=True)
    for line in sys.stdin:
        answer = brain.search(line.strip(), mode="keyword")
        print(json.dumps({
            "paths": sorted(hit.path for hit in answer.hits),
            "pinned": answer.pinned,
            "version": answer.version,
            "status": brain.status().pinned,
            "checkpoints": sorted(c.name for c in brain.checkpoints()),
        }), flush=True)
"""

SYNCER = """
import sys
from pathlib import Path
from tests.conftest import Ran
from tests.indexes import Notes
from tests.served import Process
from tests.trees import write_tree
notes = Notes(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(10_000):
    report = notes.write({"busy.md": f"# Busy\\n\\nedit {number}\\n"}).sync()
    print([problem.code for problem in report.problems], flush=True)
"""

DOER = """
import itertools, sys
from datetime import UTC, datetime
from pathlib import Path
from lancebrain.versions import NoteRestorer, forget, optimize, rollback
from datetime import timedelta
from tests.conftest import Ran
from tests.indexes import Notes
from tests.served import Process
from tests.trees import write_tree
notes = Notes(Path(sys.argv[1]))
store, what = notes.store, sys.argv[2]
now = lambda: datetime.now(UTC)
print("ready", flush=True)
for number in itertools.count():
    print("begin", number, flush=True)
    if what == "rollback":
        rollback(store, ("one", "two")[number % 2], now=now(), lock_timeout_s=5)
    elif what == "forget":
        forget(store, [f"notes/f{number}.md"], now=now(), lock_timeout_s=5)
    elif what == "restore":
        for file in notes.root.glob("f*.md"):
            file.unlink()
        NoteRestorer(store, notes.settings.sources).restore("notes/")
    else:
        notes.write({"busy.md": f"# Busy\\n\\nedit {number}\\n"}).sync()
        optimize(store, keep_versions=timedelta(0), now=now() + timedelta(days=number),
                 lock_timeout_s=5)
    print("end", number, flush=True)
"""

TEXTS = {f"f{n}.md": f"# Note {n}\n\nnumber {n} of the notes\n" for n in range(12)}


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """Checkpoint ``one``, then an edited note and checkpoint ``two``, which is the newest."""
    notes = Notes(tmp_path)
    notes.write({**TEXTS, "a.md": "# A\n\nan owl\n"}).sync()
    name_version(notes, "one")
    notes.write({"a.md": "# A\n\na fox\n"}).sync()
    name_version(notes, "two")
    return notes


def name_version(notes: Notes, name: str) -> None:
    with notes.store.lock(5):
        version = notes.store.snapshot().version
        Checkpoints(notes.store).create(name, version, at=datetime.now(UTC))


@contextmanager
def started(program: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process that has said it is ready; it is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    try:
        assert next_line(process) == "ready"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=30)


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def ask(server: subprocess.Popen[str], word: str) -> dict[str, object]:
    assert server.stdin is not None
    server.stdin.write(f"{word}\n")
    server.stdin.flush()
    answer: dict[str, object] = json.loads(next_line(server))
    return answer


def back(notes: Notes, ref: str) -> None:
    rollback(notes.store, ref, now=datetime.now(UTC), lock_timeout_s=30)


def texts(store: Store, version: int | None = None) -> dict[str, str]:
    snapshot = store.snapshot(version)
    by_path = snapshot.chunks(list(snapshot.stats()))
    return {path: "".join(row.chunk.text for row in rows) for path, rows in by_path.items()}


def test_a_server_sees_a_rollback_the_pin_and_the_way_on_at_once(notes: Notes) -> None:
    with started(SERVER, notes.settings.index) as server:
        assert ask(server, "fox")["paths"] == ["notes/a.md"]
        back(notes, "one")
        held = ask(server, "owl")
        assert (held["paths"], held["pinned"], held["status"]) == (["notes/a.md"], "one", "one")
        assert ask(server, "fox")["paths"] == []
        resume(notes.store, lock_timeout_s=5)
        notes.sync()
        on = ask(server, "fox")
        assert (on["paths"], on["pinned"], on["status"]) == (["notes/a.md"], None, None)


def test_an_agents_server_sees_a_rollback_of_another_process_and_follows_files_after_it(
    tmp_path: Path, lb: Callable[..., Ran], stand_in: None
) -> None:
    root = write_tree(tmp_path / "vault", {"a.md": "# A\n\nowl\n"})
    where = ("--index", tmp_path / "index")
    assert lb("sync", root, *where).code == 0
    write_tree(root, {"a.md": "# A\n\nfox\n"})
    assert lb("sync", *where).code == 0

    def found(server: Process, word: str) -> tuple[bool, str | None]:
        answer = server.call("search_knowledge", query=word)["structuredContent"]
        return any(word in hit["text"] for hit in answer["hits"]), answer["pinned"]

    with Process("serve", *where) as server:
        server.start()
        while server.call("index_status").get("isError"):
            pass  # still opening it, on a busy machine
        assert found(server, "fox") == (True, None)
        assert lb("rollback", "latest~1", "--yes", *where).code == 0
        assert found(server, "owl") == (True, "3")
        assert server.call("index_status")["structuredContent"]["pinned"] == "3"
        write_tree(root, {"a.md": "# A\n\nbee\n"})
        assert found(server, "owl") == (True, "3")
        assert lb("resume", *where).code == 0
        assert found(server, "bee") == (True, None)
        write_tree(root, {"b.md": "# B\n\nnewt\n"})
        while found(server, "newt") != (True, None):
            time.sleep(0.02)


def test_a_server_follows_a_table_that_was_written_anew(notes: Notes) -> None:
    with started(SERVER, notes.settings.index) as server:
        assert ask(server, "fox")["paths"] == ["notes/a.md"]
        before = ask(server, "number")
        assert "notes/f3.md" in before["paths"]  # type: ignore[operator]
        forget(notes.store, ["notes/f3.md"], now=datetime.now(UTC), lock_timeout_s=5)
        after = ask(server, "number")
        assert "notes/f3.md" not in after["paths"]  # type: ignore[operator]
        assert {"one", "two"} <= set(after["checkpoints"])  # type: ignore[call-overload]
        # Its versions count from 1 again, past those that the server has seen.
        for animal in ("hare", "lynx", "mole", "newt", "otter"):
            notes.write({"a.md": f"# A\n\na {animal}\n"}).sync()
            assert ask(server, animal)["paths"] == ["notes/a.md"]
            assert ask(server, "fox")["paths"] == []


def test_a_rollback_waits_for_a_sync_that_is_under_way_and_then_holds_it(notes: Notes) -> None:
    with started(SYNCER, notes.root.parent) as syncer:
        assert next_line(syncer) == "[]"
        back(notes, "one")
        version = notes.store.snapshot().version
        while next_line(syncer) == "[]":
            pass
        assert next_line(syncer) == "['pinned']"
        assert notes.store.snapshot().version == version
        assert texts(notes.store)["notes/a.md"] == "# A\n\nan owl\n"
        assert "notes/busy.md" not in notes.paths()


@pytest.mark.parametrize(
    "number",
    [pytest.param(n, marks=[pytest.mark.slow] if n >= 4 else []) for n in range(KILLS)],
)
def test_a_process_killed_at_any_moment_leaves_the_old_state_or_the_new(
    notes: Notes, number: int
) -> None:
    moment = random.Random(number)
    what = ("rollback", "forget", "restore", "optimize")[number % 4]
    rounds = {"rollback": 2, "forget": 1, "restore": 2, "optimize": 2}[what]
    with started(DOER, notes.root.parent, what) as process:
        for _ in range(2 * moment.randrange(rounds)):
            next_line(process)
        begun = next_line(process)
        time.sleep(moment.random() * (1.5 if what == "forget" else 0.4))  # the moment is the test
        process.kill()
        rest, _ = process.communicate(timeout=30)
    done = [int(line.split()[1]) for line in (begun, *rest.splitlines()) if line[:3] == "end"]
    done = list(range(max(done, default=int(begun.split()[1]) - 1) + 1))
    opened = Store.open(notes.settings.index)
    CHECKS[what](notes, opened, done)
    assert opened.versions().keys() >= set(opened.tags().values())
    assert list(notes.settings.index.glob("rewriting*")) == []
    resume(opened, lock_timeout_s=5)
    notes.sync()
    assert history(opened)[0].pinned is None
    assert problems_in_time(opened) == ()


def check_rollback(notes: Notes, opened: Store, done: list[int]) -> None:
    text = texts(opened)["notes/a.md"]
    assert text in ("# A\n\nan owl\n", "# A\n\na fox\n")
    hold = opened.hold.read()
    assert (hold is not None) or not done
    problems = problems_in_time(opened)
    if hold is not None and hold.done:
        assert problems == ()
        assert text == texts(opened, hold.version)["notes/a.md"]
    elif hold is not None:
        (problem,) = problems
        is_restored = text == texts(opened, hold.version)["notes/a.md"]
        assert ("as it was before" in problem.message) != is_restored
        back(notes, hold.ref)
        assert texts(notes.store)["notes/a.md"] == texts(opened, hold.version)["notes/a.md"]
    assert {"one", "two"} <= set(opened.tags())


def check_forget(notes: Notes, opened: Store, done: list[int]) -> None:
    everything = [texts(opened, version) for version in opened.versions()]
    for number in done:
        assert not any(f"notes/f{number}.md" in version for version in everything)
    cut = f"notes/f{len(done)}.md"
    in_named = [cut in texts(opened, version) for version in opened.tags().values()]
    assert all(in_named) or not any(in_named)
    entries = {entry.path: entry.done for entry in opened.forgotten.read()}
    assert entries.keys() - {f"notes/f{number}.md" for number in done} <= {cut}
    if not any(in_named):
        assert cut in entries
    if not entries.get(cut, True):
        assert [problem.path for problem in problems_in_time(opened)] == [cut]
        forget(notes.store, [cut], now=datetime.now(UTC), lock_timeout_s=5)
    assert {"one", "two"} <= set(opened.tags())
    assert "notes/a.md" in texts(opened, opened.tags()["one"])


def check_restore(notes: Notes, opened: Store, done: list[int]) -> None:
    there = {file.name: file.read_text() for file in notes.root.glob("f*.md")}
    assert there.items() <= TEXTS.items()
    NoteRestorer(opened, notes.settings.sources).restore("notes/")
    assert {file.name: file.read_text() for file in notes.root.glob("f*.md")} == TEXTS


def check_optimize(notes: Notes, opened: Store, done: list[int]) -> None:
    found = texts(opened)
    busy = found.pop("notes/busy.md", "")
    assert found == {f"notes/{name}": text for name, text in TEXTS.items()} | {
        "notes/a.md": "# A\n\na fox\n"
    }
    if done:
        assert int(busy.split()[-1]) >= done[-1]
    assert texts(opened, opened.tags()["one"])["notes/a.md"] == "# A\n\nan owl\n"


CHECKS = {
    "rollback": check_rollback,
    "forget": check_forget,
    "restore": check_restore,
    "optimize": check_optimize,
}
