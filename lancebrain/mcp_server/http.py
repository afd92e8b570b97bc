"""Running a server over HTTP, for many clients on this computer that share one model.

It listens on the loopback interface alone, refuses requests that a web page of elsewhere could
send (by their Host and Origin), and asks for a token unless that is switched off.
"""

from __future__ import annotations

import hmac
import os
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings

from lancebrain.errors import StoreError, UsageError

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from starlette.applications import Starlette

    from lancebrain.mcp_server.app import App

PORT = 7437
PATH = "/mcp"
TOKEN_FILE = "http-token"  # noqa: S105 (a file's name)
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_SCOPE = "knowledge"
_GRACE_S = 1


class OneToken:
    """Lets in who has the token.

    Args:
        token: of this server.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> AccessToken | None:
        """See the SDK's ``TokenVerifier``."""
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            return None
        return AccessToken(token=token, client_id="local", scopes=[_SCOPE])


def url_of(host: str, port: int) -> str:
    """Where the server is reached."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


def auth_for(token: str, host: str, port: int) -> dict[str, Any]:
    """What a server is built with to ask for a token."""
    base = url_of(host, port)
    return {
        "token_verifier": OneToken(token),
        "auth": AuthSettings.model_validate(
            {
                "issuer_url": base.removesuffix(PATH),
                "resource_server_url": base,
                "required_scopes": [_SCOPE],
                "validate_token_resource": False,
            }
        ),
    }


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


def web_app(server: MCPServer[App], *, host: str, port: int) -> Starlette:
    """The application that answers, with its checks.

    Raises:
        UsageError: the host is not this computer alone.
    """
    if host not in _LOOPBACK:
        raise UsageError(
            f"{host!r} can be reached from other computers.",
            hint="Serve on 127.0.0.1, and let a proxy that you trust ask who may come in.",
        )
    names = [f"[{name}]" if ":" in name else name for name in _LOOPBACK]
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )
    return server.streamable_http_app(
        streamable_http_path=PATH, host=host, transport_security=security
    )


def serve_http(server: MCPServer[App], *, host: str, port: int) -> NoReturn:
    """Serve until a signal comes; the process ends with it.

    Raises:
        UsageError: as :func:`web_app`.
    """
    import anyio
    import uvicorn

    config = uvicorn.Config(
        web_app(server, host=host, port=port),
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_GRACE_S,
    )

    async def serve() -> None:
        web = uvicorn.Server(config)
        await web.serve()
        # As over stdio: threads that compute are not waited for.
        sys.stderr.flush()
        os._exit(0 if web.started else 1)

    anyio.run(serve)
    os._exit(0)
