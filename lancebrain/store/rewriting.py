"""Writing the table anew, so that nothing is left of some documents in any version.

A new table is built beside the old one: the oldest version that is to stay first, then what
changed from each to the next. Rows of the documents never get into it, so neither its data nor
its indices can hold them. Then it takes the place of the old one, see ``replacement``.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from lancebrain.errors import StoreError

from . import indices, maintenance, replacement, tags
from .beside import CHECKPOINTS_FILE
from .commit_log import CommitLog
from .connection import Connection
from .difference import difference
from .folder_storage import FolderStorage
from .hold import Hold
from .manifests import manifest_file
from .ranges import path_ranges
from .rows import without_vectors
from .schema import new_table_id, table_schema
from .snapshot import Snapshot
from .writer import Writer

if TYPE_CHECKING:
    from .opened import OpenIndex

_ROWS_A_READ = 20_000
_VERSION = re.compile(r"version (\d+)")
"""Named in the note of a record, such as that of a rollback."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a rewriting did.

    Attributes:
        numbers: the new number of each version that was kept.
        version: the newest; it holds the same as the last that was kept.
        dropped: how many versions went.
    """

    numbers: Mapping[int, int]
    version: int
    dropped: int


def rewrite(
    store: OpenIndex,
    kept: Collection[int],
    without: Collection[str],
    *,
    counts: Mapping[str, int],
    started: float,
) -> Rewritten:
    """See :meth:`lancebrain.store.Store.rewrite`; the caller holds the lock."""
    if not isinstance(store.storage, FolderStorage):
        raise StoreError(
            f"The index in {store.storage} is on object storage, where a table cannot be replaced "
            "in one step, which forgetting for good needs.",
            hint="Remove the documents from their source, and make a new index under another "
            "prefix; then delete this one.",
        )
    folder = replacement.new_folder(store.folder)
    folder.mkdir()
    new = FolderStorage(folder)
    try:
        schema = table_schema(replace(store.info, table_id=new_table_id()))
        snapshots = [store.snapshot(version) for version in sorted(kept)]
        numbers = _build(new, schema, snapshots, without, store.info.fingerprint)
        version = _close(new, set(numbers.values()))
        _carry_over(store, new, numbers, version)
        CommitLog(new).record(version, "forget", counts, started)
        dropped = len(store.versions()) - len(snapshots)
        replacement.make_ready(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    replacement.settle(store.folder)
    return Rewritten(numbers, version, dropped)


def _changes(
    previous: Snapshot | None,
    snapshot: Snapshot,
    left_out: pa.Array,
    schema: pa.Schema,
    fingerprint: str,
) -> Iterator[pa.Table]:
    paths = snapshot.to_arrow(["path"])["path"]
    if previous is not None:
        paths = pa.chunked_array([*paths.chunks, *previous.to_arrow(["path"])["path"].chunks])
    for where in path_ranges(paths, rows=_ROWS_A_READ):
        before = schema.empty_table()
        if previous is not None:
            before = _rows(previous, where, left_out, schema, fingerprint)
        rows = _rows(snapshot, where, left_out, schema, fingerprint)
        rows = difference(before, rows, schema)
        if rows.num_rows:
            yield rows


def _rows(
    snapshot: Snapshot, where: str, left_out: pa.Array, schema: pa.Schema, fingerprint: str
) -> pa.Table:
    rows = snapshot.to_arrow(where=where)
    rows = rows.filter(pc.invert(pc.is_in(rows["path"], left_out)))
    if snapshot.info.fingerprint == fingerprint:
        return rows
    # Of another model: a table that is written in one go has one. The vectors can be made anew.
    return without_vectors(rows, schema.field("vector").type.list_size)


def _index(writer: Writer) -> int:
    """Bring the indices up to the rows; the version then."""
    with writer.durably() as table:
        maintenance.bring_up_all_indices(table, maintenance.WHILE_FILLING)
        return int(table.version)


def _build(
    new: FolderStorage,
    schema: pa.Schema,
    snapshots: Sequence[Snapshot],
    without: Collection[str],
    fingerprint: str,
) -> dict[int, int]:
    """Build a table of the versions, oldest first; those of the same rows have one number."""
    connection = Connection(new)
    indices.build_full_text(connection.create(schema))
    writer = Writer(new, connection)
    left_out = pa.array(sorted(without), pa.string())
    numbers: dict[int, int] = {}
    previous: Snapshot | None = None
    number = 0
    for snapshot in snapshots:
        is_new = previous is None
        for rows in _changes(previous, snapshot, left_out, schema, fingerprint):
            writer.merge(rows)
            is_new = True
        if is_new:
            number = _index(writer)
        numbers[snapshot.version] = number
        previous = snapshot
    return numbers


def _close(new: FolderStorage, numbers: Collection[int]) -> int:
    """Drop the versions in between, and make one more that equals the last; its number."""
    with Writer(new, Connection(new)).durably() as handle:
        handle.delete("false")
        last = int(handle.version)
    new.drop_versions(new.made_at().keys() - {*numbers, last})
    return last


def _carry_over(
    store: OpenIndex, new: FolderStorage, numbers: Mapping[int, int], last: int
) -> None:
    """The names of the versions and what was said of them, with their new numbers."""
    table = Connection(new).open()
    for name, version in store.tags().items():
        tags.create_tag(table, name, numbers[version])
    said = store.folder / CHECKPOINTS_FILE
    if said.exists():
        shutil.copyfile(said, new.folder / said.name)
    log = CommitLog(new)
    recorded: set[int] = set()
    made = store.versions()
    for record in store.commits.read():
        number = numbers.get(record.version)
        if number is not None and number not in recorded:
            recorded.add(number)
            note = _VERSION.sub(lambda found: _renumbered(found, numbers), record.note)
            log.append(replace(record, version=number, note=note))
    for version, number in sorted(numbers.items(), reverse=True):
        at = made[version].timestamp()
        os.utime(manifest_file(new.table, number), (at, at))
    hold = store.hold.read()
    if hold is not None:
        version, before = (numbers.get(v, last) for v in (hold.version, hold.before))
        ref = str(version) if hold.ref == str(hold.version) else hold.ref
        Hold(new).put(replace(hold, ref=ref, version=version, before=before))


def _renumbered(found: re.Match[str], numbers: Mapping[int, int]) -> str:
    number = numbers.get(int(found[1]))
    return f"version {number}" if number else "a version that is gone"
