"""Where an index is, as a person writes it: a folder, or a place on object storage."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from lancebrain.config.entries import absolute
from lancebrain.errors import ConfigError

_URI = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://")
_ON_OBJECT_STORAGE = ("s3", "gs", "az")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


def is_uri(place: str) -> bool:
    """Whether a place is written as a URI and not as a path."""
    return _URI.match(place) is not None


def index_place(place: str, base_dir: Path, origin: str) -> dict[str, object]:
    """The settings ``index`` and ``index_uri`` that a place stands for.

    Args:
        place: a path, ``file:///…``, ``s3://…``, ``gs://…`` or ``az://…``.
        base_dir: what a relative path is relative to.
        origin: for messages: where it stands.

    Raises:
        ConfigError: no index can be there.
    """
    if not is_uri(place):
        return {"index": absolute(place, base_dir, origin), "index_uri": None}
    parts = urlsplit(place)
    scheme = parts.scheme.lower()
    if scheme == "file" and parts.netloc in ("", "localhost"):
        return {"index": absolute(unquote(parts.path), base_dir, origin), "index_uri": None}
    if scheme not in _ON_OBJECT_STORAGE or not parts.netloc or parts.query or parts.fragment:
        raise ConfigError(
            f"{origin}: an index cannot be at {place!r}.",
            hint="Name a folder, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or "
            "az://CONTAINER/PREFIX.",
        )
    uri = f"{scheme}://{parts.netloc}/{parts.path.strip('/')}".rstrip("/")
    return {"index": folder_of(uri), "index_uri": uri}


def folder_of(uri: str) -> Path:
    """What this machine keeps of an index on object storage."""
    import platformdirs

    readable = _NOT_IN_NAMES.sub("-", uri.partition("://")[2])[-40:].strip("-")
    name = f"{readable}-{hashlib.sha256(uri.encode()).hexdigest()[:12]}"
    return Path(platformdirs.user_data_dir("lancebrain", appauthor=False)) / "remote" / name
