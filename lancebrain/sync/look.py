"""The disk against the document rows: which files to read, and which documents have no file.

First step of a sync. Reads no file but those that may have moved; knows nothing of chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from lancebrain.config import Settings
from lancebrain.kinds import EXTENSIONS, MARKDOWN, TEXT, extension_of
from lancebrain.sources import Discovery, IgnoreRules, discover
from lancebrain.store import DocumentStat
from lancebrain.types import Problem, Source, SourceFile

from .known import Documents, under
from .logfiles import unwanted_logs
from .manner import REFUSED, Manner
from .moves import moves
from .removals import Gone, problem_with

_FINE_MARGIN_NS = 50_000_000
_COARSE_MARGIN_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


@dataclass(slots=True)
class Look:
    """What a look found.

    Attributes:
        unchanged: documents whose files are as the table knows them.
        changed: files that may have another content, and then those that are new; newest first.
        moved: (document path before, file now) with the same bytes.
        removed: documents to remove.
        waiting: by source, documents without a file that stay until that is explained.
        problems: of sources and files, each with its path.
        states: of each root that was looked at, by source: ok, missing, unreadable, empty.
        folders: absolute names of those that were looked into, for a watcher.
        rules: of each source, as they are now.
    """

    unchanged: int = 0
    changed: list[SourceFile] = field(default_factory=list)
    moved: list[tuple[str, SourceFile]] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    waiting: dict[str, list[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    states: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    rules: dict[str, IgnoreRules] = field(default_factory=dict)


def look(
    settings: Settings,
    known: Documents,
    now_ns: Callable[[], int],
    *,
    scope: Sequence[str] | None = None,
    agreed: bool = False,
    dropped: Collection[str] = (),
    seen_gone: Collection[str] = (),
    left_out: Callable[[str], bool] | None = None,
) -> Look:
    """Compare the disk with what the table knows.

    Args:
        known: all documents of the table.
        now_ns: the wall clock.
        scope: document paths and folders to look at, nothing outside of them is touched; None
            for everything.
        agreed: a person confirmed the removals, see :mod:`.removals`.
        dropped: names of sources whose documents are to go, unless the settings name them.
        seen_gone: document paths and folders whose files went in a way that explains it.
        left_out: tells of document paths that are not to be in the index.
    """
    result = Look()
    without_file: list[Gone] = []
    for source in settings.sources:
        only = None if scope is None else _within(source.name, scope)
        if only == []:
            continue
        documents = under(known, only or [source.name])
        found = _discover(source, settings, only, left_out)
        unwanted = unwanted_logs(source, settings, found.files, all_found=only is None)
        if unwanted is not None:
            found = replace(found, files=[f for f in found.files if not unwanted(f.path)])
            result.removed += filter(unwanted, documents)
            documents = [path for path in documents if not unwanted(path)]
        changed = to_read(source, found.files, known, Manner(source, settings))
        result.unchanged += len(found.files) - len(changed)
        result.changed += changed
        result.problems += found.problems
        result.states[source.name] = found.state
        result.folders += found.folders
        result.rules[source.name] = found.rules
        without_file.append(Gone(source.name, found.state, _without_file(found, documents)))
    result.removed += under(known, set(dropped) - {source.name for source in settings.sources})
    # An edit does not wait for files that are copied in by the thousands.
    result.changed.sort(key=lambda file: (file.path in known, file.mtime_ns), reverse=True)
    _settle_moves(result, without_file, known, now_ns)
    _settle_removals(result, without_file, known, agreed=agreed, seen_gone=seen_gone)
    return result


def may_have_changed(file: SourceFile, stat: DocumentStat) -> bool:
    """Whether a file has to be read to know that its document is up to date.

    Size and both times equal to the row's mean unchanged, unless the file was changed about when
    it was looked at: then it may have been changed once more within one tick of the clock. A
    tick is 10 ms at most on file systems with fractions of seconds and up to 2 s on others.
    """
    size, mtime_ns, ctime_ns, looked_at_ns = stat[:4]
    if size != file.size or mtime_ns != file.mtime_ns:
        return True
    if ctime_ns != file.ctime_ns and ctime_ns and file.ctime_ns:
        return True
    numbers = np.array([[size, mtime_ns, ctime_ns, looked_at_ns]], np.int64)
    return not _is_settled(numbers)[0]


def _is_settled(numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each row of size, both times and the time of the look: whether the file was changed
    long enough before the look."""
    _, mtime_ns, ctime_ns, looked_at_ns = numbers.T
    is_coarse = np.where(ctime_ns != 0, ctime_ns, mtime_ns) % _SECOND_NS == 0
    margin_ns = np.where(is_coarse, _COARSE_MARGIN_NS, _FINE_MARGIN_NS)
    settled: NDArray[np.bool_] = np.maximum(mtime_ns, ctime_ns) + margin_ns <= looked_at_ns
    return settled


def expected_kind(source: Source, extension: str) -> str | None:
    """The reader that the source's settings or the file's name ask for; None: the content does."""
    if source.kind is not None:
        return source.kind
    return next((kind for kind in (MARKDOWN, TEXT) if extension in EXTENSIONS[kind]), None)


def to_read(
    source: Source,
    files: Sequence[SourceFile],
    known: Documents,
    manner: Manner,
) -> list[SourceFile]:
    """The files whose document is not there, or may not be up to date."""

    def is_read_so(path: str, stat: DocumentStat) -> bool:
        """Whether a document would be read and labelled today as it was."""
        expected = expected_kind(source, extension_of(path))
        is_kind = expected is None or stat.kind in (expected, REFUSED)
        return is_kind and stat.domain == source.domain and manner.is_of(stat.kind, stat.mime)

    def is_as_before(file: SourceFile) -> bool:
        stat = known.get(file.path)
        return stat is not None and is_read_so(file.path, stat) and not may_have_changed(file, stat)

    sure = known.surely_unchanged(files, is_read_so, _is_settled)
    left = (files[place] for place in np.flatnonzero(~sure).tolist())
    return [file for file in left if not is_as_before(file)]


def _discover(
    source: Source,
    settings: Settings,
    only: list[str] | None,
    left_out: Callable[[str], bool] | None,
) -> Discovery:
    return discover(
        source,
        only=only,
        other_roots=[other.root for other in settings.sources if other is not source],
        max_file_bytes=settings.max_file_bytes,
        gitignore=settings.gitignore,
        follow_symlinks=settings.follow_symlinks,
        index_folder=settings.index,
        left_out=left_out,
    )


def _within(name: str, scope: Iterable[str]) -> list[str] | None:
    """The part of a scope that lies in a source; None: all of it."""
    clean = [path.rstrip("/") for path in scope]
    return None if name in clean else [path for path in clean if path.startswith(f"{name}/")]


def _without_file(found: Discovery, documents: Iterable[str]) -> list[str]:
    """Documents whose file is surely not there, in a root that can be read."""
    if found.state in ("missing", "unreadable"):
        return []
    there = {file.path for file in found.files}
    return [path for path in documents if path not in there and not found.unseen(path)]


def _settle_moves(
    result: Look,
    without_file: Sequence[Gone],
    known: Mapping[str, DocumentStat],
    now_ns: Callable[[], int],
) -> None:
    """Take new files for documents whose file is gone, where their bytes are the same."""
    new = [file for file in result.changed if file.path not in known]
    leaving = [*result.removed, *(path for gone in without_file for path in gone.paths)]
    moved = moves(new, {path: known[path] for path in leaving}, now_ns)
    for gone in without_file:
        paths = set(gone.paths)
        # A drive that is away, and copies of some of its files: these did not move.
        if gone.state == "empty" and not paths <= set(moved.values()):
            moved = {new: old for new, old in moved.items() if old not in paths}
    result.moved = [(moved[file.path], file) for file in new if file.path in moved]
    result.changed = [file for file in result.changed if file.path not in moved]


def _settle_removals(
    result: Look,
    without_file: Sequence[Gone],
    known: Mapping[str, DocumentStat],
    *,
    agreed: bool,
    seen_gone: Collection[str],
) -> None:
    """Remove what may go; of the rest tell why it stays."""
    moved = {old for old, _ in result.moved}
    result.removed = [path for path in result.removed if path not in moved]
    for gone in without_file:
        paths = [path for path in gone.paths if path not in moved]
        explained = set(paths if agreed else under(paths, seen_gone))
        asking = [path for path in paths if path not in explained]
        of_source = len(under(known, [gone.source])) if asking else 0
        problem = problem_with(replace(gone, paths=asking), known=of_source)
        if problem is not None:
            result.problems.append(problem)
            result.waiting[gone.source] = asking
        kept = set(asking if problem else ())
        result.removed += [path for path in paths if path not in kept]
