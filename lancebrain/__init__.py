"""LanceBrain: local knowledge search that is never stale and can go back in time.

    import lancebrain

    with lancebrain.open() as brain:
        brain.sync(["~/notes"])
        for hit in brain.search("how do I descale the espresso machine").hits:
            print(hit.path, hit.line_start, hit.snippet)

Importing this costs nothing: Lance, the model, and LanceDB, which writes, are loaded when they are
first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from lancebrain.brain import Brain

__version__ = "0.1.0"
__all__ = ["Brain", "__version__", "open"]


def open(
    index: Path | str | None = None,
    *,
    config_file: Path | str | None = None,
    **settings: Any,
) -> Brain:
    """The index at a folder, to sync, search and look after; see :class:`lancebrain.brain.Brain`.

    Nothing is read or created yet: an index that does not exist is made by ``sync``.

    Args:
        index: its folder; None as configured.
        config_file: None for the ``lancebrain.toml`` found upwards from the working folder.
        settings: override single settings, such as ``model="usem3"`` or ``sources=(…,)``.

    Raises:
        ConfigError: the configuration is wrong.
    """
    from lancebrain.brain import open as open_brain

    return open_brain(index, config_file=config_file, **settings)


def __getattr__(name: str) -> object:
    if name == "Brain":
        from lancebrain.brain import Brain

        return Brain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
