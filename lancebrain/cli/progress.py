"""How far a sync has come: a bar on a terminal, a plain line now and then elsewhere. On stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lancebrain.cli.text import plural

if TYPE_CHECKING:
    from lancebrain.cli.front import Front
    from lancebrain.types import Progress

_LINE_EVERY_S = 10.0


@contextmanager
def shown_progress(front: Front) -> Iterator[Callable[[Progress], None]]:
    """A callable for ``Brain.sync``; what it shows is gone, or at its end, after the block."""
    if front.err.is_terminal:
        with _bar(front) as tell:
            yield tell
    else:
        yield _lines(front)


@contextmanager
def _bar(front: Front) -> Iterator[Callable[[Progress], None]]:
    from rich import progress as bars

    columns = (
        bars.SpinnerColumn(),
        bars.TextColumn("{task.description}"),
        bars.BarColumn(bar_width=24),
        bars.TextColumn("{task.fields[detail]}", style="dim"),
        bars.TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with bars.Progress(*columns, console=front.err, transient=True) as bar:
        task = bar.add_task("Looking", total=None, detail="")
        phase = "look"
        started = time.monotonic()

        def tell(now: Progress) -> None:
            nonlocal phase, started
            if now.phase != phase:
                phase, started = now.phase, time.monotonic()
                bar.reset(task)
            done, total = _done_and_total(now)
            bar.update(
                task,
                description=_PHASES[now.phase],
                completed=done,
                total=total or None,
                detail=_detail(now, time.monotonic() - started),
            )

        yield tell


def _lines(front: Front) -> Callable[[Progress], None]:
    phase_started = last = 0.0
    phase = ""

    def tell(now: Progress) -> None:
        nonlocal phase, phase_started, last
        moment = time.monotonic()
        if now.phase != phase:
            # Nothing is said of a phase that is done before one could read it.
            phase, phase_started, last = now.phase, moment, moment
        if moment - last < _LINE_EVERY_S:
            return
        last = moment
        done, total = _done_and_total(now)
        share = f" {100 * done // total} %" if total else ""
        detail = _detail(now, moment - phase_started)
        front.remark(f"{_PHASES[now.phase]}{share}" + (f": {detail}" if detail else ""))

    return tell


_PHASES = {"look": "Looking", "read": "Reading", "embed": "Embedding"}


def _done_and_total(now: Progress) -> tuple[int, int]:
    return (now.chunks, now.chunks_total) if now.phase == "embed" else (now.files, now.files_total)


def _detail(now: Progress, seconds: float) -> str:
    files = f"{now.files:,}/{now.files_total:,} files" if now.files_total else ""
    if not files and now.files:
        files = plural(now.files, "file")
    chunks = f"{now.chunks:,}/{now.chunks_total:,} chunks" if now.chunks_total else ""
    rate = ""
    if now.phase == "embed" and now.chunks and seconds > 1:
        rate = f"{now.chunks / seconds:,.0f} chunks/s"
    return "  ".join(part for part in (files, chunks, rate) if part)
