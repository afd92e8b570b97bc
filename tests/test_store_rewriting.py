"""The parts of writing a table anew: the difference of two versions, ranges, what paths match."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.store import Store
from lancebrain.store.difference import difference
from lancebrain.store.filters import path_matcher
from lancebrain.store.ranges import path_ranges
from lancebrain.store.schema import new_info, table_schema
from lancebrain.types import Filter
from tests.stored import DIM, batch, make_store, put

SCHEMA = table_schema(new_info(model="m", fingerprint="f", dim=DIM, chunking_version=1))
PATHS = [
    "n/a.md",
    "n/a.md/b.md",
    "n/deep/a.md",
    "n/deep/er/c.md",
    "n/deep.md",
    "n/[x].md",
    "n/x.md",
    "n/st*r.md",
    "n/star.md",
    "n/it's 100%.md",
    "m/メモ.md",
]
documents = st.dictionaries(
    st.sampled_from(PATHS[:6]), st.lists(st.sampled_from(["one", "two", "three"]), max_size=3)
)


def rows_of(wanted: dict[str, list[str]], *, embed: bool = True) -> pa.Table:
    return batch(wanted, embed=embed).to_arrow(SCHEMA, DIM)


def applied(before: pa.Table, change: pa.Table) -> list[dict[str, object]]:
    """What a merge by key makes of the rows, tombstones left out."""
    rows = {(row["path"], row["chunk_index"]): row for row in before.to_pylist()}
    for row in change.to_pylist():
        rows[row["path"], row["chunk_index"]] = row
    return sorted((row for row in rows.values() if row["kind"]), key=key)


def key(row: dict[str, object]) -> tuple[str, str]:
    return str(row["path"]), f"{row['chunk_index']:020}"


@given(documents, documents, st.booleans(), st.booleans())
def test_the_difference_makes_one_version_of_the_other(
    first: dict[str, list[str]], second: dict[str, list[str]], embed: bool, embed_again: bool
) -> None:
    before, after = rows_of(first, embed=embed), rows_of(second, embed=embed_again)
    change = difference(before, after, SCHEMA)
    assert change.schema == SCHEMA
    assert applied(before, change) == sorted(after.to_pylist(), key=key)


@given(documents)
def test_equal_rows_make_no_difference(same: dict[str, list[str]]) -> None:
    rows = rows_of(same)
    turned = rows.take(pa.array(reversed(range(rows.num_rows)), pa.int64()))
    assert difference(rows, turned, SCHEMA).num_rows == 0


def test_a_vector_alone_makes_a_difference() -> None:
    rows = rows_of({"n/a.md": ["one", "two"]})
    other = rows_of({"n/a.md": ["one", "two"]}, embed=False)
    other = other.set_column(
        other.schema.get_field_index("embedded"), SCHEMA.field("embedded"), rows["embedded"]
    )
    assert difference(rows, other, SCHEMA)["chunk_index"].to_pylist() == [0, 1 << 20]


@given(st.lists(st.sampled_from(PATHS), min_size=1), st.integers(1, 5))
def test_ranges_hold_every_path_once_and_no_more_rows_than_asked(
    paths: list[str], rows: int
) -> None:
    found: list[str] = []
    for where in path_ranges(pa.chunked_array([paths]), rows=rows):
        first, last = (part.split("'", 1)[1][:-1] for part in where.split(" AND "))
        held = [p for p in paths if first <= p.replace("'", "''") <= last]
        assert len(held) <= max(rows, paths.count(held[0]))
        found += held
    assert sorted(found) == sorted(paths)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = make_store(tmp_path_factory.mktemp("store"))
    put(made, {path: ["text"] for path in PATHS})
    return made


@pytest.mark.parametrize(
    "pattern",
    [
        *PATHS,
        "n/",
        "n",
        "n/deep",
        "n/deep/",
        "n/*",
        "n/**",
        "n/**/*.md",
        "**/a.md",
        "n/[!x]*.md",
        "n/?.md",
        "*/メ*",
        "n/st*",
        "nothing",
    ],
)
def test_a_path_matches_the_same_documents_in_a_look_and_in_a_search(
    store: Store, pattern: str
) -> None:
    matches = path_matcher(pattern)
    by_look = sorted(path for path in PATHS if matches(path))
    assert by_look == sorted(store.snapshot().matching(Filter(path=pattern)))


def test_a_table_that_took_the_place_of_another_is_opened_anew(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    put(store, {"n/a.md": ["text"], "n/b.md": ["more"]})
    other = Store.open(store.folder)
    table_id = other.info.table_id
    with store.lock(5):
        done = store.rewrite(
            [store.snapshot().version], without=["n/b.md"], counts={"removed": 1}, started=0.0
        )
    assert other.snapshot().version == done.version
    assert other.info.table_id != table_id
    assert set(other.snapshot().stats()) == {"n/a.md"}
    put(other, {"n/c.md": ["third"]})
    assert set(store.snapshot().stats()) == {"n/a.md", "n/c.md"}
