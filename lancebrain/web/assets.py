"""The files of the page: few and small, so they are kept in memory, and served by their names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable

    from starlette.requests import Request

SHELL = "index.html"
_ICON_S = 24 * 3600
_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is sent."""

    data: bytes
    media_type: str
    etag: str

    def response(self, request: Request) -> Response:
        """All of it, or that what the browser has is still right."""
        # A browser asks for the icon again whenever the address changes, as it does with every
        # question that is typed.
        caching = f"max-age={_ICON_S}" if self.media_type == _TYPES["svg"] else "no-cache"
        headers = {"ETag": self.etag, "Cache-Control": caching}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.data, media_type=self.media_type, headers=headers)


def load_assets() -> dict[str, Asset]:
    """All files of the page by their names, such as ``js/main.js``."""
    found = {}
    for name, file in _files(resources.files("lancebrain.web") / "static", ""):
        data = file.read_bytes()
        etag = f'"{hashlib.sha256(data).hexdigest()[:20]}"'
        found[name] = Asset(data, _TYPES[name.rpartition(".")[2]], etag)
    return found


def _files(folder: Traversable, above: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _files(entry, f"{above}{entry.name}/")
        else:
            yield above + entry.name, entry
