"""A large index: how it is built, opened and searched, and what an edit costs.

Real text, repeated with other words added each time until there are enough chunks; vectors are a
random projection of its words, so that near texts are near. ``build`` makes an index and can be
stopped and run again; ``measure`` asks it and edits it, and makes a small one to compare with.
"""

from __future__ import annotations

import argparse
import pickle
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

import lancebrain
from benchmarks.filled import add_note
from benchmarks.measure import median_seconds, peak_memory_mb, say
from lancebrain.chunking import chunk
from lancebrain.readers import read
from lancebrain.store import RowBatch, Store
from lancebrain.types import Chunk, Document, Filter, Query

_WORD = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|\w+")
_DOCUMENT_CHUNKS = 8
_COMMIT_DOCUMENTS = 2_000
_ADDED_WORDS = 12
_QUESTIONS = 100
_QUESTION_WORDS = 12
_COMPARED = 20  # of the questions: comparing all vectors of a million takes seconds
_EDITS = 20
_OUTSIDE = 4_000


class Projected:
    """An embedder that knows words alone: each has a direction, rare ones weigh more.

    Args:
        texts: to learn from which words are rare.
    """

    name = "projected"
    fingerprint = "projected/2/512"
    dim = 512
    fusion_weight = 0.4
    languages: Mapping[str, float] = MappingProxyType({})

    def __init__(self, texts: Sequence[str]) -> None:
        self._numbers: dict[str, int] = {}
        counts: list[int] = []
        for text in texts:
            # In their order, not a set's: another process is to have the same directions.
            for word in dict.fromkeys(_WORD.findall(text.lower())):
                number = self._numbers.setdefault(word, len(counts))
                if number == len(counts):
                    counts.append(0)
                counts[number] += 1
        weights = np.log(len(texts) / np.array(counts))
        drawn = np.random.default_rng(5).standard_normal((len(counts), self.dim), np.float32)
        self._directions = drawn * weights[:, None].astype(np.float32)
        self.words = list(self._numbers)

    def sums(self, text: str) -> NDArray[np.float32]:
        """The vector of a text, of any length."""
        words = _WORD.findall(text.lower())
        numbers = [self._numbers[word] for word in words if word in self._numbers]
        summed: NDArray[np.float32] = self._directions[numbers].sum(axis=0)
        return summed

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        rows: NDArray[np.float32] = np.stack([unit(self.sums(text)) for text in texts])
        return rows

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        return unit(self.sums(text))


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """A vector of length 1; zeros point along the first axis."""
    length = float(np.linalg.norm(vector))
    if length == 0:
        first: NDArray[np.float32] = np.eye(1, len(vector), dtype=np.float32)[0]
        return first
    scaled: NDArray[np.float32] = vector / np.float32(length)
    return scaled


class Corpus:
    """Chunks without end, and their vectors.

    Args:
        folder: Markdown to take them from.
        kept: a file that they are kept in, as cutting them takes minutes.
    """

    def __init__(self, folder: Path, kept: Path) -> None:
        self.chunks: list[Chunk] = []
        if kept.exists():
            self.chunks = pickle.loads(kept.read_bytes())
        else:
            for file in sorted(folder.rglob("*.md")):
                document = read(file.name, "md", file.read_bytes())
                if isinstance(document, Document):
                    self.chunks += chunk(document)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(pickle.dumps(self.chunks))
        say(f"{len(self.chunks)} chunks of real text")
        self.embedder = Projected([one.text for one in self.chunks])
        self._sums: dict[int, NDArray[np.float32]] = {}

    def document(self, number: int) -> tuple[list[Chunk], NDArray[np.float32]]:
        """The chunks of a document and their vectors."""
        first = number * _DOCUMENT_CHUNKS
        made = [self._chunk(place) for place in range(first, first + _DOCUMENT_CHUNKS)]
        return [one for one, _ in made], np.stack([vector for _, vector in made])

    def _chunk(self, place: int) -> tuple[Chunk, NDArray[np.float32]]:
        again, at = divmod(place, len(self.chunks))
        one = self.chunks[at]
        if at not in self._sums:
            self._sums[at] = self.embedder.sums(one.text)
        sums = self._sums[at]
        if not again:
            return one, unit(sums)
        words = self.embedder.words
        chosen = np.random.default_rng(place).integers(len(words), size=_ADDED_WORDS)
        added = " ".join(words[number] for number in chosen)
        text = f"{one.text.rstrip()}\n\n{added}\n"
        one = replace(one, text=text, chunk_hash=f"{place:064x}", line_count=one.line_count + 2)
        return one, unit(sums + self.embedder.sums(added))


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py scale", description=__doc__)
    parser.add_argument("part", choices=("build", "measure"))
    parser.add_argument("folder", type=Path, help="Markdown to take texts from")
    parser.add_argument("work", type=Path, help="where the index is built, and stays")
    parser.add_argument("--chunks", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=1e9, help="to stop building after")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(argv)
    corpus = Corpus(options.folder, options.work / "corpus.pickle")
    if options.part == "build":
        return _build(options.work / "index", corpus, options.chunks, options.seconds)
    _measure(options.work, corpus, options.runs)
    return 0


def _store(folder: Path) -> Store:
    model = Projected
    return Store.create(folder, model=model.name, fingerprint=model.fingerprint, dim=model.dim)


def _opened(folder: Path) -> Store:
    """An index whose vectors are of these directions."""
    store = Store.open(folder)
    if store.info.fingerprint != Projected.fingerprint:
        sys.exit(f"{folder} has vectors of an earlier benchmark: build it anew elsewhere.")
    return store


def _build(folder: Path, corpus: Corpus, chunks: int, seconds: float) -> int:
    """Build, and return 0 when all is there, 3 when there is more to do."""
    started = time.monotonic()
    store = _store(folder)
    done = store.snapshot().document_count()
    total = -(-chunks // _DOCUMENT_CHUNKS)
    while done < total:
        if time.monotonic() - started > seconds:
            return 3
        began = time.monotonic()
        rows = RowBatch()
        until = min(done + _COMMIT_DOCUMENTS, total)
        for number in range(done, until):
            add_note(rows, number, *corpus.document(number))
        made = time.monotonic()
        with store.lock(60):
            store.commit(rows, reason="sync", counts={}, started=made)
        done = until
        print(
            f"{done * _DOCUMENT_CHUNKS} chunks: made in {made - began:.1f} s, "
            f"committed in {time.monotonic() - made:.1f} s"
        )
    if store.needs_maintenance():
        if time.monotonic() - started > 10 and seconds < 1e9:
            return 3
        began = time.monotonic()
        with store.lock(60):
            report = store.maintain(only_due=True)
        print(f"maintained in {time.monotonic() - began:.0f} s: {report}")
    print(f"{store.bytes() / 1e9:.2f} GB, peak memory {peak_memory_mb():.0f} MB")
    return 0


def _measure(work: Path, corpus: Corpus, runs: int) -> None:
    small = work / "small"
    if not small.exists():
        _build(small, corpus, 10_000, 1e9)
    for folder in (small, work / "index"):
        began = time.monotonic()
        store = _opened(folder)
        snapshot = store.snapshot()
        print(f"\n{snapshot.chunk_count():,} chunks, {store.bytes() / 1e9:.2f} GB")
        print(f"opened and counted in {time.monotonic() - began:.2f} s")
        _search(folder, store, corpus, runs)
        _edit(store, corpus)
        _edit_many(store, corpus)
        print(f"with {_OUTSIDE:,} chunks outside of the indices:")
        _search(folder, store, corpus, 1)
        print(f"peak memory {peak_memory_mb():.0f} MB")


def _search(folder: Path, store: Store, corpus: Corpus, runs: int) -> None:
    snapshot = store.snapshot()
    questions = _questions(corpus, snapshot.document_count())
    found = same = 0
    for question in questions[:_COMPARED]:
        vector = corpus.embedder.embed_query(question)
        near = snapshot.vector_candidates(vector, Filter(), 10)
        exact = snapshot.vector_candidates(vector, Filter(), 10, exact=True)
        found += len(
            {(c.path, c.chunk_index) for c in near} & {(c.path, c.chunk_index) for c in exact}
        )
        same += len(exact)
    print(f"recall@10 of the vector index against exact: {found / same:.4f}")
    with lancebrain.open(folder, embedder=corpus.embedder, sources=()) as brain:
        for mode in ("hybrid", "vector", "keyword"):
            times = [
                median_seconds(partial(brain.search, Query(text, mode), look=False), runs)
                for text in questions
            ]
            p50, p95 = np.percentile(times, (50, 95)) * 1000
            print(f"{mode}: p50 {p50:.0f} ms, p95 {p95:.0f} ms")


def _questions(corpus: Corpus, documents: int) -> list[str]:
    """Some words in a row of a chunk that is in the index, each time of another; of Chinese and
    Japanese, characters, as no space parts their words."""
    random = np.random.default_rng(11)
    questions: list[str] = []
    while len(questions) < _QUESTIONS:
        chunks, _ = corpus.document(int(random.integers(documents)))
        text = chunks[int(random.integers(len(chunks)))].text
        words = list(_WORD.finditer(text))
        if len(words) >= _QUESTION_WORDS:
            at = int(random.integers(len(words) - _QUESTION_WORDS + 1))
            asked = text[words[at].start() : words[at + _QUESTION_WORDS - 1].end()]
            questions.append(" ".join(asked.replace('"', " ").split()))
    return questions


def _edit(store: Store, corpus: Corpus) -> None:
    """The time to commit one chunk that changed, and to see whether maintenance is due."""
    random = np.random.default_rng(13)
    documents = store.snapshot().document_count()

    def edit() -> None:
        number = int(random.integers(documents))
        chunks, vectors = corpus.document(number)
        rows = RowBatch()
        add_note(rows, number, chunks[:1], vectors[:1])
        with store.lock(60):
            store.commit(rows, reason="sync", counts={}, started=time.monotonic())

    for what, call in (("one chunk edited", edit), ("maintenance asked", store.needs_maintenance)):
        print(f"{what}: {_median_ms(call):.0f} ms")


def _edit_many(store: Store, corpus: Corpus) -> None:
    """Change so many chunks that maintenance is nearly due."""
    rows = RowBatch()
    for number in range(_OUTSIDE // _DOCUMENT_CHUNKS):
        add_note(rows, number, *corpus.document(number))
    with store.lock(60):
        store.commit(rows, reason="sync", counts={}, started=time.monotonic())


def _median_ms(call: Callable[[], object]) -> float:
    times = []
    for _ in range(_EDITS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return float(np.median(times)) * 1000
