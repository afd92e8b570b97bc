"""What the benchmarks share: a model that counts its own time, plain walks, peak memory."""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lancebrain.embedders import Embedder


class TimedEmbedder:
    """An embedder that adds up the time it takes.

    Attributes:
        seconds: spent in the model.
        cpu_seconds: of processor time, which other programs do not stretch.
        texts: that it was given.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.dim = inner.dim
        self.fusion_weight = inner.fusion_weight
        self.languages = inner.languages
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self.texts = 0

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        with self._timed(len(texts)):
            return self._inner.embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        with self._timed(1):
            return self._inner.embed_query(text)

    @contextmanager
    def _timed(self, texts: int) -> Iterator[None]:
        started, cpu_started = time.perf_counter(), time.process_time()
        yield
        self.seconds += time.perf_counter() - started
        self.cpu_seconds += time.process_time() - cpu_started
        self.texts += texts


class NoModel:
    """Vectors for nothing: what is measured is everything but the model."""

    name = "no-model"
    fingerprint = "no-model/1"
    dim = 512
    fusion_weight = 0.4
    languages: Mapping[str, float] = MappingProxyType({})

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        vectors = np.random.default_rng(len(texts)).normal(size=(len(texts), self.dim))
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit.astype(np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector


def walk_seconds(root: Path) -> tuple[float, int]:
    """Seconds of ``os.walk`` with a ``stat`` of each file, and how many files there are."""
    started = time.perf_counter()
    files = 0
    for folder, _, names in os.walk(root):
        for name in names:
            os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118 - the plainest way
            files += 1
    return time.perf_counter() - started, files


def median_seconds(call: Callable[[], object], runs: int) -> float:
    """The median of ``runs`` timed calls."""
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def peak_memory_mb() -> float:
    """The largest resident memory of this process so far, in megabytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024 / 1024


def say(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)
