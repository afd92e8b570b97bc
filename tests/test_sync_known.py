"""What a look decides about all files at once is what it decides about each."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.config import Settings
from lancebrain.store import DocumentStat, Store
from lancebrain.store.manifests import manifest_file
from lancebrain.sync import Engine
from lancebrain.sync.known import Documents
from lancebrain.sync.look import may_have_changed, to_read
from lancebrain.sync.manner import Manner
from lancebrain.types import Source, SourceFile
from tests.indexes import Notes

S = 1_000_000_000
BASE = 1_700_000_000 * S
SOURCE = Source("n", Path("/n"), domain="work")
MANNER = Manner(SOURCE, Settings(index=Path("/i"), sources=(SOURCE,)))

times = st.sampled_from([BASE, BASE + 1, BASE + S // 100, BASE + S, BASE + 2 * S, BASE + 9 * S, 0])
names = st.sampled_from(["a.md", "b.md", "c.txt", "d", "e.MD"])
numbers = st.tuples(st.sampled_from([0, 1, 5]), times, times)
ways = st.tuples(
    st.just("sha"),
    st.sampled_from(["work", "home"]),
    st.sampled_from(["md", "text", ""]),
    st.sampled_from(["text/markdown", "text/markdown; secrets=masked"]),
)
stats = st.builds(lambda seen, at, how: DocumentStat(*seen, at, *how), numbers, times, ways)


def table_of(stats: dict[str, DocumentStat]) -> pa.Table:
    rows = [{**stat._asdict(), "path": path} for path, stat in stats.items()]
    texts = ("sha256", "domain", "kind", "mime", "path")
    columns = [(name, pa.int64()) for name in DocumentStat._fields if name not in texts]
    return pa.Table.from_pylist(
        rows, pa.schema([*columns, *((name, pa.string()) for name in texts)])
    )


@given(
    known=st.dictionaries(names, stats),
    newer=st.dictionaries(names, stats),
    gone=st.sets(names),
    seen=st.dictionaries(names, numbers),
)
def test_files_to_read_are_those_that_may_have_changed_or_are_read_otherwise_today(
    known: dict[str, DocumentStat],
    newer: dict[str, DocumentStat],
    gone: set[str],
    seen: dict[str, tuple[int, int, int]],
) -> None:
    documents = Documents(table_of({f"n/{name}": stat for name, stat in known.items()}))
    for name in gone:
        documents.drop(f"n/{name}")
    for name, stat in newer.items():
        documents.put(f"n/{name}", stat)
    now = {name: stat for name, stat in known.items() if name not in gone} | newer
    assert dict(documents) == {f"n/{name}": stat for name, stat in now.items()}
    files = [SourceFile(SOURCE, f"n/{name}", f"/n/{name}", *of) for name, of in seen.items()]

    def is_left_alone(file: SourceFile) -> bool:
        stat = now.get(file.path.removeprefix("n/"))
        kinds = {".md": ("md", ""), ".MD": ("md", ""), ".txt": ("text", "")}
        return (
            stat is not None
            and not may_have_changed(file, stat)
            and stat.kind in kinds.get(file.path[file.path.rfind(".") :], ("md", "text", ""))
            and stat.domain == "work"
            and stat.mime == "text/markdown"
        )

    assert to_read(SOURCE, files, documents, MANNER) == [f for f in files if not is_left_alone(f)]


def test_a_version_that_has_the_number_of_a_torn_one_is_not_taken_for_it(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({"a.md": "Alpha.\n"})
    notes.sync()
    staying = Engine(Store.open(notes.settings.index), notes.settings, lambda: notes.embedder)
    notes.write({"x.md": "In the torn version.\n"})
    torn = staying.sync().version
    manifest_file(notes.settings.index / "chunks.lance", torn).write_bytes(b"")
    notes.write({"y.md": "In the one that took its number.\n"})
    other = Engine(Store.open(notes.settings.index), notes.settings, lambda: notes.embedder)
    assert other.sync(["notes/y.md"]).version == torn
    assert staying.sync().added == 1
    assert staying.store.snapshot().stats().keys() == {"notes/a.md", "notes/x.md", "notes/y.md"}
