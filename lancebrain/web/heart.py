"""Server-sent events: what pages are told of without asking.

One task looks at the index once a second while any page listens, as other processes write it
too; what has changed goes to every page. Of several changes a page has not taken, the last counts.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

import anyio
from starlette.responses import StreamingResponse
from starlette.routing import Route

from lancebrain.brain.pulse import Pulse, pulse_of
from lancebrain.errors import LancebrainError
from lancebrain.machine import to_json
from lancebrain.types import Progress
from lancebrain.web.behind import behind

if TYPE_CHECKING:
    from starlette.requests import Request

    from lancebrain.service.live import Doing, Live

_BEAT_S = 1.0
_SILENCE_S = 15.0
"""A line comes at least so often, so that either side hears that the other is gone."""
_FIRST_LINE = b"retry: 1500\n\n"


@dataclass(frozen=True, slots=True)
class Beat:
    """What a page keeps an eye on.

    Attributes:
        pulse: None while there is no index, or it cannot be read.
        why: what keeps the index from being read, its model from being loaded, or the files from
            being followed.
        is_followed: changes of the files are taken in by themselves.
        looked_at: when this process looked at all files last.
        progress: of what a page asked for.
    """

    doing: Doing
    pulse: Pulse | None
    why: str
    is_followed: bool
    looked_at: datetime | None
    read_only: bool
    progress: Progress | None


class Heart:
    """Beats for the pages that listen."""

    def __init__(self, live: Live, *, read_only: bool) -> None:
        self._live = live
        self._read_only = read_only
        self._last = ""
        self._pulse: Pulse | None = None
        self._beat = anyio.Event()
        self._listeners = 0
        self._has_listeners = anyio.Event()
        self.progress: Progress | None = None

    async def run(self) -> None:
        """Look at the index again and again; ends when it is cancelled."""
        while True:
            if not self._listeners:
                self._has_listeners = anyio.Event()
                await self._has_listeners.wait()
            felt = to_json(await self._feel())
            if felt != self._last:
                self._last = felt
                self._beat.set()
                self._beat = anyio.Event()
            self._live.changed = anyio.Event()
            with anyio.move_on_after(_BEAT_S):
                await self._live.changed.wait()

    async def beats(self) -> AsyncGenerator[bytes, None]:
        """What one page is sent."""
        self._listeners += 1
        self._has_listeners.set()
        try:
            yield _FIRST_LINE
            told = ""
            while True:
                next_beat = self._beat
                if self._last and self._last != told:
                    told = self._last
                    yield b"data: " + told.encode("utf-8", "replace") + b"\n\n"
                    continue
                with anyio.move_on_after(_SILENCE_S) as silence:
                    await next_beat.wait()
                if silence.cancelled_caught:
                    yield b":\n\n"
        finally:
            self._listeners -= 1

    async def _feel(self) -> Beat:
        live = self._live
        why = live.model_failure or live.last_error
        try:
            if live.doing != "opening":
                self._pulse = await live.ask(pulse_of, await live.brain(), self._pulse)
        except LancebrainError as error:
            self._pulse, why = None, error
        return Beat(
            doing=live.doing,
            pulse=self._pulse,
            why=str(why) if why else "",
            is_followed=live.worker is not None,
            looked_at=live.worker.looked_at if live.worker else None,
            read_only=self._read_only,
            progress=self.progress,
        )


async def _listen(request: Request) -> StreamingResponse:
    async def beats() -> AsyncIterator[bytes]:
        async with aclosing(behind(request).heart.beats()) as own:
            async for beat in own:
                yield beat

    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(beats(), media_type="text/event-stream", headers=headers)


ROUTES = (Route("/api/beats", _listen),)
