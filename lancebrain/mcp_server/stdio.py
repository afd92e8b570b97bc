"""Running a server over stdin and stdout, and ending it at once when it is told to."""

from __future__ import annotations

import logging
import os
import re
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from lancebrain.mcp_server.notifier import converse
from lancebrain.mcp_server.relay import private

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from lancebrain.mcp_server.app import App
    from lancebrain.mcp_server.relay import Wire

_GRACE_S = 0.8
"""What runs in threads is given so long; a commit is all or nothing, and locks go with us."""

log = logging.getLogger("lancebrain.mcp")


class Pipes:
    """Stdin and stdout, for the protocol alone: what else is printed goes to stderr."""

    def __init__(self) -> None:
        self._stdin, self._stdout = private(0), private(1)

    def lines(self) -> Iterator[str]:
        """What the client says; waits for each line."""
        for line in self._stdin:
            yield line.decode(errors="replace")

    def write(self, text: str) -> None:
        """Tell the client something."""
        self._stdout.write(text.encode())
        self._stdout.flush()


def serve_stdio(server: MCPServer[App], wire: Wire | None = None) -> NoReturn:
    """Serve until stdin ends or a signal comes; the process ends with it.

    It does not return, since threads that compute would be waited for.

    Args:
        wire: in place of stdin and stdout, where another server served them before.
    """
    anyio.run(_serve, server, wire or Pipes())
    _leave(0)


async def _serve(server: MCPServer[App], wire: Wire | Pipes) -> None:
    code = 0
    async with anyio.create_task_group() as tasks:
        serving = anyio.CancelScope()

        async def leave_on_signal() -> None:
            nonlocal code
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                async for number in signals:
                    code = 128 + number
                    serving.cancel()
                    await anyio.sleep(_GRACE_S)
                    _leave(code)

        if sys.platform != "win32":
            tasks.start_soon(leave_on_signal)
        with serving:
            try:
                streams: Any = _Said(wire), _Told(wire)
                async with stdio_server(*streams) as (reading, writing):
                    await converse(server, reading, writing)
            except* OSError as errors:
                log.warning("The client cannot be told anything any more: %s", errors.exceptions)
                code = 1
            except* Exception:
                # A client is to see that nobody answers any more; it waits for ever otherwise.
                log.exception("The server ended by a mistake of ours")
                code = 1
        # The event loop waits for threads when it ends; so it does not come to its end.
        _leave(code)


_HALF = re.compile(
    r"(?P<other>\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Half of a pair of surrogates, as JavaScript writes where an emoji was cut in two. The SDK does
not answer a message that has one."""


class _Said:
    """The lines of a client, as ``stdio_server`` reads them."""

    def __init__(self, wire: Wire | Pipes) -> None:
        self._lines = wire.lines()

    def __aiter__(self) -> _Said:
        return self

    async def __anext__(self) -> str:
        # The SDK's own reading of stdin could not be given up before the next line came.
        line = await anyio.to_thread.run_sync(next, self._lines, None, abandon_on_cancel=True)
        if line is None:
            raise StopAsyncIteration
        return _HALF.sub(lambda match: match["other"] or r"\ufffd", line)


class _Told:
    """A client, as ``stdio_server`` writes to it."""

    def __init__(self, wire: Wire | Pipes) -> None:
        self._wire = wire

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._wire.write, text, abandon_on_cancel=True)

    async def flush(self) -> None:
        """It is done by then."""


def _leave(code: int) -> NoReturn:
    sys.stderr.flush()
    os._exit(code)
