"""Filters let exactly the right rows pass, whatever is in a name."""

from __future__ import annotations

import fnmatch
import json
import re
from datetime import timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.errors import UsageError
from lancebrain.store import RowBatch, Store
from lancebrain.store.filters import glob_to_regex, path_matcher, successor
from lancebrain.types import Filter
from tests.stored import NOW, chunk, commit, make_store, put, state, unit

HOSTILE = (
    "n/it's.md",
    'n/"double".md',
    "n/100% sure_thing.md",
    "n/100x sureXthing.md",
    "n/back\\slash.md",
    "n/new\nline.md",
    "n/tab\there.md",
    "n/; DROP TABLE chunks --.md",
    "n/[brackets] {braces} (parens)+.md",
    "n/star*and?mark.md",
    "n/日本語/ノート.md",
    "n/e\u0301 decomposed.md",
    "n/\u00e9 composed.md",
    "n/emoji 😀.md",
    "n/ leading and trailing /x.md",
    "n/$HOME.md",
    "n/\U0010ffff.md",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = make_store(tmp_path_factory.mktemp("hostile"))
    put(store, {path: ["word"] for path in HOSTILE})
    return store


def paths(store: Store, wanted: Filter) -> list[str]:
    """What passes, by each of the ways to search."""
    snapshot = store.snapshot()
    found = [
        sorted(c.path for c in candidates)
        for candidates in (
            snapshot.keyword_candidates("word", wanted, 1_000),
            snapshot.substring_candidates("word", wanted, 1_000),
            snapshot.vector_candidates(unit(1), wanted, 1_000),
        )
    ]
    assert found[0] == found[1] == found[2]
    return found[0]


@pytest.mark.parametrize("path", HOSTILE)
def test_a_path_matches_itself_alone(hostile: Store, path: str) -> None:
    assert paths(hostile, Filter(path=path)) == [path]
    snapshot = hostile.snapshot()
    assert list(snapshot.documents([path])) == [path]
    assert list(snapshot.chunks([path])) == [path]
    assert list(snapshot.rows([(path, 0)])) == [(path, 0)]
    assert list(snapshot.passages([(path, 0)]).places) == [(path, 0)]


def test_a_name_that_no_row_can_hold_matches_nothing(hostile: Store) -> None:
    for path in ("n/\ud800.md", "n/\x00.md", "'", "' OR '1'='1"):
        assert paths(hostile, Filter(path=path)) == []
        assert hostile.snapshot().documents([path]) == {}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = make_store(tmp_path_factory.mktemp("tree"))
    put(store, {path: ["word"] for path in TREE})
    return store


TREE = (
    "notes/a.md",
    "notes/b.txt",
    "notes/2026/a.md",
    "notes/2026/deep/er/a.md",
    "notes/2026.md",
    "notes/2026-old/a.md",
    "notes/_x/a.md",
    "notes/zx/a.md",
    "notes 2/a.md",
    "other/a.md",
)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("notes/2026/", ["notes/2026/a.md", "notes/2026/deep/er/a.md"]),
        ("notes/2026", ["notes/2026/a.md", "notes/2026/deep/er/a.md"]),
        ("notes/2026.md", ["notes/2026.md"]),
        ("notes/_x/", ["notes/_x/a.md"]),
        ("notes/*.md", ["notes/2026.md", "notes/a.md"]),
        ("notes/?.txt", ["notes/b.txt"]),
        ("notes/202[0-9]/*", ["notes/2026/a.md"]),
        ("notes/[!_0-9]x/*.md", ["notes/zx/a.md"]),
        (
            "notes/2026*/**/a.md",
            ["notes/2026-old/a.md", "notes/2026/a.md", "notes/2026/deep/er/a.md"],
        ),
        ("notes/2026/**", ["notes/2026/a.md", "notes/2026/deep/er/a.md"]),
        ("*/a.md", ["notes 2/a.md", "notes/a.md", "other/a.md"]),
        ("**/er/*.md", ["notes/2026/deep/er/a.md"]),
        ("nothing/", []),
        ("notes/[", []),
    ],
)
def test_a_path_is_a_document_a_folder_or_a_glob(tree: Store, path: str, wanted: list[str]) -> None:
    assert paths(tree, Filter(path=path)) == wanted


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = make_store(tmp_path_factory.mktemp("mixed"))
    rows = RowBatch()
    for path, fields, chunk_fields in (
        ("a/1", {"domain": "work", "kind": "md"}, {"tags": ("x", "it's")}),
        ("a/2", {"domain": "home", "kind": "text"}, {"tags": ()}),
        ("b/3", {"domain": "it's", "kind": "claude"}, {"role": "user", "said_at": NOW}),
        (
            "b/4",
            {"domain": "work", "kind": "claude"},
            {"role": "assistant", "said_at": NOW + timedelta(days=1)},
        ),
    ):
        document = state(path, **fields)
        rows.document(document)
        changed = NOW - timedelta(days=10)
        rows.chunk(document, 0, chunk("word", **chunk_fields), unit(1), NOW, changed)
    commit(store, rows)
    return store


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (Filter(), "1234"),
        (Filter(sources=("a",)), "12"),
        (Filter(sources=("a", "b")), "1234"),
        (Filter(domains=("work",)), "14"),
        (Filter(domains=("it's",)), "3"),
        (Filter(exclude_domains=("work", "it's")), "2"),
        (Filter(kinds=("md", "text")), "12"),
        (Filter(roles=("user",)), "3"),
        (Filter(tags=("it's", "none")), "1"),
        (Filter(tags=("none",)), ""),
        (Filter(since=NOW), "34"),
        (Filter(since=NOW + timedelta(microseconds=1)), "4"),
        (Filter(until=NOW), "123"),
        (Filter(until=NOW - timedelta(days=10)), "12"),
        (Filter(since=NOW - timedelta(days=10), until=NOW - timedelta(days=1)), "12"),
        (Filter(domains=("work",), kinds=("claude",), since=NOW), "4"),
    ],
)
def test_each_criterion_narrows(mixed: Store, wanted: Filter, found: str) -> None:
    assert "".join(path[-1] for path in paths(mixed, wanted)) == found


def test_times_of_other_zones_are_the_same_instants(mixed: Store) -> None:
    east = NOW.astimezone(timezone(timedelta(hours=9)))
    assert paths(mixed, Filter(since=east)) == paths(mixed, Filter(since=NOW))


def test_filters_hold_for_rows_in_and_out_of_the_index(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    put(store, {"n/a.md": ["word"], "n/b.md": ["word"]})
    with store.lock(1):
        store.maintain(keep_versions=timedelta(days=1))
    put(store, {"n/c.md": ["word"], "o/d.md": ["word"]})
    assert paths(store, Filter(sources=("n",))) == ["n/a.md", "n/b.md", "n/c.md"]
    assert paths(store, Filter(path="n/[b-z].md")) == ["n/b.md", "n/c.md"]


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


@settings(max_examples=200, deadline=None)
@given(prefix=TEXT, others=st.lists(TEXT, max_size=6), tail=TEXT)
def test_a_prefix_range_holds_exactly_what_starts_with_it(
    prefix: str, others: list[str], tail: str
) -> None:
    after = successor(prefix)
    for text in [prefix, prefix + tail, *others]:
        # SQL compares strings by their UTF-8 bytes, which is the order of code points.
        within = prefix <= text and (not after or text < after)
        assert within == text.startswith(prefix)


@settings(max_examples=200, deadline=None)
@given(
    name=st.text(st.sampled_from("ab.-"), max_size=5),
    glob=st.text(st.sampled_from("ab*?.-"), max_size=5),
)
def test_a_glob_in_one_folder_means_what_it_means_in_a_shell(name: str, glob: str) -> None:
    if "**" not in glob:
        assert bool(re.search(glob_to_regex(glob), name)) == fnmatch.fnmatchcase(name, glob)


@pytest.mark.parametrize("glob", ["notes/[z-a]*", "[a--]", "?" * 5_000])
def test_a_pattern_that_is_none_is_the_askers_mistake(tree: Store, glob: str) -> None:
    for ask in (
        lambda: path_matcher(glob),
        lambda: tree.snapshot().keyword_candidates("word", Filter(path=glob), 9),
    ):
        with pytest.raises(UsageError):
            ask()


@pytest.mark.parametrize(
    ("glob", "name"),
    [("[--a]", "A"), ("[&&]", "&"), ("[a-]", "-"), ("[~~|]", "|"), ("[[^]", "^"), ("[-]", "-")],
)
@pytest.mark.filterwarnings("error")
def test_signs_in_a_set_stand_for_themselves(tmp_path: Path, glob: str, name: str) -> None:
    store = make_store(tmp_path)
    put(store, {f"n/{name}": ["word"], "n/é": ["word"]})
    assert path_matcher(f"n/{glob}")(f"n/{name}")
    found = store.snapshot().keyword_candidates("word", Filter(path=f"n/{glob}"), 9)
    assert [one.path for one in found] == [f"n/{name}"]


PROJECTS = {
    "codex/a.jsonl": "/home/ana/ship",
    "codex/b.jsonl": "/home/ana/ship/hull",
    "codex/c.jsonl": "/home/ana/shipyard",
    "codex/d.jsonl": "/home/ana/it's  100%_ÿ",
    "codex/e.jsonl": "C:\\Users\\ana\\ship",
    "codex/f.jsonl": None,
    "codex/g.jsonl": 7,
}


@pytest.mark.parametrize(
    ("projects", "found"),
    [
        (("/home/ana/ship",), "ab"),
        (("/home/ana/ship/",), "ab"),
        (("/home/ana/ship/hull",), "b"),
        (("ship",), "abe"),
        (("C:\\Users\\ana",), "e"),
        (("C:/Users/ana/ship",), "e"),
        (("/home/ana/it's  100%_ÿ",), "d"),
        (("100%",), ""),
        (("hull", "shipyard"), "bc"),
        (("/",), "abcde"),
        (("nowhere",), ""),
        (("ana",), "abcde"),
    ],
)
def test_a_project_is_a_folder_with_all_below_or_the_name_of_one(
    tmp_path: Path, projects: tuple[str, ...], found: str
) -> None:
    store = make_store(tmp_path)
    rows = RowBatch()
    for path, folder in PROJECTS.items():
        facts = {} if folder is None else {"project": folder}
        if isinstance(folder, str):
            facts["project"] = " ".join(folder.split())
        document = state(path, kind="codex", metadata_json=json.dumps(facts))
        rows.document(document)
        rows.chunk(document, 0, chunk("anchor"), unit(1), NOW, NOW)
    note = state("notes/ship.md", kind="md", metadata_json='{"project":"/home/ana/ship"}')
    rows.document(note)
    rows.chunk(note, 0, chunk("anchor"), unit(1), NOW, NOW)
    commit(store, rows)
    with store.lock(5):
        store.ensure_indices()
    snapshot, wanted = store.snapshot(), Filter(projects=projects)
    paths = {f"codex/{letter}.jsonl" for letter in found}
    assert set(snapshot.matching(wanted)) == paths
    assert {c.path for c in snapshot.keyword_candidates("anchor", wanted, 20)} == paths
    assert {c.path for c in snapshot.substring_candidates("ancho", wanted, 20)} == paths
    assert {c.path for c in snapshot.vector_candidates(unit(1), wanted, 20)} == paths
    both = Filter(projects=projects, kinds=("md",))
    assert snapshot.keyword_candidates("anchor", both, 20) == []
