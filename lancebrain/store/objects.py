"""Objects under a prefix, by the same library that Lance reads and writes them with.

The only place that knows ``obstore``. What it raises leaves as an :class:`OSError`, or as one of
the two answers that a conditional write has.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lancebrain.errors import StoreError, UsageError

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_STORES = {"s3": "S3Store", "gs": "GCSStore", "az": "AzureStore"}
_OF_CLIENT = frozenset(
    {"allow_http", "allow_invalid_certificates", "connect_timeout", "proxy_url", "timeout"}
)
"""Options that are not about the storage but about how it is talked to."""
_OF_LANCE = frozenset(
    {
        "client_max_retries",
        "client_retry_timeout",
        "download_retry_count",
        "new_table_data_storage_version",
    }
)
"""Options that Lance alone takes."""
_A_DELETE = 500
_ANSWER_S = 15
_RETRIES = 10
_RETRY_S = 30
"""Longer than a line is away for a moment; not so long that a person wonders."""


class SupersededError(Exception):
    """A conditional write came too late: the object is another by now."""


@dataclass(frozen=True, slots=True)
class Seen:
    """An object as it was seen.

    Attributes:
        content: of it.
        tag: tells this content from any other that the object has had.
    """

    content: bytes
    tag: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a listing.

    Attributes:
        name: below the prefix.
    """

    name: str
    size_bytes: int
    modified_at: datetime
    tag: str


class Objects:
    """The objects of one index.

    Args:
        uri: ``s3://bucket/prefix``, ``gs://…`` or ``az://container/prefix``.
        options: as Lance takes them; what is not among them is taken from the environment.

    Raises:
        UsageError: no such storage is known.
        StoreError: the library for it is not installed.
    """

    def __init__(self, uri: str, options: Mapping[str, str]) -> None:
        self._store = _store(uri, options)

    def get(self, name: str, unless: Seen | None = None) -> Seen | None:
        """An object; None where there is none.

        Args:
            unless: as it was seen before, which is given back if it still is so.
        """
        import obstore
        from obstore.exceptions import NotModifiedError

        tag = unless and unless.tag.get("e_tag")
        try:
            with _told():
                found = obstore.get(
                    self._store, name, options={"if_none_match": tag} if tag else None
                )
                return Seen(bytes(found.bytes()), _tag(found.meta))
        except FileNotFoundError:
            return None
        except NotModifiedError:
            return unless

    def put(self, name: str, content: bytes) -> Seen:
        """Write an object, whatever is there."""
        import obstore

        with _told():
            return Seen(content, _tag(obstore.put(self._store, name, content, use_multipart=False)))

    def put_if(self, name: str, content: bytes, seen: Seen | None) -> Seen:
        """Write an object if it still is as it was seen, or still is not there.

        Raises:
            SupersededError: it is another, or is there.
            OSError: nobody can tell whether it was written.
        """
        import obstore
        from obstore.exceptions import AlreadyExistsError, PreconditionError

        mode: Any = "create" if seen is None else dict(seen.tag)
        try:
            with _told():
                put = obstore.put(self._store, name, content, mode=mode, use_multipart=False)
        except (AlreadyExistsError, PreconditionError, FileNotFoundError) as error:
            raise SupersededError(name) from error
        return Seen(content, _tag(put))

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; those that are not there are passed over."""
        import obstore

        left = list(names)
        while left:
            some, left = left[:_A_DELETE], left[_A_DELETE:]
            try:
                with _told():
                    obstore.delete(self._store, some)
            except FileNotFoundError:
                # Azure says so where one of them is not there, and then leaves the others.
                for name in some:
                    with suppress(FileNotFoundError), _told():
                        obstore.delete(self._store, name)

    def tag_of(self, name: str) -> str | None:
        """What tells this content of an object from others; None where there is none."""
        import obstore

        try:
            with _told():
                found = obstore.head(self._store, name)
        except FileNotFoundError:
            return None
        return f"{found['e_tag']} {found['last_modified']}"

    def listed(self, folder: str = "") -> Iterator[Listed]:
        """All objects below a folder, or below the prefix."""
        import obstore

        with _told():
            for some in obstore.list(self._store, folder or None, chunk_size=1_000):
                for found in some:
                    yield Listed(
                        found["path"], found["size"], found["last_modified"], found["e_tag"] or ""
                    )


def _store(uri: str, options: Mapping[str, str]) -> ObjectStore:
    place = urlsplit(uri)
    if place.scheme not in _STORES or not place.netloc:
        raise UsageError(
            f"{uri} is no place for an index.",
            hint="Name a folder, or s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or "
            "az://CONTAINER/PREFIX.",
        )
    try:
        from obstore import store
        from obstore.exceptions import BaseError
    except ImportError:
        raise StoreError(
            f"An index at {uri} takes a library that is not installed.",
            hint="Install it: pip install 'lancebrain[remote]'",
        ) from None
    # Lance takes the names in any case.
    given = {name.lower(): value for name, value in options.items()}
    client = {name: value for name, value in given.items() if name in _OF_CLIENT}
    config = {name: value for name, value in given.items() if name not in _OF_CLIENT | _OF_LANCE}
    # Lance takes it from the environment too, and this library only what is said of a place.
    from_environment = (os.environ.get(name, "") for name in ("AWS_ALLOW_HTTP", "ALLOW_HTTP"))
    allowed = client.pop("allow_http", next(filter(None, from_environment), ""))
    retries = int(given.get("client_max_retries", _RETRIES))
    seconds = int(given.get("client_retry_timeout", _RETRY_S))
    try:
        made: ObjectStore = getattr(store, _STORES[place.scheme])(
            place.netloc,
            prefix=place.path.strip("/") or None,
            config=config,
            client_options={
                "timeout": f"{_ANSWER_S}s",
                **client,
                "allow_http": allowed.lower() in ("true", "1"),
            },
            retry_config={"max_retries": retries, "retry_timeout": timedelta(seconds=seconds)},
        )
    except (BaseError, ValueError, TypeError) as error:
        raise UsageError(
            f"The storage options for {uri} are wrong: {str(error).splitlines()[0]}",
            hint="See the names that LanceDB knows: https://lancedb.github.io/lancedb/guides/storage/",
        ) from error
    return made


def _tag(about: Mapping[str, Any]) -> Mapping[str, str]:
    return {name: about[name] for name in ("e_tag", "version") if about.get(name)}


@contextmanager
def _told() -> Iterator[None]:
    """What went wrong, in one line, as an error of the system's."""
    from obstore import exceptions

    answers = (
        exceptions.AlreadyExistsError,
        exceptions.PreconditionError,
        exceptions.NotModifiedError,
    )
    try:
        yield
    except answers:
        raise
    except exceptions.BaseError as error:
        said = str(error).split("\n\nDebug source", 1)[0]
        if isinstance(error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError):
            raise PermissionError(f"permission denied: {said}") from error
        raise ConnectionError(said) from error
