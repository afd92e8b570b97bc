"""How a facade comes to be: from the settings of a place, and where those say their sources are."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lancebrain.brain.facade import Brain
from lancebrain.brain.ledger import ENVIRONMENT, PROGRAM
from lancebrain.brain.roots import absolute
from lancebrain.osnames import to_text

if TYPE_CHECKING:
    from lancebrain.config import Settings
    from lancebrain.embedders import Embedder


def open(
    index: Path | str | None = None,
    *,
    config_file: Path | str | None = None,
    embedder: Embedder | None = None,
    clock: Callable[[], float] = time.monotonic,
    **settings: Any,
) -> Brain:
    """See :func:`lancebrain.open`.

    Args:
        embedder: a loaded model to use in place of the configured one.
        clock: monotonic seconds, for the time between two looks at the files.

    Raises:
        ConfigError: the configuration is wrong.
    """
    from lancebrain.config import load_settings

    if embedder is not None:
        settings["model"] = getattr(embedder, "name", type(embedder).__name__)

    def load() -> Settings:
        return load_settings(index=index, config_file=config_file, overrides=settings)

    return Brain(load, origin=_origin(load(), settings), embedder=embedder, clock=clock)


def write_config(file: Path | str | None = None, folders: Iterable[Path | str] = ()) -> Path:
    """Write a new configuration to edit.

    Args:
        file: where; ``lancebrain.toml`` in the working folder by default.
        folders: sources to begin with.

    Raises:
        ConfigError: the file exists already or cannot be written.
    """
    from lancebrain.config import source_from_folder, write_default_config
    from lancebrain.types import Source

    target = absolute(file or "lancebrain.toml")
    sources: list[Source] = []
    for folder in folders:
        sources.append(source_from_folder(absolute(folder), [source.name for source in sources]))
    write_default_config(target, sources)
    return target


def _origin(settings: Settings, overrides: dict[str, Any]) -> str:
    """Where the sources are configured, in words for people and the ledger."""
    if overrides.get("sources") is not None:
        script = Path(sys.argv[0])
        return f"{PROGRAM} {to_text(str(absolute(script)))}" if script.is_file() else PROGRAM
    if os.environ.get("LANCEBRAIN_SOURCES"):
        return ENVIRONMENT
    named = os.environ.get("LANCEBRAIN_SOURCES_FILE") or settings.config_file
    return to_text(str(absolute(named))) if named else "the index"
