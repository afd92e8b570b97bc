"""The session logs of a program as a source: where they are, and how much there is of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lancebrain.errors import ConfigError, UsageError
from lancebrain.types import Source

if TYPE_CHECKING:
    from lancebrain.config import Settings


@dataclass(frozen=True, slots=True)
class AddedLogs:
    """A source of session logs that was added.

    Attributes:
        sessions: logs that hold anything, without those of sub-agents if they are left out.
        bytes: of them.
    """

    source: Source
    sessions: int
    bytes: int


def logs_of(
    name: str, environ: Mapping[str, str], home: Path, taken: set[str]
) -> tuple[Path, dict[str, object]]:
    """The folder of a program's logs, and what else its source is.

    Args:
        name: ``claude``, ``codex`` or ``gemini``.
        environ: where a variable may name the program's folder.
        taken: names of sources.

    Raises:
        UsageError: no such program is known.
        ConfigError: its folder is not there.
    """
    from lancebrain.config import source_name_for
    from lancebrain.sources.programs import DOMAIN, PROGRAMS

    program = PROGRAMS.get(name)
    if program is None:
        raise UsageError(f"{name!r} is no program.", hint=f"Known are: {', '.join(PROGRAMS)}.")
    root = program.root(environ, home)
    if not root.is_dir():
        otherwise = f"Set {program.variable}, or name" if program.variable else "Name"
        raise ConfigError(
            f"There are no session logs of {name}: {root} is no folder.",
            hint=f"{otherwise} the folder: lancebrain sources add FOLDER --kind {name}",
        )
    about: dict[str, object] = {
        "name": source_name_for(Path(name), taken),
        "kind": program.kind,
        "domain": DOMAIN,
        "include": program.include,
    }
    return root, about


def measured(source: Source, settings: Settings) -> AddedLogs:
    """How much there is of a source of session logs; no file is read."""
    from lancebrain.sources import discover
    from lancebrain.sync.logfiles import unwanted_logs

    found = discover(source, follow_symlinks=settings.follow_symlinks, index_folder=settings.index)
    unwanted = unwanted_logs(source, settings, found.files, all_found=True)
    sizes = [f.size for f in found.files if f.size and not (unwanted and unwanted(f.path))]
    return AddedLogs(source, len(sizes), sum(sizes))
