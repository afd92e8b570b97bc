"""Reading session logs, beside a plain read of the same files.

The logs are made for the occasion, of the shape of real ones: about 3 % of their bytes is what
was said. Times are of the processor, so that a busy machine is told from slow code; what is
fastest of a few runs counts. The compiling of the rules for secrets, once in a process, is apart.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import say
from benchmarks.session_logs import KINDS, MEGABYTE, write_log
from lancebrain.readers.secrets import mask
from lancebrain.readers.session import read_stream, resume
from lancebrain.types import Document

_APPENDED = (
    b'{"type":"user","uuid":"appended","timestamp":"2026-03-09T10:00:00.000Z",'
    b'"message":{"role":"user","content":"And what became of the cache?"}}\n'
)
_LONG_LINE_MB = 100


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="bench.py sessions", description=__doc__)
    parser.add_argument("--megabytes", type=int, default=100, help="of each kind of log")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(argv)
    started = time.process_time()
    mask(["a text that could hold a token: " + "x1" * 16])
    print(f"loading the rules for secrets     {time.process_time() - started:8.2f} s, once")
    with tempfile.TemporaryDirectory() as scratch:
        for kind in KINDS:
            say(f"writing {options.megabytes} MB of {kind} logs")
            path = Path(scratch) / f"{kind}.jsonl"
            said = write_log(path, kind, options.megabytes * MEGABYTE)
            _throughput(kind, path, said, options.runs)
            path.unlink()
        path = Path(scratch) / "session.jsonl"
        write_log(path, "claude", 50 * MEGABYTE)
        _append(path, options.runs)
        _long_line(path)
    return 0


def _throughput(kind: str, path: Path, said: int, runs: int) -> None:
    size = path.stat().st_size
    rates = {
        "plain read": _rate(lambda: _plain(path), size, runs),
        "split into lines": _rate(lambda: _lines(path), size, runs),
        "session reader": _rate(lambda: _read(path, kind), size, runs),
    }
    document = _read(path, kind)
    print(f"{kind}: {size / MEGABYTE:.0f} MB, {said / size:.1%} said, {len(document.blocks)} turns")
    for name, rate in rates.items():
        print(f"  {name:30}  {rate:8.0f} MB/s")


def _append(path: Path, runs: int) -> None:
    state = _read(path, "claude").reader_state
    if state is None:
        raise AssertionError("a log of this size can be resumed")
    with path.open("ab") as file:
        file.write(_APPENDED)
    seconds = _fastest(lambda: _resume(path, state), max(runs, 5))
    print(f"one turn appended to {path.stat().st_size / MEGABYTE:.0f} MB:")
    print(f"  {'read':30}  {seconds * 1000:8.2f} ms, state of {len(state) / 1000:.0f} KB")


def _long_line(path: Path) -> None:
    output = rb"if row[\"name\"] is None:\n\t" * 1000
    with path.open("wb") as file:
        file.write(b'{"type":"user","message":{"role":"user","content":[{"type":"tool_result",')
        file.write(b'"content":[{"type":"text","text":"')
        for _ in range(_LONG_LINE_MB * MEGABYTE // len(output)):
            file.write(output)
        file.write(b'"}]}]},"uuid":"long"}\n' + _APPENDED)
    tracemalloc.start()
    document = _read(path, "claude")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"a line of {_LONG_LINE_MB} MB, {len(document.blocks)} turn behind it:")
    print(f"  {'peak memory':30}  {peak / MEGABYTE:8.1f} MB")


def _read(path: Path, kind: str) -> Document:
    with path.open("rb") as stream:
        document = read_stream(path.name, kind, stream)
    if not isinstance(document, Document):
        raise TypeError(document)
    return document


def _resume(path: Path, state: str) -> None:
    with path.open("rb") as stream:
        appended = resume(path.name, "claude", stream, state)
    if appended is None or len(appended.document.blocks) != 1:
        raise AssertionError("one turn was appended")


def _plain(path: Path) -> None:
    with path.open("rb") as stream:
        while stream.read(1 << 20):
            pass


def _lines(path: Path) -> None:
    with path.open("rb", buffering=1 << 20) as stream:
        for _ in stream:
            pass


def _rate(call: Callable[[], object], size: int, runs: int) -> float:
    return size / MEGABYTE / _fastest(call, runs)


def _fastest(call: Callable[[], object], runs: int) -> float:
    times = []
    for _ in range(runs):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)
