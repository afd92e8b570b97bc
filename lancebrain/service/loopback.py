"""Serving on this computer alone: where, to whom, and until when.

A server on the loopback interface is still reached by every web page that is open in a browser.
So requests are told apart by their Host (a page of elsewhere may have made its own name point
here) and their Origin, and whoever comes needs a token that only the index's owner can read.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from lancebrain.errors import StoreError, UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

TOKEN_FILE = "http-token"  # noqa: S105 (a file's name)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_GRACE_S = 1
_KEEP_ALIVE_S = 75
"""A client that takes a connection up again must not find that we are just closing it."""


def check_is_local(host: str) -> None:
    """Make sure that a host is this computer alone.

    Raises:
        UsageError: other computers could reach it.
    """
    if host not in _LOOPBACK:
        raise UsageError(
            f"{host!r} can be reached from other computers.",
            hint="Serve on 127.0.0.1, and let a proxy that you trust ask who may come in.",
        )


def own_hosts(port: int) -> list[str]:
    """The values of ``Host`` by which a server on a port is meant."""
    return [f"{_in_url(name)}:{port}" for name in _LOOPBACK]


def own_origins(port: int) -> list[str]:
    """The values of ``Origin`` of its own pages."""
    return [f"http://{host}" for host in own_hosts(port)]


def base_url(host: str, port: int) -> str:
    """Where a server is reached, without a slash at the end."""
    return f"http://{_in_url(host)}:{port}"


def token_of(index: Path) -> str:
    """The token of an index's servers, made when there is none; only the owner can read it.

    Raises:
        StoreError: it cannot be read or written.
    """
    file = index / TOKEN_FILE
    try:
        index.mkdir(parents=True, exist_ok=True)
        try:
            opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(opened, "w", encoding="ascii") as stream:
                stream.write(secrets.token_urlsafe(32))
        token = file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreError(f"{file} cannot be used: {error}.", hint="Remove it.") from error
    if len(token) < 16:
        raise StoreError(f"{file} holds no token.", hint="Remove it; it is made anew.")
    return token


def is_token(given: str, token: str) -> bool:
    """Whether a token is the right one; how long that takes tells nothing."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode())


def listen(host: str, port: int) -> socket.socket:
    """A socket that a server can be run on.

    Args:
        port: 0 for any that is free.

    Raises:
        UsageError: as :func:`check_is_local`, or the port is taken.
    """
    check_is_local(host)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        on = socket.create_server((host, port), family=family)
    except OSError as error:
        raise UsageError(
            f"Port {port} of {host} cannot be had: {os.strerror(error.errno or 0)}.",
            hint="Choose another with --port.",
        ) from error
    # Connections inherit it. asyncio sets it only where a socket was made by protocol number, and
    # without it the body of an answer waits 40 ms for the receipt of its head.
    on.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return on


def serve_until_signal(app: ASGIApp, on: socket.socket) -> NoReturn:
    """Serve until a signal comes; the process ends with it.

    Threads that compute are not waited for: a commit is all or nothing, and locks go with us.
    """
    import anyio
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=_KEEP_ALIVE_S,
    )

    async def serve() -> None:
        web = uvicorn.Server(config)
        await web.serve([on])
        sys.stderr.flush()
        os._exit(0 if web.started else 1)

    anyio.run(serve)
    os._exit(0)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
