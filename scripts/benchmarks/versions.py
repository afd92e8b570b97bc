"""Going back in time: how long it takes, what it gives, and what keeping the past costs.

rollback   an index of many chunks rolled back and forth, and the hits of fixed questions compared
edits      many edits of one chunk each, with checkpoints along the way: room, time, answers

The texts are drawn from a fixed vocabulary, and vectors from the hash of a text, so that the
model's time is none. ``edits`` spreads its versions over days, as if they had been made so, since
a version is kept for a week.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import lancebrain
from benchmarks.measure import say
from lancebrain.chunking import chunk
from lancebrain.readers import read
from lancebrain.store import Checkpoints, RowBatch, Store
from lancebrain.types import Answer, Document, DocumentState, Query, Source

_DIM = 512
_WORDS = 20_000
_SECTIONS = 5
_COMMIT_DOCUMENTS = 2_000
_CHECKPOINTS = 20
_QUESTIONS = 50
_QUESTIONS_A_CHECKPOINT = 10
_T = TypeVar("_T")


class _Hashed:
    """An embedder that draws a vector from the hash of a text."""

    name = "hashed"
    dim = _DIM
    fingerprint = f"hashed/{_DIM}"
    fusion_weight = 0.4
    languages: Mapping[str, float] = MappingProxyType({})

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.Embedder`."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.Embedder`."""
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        drawn = np.random.default_rng(int.from_bytes(digest, "big")).standard_normal(_DIM)
        vector: NDArray[np.float32] = (drawn / np.linalg.norm(drawn)).astype(np.float32)
        return vector


class _Prose:
    """Sentences of made-up words, some of which are common and most rare."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        letters = np.array(list("abcdefghijklmnoprstuvw"))
        lengths = np.random.default_rng(1).integers(3, 10, _WORDS)
        self._words = ["".join(np.random.default_rng(n).choice(letters, n)) for n in lengths]
        self._words = [f"{word}{n:x}" for n, word in enumerate(self._words)]

    def words(self, count: int) -> str:
        """So many words."""
        ranks = self._random.zipf(1.3, count) % _WORDS
        return " ".join(self._words[rank] for rank in ranks)

    def note(self, number: int) -> str:
        """A note of a few sections, each a chunk."""
        sections = (f"## Part {n}\n\n{self.words(60)}.\n\n" for n in range(_SECTIONS))
        return f"# Note {number}\n\n{''.join(sections)}"


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(
        prog="bench.py versions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("part", choices=("rollback", "edits", "all"), nargs="?", default="all")
    parser.add_argument("--chunks", type=int, default=100_000, help="of the index (100000)")
    parser.add_argument("--edits", type=int, default=10_000, help="how many (10000)")
    parser.add_argument(
        "--edits-a-day", type=int, default=200, help="as told to retention (200); 0: all today"
    )
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        if options.part in ("rollback", "all"):
            _rollback(Path(scratch) / "rollback", options.chunks)
        if options.part in ("edits", "all"):
            _edits(Path(scratch) / "edits", options.chunks, options.edits, options.edits_a_day)
    return 0


def _rollback(folder: Path, chunks: int) -> None:
    store = Store.create(folder, model=_Hashed.name, fingerprint=_Hashed.fingerprint, dim=_DIM)
    prose = _Prose(7)
    count = chunks // _SECTIONS
    _put(store, {n: prose.note(n) for n in range(count)})
    with store.lock(60):
        store.maintain()
        now = datetime.now(UTC)
        Checkpoints(store).create("before", store.snapshot().version, at=now)
    with lancebrain.open(folder, model="hashed", embedder=_Hashed(), sources=()) as brain:
        ask = _asker(brain, _Prose(11))
        before = ask()
        _put(store, {n: prose.note(n) for n in range(0, count, 50)})
        after = ask()
        assert before != after
        seconds, way_back = _timed(lambda: brain.rollback("before"))
        same = sum(one == other for one, other in zip(ask(), before, strict=True))
        print(
            f"rollback of {brain.status().chunks:,} chunks: {seconds:.2f} s (limit 1 s), "
            f"{same} of {_QUESTIONS} questions answered as before"
        )
        seconds, _ = _timed(lambda: brain.rollback(way_back.checkpoint))
        same = sum(one == other for one, other in zip(ask(), after, strict=True))
        print(
            f"and back: {seconds:.2f} s (limit 1 s), "
            f"{same} of {_QUESTIONS} questions answered as after"
        )


def _edits(folder: Path, chunks: int, edits: int, a_day: int) -> None:
    root = folder / "notes"
    prose = _Prose(7)
    random = np.random.default_rng(3)
    files = []
    for number in range(chunks // _SECTIONS):
        file = root / f"{number % 100}" / f"{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(prose.note(number))
        files.append(file)
    source = Source("notes", root)
    index = folder / "index"
    with lancebrain.open(index, model="hashed", embedder=_Hashed(), sources=(source,)) as brain:
        brain.sync()
        store = brain._access.store()
        clocks = _clocked(store)
        times: list[float] = []
        answers: dict[str, list[object]] = {}
        said = time.perf_counter()
        for number in range(1, edits + 1):
            file = files[random.integers(len(files))]
            _edit(file, prose, random)
            seconds, _ = _timed(partial(brain.sync, [file]))
            times.append(seconds)
            if number % max(edits // _CHECKPOINTS, 1) == 0:
                name = f"edit-{number}"
                brain.checkpoint(name, look=False)
                answers[name] = _at(brain, name)()
            if a_day and number % 50 == 0:
                _age(index, timedelta(days=50 / a_day))
            if time.perf_counter() - said > 20:
                said = time.perf_counter()
                say(f"{number} edits, {store.bytes() / 1e6:.0f} MB, {len(store.versions())} kept")
        print(
            f"{edits:,} edits of one chunk among {brain.status().chunks:,}, {a_day} a day: "
            f"p50 {statistics.median(times) * 1000:.0f} ms, mean "
            f"{statistics.mean(times) * 1000:.0f} ms, max {max(times) * 1000:.0f} ms"
        )
        print(
            f"  history: {(clocks[0].seconds + clocks[1].seconds) / clocks[2].seconds:.1%} of a "
            f"commit (limit 10 %), {clocks[0].seconds / edits * 1000:.2f} ms for its record and "
            f"{clocks[1].seconds / edits * 1000:.2f} ms to look for old versions"
        )
        _compare(folder, source, store, answers)


def _compare(folder: Path, source: Source, store: Store, answers: dict[str, list[object]]) -> None:
    fresh, index = folder / "fresh", store.folder
    with lancebrain.open(fresh, model="hashed", embedder=_Hashed(), sources=(source,)) as brain:
        brain.sync()
        _clean_up(brain._access.store())
        whole = brain.status().bytes
    print(f"  a fresh index of the same files: {whole / 1e6:.0f} MB")
    _measure("at once", store, fresh, whole)
    _clean_up(store)
    _measure("after a week without edits", store, fresh, whole)
    with lancebrain.open(index, model="hashed", embedder=_Hashed(), sources=(source,)) as brain:
        same = sum(_at(brain, name)() == said for name, said in answers.items())
    print(f"  checkpoints: {same} of {len(answers)} answer as they did when they were made")


def _measure(when: str, store: Store, fresh: Path, whole: int) -> None:
    old, new = _first_searches(store.folder, fresh)
    print(
        f"  {when}: {store.bytes() / 1e6:.0f} MB with {len(store.versions()):,} versions, "
        f"{store.bytes() / whole:.2f} times (limit 2); open and first search {old * 1000:.0f} ms, "
        f"fresh {new * 1000:.0f} ms, {old / new:.2f} times (limit 1.5)"
    )


def _clean_up(store: Store) -> None:
    """What happens by itself when a week goes by without a change."""
    _age(store.folder, timedelta(days=8))
    with store.lock(60):
        store.maintain(only_due=True)
        _age(store.folder, timedelta(days=8))
        store.maintain(only_due=True)


def _first_searches(*indices: Path) -> list[float]:
    """Median seconds to open and to answer one question of each kind, taken in turns."""

    def search(index: Path) -> None:
        with lancebrain.open(index, model="hashed", embedder=_Hashed(), sources=()) as brain:
            for mode in ("keyword", "hybrid", "vector"):
                brain.search(Query("abc owl part", mode), look=False)

    times = [[_timed(partial(search, index))[0] for index in indices] for _ in range(15)]
    return [statistics.median(of_one) for of_one in zip(*times, strict=True)]


def _at(brain: lancebrain.Brain, name: str) -> Callable[[], list[object]]:
    return _asker(brain, _Prose(11), count=_QUESTIONS_A_CHECKPOINT, at=name)


def _asker(
    brain: lancebrain.Brain, prose: _Prose, *, count: int = _QUESTIONS, at: str | None = None
) -> Callable[[], list[object]]:
    """Asks the same questions each time, and gives what matters of the answers."""
    texts = [prose.words(3) for _ in range(count)]
    modes = ("keyword", "hybrid", "vector")
    queries = [Query(text, modes[n % 3]) for n, text in enumerate(texts)]  # type: ignore[arg-type]

    def ask() -> list[object]:
        return [_told(brain.search(query, look=False, at=at)) for query in queries]

    return ask


def _told(answer: Answer) -> object:
    return [(hit.id, hit.score, hit.snippet, hit.line_start) for hit in answer.hits]


def _edit(file: Path, prose: _Prose, random: np.random.Generator) -> None:
    head, *sections = file.read_text().split("## Part ")
    number = random.integers(len(sections))
    sections[number] = f"{number}\n\n{prose.words(60)}.\n\n"
    file.write_text("## Part ".join([head, *sections]))


class _Clocked:
    """A function, and the time it takes in all."""

    def __init__(self, function: Callable[..., _T]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *arguments: object, **options: object) -> object:
        seconds, result = _timed(partial(self._function, *arguments, **options))
        self.seconds += seconds
        return result


def _clocked(store: Store) -> tuple[_Clocked, _Clocked, _Clocked]:
    """What history costs, and a commit, which writes its record."""
    records, looks = _Clocked(store.commits.append), _Clocked(store.due_versions)
    commits = _Clocked(store.commit)
    store.commits.append = records  # type: ignore[assignment, method-assign]
    store.due_versions = looks  # type: ignore[assignment, method-assign]
    store.commit = commits  # type: ignore[assignment, method-assign]
    return records, looks, commits


def _age(index: Path, by: timedelta) -> None:
    """Let all versions have been made so much earlier."""
    for manifest in (index / "chunks.lance" / "_versions").glob("*.manifest"):
        at = manifest.stat().st_mtime - by.total_seconds()
        os.utime(manifest, (at, at))


def _timed(call: Callable[[], _T]) -> tuple[float, _T]:
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def _put(store: Store, notes: dict[int, str]) -> None:
    embedder = _Hashed()
    numbers = sorted(notes)
    with store.lock(60):
        for first in range(0, len(numbers), _COMMIT_DOCUMENTS):
            rows = RowBatch()
            for number in numbers[first : first + _COMMIT_DOCUMENTS]:
                _add(rows, number, notes[number], embedder)
            store.commit(rows, reason="sync", counts={}, started=time.monotonic())
            say(f"{first + _COMMIT_DOCUMENTS} notes")
        store.ensure_indices()


def _add(rows: RowBatch, number: int, text: str, embedder: _Hashed) -> None:
    now = datetime.now(UTC)
    path = f"notes/{number % 100}/{number}.md"
    document = read(path, "md", text.encode())
    assert isinstance(document, Document)
    state = DocumentState(
        path=path,
        source="notes",
        domain="knowledge",
        kind="md",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        size=len(text.encode()),
        mtime_ns=1,
        looked_at_ns=1,
        mime="text/markdown",
        encoding="utf-8",
        title=f"Note {number}",
    )
    rows.document(state)
    for place, one in enumerate(chunk(document)):
        rows.chunk(state, place << 20, one, embedder.embed_query(one.text), now, now)
