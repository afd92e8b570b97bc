"""A source as it is written in a file or a variable → :class:`lancebrain.types.Source`."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lancebrain import osnames
from lancebrain.config.complaints import complaint, reject_unknown
from lancebrain.errors import ConfigError
from lancebrain.kinds import KINDS
from lancebrain.types import Source

# Control characters (C0, DEL, C1), line separators, and the slash that ends the name in a path.
_NOT_IN_NAMES = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029/]")


def _valid_name(name: str) -> str:
    if _NOT_IN_NAMES.search(name):
        raise ValueError("a source's name has no '/' and no control characters")
    if name.strip() in ("", ".", ".."):
        raise ValueError("a source's name is not empty, '.' or '..'")
    if not osnames.to_text(name) == name:
        raise ValueError("a source's name is valid Unicode")
    return name


def _valid_kind(kind: str) -> str:
    if kind not in KINDS:
        raise ValueError(f"must be one of {', '.join(KINDS)}, or left out")
    return kind


def _names(value: object) -> object:
    return (value,) if isinstance(value, str) else value


_Names = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...], BeforeValidator(_names), Field(min_length=1)
]


class _Fields(BaseModel):
    """What the fields of a chat export are called: a name, or several."""

    model_config = ConfigDict(extra="forbid")

    role: _Names | None = None
    content: _Names | None = None
    time: _Names | None = None
    messages: _Names | None = None
    id: Annotated[_Names, Field(max_length=1)] | None = None
    user: _Names | None = None
    assistant: _Names | None = None

    def pairs(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Those that are given."""
        return tuple((name, value) for name, value in self if value is not None)


class _Entry(BaseModel):
    """The keys of a source; see :class:`lancebrain.types.Source` for what they mean."""

    model_config = ConfigDict(extra="forbid")

    root: Annotated[str, Field(min_length=1)]
    name: Annotated[str, AfterValidator(_valid_name)] | None = None
    kind: Annotated[str, AfterValidator(_valid_kind)] | None = None
    domain: Annotated[str, Field(min_length=1)] = "knowledge"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    exclude_dirs: tuple[str, ...] = ()
    recursive: bool = True
    writable: bool = False
    fields: _Fields | None = None


def parse_source(
    entry: Mapping[str, object],
    base_dir: Path,
    *,
    taken: Collection[str] = (),
    origin: str = "source",
) -> Source:
    """One entry as a source.

    Args:
        entry: the keys of a source, of which only ``root`` has to be there; ``exclude_dirs``
            names folders to leave out, and becomes ``exclude`` patterns.
        base_dir: absolute; what a relative root is relative to.
        taken: names in use, for an entry that has none of its own.
        origin: for messages: where the entry stands.

    Raises:
        ConfigError: unknown key, missing root, or a value that is not allowed.
    """
    reject_unknown(entry, _Entry.model_fields, origin)
    if isinstance(fields := entry.get("fields"), Mapping):
        reject_unknown(fields, _Fields.model_fields, f"{origin}, fields")
    try:
        parsed = _Entry.model_validate(entry)
    except ValidationError as error:
        raise complaint(error, origin) from None
    if parsed.fields and parsed.kind != "jsonl":
        raise ConfigError(f"{origin}: fields are for sources of kind 'jsonl'.")
    root = absolute(osnames.from_text(parsed.root), base_dir, origin)
    return Source(
        name=parsed.name or source_name_for(root, taken),
        root=root,
        kind=parsed.kind,
        domain=parsed.domain,
        include=parsed.include,
        exclude=parsed.exclude + tuple(_folder_pattern(name, root) for name in parsed.exclude_dirs),
        recursive=parsed.recursive,
        writable=parsed.writable,
        fields=parsed.fields.pairs() if parsed.fields else (),
    )


def parse_sources(entries: object, base_dir: Path, origin: str) -> tuple[Source, ...]:
    """A list of entries, as ``[[sources]]`` or ``LANCEBRAIN_SOURCES`` hold it.

    Raises:
        ConfigError: as :func:`parse_source`; also for a name that stands twice.
    """
    if not isinstance(entries, Sequence) or isinstance(entries, str | bytes):
        raise ConfigError(f"{origin}: sources is a list of tables with at least a root.")
    sources: list[Source] = []
    for number, entry in enumerate(entries, start=1):
        if isinstance(entry, Source):
            sources.append(entry)
            continue
        place = f"{origin}: source {number}"
        if not isinstance(entry, Mapping):
            raise ConfigError(f"{place} is a table with at least a root, not {entry!r}.")
        # A name that is given anywhere in the list is not derived for another entry.
        taken = {source.name for source in sources} | set(_given_names(entries))
        sources.append(parse_source(entry, base_dir, taken=taken, origin=place))
    reject_doubles(sources, origin)
    return tuple(sources)


def reject_doubles(sources: Iterable[Source], origin: str) -> None:
    """Raise :class:`ConfigError` when two sources of one place share a name."""
    roots: dict[str, Path] = {}
    for source in sources:
        if source.name in roots:
            raise ConfigError(
                f"{origin}: two sources are called {source.name!r}: "
                f"{roots[source.name]} and {source.root}.",
                hint="Give one of them another name.",
            )
        roots[source.name] = source.root


def source_name_for(root: Path, taken: Collection[str] = ()) -> str:
    """A name for the source at ``root``: the folder's own, made valid and unique.

    Args:
        taken: names in use; ``notes`` becomes ``notes-2`` when it is among them.
    """
    name = _NOT_IN_NAMES.sub("-", osnames.to_text(root.name)).strip() or "root"
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}-{number}", number + 1
    return unique


def source_from_folder(path: Path | str, taken: Collection[str] = ()) -> Source:
    """A source with the default settings for a folder that was named on the command line.

    Args:
        path: ``~`` expands; relative to the working folder.
    """
    root = absolute(os.fspath(path), Path.cwd(), "folder")
    return Source(name=source_name_for(root, taken), root=root)


def absolute(path: str, base_dir: Path, origin: str) -> Path:
    """``path`` with ``~`` expanded, relative to ``base_dir``, symlinks left alone.

    Raises:
        ConfigError: the path has a NUL, or no such user's home is known.
    """
    if "\0" in path:
        raise ConfigError(f"{origin}: {path!r} is not a path: it holds a NUL character.")
    try:
        expanded = Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{origin}: {path!r}: {error}") from None
    return Path(os.path.abspath(base_dir / expanded))  # noqa: PTH100 (resolve() follows symlinks)


def _given_names(entries: Sequence[object]) -> Iterable[str]:
    for entry in entries:
        name = entry.get("name") if isinstance(entry, Mapping) else getattr(entry, "name", None)
        if isinstance(name, str):
            yield name


def _folder_pattern(name: str, root: Path) -> str:
    """The gitignore pattern for a folder: by name anywhere, or by its path if it has a slash."""
    whole = Path(name).expanduser() if name.startswith("~") else Path(name)
    if whole.is_absolute() and whole.is_relative_to(root):
        name = "/" + whole.relative_to(root).as_posix()
    bare = name.strip("/")
    if name.startswith("/"):
        return f"/{bare}/"
    return f"\\{bare}/" if bare.startswith(("#", "!")) else f"{bare}/"
