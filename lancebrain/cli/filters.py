"""The options that narrow a search or an export, and the :class:`Filter` they make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from lancebrain.types import Filter

_PANEL = "Narrow down"


def _option(name: str, metavar: str, text: str) -> Any:
    return typer.Option(
        name, metavar=metavar, show_default=False, help=text, rich_help_panel=_PANEL
    )


_Many = list[str] | None

OPTIONS = {
    "source": Annotated[
        _Many, _option("--source", "NAME", "Only this source. [dim]Repeat for more.[/]")
    ],
    "domain": Annotated[
        _Many, _option("--domain", "NAME", "Only this domain. [dim]Repeat for more.[/]")
    ],
    "exclude_domain": Annotated[
        _Many, _option("--exclude-domain", "NAME", "All domains but this.")
    ],
    "path": Annotated[
        str | None,
        _option("--path", "PATH", "A document, a folder (notes/2026/), a glob (notes/**/*.md)."),
    ],
    "kind": Annotated[_Many, _option("--kind", "KIND", "md, text, claude, codex …")],
    "role": Annotated[_Many, _option("--role", "ROLE", "user or assistant, in session logs.")],
    "project": Annotated[
        _Many,
        _option("--project", "FOLDER", "Session logs of work in or below this folder, or a name."),
    ],
    "tag": Annotated[_Many, _option("--tag", "TAG", "Only text with this tag.")],
    "since": Annotated[
        str | None, _option("--since", "WHEN", "2026-11-29, 2026-11-29T10:00, yesterday, 7d.")
    ],
    "until": Annotated[
        str | None, _option("--until", "WHEN", "As --since; a day counts to its end.")
    ],
}
"""Parameter name to what typer is told of it; every default is None."""


def take_filter(options: dict[str, Any]) -> Filter:
    """Take the options above out of ``options`` and make them a filter.

    Raises:
        UsageError: a time cannot be understood.
    """
    given = {name: options.pop(name) for name in OPTIONS}
    since, until = given["since"], given["until"]
    if since or until:
        from lancebrain.moments import moment

        since, until = since and moment(since), until and moment(until, end=True)
    return Filter(
        sources=tuple(given["source"] or ()),
        domains=tuple(given["domain"] or ()),
        exclude_domains=tuple(given["exclude_domain"] or ()),
        kinds=tuple(given["kind"] or ()),
        roles=tuple(given["role"] or ()),
        tags=tuple(tag.removeprefix("#") for tag in given["tag"] or ()),
        path=given["path"],
        since=since or None,
        until=until or None,
        projects=tuple(_project(project) for project in given["project"] or ()),
    )


def _project(named: str) -> str:
    """A folder of this machine as an absolute path; a bare name as it is."""
    is_path = "/" in named or os.sep in named or named.startswith(("~", "."))
    return os.path.abspath(Path(named).expanduser()) if is_path else named  # noqa: PTH100
