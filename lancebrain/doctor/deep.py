"""The deep check: every file read and cut again, and compared with its rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from lancebrain.config import Settings
from lancebrain.doctor.checks import Ailment, ailment
from lancebrain.sources import file_of, root_state, times_of
from lancebrain.store import DocumentStat, Snapshot
from lancebrain.sync import Engine
from lancebrain.sync.documents import Parsed, parse
from lancebrain.sync.reading import Vanished, read_file
from lancebrain.types import DocumentState, Problem, Source, SourceFile

_DOCUMENTS_A_READ = 100


def contents(engine: Engine) -> Iterator[Ailment]:
    """Documents whose rows are not what their file gives.

    Files that are gone or have visibly changed are left to the check of the disk; an index that
    is held at an earlier version is not to equal them.
    """
    if engine.store.hold.is_set():
        return
    snapshot = engine.store.snapshot()
    differing: list[str] = []
    for source in engine.settings.sources:
        if root_state(source) != "ok":
            continue
        stats = {p: s for p, s in snapshot.stats().items() if p.startswith(f"{source.name}/")}
        paths = sorted(stats)
        for at in range(0, len(paths), _DOCUMENTS_A_READ):
            part = paths[at : at + _DOCUMENTS_A_READ]
            differing += _differing(
                snapshot, source, {path: stats[path] for path in part}, engine.settings
            )
    if differing:
        yield ailment(
            "rows-differ",
            f"{len(differing)} documents are not what their files hold.",
            "read the files again",
            paths=differing,
        )


def _differing(
    snapshot: Snapshot, source: Source, stats: dict[str, DocumentStat], settings: Settings
) -> Iterator[str]:
    states = snapshot.documents(list(stats))
    stored = snapshot.chunks(list(stats))
    for path, stat in stats.items():
        parsed = _parsed(source, path, stat, settings)
        chunks = [row.chunk for row in stored.get(path, ())]
        if parsed is not None and not _equal(parsed, states[path], chunks):
            yield path


def _parsed(source: Source, path: str, stat: DocumentStat, settings: Settings) -> Parsed | None:
    """What the file gives; None when it is gone, cannot be read, or has visibly changed."""
    name = str(file_of(source, path))
    try:
        status = os.stat(name)  # noqa: PTH116  a name, as discovery has it
        mtime_ns, ctime_ns = times_of(status)
        if (status.st_size, mtime_ns) != (stat.size, stat.mtime_ns):
            return None
        file = SourceFile(source, path, name, status.st_size, mtime_ns, ctime_ns)
        reading = read_file(file, stat.looked_at_ns)
        return None if isinstance(reading, Problem) else parse(file, reading, settings)
    except (OSError, Vanished):
        return None


def _equal(parsed: Parsed, state: DocumentState, chunks: Sequence[object]) -> bool:
    kept = ("sha256", "kind", "domain", "encoding", "title", "tags", "metadata_json", "links")
    same = all(getattr(parsed.state, name) == getattr(state, name) for name in kept)
    return same and list(parsed.chunks) == list(chunks)
