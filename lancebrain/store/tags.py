"""Names for versions, kept by Lance beside the table; a named version is never cleaned up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lancebrain.errors import UsageError

if TYPE_CHECKING:
    from .connection import Table

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def read_tags(table: Table) -> dict[str, int]:
    """Names and the versions that they stand for."""
    return {name: int(tag["version"]) for name, tag in table.tags.list().items()}


def create_tag(table: Table, name: str, version: int) -> None:
    """Name a version that exists.

    Raises:
        UsageError: the name is taken or not allowed.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"A version cannot be named {name!r}.", hint="Use letters, digits, '.', '-' and '_'."
        )
    taken = read_tags(table).get(name)
    if taken is not None:
        raise UsageError(
            f"The name {name!r} is taken by version {taken}.", hint="Choose another name."
        )
    table.tags.create(name, version)


def delete_tag(table: Table, name: str) -> None:
    """Take a name away.

    Raises:
        UsageError: there is no such name.
    """
    if name not in read_tags(table):
        raise UsageError(f"No version is named {name!r}.")
    table.tags.delete(name)
