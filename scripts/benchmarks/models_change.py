"""A change of the model in processes that are killed: what is answered, embedded, and left."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lancebrain
from benchmarks.measure import say
from lancebrain.store import Store

FIRST, _SECOND = "benchmarks.models_change:First", "benchmarks.models_change:Second"
_Process = subprocess.Popen[bytes]
_LOG, _SECONDS = "BENCH_LOG", "BENCH_SECONDS_A_TEXT"


class First:
    """Vectors made of a hash of the text, for next to nothing."""

    fingerprint = "bench-first/64"
    dim = 64
    fusion_weight = 0.4

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        out = np.empty((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            digest = hashlib.sha256(f"{self.fingerprint} {text}".encode("utf-8", "replace"))
            seed = int.from_bytes(digest.digest()[:8], "big")
            out[row] = np.random.default_rng(seed).standard_normal(self.dim)
        out /= np.linalg.norm(out, axis=1, keepdims=True)
        return out

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector


class Second(First):
    """Another one, which notes each text that it embedded in a file."""

    fingerprint = "bench-second/96"
    dim = 96

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        vectors = super().embed_passages(texts)
        time.sleep(float(os.environ.get(_SECONDS, "0")) * len(texts))
        if _LOG in os.environ:
            with Path(os.environ[_LOG]).open("a", encoding="ascii") as log:
                log.writelines(
                    hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() + "\n"
                    for text in texts
                )
        return vectors


def migrate(folder: Path, kills: int, seconds: float, seed: int | None) -> int:
    """Print how it went.

    Args:
        folder: of notes.
        kills: how often it is killed.
        seconds: that it is to take, without the kills.
        seed: for the moments of the kills; None: at equal distances.

    Returns:
        1 where it went wrong.
    """
    with tempfile.TemporaryDirectory() as scratch:
        index, log = Path(scratch) / "index", Path(scratch) / "log"
        with lancebrain.open(index, model=FIRST) as brain:
            report = brain.sync([folder])
            chunks = len(brain._access.store().snapshot().chunk_hashes())
            say(f"{report.added} documents, {chunks} texts")
            seconds_a_text = seconds / chunks
            moments = _moments(chunks, kills, seed)
            asked = _killed(brain, index, log, chunks, moments, seconds_a_text)
            started = time.perf_counter()
            process = _using(index, log, seconds_a_text)
            asked += _asked_until(brain, lambda: process.poll() is not None)
            say(f"the last one took {time.perf_counter() - started:.1f} s")
            if process.returncode:
                print(f"it ended with {process.returncode}")
                return 1
        embedded = Counter(log.read_text(encoding="ascii").split())
        differ = _differs(index, folder)
        print(
            f"{chunks} texts, killed {len(moments)} times: {asked} questions answered, "
            f"{embedded.total() - len(embedded)} texts embedded twice, "
            f"{differ} rows differ from a fresh index"
        )
        return int(bool(differ) or embedded.total() > len(embedded))


def _moments(chunks: int, kills: int, seed: int | None) -> list[tuple[int, float]]:
    """How many texts there are to be when it is killed, and so many seconds later.

    By a seed the last one is when all of them are there, which is while it switches.
    """
    if seed is None:
        return [(chunks * kill // (kills + 1), 0.0) for kill in range(1, kills + 1)]
    chosen = random.Random(seed)
    texts = sorted(chosen.randrange(chunks) for _ in range(kills - 1))
    return [(wanted, chosen.uniform(0, 1.5)) for wanted in [*texts, chunks]]


def _killed(
    brain: lancebrain.Brain,
    index: Path,
    log: Path,
    chunks: int,
    moments: Sequence[tuple[int, float]],
    seconds_a_text: float,
) -> int:
    """Kill the change again and again; how many questions were answered meanwhile."""
    store, asked = Store.open(index), 0
    for wanted, later_s in moments:
        process = _using(index, log, seconds_a_text)

        def is_there(wanted: int = wanted, process: _Process = process) -> bool:
            is_over = process.poll() is not None
            return is_over or len(store.staged.hashes(Second.fingerprint)) >= wanted

        asked += _asked_until(brain, is_there)
        kill_at = time.monotonic() + later_s

        def is_time(kill_at: float = kill_at) -> bool:
            return time.monotonic() >= kill_at

        asked += _asked_until(brain, is_time)
        process.send_signal(signal.SIGKILL)
        ended = process.wait()
        done = len(store.staged.hashes(Second.fingerprint))
        state = "killed" if ended == -signal.SIGKILL else "too late to kill"
        say(f"{state} at {done} of {chunks}; the index has {store.snapshot().info.model}")
    return asked


def _using(index: Path, log: Path, seconds: float) -> _Process:
    return subprocess.Popen(
        [sys.executable, "-m", "lancebrain", "model", "use", _SECOND, "--index", str(index)],
        env=os.environ
        | {
            "PYTHONPATH": str(Path(__file__).parents[1]),
            "LANCEBRAIN_MODEL": _SECOND,
            _LOG: str(log),
            _SECONDS: str(seconds),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _asked_until(brain: lancebrain.Brain, is_over: Callable[[], bool]) -> int:
    asked = 0
    while not is_over():
        if not brain.search("kernel", mode="vector", limit=3, look=False).hits:
            raise AssertionError("a question was not answered")
        asked += 1
    return asked


def _differs(index: Path, folder: Path) -> int:
    """Rows of an index that a fresh one of the same files, with the new model, does not have."""
    with tempfile.TemporaryDirectory() as scratch:
        with lancebrain.open(Path(scratch) / "fresh", model=_SECOND) as fresh:
            fresh.sync([folder])
            wanted = _rows(fresh._access.store())
        return len(set(wanted.items()) ^ set(_rows(Store.open(index)).items()))


def _rows(store: Store) -> dict[tuple[str, int], tuple[str, bytes]]:
    columns = ["path", "chunk_index", "chunk_hash", "vector"]
    rows = (
        store.snapshot()
        .to_arrow(columns, where="embedded = true")
        .sort_by([("path", "ascending"), ("chunk_index", "ascending")])
    )
    found: dict[tuple[str, int], tuple[str, bytes]] = {}
    ranks: Counter[str] = Counter()
    for row in rows.to_pylist():
        ranks[row["path"]] += 1
        key = (row["path"], ranks[row["path"]])
        found[key] = (row["chunk_hash"], np.round(np.array(row["vector"], np.float32), 5).tobytes())
    return found
