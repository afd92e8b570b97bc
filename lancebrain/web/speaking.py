"""What is said over HTTP: results as the JSON of ``--json``, errors as JSON with a status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from lancebrain.errors import (
    IndexLockedError,
    IndexNotFoundError,
    LancebrainError,
    StoreError,
    UsageError,
)
from lancebrain.machine import to_json

if TYPE_CHECKING:
    from starlette.requests import Request

_STATUS: tuple[tuple[type[LancebrainError], int, str], ...] = (
    (UsageError, 400, "usage"),
    (IndexNotFoundError, 404, "no-index"),
    (IndexLockedError, 409, "locked"),
    (StoreError, 500, "store"),
    (LancebrainError, 500, "error"),
)
_MOST_BODY_BYTES = 64 * 1024


class Json(Response):
    """A dataclass, or a mapping or sequence of them, as JSON."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """See Starlette. What is no text (half of a surrogate pair) is replaced."""
        return to_json(content).encode("utf-8", "replace")


def refused(status: int, kind: str, message: str, hint: str = "") -> Json:
    """An error.

    Args:
        kind: for machines: ``usage``, ``no-index``, ``locked``, …
        message, hint: for people.
    """
    return Json({"error": kind, "message": message, "hint": hint}, status)


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that a request brings.

    Raises:
        UsageError: it brings none.
    """
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > _MOST_BODY_BYTES:
            raise UsageError("The request is too large.")
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise UsageError("The request has to be a JSON object.")
    return body


def text_in(body: dict[str, Any], name: str) -> str:
    """A text of a body.

    Raises:
        UsageError: it is not there, or no text.
    """
    value = body.get(name)
    if not isinstance(value, str) or not value:
        raise UsageError(f"{name!r} has to be a text.")
    return value


async def tell_error(request: Request, error: Exception) -> Response:
    """The answer to a request that failed."""
    if isinstance(error, LancebrainError):
        status, kind = next((s, k) for of, s, k in _STATUS if isinstance(error, of))
        return refused(status, kind, error.message, error.hint)
    if isinstance(error, HTTPException):
        return refused(error.status_code, "not-found", error.detail)
    return refused(500, "mistake", f"Unexpected {type(error).__name__}.", "See the terminal.")
