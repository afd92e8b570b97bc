"""How soon what is saved is found, and how questions fare while very much is saved at once."""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.mcp_notes import forget_notes, write_notes
from benchmarks.mcp_serving import Served, serve
from benchmarks.measure import say

_PAUSE_S = 0.5
QUESTIONS = (
    "how do I mount a disk at boot",
    "Linux 内核 调度器",
    "install a package from source",
    "服务器 防火墙 配置",
    "how to write a note that can be found later",
)


def save(options: argparse.Namespace, notes: Path, index: Path) -> None:
    """From the rename that ends a save to the answer that has it; asked again and again."""
    random.seed(3)
    files = sorted(notes.rglob("*.md"))
    server = serve(index)
    server.introduce()
    server.wait_until_ready()
    took: list[float] = []
    asked: list[int] = []
    for number in range(options.runs + 2):
        file = random.choice(files)
        word = f"zanzibar{random.randrange(10**9)}"
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
        fresh = file.with_name(f".{file.name}.swp")
        fresh.write_text(f"{text}\nThe {word} is new here.\n", "utf-8", "surrogateescape")
        started = time.perf_counter()
        fresh.replace(file)
        count, is_found = 0, False
        while not is_found:
            count += 1
            hits = server.call("search_knowledge", query=f"the new {word}")["hits"]
            is_found = any(word in hit["text"] for hit in hits)
        if number > 1:
            took.append((time.perf_counter() - started) * 1000)
            asked.append(count)
        time.sleep(_PAUSE_S)
    server.end()
    p50, p95 = np.percentile(took, [50, 95])
    print(
        f"save to searchable over {len(files)} files, {len(took)} saves: p50 {p50:.0f} ms, "
        f"p95 {p95:.0f} ms, max {max(took):.0f} ms, {statistics.mean(asked):.1f} questions a save"
    )


def bulk(options: argparse.Namespace, notes: Path, index: Path) -> None:
    """Questions to an idle server, then while as many notes again are copied in."""
    more = notes / "bulk"
    server = serve(index)
    server.introduce()
    server.wait_until_ready()
    idle = _asked(server, until=_count(200))
    write_notes(notes, index.parent / "more", options.notes, skip=options.notes)
    say("copying")
    (index.parent / "more").rename(more)
    started = time.monotonic()

    def is_done() -> bool:
        return bool(time.monotonic() - started > options.seconds)

    busy = _asked(server, until=is_done)
    state = server.call("index_status")
    ratio = np.percentile(busy, 95) / np.percentile(idle, 95)
    print(f"idle: {_told(idle)}")
    print(f"while {options.notes} files come in: {_told(busy)}; p95 {ratio:.1f} x")
    print(
        f"  after {options.seconds} s: {state['documents']} documents, {state['pending']} pending",
        flush=True,
    )
    server.end()
    shutil.rmtree(more)
    # Half of a source at once: that is not believed without being told.
    forget_notes(index)


def _asked(server: Served, until: Callable[[], bool]) -> list[float]:
    took: list[float] = []
    for text in itertools.cycle(QUESTIONS):
        if until():
            return took
        started = time.perf_counter()
        server.call("search_knowledge", query=text)
        took.append((time.perf_counter() - started) * 1000)
        time.sleep(0.1)
    return took


def _count(times: int) -> Callable[[], bool]:
    left = iter(range(times))
    return lambda: next(left, None) is None


def _told(times: list[float]) -> str:
    p50, p95 = np.percentile(times, [50, 95])
    return f"{len(times)} questions, p50 {p50:.0f} ms, p95 {p95:.0f} ms, max {max(times):.0f} ms"
