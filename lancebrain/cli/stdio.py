"""``serve`` over stdin and stdout; apart from the other commands, since it begins at once.

What only hands over to a server that runs already loads neither the protocol nor the settings.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from lancebrain import __version__
from lancebrain.cli.front import Front
from lancebrain.errors import LancebrainError
from lancebrain.mcp_server.sharing import Sharing
from lancebrain.places import find_config_file

if TYPE_CHECKING:
    from lancebrain.brain import Brain


def serve_over_stdio(front: Front, *, read_only: bool, follow: bool, shared: bool) -> NoReturn:
    """Serve until stdin ends or a signal comes; the process ends with it.

    Args:
        shared: hand over to another server of this index, or take in those that come later.
    """
    from lancebrain.mcp_server.relay import relay

    sharing = sharing_of(front, read_only=read_only, follow=follow) if shared else None
    wire = None if sharing is None else relay(sharing)

    from lancebrain.mcp_server.server import build
    from lancebrain.mcp_server.stdio import serve_stdio

    brain = _brain_or_why_not(front)
    if sharing is not None and isinstance(brain, LancebrainError):
        sharing.release()
    server = build(brain, read_only=read_only, follow=follow, sharing=sharing)
    serve_stdio(server, wire)


def sharing_of(front: Front, *, read_only: bool, follow: bool) -> Sharing | None:
    """The servers that this one could do the work of; None where there is no index yet."""
    try:
        index = _index(front)
        config = front.config_file or os.environ.get("LANCEBRAIN_CONFIG")
        file = Path(config) if config else find_config_file(Path.cwd())
    except (LancebrainError, OSError, RuntimeError):
        return None  # who serves alone tells what is wrong with them
    if not index.is_dir():
        return None
    alike = (
        __version__, sys.prefix, platform.node(), Path.home(), read_only, follow,
        None if file is None else _absolute(file),
        *sorted(f"{name}={value}" for name, value in os.environ.items() if _matters(name)),
    )  # fmt: skip
    return Sharing(index, alike)


def _index(front: Front) -> Path:
    named = front.index or os.environ.get("LANCEBRAIN_INDEX")
    # Only a plain folder is known without reading the settings.
    if named and "://" not in named:
        return _absolute(Path(named))
    return front.brain().settings.index


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 (as for the settings)


def _matters(variable: str) -> bool:
    said_otherwise = {"LANCEBRAIN_INDEX", "LANCEBRAIN_CONFIG", "LANCEBRAIN_DEBUG"}
    return variable.startswith("LANCEBRAIN_") and variable not in said_otherwise


def _brain_or_why_not(front: Front) -> Brain | LancebrainError:
    try:
        return front.brain()
    except LancebrainError as error:
        return error  # who started us shows no stderr: the agent is told, in answer to a call
