"""Running the page: a socket, a link to it, a browser, until a signal comes."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from lancebrain.errors import UsageError
from lancebrain.service.loopback import base_url, listen, serve_until_signal, token_of
from lancebrain.web.gate import Keys
from lancebrain.web.pages import build

if TYPE_CHECKING:
    import socket

    from lancebrain.brain import Brain

HOST = "127.0.0.1"
PORT = 7438


def serve_page(
    brain: Brain,
    *,
    port: int | None,
    read_only: bool,
    follow: bool,
    opens_browser: bool,
    tell: Callable[[str], None],
) -> NoReturn:
    """Serve the page of an index until a signal comes; the process ends with it.

    Args:
        port: None for the usual one, or any other if that is taken.
        read_only, follow: see :func:`build`.
        opens_browser: show it.
        tell: is given the link before anything is served.

    Raises:
        UsageError: the port is taken.
        StoreError: the index folder cannot be written.
    """
    token = token_of(brain.settings.index)
    on = _listen(port)
    port = on.getsockname()[1]
    keys = Keys(token, port)
    link = f"{base_url(HOST, port)}/?token={keys.in_link}"
    app = build(brain, keys=keys, port=port, read_only=read_only, follow=follow)
    tell(link)
    if opens_browser:
        # The socket listens already, so the browser waits if it is quicker than the server.
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
    serve_until_signal(app, on)


def _listen(port: int | None) -> socket.socket:
    if port is not None:
        return listen(HOST, port)
    try:
        return listen(HOST, PORT)
    except UsageError:
        return listen(HOST, 0)
