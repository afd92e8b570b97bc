"""Where the configuration is looked for. Light, for who has to know it before anything is read."""

from __future__ import annotations

import os
from pathlib import Path

CONFIG_NAME = "lancebrain.toml"


def user_config_file() -> Path:
    """Where the configuration is that holds for every folder; it need not exist."""
    import platformdirs

    return Path(platformdirs.user_config_dir("lancebrain", appauthor=False)) / CONFIG_NAME


def find_config_file(cwd: Path) -> Path | None:
    """The nearest ``lancebrain.toml`` upwards from ``cwd``, else the user's, else None."""
    for folder in (cwd, *cwd.parents):
        if os.path.isfile(folder / CONFIG_NAME):  # noqa: PTH113 (False where not permitted)
            return folder / CONFIG_NAME
    own = user_config_file()
    return own if own.is_file() else None
