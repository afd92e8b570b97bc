"""Packages that data analysis can do without until one of them is asked for."""

from __future__ import annotations

import importlib
from typing import Any

from lancebrain.errors import LancebrainError


def require(package: str) -> Any:
    """The package, imported.

    Raises:
        LancebrainError: it is not installed.
    """
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise LancebrainError(
            f"This needs the package {package!r}, which is not installed.",
            hint="Install what data analysis needs: pip install 'lancebrain[data]'",
        ) from error
