"""What is behind the page, as a request reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lancebrain.errors import UsageError

if TYPE_CHECKING:
    from starlette.requests import Request

    from lancebrain.service.live import Live
    from lancebrain.web.assets import Asset
    from lancebrain.web.gate import Keys
    from lancebrain.web.health import Duplicate
    from lancebrain.web.heart import Heart
    from lancebrain.web.kept import Kept


@dataclass(frozen=True)
class Behind:
    """Everything that the routes work with.

    Attributes:
        live: the index.
        heart: tells pages of its changes.
        map: the points of its map, as they are sent.
        duplicates: documents that say nearly the same.
        read_only: nothing is rolled back, restored or named.
    """

    live: Live
    heart: Heart
    map: Kept[bytes]
    duplicates: Kept[list[Duplicate]]
    keys: Keys
    assets: dict[str, Asset]
    read_only: bool


def behind(request: Request) -> Behind:
    """What the application of a request was built with."""
    found: Behind = request.app.state.behind
    return found


def live_of(request: Request) -> Live:
    """The index."""
    return behind(request).live


def changing(request: Request) -> Live:
    """The index, to be changed.

    Raises:
        UsageError: this page only reads.
    """
    if behind(request).read_only:
        raise UsageError(
            "This page only reads.", hint="Start it without --read-only to change anything."
        )
    return behind(request).live
