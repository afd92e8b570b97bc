"""The index as data: Arrow tables, vectors, SQL, pandas and Polars, now and as of a version."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import lancebrain
from lancebrain.analysis import chunks as chunk_tables
from lancebrain.brain import Brain
from lancebrain.errors import IndexNotFoundError, LancebrainError, UsageError
from lancebrain.types import Filter
from tests.indexes import Notes
from tests.stand_in import StandIn
from tests.trees import write_tree

TREE = {
    "bike.md": "---\ndate: 2026-03-01\n---\n# Bike\n\nThe chain needs oil. #bike\n\n"
    "## Tyres\n\nThree bar, no more.\n",
    "sub/bread.md": "# Bread\r\n\r\nFlour and water.\r\n\r\n# Crust\r\n\r\nSteam at first.",
    "sub/blank.md": "  \n",
    "plain.txt": "one line without an end",
    "漢字.md": "# 敷金\n\n退去のときに返る。\n",
}


def indexed(folder: Path) -> Brain:
    write_tree(folder / "notes", TREE)
    brain = lancebrain.open(folder / "index", sources=[], model="tests.stand_in:make")
    brain.sync([folder / "notes"])
    return brain


@pytest.fixture(scope="module")
def brain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Brain]:
    """For tests that only read."""
    with indexed(tmp_path_factory.mktemp("data")) as brain:
        yield brain


def test_chunks_come_in_the_order_of_their_documents_with_their_places(brain: Brain) -> None:
    chunks = brain.to_arrow()
    assert tuple(chunks.column_names) == chunk_tables.COLUMNS
    rows = chunks.to_pylist()
    assert [row["path"] for row in rows] == sorted(row["path"] for row in rows)
    texts: dict[str, str] = {}
    for row in rows:
        texts[row["path"]] = texts.get(row["path"], "") + row["text"]
        passage = brain.show(f"{row['path']}#{row['chunk_index']}", look=False)
        shown = (passage.rank_start, passage.line_start, passage.line_end, passage.title)
        assert shown == (row["rank"], row["line_start"], row["line_end"], row["title"])
    written = {f"notes/{name}": text for name, text in TREE.items() if text.strip()}
    assert texts == written


def test_what_a_filter_lets_pass_keeps_its_place_in_the_document(brain: Brain) -> None:
    every = brain.to_arrow(("path", "rank", "line_start", "line_end", "tags")).to_pylist()
    some = brain.to_arrow(
        ("path", "rank", "line_start", "line_end", "tags"), filter=Filter(tags=("bike",))
    ).to_pylist()
    assert some
    assert some == [row for row in every if "bike" in row["tags"]]


def test_a_column_that_is_not_there_is_told_with_those_that_are(brain: Brain) -> None:
    for read in (brain.to_arrow, brain.documents, brain.vectors):
        with pytest.raises(UsageError, match=r"no column 'colour'.*path"):
            read(["colour"])


def test_without_an_index_there_is_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError):
        lancebrain.open(tmp_path / "index", sources=[]).to_arrow()


def test_documents_count_their_chunks_also_when_they_have_none(brain: Brain) -> None:
    rows = {row["path"]: row for row in brain.documents().to_pylist()}
    assert list(rows) == sorted(f"notes/{name}" for name in TREE)
    assert rows["notes/sub/blank.md"]["chunks"] == 0
    bike = rows["notes/bike.md"]
    assert bike["characters"] == len(TREE["bike.md"])
    assert bike["size_bytes"] == len(TREE["bike.md"].encode())
    assert json.loads(bike["metadata"])["date"] == "2026-03-01"
    tagged = brain.documents(("path",), filter=Filter(tags=("bike",)))
    assert tagged["path"].to_pylist() == ["notes/bike.md"]


def test_vectors_stand_beside_their_chunks(brain: Brain) -> None:
    chunks, vectors = brain.vectors(("text", "chunk_hash"))
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(brain.to_arrow(["path"])), StandIn().dim)
    table = brain.to_arrow(["chunk_hash"], vectors=True)
    assert table["chunk_hash"].equals(chunks["chunk_hash"])
    flat = table["vector"].combine_chunks().flatten().to_numpy()
    np.testing.assert_array_equal(flat.reshape(vectors.shape), vectors)
    stored = brain._access.store().snapshot().vectors(chunks["chunk_hash"].to_pylist())
    for chunk_hash, vector in zip(chunks["chunk_hash"].to_pylist(), vectors, strict=True):
        np.testing.assert_array_equal(vector, stored[chunk_hash])


def test_a_chunk_without_a_vector_has_none_and_is_not_among_the_vectors(tmp_path: Path) -> None:
    notes = Notes(tmp_path).write({"a.md": "# A\n\none\n", "b.md": "# B\n\ntwo\n"})
    notes.embedder.fail_on = "two"
    assert [problem.code for problem in notes.sync().problems] == ["text-refused"]
    with lancebrain.open(tmp_path / "index", sources=[]) as brain:
        table = brain.to_arrow(("path", "embedded"), vectors=True)
        assert dict(zip(*(table[c].to_pylist() for c in ("path", "embedded")), strict=True)) == {
            "notes/a.md": True,
            "notes/b.md": False,
        }
        assert table["vector"].is_valid().to_pylist() == [True, False]
        chunks, vectors = brain.vectors()
        assert chunks["path"].to_pylist() == ["notes/a.md"]
        assert vectors.shape == (1, StandIn().dim)


def test_no_data_needs_the_model(brain: Brain) -> None:
    with lancebrain.open(brain.settings.index, sources=[], model="gone.away:make") as other:
        assert other.to_arrow().num_rows
        assert len(other.vectors()[1])
        assert len(other.projection()[1])
        assert other.at("latest").documents().num_rows
        assert other.analyze.topics().table.num_rows


def test_sql_reads_chunks_documents_and_tables_of_ones_own(brain: Brain) -> None:
    counted = brain.sql("SELECT count(*) AS n FROM chunks JOIN documents USING (path)")
    assert counted.to_pylist() == [{"n": brain.to_arrow(["path"]).num_rows}]
    own = pa.table({"path": ["notes/plain.txt"], "stars": [5]})
    found = brain.sql(
        "SELECT text FROM chunks JOIN mine USING (path) WHERE stars > $least",
        {"least": 4},
        mine=own,
    )
    assert found.to_pylist() == [{"text": TREE["plain.txt"]}]


def test_sql_has_the_vectors_when_it_names_them(brain: Brain) -> None:
    assert "vector" not in brain.sql("SELECT * FROM chunks").column_names
    nearest = brain.sql(
        "SELECT path, array_cosine_similarity(vector, "
        "(SELECT vector FROM chunks WHERE path = ?)) AS likeness "
        "FROM chunks ORDER BY likeness DESC LIMIT 1",
        ["notes/plain.txt"],
    )
    assert nearest["path"].to_pylist() == ["notes/plain.txt"]


@pytest.mark.parametrize(
    ("query", "told"),
    [("SELECT * FROM notes", "Tables: chunks, documents"), ("", "no rows")],
)
def test_a_query_that_cannot_be_run_is_told(brain: Brain, query: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        brain.sql(query)


def test_a_query_reads_no_variable_of_the_program(brain: Brain) -> None:
    own = pa.table({"secret": [1]})
    with pytest.raises(UsageError, match="own"):
        brain.sql("SELECT * FROM own")
    assert own.num_rows


@pytest.mark.parametrize("package", ["pandas", "polars", "duckdb"])
def test_a_package_that_is_missing_is_told_with_the_extra(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    read = {"pandas": brain.to_pandas, "polars": brain.to_polars}
    with pytest.raises(LancebrainError, match=rf"{package}.*lancebrain\[data\]"):
        read[package]() if package in read else brain.sql("SELECT 1")


def test_data_frames_hold_what_arrow_does(brain: Brain) -> None:
    pytest.importorskip("pandas", reason="lancebrain[data] is not installed")
    pytest.importorskip("polars", reason="lancebrain[data] is not installed")
    texts = brain.to_arrow(["text"])["text"].to_pylist()
    assert brain.to_pandas(["text"])["text"].tolist() == texts
    assert brain.to_polars(["text"])["text"].to_list() == texts
    frame = brain.to_pandas(["path"], vectors=True)
    np.testing.assert_array_equal(np.stack(frame["vector"]), brain.vectors()[1])
    sizes = brain.analyze.sizes()
    assert sizes.to_pandas()["kind"].tolist() == sizes.to_polars()["kind"].to_list()


def test_a_view_of_a_version_stays_what_it_was(tmp_path: Path) -> None:
    brain = indexed(tmp_path)
    before = brain.to_arrow()
    view = brain.at("latest")
    write_tree(tmp_path / "notes", {"bike.md": "# Bike\n\nSold.\n", "new.md": "# New\n"})
    brain.sync()
    assert brain.to_arrow() != before
    assert view.to_arrow() == before
    assert view.version < brain.status().version
    assert view.status().version == view.version
    assert view.search("chain", mode="keyword").hits[0].path == "notes/bike.md"
    assert "chain" in view.show("notes/bike.md").text
    assert view.sql("SELECT count(*) AS n FROM documents").to_pylist() == [{"n": len(TREE)}]
    target = io.BytesIO()
    view.export(target)
    assert len(target.getvalue().splitlines()) == before.num_rows
    assert len(view.vectors()[1]) == before.num_rows


def test_an_export_in_pieces_is_the_whole(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in (Filter(), Filter(tags=("bike",)), Filter(path="notes/none/")):
        whole = io.BytesIO()
        brain.export(whole, filter=wanted)
        monkeypatch.setattr(chunk_tables, "_PIECE_CHUNKS", 2)
        pieces, arrow = io.BytesIO(), io.BytesIO()
        brain.export(pieces, filter=wanted)
        brain.export(arrow, format="arrow", filter=wanted)
        monkeypatch.undo()
        assert pieces.getvalue() == whole.getvalue()
        rows = [json.loads(line) for line in whole.getvalue().splitlines()]
        assert pa.ipc.open_file(arrow.getvalue()).read_all().to_pylist() == rows
