"""Settings from everywhere they can stand: defaults < file < environment < flags.

A key of a later place replaces the same key of an earlier one, ``sources`` as a whole too. The
sources that the index itself remembers are joined last.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from lancebrain.config.complaints import complaint, nearest_hint, reject_unknown
from lancebrain.config.entries import absolute, parse_sources, reject_doubles
from lancebrain.config.files import parse_json, read_source_list, read_toml
from lancebrain.config.indexplace import index_place
from lancebrain.config.remembered import remembered_sources
from lancebrain.config.settings import KEYS, Settings
from lancebrain.errors import ConfigError
from lancebrain.places import find_config_file
from lancebrain.types import Source

PREFIX = "LANCEBRAIN_"

_FOLDERS = frozenset({"index", "model_folder"})
_TABLES = frozenset({"storage_options"})
_OF_OTHERS = frozenset({"LANCEBRAIN_DEBUG", "LANCEBRAIN_SHARED"})
"""Variables that are no settings: of the command line, and of the test suite."""


def load_settings(
    *,
    index: Path | str | None = None,
    config_file: Path | str | None = None,
    cwd: Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """The settings that hold here and now.

    Args:
        index: as ``--index``, a folder or a URI; the same as ``overrides={"index": index}``.
        config_file: as ``--config``; else ``LANCEBRAIN_CONFIG``, else the nearest
            ``lancebrain.toml`` upwards from ``cwd``, else the user's, else none is read.
        cwd: what relative paths in variables and flags are relative to; the working folder.
        environ: the environment variables; those of the process.
        overrides: values of flags by key; None means not given.

    Raises:
        ConfigError: a file, variable or flag holds an unknown key or a wrong value.
    """
    environ = os.environ if environ is None else environ
    cwd = Path(os.path.abspath(cwd)) if cwd else Path.cwd()  # noqa: PTH100
    named = os.fspath(config_file) if config_file else environ.get(PREFIX + "CONFIG")
    file = absolute(named, cwd, "the configuration file") if named else find_config_file(cwd)

    values: dict[str, object] = {"config_file": file}
    if file is not None:
        values |= _from_file(file)
    values |= _from_environment(environ, cwd)
    values |= _from_flags({**(overrides or {}), **({"index": index} if index else {})}, cwd)

    settings = Settings.model_validate(values)
    return settings.model_copy(
        update={"sources": joined(settings.sources, remembered_sources(settings.index))}
    )


def joined(configured: tuple[Source, ...], remembered: tuple[Source, ...]) -> tuple[Source, ...]:
    """The configuration's sources and those of the index; the configuration's win.

    A remembered source with the name or the root of a configured one is left out.
    """
    names = {source.name for source in configured}
    roots = {source.root for source in configured}
    return configured + tuple(
        source for source in remembered if source.name not in names and source.root not in roots
    )


def _from_file(file: Path) -> dict[str, object]:
    content = read_toml(file)
    reject_unknown(content, KEYS, str(file))
    return _checked(content, dict.fromkeys(content, str(file)), file.parent, strict=True)


def _from_environment(environ: Mapping[str, str], cwd: Path) -> dict[str, object]:
    names = {PREFIX + key.upper(): key for key in KEYS}
    special = {PREFIX + "CONFIG", PREFIX + "SOURCES_FILE"}
    found: dict[str, object] = {}
    origins: dict[str, str] = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX) or variable in special | _OF_OTHERS or not text:
            continue
        if variable not in names:
            raise ConfigError(
                f"The environment variable {variable} is unknown.",
                hint=nearest_hint(variable, [*names, *sorted(special)]),
            )
        key = names[variable]
        found[key] = parse_json(text, variable) if key in _TABLES else text
        origins[names[variable]] = variable

    listed = environ.get(PREFIX + "SOURCES_FILE")
    if "sources" in found or listed:
        found["sources"] = _sources_of_environment(found.get("sources"), listed, cwd)
    return _checked(found, origins, cwd, strict=False)


def _sources_of_environment(inline: object, listed: str | None, cwd: Path) -> tuple[Source, ...]:
    """The sources of ``LANCEBRAIN_SOURCES`` and of ``LANCEBRAIN_SOURCES_FILE``, together."""
    sources: tuple[Source, ...] = ()
    if isinstance(inline, str):
        variable = PREFIX + "SOURCES"
        sources += parse_sources(parse_json(inline, variable), cwd, variable)
    if listed:
        file = absolute(listed, cwd, PREFIX + "SOURCES_FILE")
        sources += parse_sources(read_source_list(file), file.parent, str(file))
    reject_doubles(sources, f"{PREFIX}SOURCES and {PREFIX}SOURCES_FILE")
    return sources


def _from_flags(overrides: Mapping[str, object], cwd: Path) -> dict[str, object]:
    given = {key: value for key, value in overrides.items() if value is not None}
    reject_unknown(given, KEYS, "Settings")
    return _checked(given, {key: f"--{key.replace('_', '-')}" for key in given}, cwd, strict=True)


def _checked(
    found: Mapping[str, object], origins: Mapping[str, str], base_dir: Path, *, strict: bool
) -> dict[str, object]:
    """The values of one place, each of its type.

    Args:
        origins: for messages: where each key stands.
        base_dir: what relative paths are relative to.
        strict: the place knows types, so that ``"4"`` is no number; variables are all text.
    """
    values = dict(found)
    for key in _FOLDERS & values.keys():
        folder = values[key]
        if not isinstance(folder, str | os.PathLike):
            raise ConfigError(f"{origins[key]}: {key} must be a folder.")
        if key == "index":
            values |= index_place(os.fspath(folder), base_dir, origins[key])
        else:
            values[key] = absolute(os.fspath(folder), base_dir, origins[key])
    if "sources" in values:
        values["sources"] = parse_sources(
            values["sources"], base_dir, origins.get("sources", "sources")
        )
    try:
        checked = Settings.model_validate(values, strict=strict)
    except ValidationError as error:
        raise complaint(error, origins) from None
    return {key: getattr(checked, key) for key in values}
