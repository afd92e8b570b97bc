"""Models: what indexing costs beside the model itself, the first question, changing the model.

throughput FOLDER MODEL...   filling in vectors, beside the engine's own best on the same texts
first INDEX...               the first question of a process, beside loading the model
migrate FOLDER               a change of the model, in processes that are killed
threads FOLDER MODEL...      texts a second by number of threads, alone and on a busy machine
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import regex

import lancebrain
from benchmarks.models_change import FIRST, migrate
from lancebrain.embedders import Embedder, EngineOptions, learns, load_embedder
from lancebrain.embedders.lsa_features import UNSPACED
from lancebrain.embedders.measuring import measure
from lancebrain.sync import Wanted
from lancebrain.sync.embedding import sample_texts
from lancebrain.sync.learning import learned
from lancebrain.sync.migration import switch_now

_RUN = regex.compile(rf"(?P<unspaced>[{UNSPACED}]+)|(?:(?![{UNSPACED}])[\p{{L}}\p{{N}}\p{{M}}])+")


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(
        prog="bench.py models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", choices=("throughput", "first", "migrate", "threads"))
    parser.add_argument("arguments", nargs="+", metavar="ARGUMENT")
    parser.add_argument("--texts", type=int, default=200, help="of throughput and threads")
    parser.add_argument("--runs", type=int, default=3, help="of first")
    parser.add_argument("--kills", type=int, default=10, help="of migrate")
    parser.add_argument("--seconds", type=float, default=60.0, help="that a change is to take")
    parser.add_argument(
        "--seed", type=int, help="kill at moments chosen by it, not at equal distances"
    )
    options = parser.parse_args(argv)
    folder, *models = options.arguments
    if options.what == "throughput":
        _throughput(Path(folder), models, options.texts)
    elif options.what == "threads":
        _threads(Path(folder), models, options.texts)
    elif options.what == "first":
        for index in options.arguments:
            _first_question(Path(index), options.runs)
    else:
        return migrate(Path(folder), options.kills, options.seconds, options.seed)
    return 0


def _throughput(folder: Path, models: Sequence[str], count: int) -> None:
    print("| model | texts | own best, texts/s | filling in, texts/s | ratio | ratio of CPU time |")
    print("|---|---|---|---|---|---|")
    for model in models:
        with tempfile.TemporaryDirectory() as scratch:
            notes = _some_notes(folder, Path(scratch) / "notes", count)
            with lancebrain.open(Path(scratch) / "index", model=model, sources=[]) as brain:
                _text_first(brain, notes)
                store = brain._access.store()
                if learns(model):
                    switch_now(store, learned(store, model), lock_timeout_s=60)
                embedder = load_embedder(model, EngineOptions(index=Path(scratch) / "index"))
                texts = [text for _, text in sample_texts(store.snapshot(), 10**9)]
                embedder.embed_passages(texts[:4])
                work = _own_best(embedder, sorted(texts, key=len))
                before = _timed(work)
                brain._access.embedder_of(store.info).embed_passages(texts[:4])
                filling = _timed(brain._access.engine().fill)
                # On both sides: a machine whose speed changes is no faster for one of the two.
                own = [statistics.mean(both) for both in zip(before, _timed(work), strict=True)]
        print(
            f"| {model} | {len(texts)} | {len(texts) / own[0]:.1f} | {len(texts) / filling[0]:.1f} "
            f"| {own[0] / filling[0]:.2f} | {own[1] / filling[1]:.2f} |",
            flush=True,
        )


def _text_first(brain: lancebrain.Brain, notes: Path) -> None:
    brain.add_source(notes)
    brain._access.reload()
    brain._access.made_store()
    for _ in brain._access.engine().run(Wanted(text_only=True)).steps():
        pass


def _own_best(embedder: Embedder, texts: Sequence[str]) -> Callable[[], object]:
    """The engine's own way with many texts, the best that there is."""
    parts = [_own_best(part, texts) for part, _ in getattr(embedder, "_parts", ())]
    if parts:
        return lambda: [part() for part in parts]
    engine: Any = getattr(embedder, "_engine", None) or getattr(embedder, "_model", None)
    if hasattr(engine, "encode_document"):
        return partial(engine.encode_document, list(texts), batch_size=8, normalize_embeddings=True)
    if hasattr(engine, "passage"):
        return partial(engine.passage, list(texts))
    if hasattr(engine, "encode"):
        batches = [list(texts[at : at + 32]) for at in range(0, len(texts), 32)]
        return lambda: [engine.encode(batch) for batch in batches]
    if learns(embedder.name):
        return partial(_of_scikit_learn(texts, embedder.dim).transform, texts)
    return partial(embedder.embed_passages, texts)


def _of_scikit_learn(texts: Sequence[str], dim: int) -> Any:
    """What ``lsa`` is, put together of scikit-learn's own parts."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    counting = TfidfVectorizer(analyzer=_words, min_df=2, max_features=200_000, sublinear_tf=True)
    return make_pipeline(counting, TruncatedSVD(dim, n_iter=5, random_state=7)).fit(texts)


def _words(text: str) -> Iterator[str]:
    """Words, and in scripts without spaces, characters and pairs of them."""
    for match in _RUN.finditer(unicodedata.normalize("NFKC", text).lower()):
        if (run := match["unspaced"]) is None:
            yield match[0]
        else:
            yield from run
            yield from (run[at : at + 2] for at in range(len(run) - 1))


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of processor time."""
    started, cpu_started = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - cpu_started


def _some_notes(folder: Path, into: Path, chunks: int) -> Path:
    """Copies of files until there are about so many chunks."""
    into.mkdir()
    files = sorted(folder.rglob("*.md"))
    random.Random(7).shuffle(files)
    left = chunks * 500
    for number, file in enumerate(files):
        data = file.read_bytes()
        if left <= 0:
            break
        left -= len(data)
        (into / f"{number}.md").write_bytes(data)
    return into


_LOAD = """
import sys, time
started = time.perf_counter()
import lancebrain
with lancebrain.open(sys.argv[1]) as brain:
    if sys.argv[2] == "load":
        brain._access.load_ahead()
    else:
        brain.search("where was the key put", limit=3)
    print(time.perf_counter() - started)
"""


def _first_question(index: Path, runs: int) -> None:
    times: dict[str, list[float]] = {"load": [], "search": []}
    for _ in range(runs):
        for what, seen in times.items():
            done = subprocess.run(
                [sys.executable, "-c", _LOAD, str(index), what],
                capture_output=True,
                text=True,
                check=True,
            )
            seen.append(float(done.stdout))
    load, search = (statistics.median(seen) for seen in times.values())
    print(
        f"{index}: opening and loading {load:.2f} s, the first answer after {search:.2f} s: "
        f"{search / load:.2f} x",
        flush=True,
    )


def _threads(folder: Path, models: Sequence[str], count: int) -> None:
    cores = os.cpu_count() or 1
    counts = sorted({1, 2, 4, cores})
    print(f"| texts/s on {cores} cores | {' | '.join(f'{n} threads' for n in counts)} |")
    print(f"|---|{'---|' * len(counts)}")
    with tempfile.TemporaryDirectory() as scratch:
        notes = _some_notes(folder, Path(scratch) / "notes", count)
        with lancebrain.open(Path(scratch) / "index", model=FIRST, sources=[]) as brain:
            _text_first(brain, notes)
            store = brain._access.store()
            texts = [text for _, text in sample_texts(store.snapshot(), count)]
    for model in models:
        for busy in (0, cores):
            with _busy(busy):
                rates = [
                    measure(model, texts, EngineOptions(threads=n), seconds=5).texts_per_s
                    for n in counts
                ]
            state = f"{busy} other programs at work" if busy else "alone"
            print(f"| {model}, {state} | {' | '.join(f'{rate:.1f}' for rate in rates)} |")
            sys.stdout.flush()


@contextmanager
def _busy(programs: int) -> Iterator[None]:
    running = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(programs)
    ]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
