"""Sources that an index remembers: folders that were given to ``sync`` without a configuration.

They are in ``sources.toml`` in the index folder, in the same form as in ``lancebrain.toml``.
Any process may write them: each change is read, changed and replaced under a lock of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lancebrain import osnames
from lancebrain.config.atomic import write_atomically
from lancebrain.config.entries import parse_sources, source_name_for
from lancebrain.config.files import read_toml
from lancebrain.errors import ConfigError, IndexLockedError, StoreError
from lancebrain.types import Source

FILE_NAME = "sources.toml"

_LOCK_TIMEOUT_S = 10.0


def remembered_sources(index: Path) -> tuple[Source, ...]:
    """The sources that the index at this folder remembers; none where there is no index.

    Raises:
        ConfigError: the file was damaged by hand.
    """
    file = index / FILE_NAME
    if not file.exists():
        return ()
    return parse_sources(read_toml(file).get("sources", []), index, str(file))


def remember_source(index: Path, source: Source) -> None:
    """Add a source, or change the one that has its name and root already.

    Raises:
        ConfigError: another folder is remembered by that name.
        IndexLockedError: another process is changing the sources and does not finish.
        StoreError: the index folder cannot be written.
    """
    with _changing(index) as sources:
        for other in sources:
            if other.name == source.name and other.root != source.root:
                raise ConfigError(
                    f"The name {source.name!r} is taken by the source at {other.root}.",
                    hint="Choose another with --name.",
                )
        sources[:] = [other for other in sources if other.name != source.name] + [source]


def remember_folder(index: Path, folder: Path, *, taken: Collection[str] = ()) -> Source:
    """The remembered source at this folder, added with the default settings if it is new.

    Finding a free name and taking it is one step, also between processes.

    Args:
        folder: absolute.
        taken: names that are in use elsewhere, such as those of the configuration.

    Raises:
        IndexLockedError, StoreError: as :func:`remember_source`.
    """
    with _changing(index) as sources:
        for source in sources:
            if source.root == folder:
                return source
        name = source_name_for(folder, {source.name for source in sources} | set(taken))
        sources.append(Source(name=name, root=folder))
        return sources[-1]


def forget_source(index: Path, name: str) -> bool:
    """Remove a source from what the index remembers; False if it was not there.

    Raises:
        IndexLockedError, StoreError: as :func:`remember_source`.
    """
    if not any(source.name == name for source in remembered_sources(index)):
        return False
    with _changing(index) as sources:
        kept = [source for source in sources if source.name != name]
        found = len(kept) < len(sources)
        sources[:] = kept
    return found


@contextmanager
def _changing(index: Path) -> Iterator[list[Source]]:
    """The remembered sources as a list; written back when the block changed it."""
    import filelock

    try:
        index.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(index / f"{FILE_NAME}.lock", timeout=_LOCK_TIMEOUT_S):
            before = remembered_sources(index)
            sources = list(before)
            yield sources
            if tuple(sources) != before:
                write_atomically(index / FILE_NAME, _as_toml(sources))
    except filelock.Timeout:
        raise IndexLockedError(
            f"Another process has been changing the sources in {index} "
            f"for more than {_LOCK_TIMEOUT_S:.0f} s.",
            hint="Try again; if it persists, end that process.",
        ) from None
    except OSError as error:
        raise StoreError(
            f"The sources of the index in {index} cannot be written: {error.strerror or error}.",
            hint="Choose another place with --index.",
        ) from None


def entry_of(source: Source) -> dict[str, object]:
    """The keys of a source as a file holds them: those that are not at their default."""
    default = Source(name=source.name, root=source.root)
    entry: dict[str, object] = {"name": source.name, "root": osnames.to_text(str(source.root))}
    for key in ("kind", "domain", "include", "exclude", "recursive", "writable"):
        value = getattr(source, key)
        if value != getattr(default, key):
            entry[key] = list(value) if isinstance(value, tuple) else value
    if source.fields:
        entry["fields"] = {
            name: values[0] if len(values) == 1 else list(values) for name, values in source.fields
        }
    return entry


def _as_toml(sources: Sequence[Source]) -> str:
    import tomlkit

    document = tomlkit.document()
    document.add(tomlkit.comment("Written by lancebrain: folders this index was told to read."))
    entries = tomlkit.aot()
    for source in sources:
        table = tomlkit.table()
        table.update(entry_of(source))
        entries.append(table)
    document.append("sources", entries)
    return tomlkit.dumps(document)
