"""What a model costs on this machine, measured in a process of its own.

``python -m lancebrain.embedders.measuring`` reads a :class:`Task` as JSON from stdin and prints a
:class:`Cost` as JSON. A process of its own, as memory and the time to load are told by nothing
else, and a model may need as many threads as it likes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lancebrain.embedders.engine import EngineOptions
from lancebrain.errors import EmbedderError

_LOADING_S = 300.0
"""A model is given so long to be ready."""
_QUERIES = 7
_FIRST_PART = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model costs.

    Attributes:
        load_s: until it is ready, imports included.
        texts_per_s: that it embeds, of those that it was given.
        query_ms: of a question, the median.
        memory_mb: of the whole process at its peak.
        threads: that it was given.
        dim: length of a vector.
    """

    model: str
    load_s: float
    texts_per_s: float
    query_ms: float
    memory_mb: float
    threads: int
    dim: int


def measure(model: str, texts: Sequence[str], options: EngineOptions, *, seconds: float) -> Cost:
    """Measure a model on some texts.

    Args:
        seconds: of embedding, about.

    Raises:
        EmbedderError: it cannot be had, or fails.
    """
    folders = {
        name: None if value is None else str(value)
        for name, value in (("cache_folder", options.cache_folder), ("index", options.index))
    }
    task = {
        "model": model,
        "texts": list(texts),
        "seconds": seconds,
        "options": {**asdict(options), **folders},
    }
    limit_s = _LOADING_S + 4 * seconds
    try:
        done = subprocess.run(
            [sys.executable, "-m", "lancebrain.embedders.measuring"],
            input=json.dumps(task),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired:
        raise EmbedderError(
            f"The model {model!r} was not measured within {limit_s:.0f} s.",
            hint="If it had to be fetched first, do this again: the download goes on where it was.",
        ) from None
    try:
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
        raise EmbedderError(f"The model {model!r} could not be measured: {last[0]}") from None
    if "error" in answer:
        raise EmbedderError(answer["error"], hint=answer["hint"])
    return Cost(**answer)


def _measured(
    model: str, texts: Sequence[str], options: EngineOptions, seconds: float, started: float
) -> Cost:
    embedder = _ready(model, texts, options)
    embedder.embed_query("ready")
    load_s = time.perf_counter() - started
    given, spent, part = 0, 0.0, _FIRST_PART
    while spent < seconds:
        some = [texts[(given + n) % len(texts)] for n in range(part)]
        begun = time.perf_counter()
        embedder.embed_passages(some)
        took = time.perf_counter() - begun
        given, spent = given + part, spent + took
        part = max(1, min(2 * part, int(part / max(took, 1e-3)), 256))
    queries = []
    for text in texts[:_QUERIES]:
        begun = time.perf_counter()
        embedder.embed_query(text[:60])
        queries.append(time.perf_counter() - begun)
    return Cost(
        model=model,
        load_s=load_s,
        texts_per_s=given / spent,
        query_ms=1000 * statistics.median(queries),
        memory_mb=_peak_memory_mb(),
        threads=options.threads,
        dim=embedder.dim,
    )


def _ready(model: str, texts: Sequence[str], options: EngineOptions) -> Any:
    from lancebrain.embedders.registry import learn_embedder, learns, load_embedder

    if not learns(model):
        return load_embedder(model, options)
    with tempfile.TemporaryDirectory() as folder:
        here = replace(options, index=Path(folder))
        spec = learn_embedder(model, texts, here)
        return load_embedder(model, replace(here, fingerprint=spec.fingerprint))


def _peak_memory_mb() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        # What getrusage tells on Linux is never less than what the parent had.
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:  # there is none on Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 1024 if sys.platform != "darwin" else peak / 1024 / 1024


def _main() -> None:
    started = time.perf_counter()
    task = json.load(sys.stdin)
    options = dict(task["options"])
    for name in ("cache_folder", "index"):
        options[name] = None if options[name] is None else Path(options[name])
    try:
        cost = _measured(
            task["model"], task["texts"], EngineOptions(**options), task["seconds"], started
        )
        answer = asdict(cost)
    except EmbedderError as error:
        answer = {"error": error.message, "hint": error.hint}
    sys.stdout.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    _main()
