"""Configuration files: their text as values."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from lancebrain.errors import ConfigError


def read_toml(file: Path) -> dict[str, object]:
    """The values of a TOML file.

    Raises:
        ConfigError: it cannot be read, is not UTF-8, or not TOML; with the line.
    """
    text = read_text(file)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None


def read_source_list(file: Path) -> object:
    """The entries of a file of sources: ``[[sources]]`` in TOML, or JSON when it is named so.

    JSON is a list of entries, or an object whose ``sources`` is that list.

    Raises:
        ConfigError: as :func:`read_toml`; or another key stands beside ``sources``.
    """
    if file.suffix.lower() == ".json":
        content = parse_json(read_text(file), str(file))
    else:
        content = read_toml(file)
    if not isinstance(content, dict):
        return content
    if set(content) != {"sources"}:
        raise ConfigError(f"{file}: a file of sources holds 'sources' and nothing beside it.")
    return content["sources"]


def parse_json(text: str, origin: str) -> object:
    """The value of a JSON text; :class:`ConfigError` with the line when it is none."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(f"{origin} is not valid JSON: {error}.") from None
    return value


def read_text(file: Path) -> str:
    """The text of a configuration file; :class:`ConfigError` when it cannot be read."""
    try:
        # Line ends as they are: TOML knows \\r\\n, and an edit has to give them back.
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file} is not UTF-8 text: {error}.") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from None
