"""Running a server over HTTP, for many clients on this computer that share one model.

It listens on the loopback interface alone, refuses requests that a web page of elsewhere could
send (by their Host and Origin), and asks for a token unless that is switched off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings

from lancebrain.service.loopback import (
    base_url,
    check_is_local,
    is_token,
    listen,
    own_hosts,
    own_origins,
    serve_until_signal,
)

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from starlette.applications import Starlette

    from lancebrain.mcp_server.app import App

PORT = 7437
PATH = "/mcp"
_SCOPE = "knowledge"


class OneToken:
    """Lets in who has the token.

    Args:
        token: of this server.
    """

    def __init__(self, token: str) -> None:
        self._token = token

    async def verify_token(self, token: str) -> AccessToken | None:
        """See the SDK's ``TokenVerifier``."""
        if not is_token(token, self._token):
            return None
        return AccessToken(token=token, client_id="local", scopes=[_SCOPE])


def url_of(host: str, port: int) -> str:
    """Where the server is reached."""
    return base_url(host, port) + PATH


def auth_for(token: str, host: str, port: int) -> dict[str, Any]:
    """What a server is built with to ask for a token."""
    return {
        "token_verifier": OneToken(token),
        "auth": AuthSettings.model_validate(
            {
                "issuer_url": base_url(host, port),
                "resource_server_url": url_of(host, port),
                "required_scopes": [_SCOPE],
                "validate_token_resource": False,
            }
        ),
    }


def web_app(server: MCPServer[App], *, host: str, port: int) -> Starlette:
    """The application that answers, with its checks.

    Raises:
        UsageError: the host is not this computer alone.
    """
    check_is_local(host)
    security = TransportSecuritySettings(
        allowed_hosts=own_hosts(port), allowed_origins=own_origins(port)
    )
    return server.streamable_http_app(
        streamable_http_path=PATH, host=host, transport_security=security
    )


def serve_http(server: MCPServer[App], *, host: str, port: int) -> NoReturn:
    """Serve until a signal comes; the process ends with it.

    Raises:
        UsageError: as :func:`web_app`, or the port is taken.
    """
    serve_until_signal(web_app(server, host=host, port=port), listen(host, port))
