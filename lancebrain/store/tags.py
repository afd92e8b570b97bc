"""Names for versions, kept by Lance beside the table; a named version is never cleaned up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from lancebrain.errors import UsageError

if TYPE_CHECKING:
    from .connection import Table

# What Lance takes, in names that a command line and every file system take too.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.|lock$|$)){0,99}")


def read_tags(table: Table) -> dict[str, int]:
    """Names and the versions that they stand for."""
    return {name: int(tag["version"]) for name, tag in table.tags.list().items()}


def check_name(name: str, there: Mapping[str, int]) -> None:
    """See whether a version may be given this name.

    Args:
        there: names and their versions.

    Raises:
        UsageError: the name is taken or not allowed.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"A version cannot be named {name!r}.",
            hint="Use up to 100 letters, digits, '-', '_' and single dots, with a letter or a "
            "digit first: before-cleanup.",
        )
    if name in there:
        raise UsageError(
            f"The name {name!r} is taken by version {there[name]}.",
            hint="Choose another, or take this one away first: "
            f"lancebrain checkpoint --delete {name}",
        )


def create_tag(table: Table, name: str, version: int) -> None:
    """Name a version that exists.

    Raises:
        UsageError: the name is taken or not allowed.
    """
    check_name(name, read_tags(table))
    table.tags.create(name, version)


def delete_tag(table: Table, name: str) -> None:
    """Take a name away.

    Raises:
        UsageError: there is no such name.
    """
    if name not in read_tags(table):
        raise UsageError(
            f"No version is named {name!r}.", hint="See the names: lancebrain checkpoint --list"
        )
    table.tags.delete(name)
