"""What a client and a server have said so far, as much as another server has to know of it.

A client that introduced itself, subscribed to something and waits for answers does not notice
when another server takes over: the first two are said again, and what can be asked twice without
harm is asked again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

# Tools that change nothing, or the same when they are called twice.
REPEATABLE = frozenset(
    {"search_knowledge", "get_detail", "reindex_now", "index_status", "list_sources", "history"}
)
_LOST = (
    "The server ended while it was at this, and another one took over. See whether it was done "
    "before you ask again."
)
_INTERNAL_ERROR = -32603


class Conversation:
    """One client's, line by line as each is passed on."""

    def __init__(self) -> None:
        self._opening: list[bytes] = []
        self._subscribed: dict[str, bytes] = {}
        self._waiting: dict[Any, bytes] = {}
        self._known: set[Any] = set()
        """Ids of requests whose answer the client has, and that were asked again."""

    @property
    def is_waiting(self) -> bool:
        """Whether the client waits for an answer."""
        return bool(self._waiting)

    def said(self, line: bytes) -> None:
        """The client said this."""
        message = _parsed(line)
        method, params = message.get("method"), message.get("params")
        params = params if isinstance(params, dict) else {}
        if method in ("initialize", "notifications/initialized"):
            self._opening.append(line)
        elif method == "resources/subscribe":
            self._subscribed[str(params.get("uri"))] = line
        elif method == "resources/unsubscribe":
            self._subscribed.pop(str(params.get("uri")), None)
        elif method == "notifications/cancelled":
            self._waiting.pop(_id(params.get("requestId")), None)
        if method is not None and "id" in message:
            self._waiting[_id(message["id"])] = line

    def is_news(self, line: bytes) -> bool:
        """The server said this: whether the client is to be told."""
        message = _parsed(line)
        if "method" in message or "id" not in message:
            return True
        number = _id(message["id"])
        if number in self._known:
            self._known.discard(number)
            return False
        self._waiting.pop(number, None)
        return True

    def again(self) -> Iterator[bytes]:
        """What another server has to be told, in order; nothing at the beginning."""
        before = [*self._opening, *self._subscribed.values()]
        ids = {_id(message["id"]) for message in map(_parsed, before) if "id" in message}
        self._known = ids - self._waiting.keys()
        yield from before
        yield from [line for line in list(self._waiting.values()) if line not in before]

    def refusals(self) -> Iterator[bytes]:
        """Answers to what the client waits for and must not be asked twice."""
        for number, line in list(self._waiting.items()):
            message = _parsed(line)
            if message.get("method") == "tools/call" and not _is_repeatable(message):
                del self._waiting[number]
                error = {"code": _INTERNAL_ERROR, "message": _LOST}
                answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
                yield json.dumps(answer).encode() + b"\n"


def _is_repeatable(message: dict[str, Any]) -> bool:
    params = message.get("params")
    return isinstance(params, dict) and params.get("name") in REPEATABLE


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _id(value: object) -> object:
    """An id that can be looked up: 1 and "1" are two."""
    return (type(value).__name__, value) if isinstance(value, str | int | float) else None
