"""``lancebrain sync --watch`` over many notes: how soon a save is found, and what branches cost."""

from __future__ import annotations

import hashlib
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import lancebrain
from benchmarks.measure import say
from lancebrain.store import Store
from lancebrain.sync.watchstate import WatchRecord

_BRANCH_FILES = 400
_PATIENCE_S = 900.0
_EDIT_EVERY_S = 3.0


def follow(scratch: Path, files: int, saves: int) -> None:
    """Index short notes with the default model, and then everything that is live."""
    root = scratch / "vault"
    _write_notes(root, files - _BRANCH_FILES, "note")
    _write_branches(root / "repository")
    _write_notes(scratch / "more", files, "bulk")
    index = scratch / "vault-index"
    say("indexing")
    lancebrain_("sync", root, "--index", index)
    with _watching(index), lancebrain.open(index) as brain:
        _save(brain, root, saves)
        _switch(brain, root)
        _copy_in(brain, root, scratch / "more")


def lancebrain_(*arguments: object) -> None:
    """Run a command to its end."""
    subprocess.run(
        [sys.executable, "-m", "lancebrain", *map(str, arguments)], check=True, capture_output=True
    )


@contextmanager
def _watching(index: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "lancebrain", "sync", "--watch", "--index", str(index)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        record = WatchRecord(index)
        _until(lambda: (state := record.read()) is not None and state.folders > 0)
        time.sleep(2)
        yield
    finally:
        process.terminate()
        process.wait()


def _save(brain: lancebrain.Brain, root: Path, saves: int) -> None:
    rng = random.Random(3)
    files = sorted(root.glob("note-*/*.md"))
    seconds = []
    for number in range(saves):
        time.sleep(rng.uniform(0.3, 1.2))
        seconds.append(_saved(brain, rng.choice(files), is_atomic=number % 2 == 0))
    p50, p95 = np.percentile(np.array(seconds) * 1000, [50, 95])
    print(
        f"save to searchable over {len(files)} files, {saves} saves: p50 {p50:.0f} ms, "
        f"p95 {p95:.0f} ms, at most {max(seconds) * 1000:.0f} ms"
    )


def _saved(brain: lancebrain.Brain, file: Path, *, is_atomic: bool) -> float:
    """Seconds from a save until a question by keywords finds it."""
    word = f"zanzibar{random.randrange(10**12)}"
    text = f"{file.read_text()}\nThe {word} is new here.\n"
    started = time.perf_counter()
    if is_atomic:
        fresh = file.with_name(f".{file.name}.tmp")
        fresh.write_text(text)
        fresh.replace(file)
    else:
        file.write_text(text)
    _until(lambda: bool(brain.search(word, mode="keyword", look=False).hits))
    return time.perf_counter() - started


def _switch(brain: lancebrain.Brain, root: Path) -> None:
    store = Store.open(brain.settings.index, read_only=True)
    repository = root / "repository"

    def settled() -> bool:
        on_disk = {
            f"vault/repository/{file.relative_to(repository).as_posix()}": hashlib.sha256(
                file.read_bytes()
            ).hexdigest()
            for file in repository.rglob("*.md")
        }
        snapshot = store.snapshot()
        known = {
            path: stat.sha256
            for path, stat in snapshot.stats().items()
            if path.startswith("vault/repository/")
        }
        return known == on_disk and snapshot.pending() == 0

    def embedded_by(name: str, change: Callable[[], None]) -> None:
        before = store.snapshot().version
        started = time.perf_counter()
        change()
        _until(settled)
        seconds = time.perf_counter() - started
        counts = [r.counts.get("embedded", 0) for r in store.commits.read() if r.version > before]
        print(f"  {name}: {sum(counts)} embedded, right after {seconds:.1f} s")

    def reset() -> None:
        shutil.rmtree(repository / "one")
        time.sleep(1)
        _git(repository, "reset", "-q", "--hard")

    def edit() -> None:
        (repository / "one" / "0.md").write_text("# Edited\n\nNot to stay.\n")

    print(f"branches of {_BRANCH_FILES} files:")
    embedded_by("switched", lambda: _git(repository, "checkout", "-q", "two"))
    embedded_by("and back", lambda: _git(repository, "checkout", "-q", "one"))
    embedded_by("all deleted, and reset --hard", reset)
    embedded_by("one edited", edit)
    embedded_by("and stashed", lambda: _git(repository, "stash", "-q"))


def _copy_in(brain: lancebrain.Brain, root: Path, more: Path) -> None:
    """A single edit now and then, while as many files again are copied in."""
    files = sorted(more.rglob("*.md"))
    store = Store.open(brain.settings.index, read_only=True)
    started = time.perf_counter()
    copying = threading.Thread(target=shutil.copytree, args=(more, root / "bulk"))
    copying.start()
    seconds = []
    note = root / "note-0" / "0.md"
    while copying.is_alive() or _count(store, "vault/bulk/") < len(files):
        time.sleep(0.3)
        seconds.append(_saved(brain, note, is_atomic=False))
        say(f"{time.perf_counter() - started:.0f} s: an edit is found after {seconds[-1]:.1f} s")
        time.sleep(_EDIT_EVERY_S)
    copied = time.perf_counter() - started
    copying.join()
    print(
        f"{len(files)} files copied in: all found by keywords after {copied:.0f} s, an edit made "
        f"meanwhile after {max(seconds):.1f} s at most ({len(seconds)} edits)"
    )


def _count(store: Store, folder: str) -> int:
    return sum(path.startswith(folder) for path in store.snapshot().stats())


def _write_notes(root: Path, count: int, name: str) -> None:
    rng = random.Random(name)
    words = [f"{rng.choice('bdfgklmnprst')}{rng.choice('aeiou')}{n:x}" for n in range(20_000)]
    for number in range(count):
        file = root / f"{name}-{number % 100}" / f"{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = " ".join(rng.choices(words, k=60))
        file.write_text(f"# {name.title()} {number}\n\n{text}.\n")


def _write_branches(repository: Path) -> None:
    (repository / "one").mkdir(parents=True)
    for number in range(_BRANCH_FILES):
        file = repository / "one" / f"{number}.md"
        file.write_text(f"# Of a branch {number}\n\nThis is how branch one has {number}.\n")
    _git(repository, "init", "-q", "-b", "one")
    _git(repository, "add", ".")
    _git(repository, "commit", "-q", "-m", "one")
    _git(repository, "checkout", "-q", "-b", "two")
    for file in (repository / "one").glob("*.md"):
        file.write_text(file.read_text().replace("branch one", "branch two"))
    _git(repository, "commit", "-q", "-a", "-m", "two")
    _git(repository, "checkout", "-q", "one")


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError("It never came to hold.")
        time.sleep(0.002)
