"""Answers from a real index over real files: what is found, how it is shown, and what is noted."""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from lancebrain.errors import EmbedderError, UsageError
from lancebrain.search import search
from lancebrain.store import RowBatch, Store
from lancebrain.types import Answer, Chunk, DocumentState, Filter, Mode, Place, Query, Source
from tests.stand_in import StandIn
from tests.trees import write_tree

NOW = datetime(2026, 11, 30, tzinfo=UTC)
STEP = 1 << 20


class Index:
    """Files under ``root`` and an index of them; a blank line parts a file into chunks."""

    def __init__(self, folder: Path) -> None:
        self.source = Source("notes", folder / "vault", domain="knowledge")
        self.embedder = StandIn()
        self.store = Store.create(
            folder / "index", model="stand-in", fingerprint="f", dim=self.embedder.dim
        )

    def add(
        self,
        files: Mapping[str, str],
        *,
        embed: bool = True,
        tags: Sequence[str] = (),
        domain: str = "knowledge",
    ) -> Index:
        write_tree(self.source.root, files)
        rows = RowBatch()
        for name, text in files.items():
            state = self._state(name, domain)
            rows.document(state)
            parts = text.split("\n\n")
            for at, part in enumerate(parts):
                piece = part if at == len(parts) - 1 else part + "\n\n"
                chunk = Chunk(
                    text=piece,
                    chunk_hash=hashlib.sha256(piece.encode()).hexdigest(),
                    heading_path=("Heading",),
                    tags=tuple(tags),
                    line_count=piece.count("\n"),
                )
                vector = self.embedder.embed_passages([piece])[0] if embed else None
                rows.chunk(state, at * STEP, chunk, vector, NOW, NOW)
        with self.store.lock(10):
            self.store.commit(rows, reason="sync", counts={}, started=time.monotonic())
            self.store.ensure_indices()
        return self

    def _state(self, name: str, domain: str) -> DocumentState:
        file = self.source.root / name
        stat = file.stat()
        return DocumentState(
            path=f"notes/{name}",
            source="notes",
            domain=domain,
            kind="md",
            sha256=hashlib.sha256(file.read_bytes()).hexdigest(),
            size=stat.st_size,
            mtime_ns=stat.st_mtime_ns,
            looked_at_ns=stat.st_mtime_ns,
            ctime_ns=stat.st_ctime_ns,
            mime="text/markdown",
            encoding="utf-8",
            title="",
        )

    def ask(
        self,
        text: str,
        mode: Mode = "hybrid",
        *,
        limit: int = 10,
        offset: int = 0,
        narrowed: Filter | None = None,
        **options: object,
    ) -> Answer:
        query = Query(text, mode, limit, offset, narrowed or Filter())
        embedder = None if mode == "keyword" else self.embedder
        options.setdefault("sources", [self.source])
        return search(self.store.snapshot(), query, embedder, **options)  # type: ignore[arg-type]

    def paths(self, text: str, mode: Mode = "hybrid", **options: object) -> list[str]:
        answer = self.ask(text, mode, **options)  # type: ignore[arg-type]
        return [hit.path.removeprefix("notes/") for hit in answer.hits]


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return Index(tmp_path)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Index:
    """An index that tests only read."""
    return Index(tmp_path_factory.mktemp("shelf")).add(
        {
            "printers.md": "# Label printers\n\nA new ribbon goes in with the shiny side down.",
            "code.md": "Call parse_header before bodyLength; E0382 means it was moved.\n\n"
            "The word parse and the word header stand here apart.",
            "paths.md": "See src/net/http_client.py and lancebrain.store.rows for it.",
            "phrase.md": "The quick brown\nfox jumps.",
            "words.md": "A fox that is brown and quick.",
            "日本.md": "全文索引を更新する手順。\n\n検索エンジンの仕組み。",
            "half.md": "ﾃﾞｰﾀ移行の記録。",
            "full.md": "データ移行の計画。",
            "中文.md": "倒排索引很快。",
            "한국.md": "데이터베이스에서 색인을 되돌린다.",
            "ไทย.md": "การค้นหาข้อมูลในเอกสาร",
            "emoji.md": "Done 🎉 at last.",
        }
    )


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("ribbon", "printers.md"),
        ("parse_header", "code.md"),
        ("bodyLength", "code.md"),
        ("bodylength", "code.md"),
        ("what does E0382 mean?", "code.md"),
        ("src/net/http_client.py", "paths.md"),
        ("lancebrain.store.rows", "paths.md"),
        ("store.rows", "paths.md"),
        ("http_cli", "paths.md"),
        ("索引を更新", "日本.md"),
        ("仕組み", "日本.md"),
        ("組", "日本.md"),
        ("排", "中文.md"),
        ("색인", "한국.md"),
        ("데이터베이스", "한국.md"),
        ("ค้นหา", "ไทย.md"),
        ("🎉", "emoji.md"),
    ],
)
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_look_up_finds_its_document_first(
    shelf: Index, question: str, path: str, mode: Mode
) -> None:
    assert shelf.paths(question, mode)[0] == path


@pytest.mark.parametrize("question", ["ﾃﾞｰﾀ移行", "データ移行", "データ", "ﾃﾞｰﾀ"])
def test_half_and_full_width_kana_find_each_other(shelf: Index, question: str) -> None:
    assert set(shelf.paths(question, "keyword")) >= {"full.md", "half.md"}


def test_full_width_letters_find_plain_ones(shelf: Index) -> None:
    assert shelf.paths("ｒｉｂｂｏｎ", "keyword")[0] == "printers.md"


def test_a_one_character_word_finds_all_texts_that_hold_it(shelf: Index) -> None:
    assert set(shelf.paths("索", "keyword")) == {"日本.md", "中文.md"}


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_quoted_phrase_leaves_out_what_does_not_hold_it(shelf: Index, mode: Mode) -> None:
    assert shelf.paths('"quick brown fox"', mode) == ["phrase.md"]
    assert shelf.paths("“quick brown fox” jumps", mode) == ["phrase.md"]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_a_quoted_phrase_within_words_without_spaces_is_found(shelf: Index, mode: Mode) -> None:
    assert shelf.paths('"引を更"', mode) == ["日本.md"]


def test_a_phrase_that_is_nowhere_is_noted_and_its_words_are_searched(shelf: Index) -> None:
    answer = shelf.ask('"brown quick fox"')
    assert {hit.path for hit in answer.hits} >= {"notes/phrase.md", "notes/words.md"}
    assert any("brown quick fox" in note for note in answer.notes)


@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
@pytest.mark.parametrize("text", ["", "  \n", "?!…", "\x00", "\ud800", '""', "\u202e"])
def test_a_question_that_says_nothing_has_no_hits_and_a_note(
    shelf: Index, text: str, mode: Mode
) -> None:
    answer = shelf.ask(text, mode)
    assert answer.hits == ()
    assert answer.notes
    assert not answer.has_more


@pytest.mark.parametrize(
    "text",
    ["a" * 50_000, "word " * 20_000, "索引" * 10_000, "'; DROP TABLE --", 'x" OR "1',
     "a\x00b\ud800c", "(foo", "a AND", "*", "%_%",
     "\\", "索'引", "🎉🎉", "-1", "NOT x", "col:x", "~x^2"],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["keyword", "vector", "hybrid"])
def test_no_question_is_an_exception(shelf: Index, text: str, mode: Mode) -> None:
    assert shelf.ask(text, mode).version == shelf.store.version


def test_keyword_search_never_asks_the_model(shelf: Index) -> None:
    shelf.embedder.reset()
    shelf.ask("ribbon", "keyword")
    assert shelf.embedder.queries == []
    shelf.ask("ribbon")
    assert shelf.embedder.queries == ["ribbon"]


def test_vector_search_ranks_by_likeness_alone(shelf: Index) -> None:
    answer = shelf.ask("a new ribbon goes in", "vector", limit=3)
    assert answer.hits[0].path == "notes/printers.md"
    assert answer.hits[0].score == 1.0
    assert answer.has_more


def test_vector_search_without_a_model_is_a_usage_error(shelf: Index) -> None:
    with pytest.raises(UsageError):
        search(shelf.store.snapshot(), Query("ribbon", "vector"), None)


def test_hybrid_search_without_a_model_says_that_only_keywords_were_searched(shelf: Index) -> None:
    answer = search(shelf.store.snapshot(), Query("ribbon"), None)
    assert answer.hits[0].path == "notes/printers.md"
    assert any("keywords" in note for note in answer.notes)


def test_a_question_that_the_model_fails_on_is_answered_by_words_which_it_says(
    shelf: Index,
) -> None:
    class Failing(StandIn):
        def embed_query(self, text: str) -> np.ndarray:
            raise EmbedderError("It choked.")

    answer = search(shelf.store.snapshot(), Query("ribbon"), Failing())
    assert answer.hits[0].path == "notes/printers.md"
    assert "It choked. Only keywords were searched." in answer.notes
    with pytest.raises(EmbedderError, match="choked"):
        search(shelf.store.snapshot(), Query("ribbon", "vector"), Failing())


def test_a_language_that_the_model_does_not_speak_is_noted(shelf: Index) -> None:
    english = StandIn()
    english.languages = {"en": 1.0}
    snapshot = shelf.store.snapshot()
    assert any("Korean" in n for n in search(snapshot, Query("색인"), english).notes)
    assert search(snapshot, Query("ribbon"), english).notes == ()
    assert search(snapshot, Query("색인", "keyword"), english).notes == ()


@pytest.mark.parametrize(("limit", "offset"), [(0, 0), (-1, 0), (1, -1)])
def test_an_impossible_page_is_a_usage_error(shelf: Index, limit: int, offset: int) -> None:
    with pytest.raises(UsageError):
        shelf.ask("ribbon", limit=limit, offset=offset)


def test_a_hit_tells_where_it_is(index: Index) -> None:
    index.add({"deep/a.md": "# Title\n\nFirst part.\nSecond line.\n\nThe ribbon is here.\n"})
    hit = index.ask("ribbon", "keyword").hits[0]
    assert hit.id == f"notes/deep/a.md#{2 * STEP}"
    assert (hit.path, hit.title, hit.heading_path) == ("notes/deep/a.md", "a", ("Heading",))
    assert (hit.line_start, hit.line_end) == (6, 6)
    assert hit.snippet == "The ribbon is here."
    assert (hit.kind, hit.domain, hit.role, hit.freshness) == ("md", "knowledge", None, "fresh")
    assert 0 < hit.score <= 1.25


def test_pages_follow_each_other_without_gaps_or_repeats(index: Index) -> None:
    index.add(
        {f"n{number:03}.md": f"ribbon number {number} " + "x" * number for number in range(23)}
    )
    whole = index.paths("ribbon number", limit=23)
    assert len(set(whole)) == 23
    pages = [index.ask("ribbon number", limit=5, offset=at) for at in range(0, 25, 5)]
    paged = [hit.path.removeprefix("notes/") for page in pages for hit in page.hits]
    assert paged == whole
    assert [page.has_more for page in pages] == [True, True, True, True, False]
    assert index.ask("ribbon number", offset=23).hits == ()


def test_a_page_beyond_the_first_hundred_candidates_is_reached(index: Index) -> None:
    index.add({f"n{number:03}.md": f"ribbon {number} " + "y" * number for number in range(130)})
    assert len(set(index.paths("ribbon", "keyword", limit=130))) == 130
    assert len(index.paths("ribbon", "vector", limit=20, offset=110)) == 20


def test_filters_narrow_before_candidates_are_taken(index: Index) -> None:
    index.add({f"n{number:03}.md": f"ribbon {number} ribbon" for number in range(120)})
    index.add({"other.md": "a long text about much else " * 20 + "and one ribbon"}, domain="rare")
    for mode in ("keyword", "vector", "hybrid"):
        assert index.paths("ribbon", mode, narrowed=Filter(domains=("rare",))) == ["other.md"]
    assert index.paths("リボン", narrowed=Filter(path="notes/other.md")) == ["other.md"]


def test_filters_hold_for_what_is_found_by_the_letter(index: Index) -> None:
    index.add({"a.md": "全文索引"}).add({"b.md": "倒排索引"}, tags=["x"])
    assert index.paths("索", "keyword", narrowed=Filter(tags=("x",))) == ["b.md"]
    assert index.paths('"文索"', "keyword", narrowed=Filter(tags=("x",))) == []


def test_an_identifier_in_many_common_words_is_found(index: Index) -> None:
    index.add({f"n{number:03}.md": f"get value get value {number}" for number in range(150)})
    index.add({"it.md": "a much longer text " * 30 + "calls get_value once"})
    assert index.paths("get_value", "keyword")[0] == "it.md"


def test_equal_texts_fold_into_one_hit_that_names_the_other_places(index: Index) -> None:
    index.add({"a.md": "The ribbon goes in.", "b.md": "\nOther.\n\nThe ribbon goes in."})
    answer = index.ask("ribbon", "keyword")
    assert [hit.path for hit in answer.hits] == ["notes/a.md"]
    assert answer.hits[0].also_at == (Place("notes/b.md", 4, 4),)
    assert not answer.has_more


def test_a_changed_file_is_told_and_a_touched_one_is_fresh(index: Index) -> None:
    index.add({"a.md": "ribbon one", "b.md": "ribbon two", "c.md": "ribbon three"})
    (index.source.root / "a.md").write_text("ribbon changed")
    (index.source.root / "b.md").write_text("ribbon TWO")
    os.utime(index.source.root / "c.md", ns=(1, 1))
    states = {hit.path: hit.freshness for hit in index.ask("ribbon").hits}
    assert states == {"notes/a.md": "changed", "notes/b.md": "changed", "notes/c.md": "fresh"}


def test_a_file_that_is_gone_is_no_hit_and_the_page_is_still_full(index: Index) -> None:
    index.add({f"{name}.md": f"ribbon {name}" for name in "abcdef"})
    before = index.paths("ribbon", "keyword", limit=6)
    (index.source.root / before[0]).unlink()
    assert index.paths("ribbon", "keyword", limit=5) == before[1:]
    assert not index.ask("ribbon", "keyword", limit=5).has_more


def test_a_gone_file_stays_a_hit_when_the_past_is_asked(index: Index) -> None:
    index.add({"a.md": "ribbon", "b.md": "other"})
    (index.source.root / "a.md").unlink()
    assert index.paths("ribbon", "keyword") == []
    for past in ({"live": False}, {"pinned": "before-rollback"}):
        answer = index.ask("ribbon", "keyword", **past)
        assert [(hit.path, hit.freshness) for hit in answer.hits] == [("notes/a.md", "changed")]
    assert answer.pinned == "before-rollback"


def test_a_place_that_is_gone_is_not_named_in_a_folded_hit(index: Index) -> None:
    index.add({"a.md": "The ribbon goes in.", "b.md": "The ribbon goes in."})
    (index.source.root / "a.md").unlink()
    answer = index.ask("ribbon", "keyword")
    assert [(hit.path, hit.also_at) for hit in answer.hits] == [("notes/b.md", ())]


def test_a_source_that_cannot_be_reached_keeps_its_hits_as_unknown(index: Index) -> None:
    index.add({"a.md": "ribbon"})
    assert index.ask("ribbon", sources=[]).hits[0].freshness == "unknown"
    for file in index.source.root.iterdir():
        file.unlink()
    assert index.ask("ribbon").hits[0].freshness == "unknown"  # an unmounted disk looks like this
    shutil.rmtree(index.source.root)
    assert index.ask("ribbon").hits[0].freshness == "unknown"
    elsewhere = replace(index.source, root=index.source.root / "file" / "below")
    assert index.ask("ribbon", sources=[elsewhere]).hits[0].freshness == "unknown"


def test_pending_chunks_are_counted_and_found_by_keyword(index: Index) -> None:
    index.add({"a.md": "ribbon one"}).add({"b.md": "ribbon two"}, embed=False)
    answer = index.ask("ribbon")
    assert answer.pending == 1
    assert {hit.path for hit in answer.hits} == {"notes/a.md", "notes/b.md"}
    assert index.paths("ribbon", "vector") == ["a.md"]


def test_the_same_question_has_the_same_answer(shelf: Index) -> None:
    assert shelf.ask("brown fox") == shelf.ask("brown fox")


def test_an_empty_index_answers_with_nothing(index: Index) -> None:
    for mode in ("keyword", "vector", "hybrid"):
        answer = index.ask("anything", mode)
        assert (answer.hits, answer.has_more, answer.pending) == ((), False, 0)
