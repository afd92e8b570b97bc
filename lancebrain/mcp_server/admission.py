"""The shared server's side of a hand-over: lets other servers in, each with its own client.

Whoever proves to be of the same owner (see ``sharing``) speaks the protocol as over stdin and
stdout. An empty line is asked back, so that the other end knows that we are alive.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp.server.stdio import stdio_server

from lancebrain.mcp_server.notifier import converse
from lancebrain.mcp_server.sharing import HOST, Sharing, is_proof, proof

if TYPE_CHECKING:
    from anyio.abc import SocketStream
    from mcp.server import MCPServer

_PROOF_S = 2.0
_PROOF_BYTES = 256
_LINE_BYTES = 64 * 1024 * 1024
_TRY_AGAIN_S = 5.0
_GONE = (
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.BrokenResourceError,
    anyio.DelimiterNotFound,
)

log = logging.getLogger("lancebrain.mcp")


async def admit(server: MCPServer[Any], sharing: Sharing) -> None:
    """Take others in as soon as nobody else does, until it is cancelled."""
    try:
        while not sharing.claim():
            await anyio.sleep(_TRY_AGAIN_S)
        listener = await anyio.create_tcp_listener(local_host=HOST, local_port=0)
        async with listener:
            port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 (no Django)
            token = sharing.announce(port)
            await listener.serve(partial(_receive, server, token))
    except OSError as error:
        log.warning("Other servers cannot hand over to this one: %s", error)
    finally:
        sharing.release()


async def _receive(server: MCPServer[Any], token: str, stream: SocketStream) -> None:
    """Serve one that hands over, if it is one."""
    async with stream:
        incoming = BufferedByteReceiveStream(stream)
        try:
            with anyio.fail_after(_PROOF_S):
                if not is_proof(await _line(incoming, _PROOF_BYTES), token, "guest"):
                    return
                await stream.send(proof(token, "host"))
        except (TimeoutError, *_GONE):
            return
        try:
            said: Any = _Said(incoming, stream)
            told: Any = _Told(stream)
            async with stdio_server(said, told) as (reading, writing):
                await converse(server, reading, writing)
        except* _GONE:
            pass  # it ended in the middle of something
        except* Exception:
            log.exception("A conversation was broken off")


class _Said:
    """The lines that come, as ``stdio_server`` reads them."""

    def __init__(self, incoming: BufferedByteReceiveStream, stream: SocketStream) -> None:
        self._incoming = incoming
        self._stream = stream

    def __aiter__(self) -> _Said:
        return self

    async def __anext__(self) -> str:
        try:
            while not (line := await _line(self._incoming, _LINE_BYTES)).strip():
                await self._stream.send(b"\n")
        except (anyio.ClosedResourceError, *_GONE):
            raise StopAsyncIteration from None
        return line.decode(errors="replace")


class _Told:
    """Where lines go, as ``stdio_server`` writes them."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream

    async def write(self, text: str) -> None:
        await self._stream.send(text.encode())

    async def flush(self) -> None:
        """They are on their way."""


async def _line(incoming: BufferedByteReceiveStream, most_bytes: int) -> bytes:
    return await incoming.receive_until(b"\n", most_bytes) + b"\n"
