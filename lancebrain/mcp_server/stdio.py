"""Running a server over stdin and stdout, and ending it at once when it is told to."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import anyio

if TYPE_CHECKING:
    from mcp.server import MCPServer

    from lancebrain.mcp_server.app import App

_GRACE_S = 0.8
"""What runs in threads is given so long; a commit is all or nothing, and locks go with us."""


def serve_stdio(server: MCPServer[App]) -> NoReturn:
    """Serve until stdin ends or a signal comes; the process ends with it.

    It does not return, since threads that compute would be waited for.
    """
    anyio.run(_serve, server)
    _leave(0)


async def _serve(server: MCPServer[App]) -> None:
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
            await server.run_stdio_async()
        # The event loop waits for threads when it ends; so it does not come to its end.
        _leave(code)


def _leave(code: int) -> NoReturn:
    sys.stderr.flush()
    os._exit(code)
