"""``serve`` over stdin and stdout; apart from the other commands, since it begins at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from lancebrain.cli.front import Front
from lancebrain.errors import LancebrainError

if TYPE_CHECKING:
    from lancebrain.brain import Brain


def serve_over_stdio(front: Front, *, read_only: bool, follow: bool) -> NoReturn:
    """Serve until stdin ends or a signal comes; the process ends with it."""
    from lancebrain.mcp_server.server import build
    from lancebrain.mcp_server.stdio import serve_stdio

    serve_stdio(build(_brain_or_why_not(front), read_only=read_only, follow=follow))


def _brain_or_why_not(front: Front) -> Brain | LancebrainError:
    try:
        return front.brain()
    except LancebrainError as error:
        return error  # who started us shows no stderr: the agent is told, in answer to a call
