"""Who comes in: every request passes here before anything answers it.

- ``Host`` has to be this server's, so that no other name can be made to point here.
- ``Origin``, and what the browser says of where a request began, have to be this server's own
  pages, so that no other page can send one. What changes anything has to have one.
- The API wants the cookie that the link gave. The shell and its files are the same for everyone
  and tell nothing; so a bookmark works, though a strict cookie is not sent with the first request.

The cookie is no token but derived from one: browsers send it to every server of this computer,
whatever its port.
"""

from __future__ import annotations

import hashlib
import hmac
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from lancebrain.service.loopback import is_token, own_hosts, own_origins
from lancebrain.web.speaking import refused

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

API = "/api/"
_SAFE = frozenset({"GET", "HEAD"})
_OWN_SITE = frozenset({"same-origin", "none"})
_COOKIE_S = 90 * 24 * 3600
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        # No string becomes markup or a script, whatever a module of the page does.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Keys:
    """What lets a browser in.

    Args:
        token: of the index's servers.
        port: of this one; browsers keep the cookies of two apart by their name alone.
    """

    def __init__(self, token: str, port: int) -> None:
        self._cookie_name = f"lancebrain-{port}"
        self._cookie = _derived(token, "cookie")
        self.in_link = _derived(token, "link")

    def opens_link(self, given: str) -> bool:
        """Whether the token of a link is the right one."""
        return is_token(given, self.in_link)

    def opens_cookie(self, header: str) -> bool:
        """Whether a ``Cookie`` header holds the right one."""
        try:
            found = SimpleCookie(header).get(self._cookie_name)
        except CookieError:
            return False
        return found is not None and is_token(found.value, self._cookie)

    @property
    def set_cookie(self) -> str:
        """The value of a ``Set-Cookie`` header."""
        return (
            f"{self._cookie_name}={self._cookie}; Path=/; Max-Age={_COOKIE_S}; "
            "HttpOnly; SameSite=Strict"
        )


class Gate:
    """Lets requests through to an application, or refuses them.

    Args:
        port: that the server listens on.
    """

    def __init__(self, app: ASGIApp, *, keys: Keys, port: int) -> None:
        self._app = app
        self._keys = keys
        self._hosts = frozenset(own_hosts(port))
        self._origins = frozenset(own_origins(port))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        answer = self._refusal(scope) or self._app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This is not the server of that name.", 421)
        is_api = scope["path"].startswith(API)
        origin = headers.get("origin")
        is_own = origin in self._origins if origin is not None else scope["method"] in _SAFE
        site = headers.get("sec-fetch-site", "none")
        if not is_own or (is_api and site not in _OWN_SITE):
            return refused(403, "forbidden", "Only its own page may ask this server.")
        if is_api and not self._keys.opens_cookie(headers.get("cookie", "")):
            return refused(401, "no-cookie", "Open the link that `lancebrain ui` prints.")
        return None


def _derived(token: str, purpose: str) -> str:
    made = hmac.new(token.encode(), f"lancebrain ui {purpose}".encode(), hashlib.sha256)
    return made.hexdigest()
