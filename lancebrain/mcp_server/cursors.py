"""Where the next page begins: small, opaque to a client, and good for the same question only."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json

from lancebrain.errors import UsageError


def cursor(at: int, question: object) -> str:
    """The cursor of a position.

    Args:
        at: how many are before it.
        question: all that decides what stands there; JSON-compatible.
    """
    packed = json.dumps([at, _digest(question)]).encode()
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def position(text: str | None, question: object) -> int:
    """The position that a cursor means; 0 without one.

    Raises:
        UsageError: it is none, or another question's.
    """
    if text is None:
        return 0
    try:
        at, digest = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if isinstance(at, int) and 0 <= at <= 1_000_000 and digest == _digest(question):
            return at
    except (ValueError, TypeError, binascii.Error):
        pass
    raise UsageError(
        "This cursor is not one of this question.",
        hint="Repeat the call that gave it with the same arguments, or leave the cursor out.",
    )


def _digest(question: object) -> str:
    packed = json.dumps(question, ensure_ascii=True, sort_keys=True, default=str)
    return hashlib.sha256(packed.encode()).hexdigest()[:12]
