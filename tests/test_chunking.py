"""Document → chunks: nothing lost, nothing too wide, every text under its own headings."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import wcswidth, wcwidth

from lancebrain.chunking import chunk, chunk_hash, display_width, embedding_text_of
from lancebrain.readers import read
from lancebrain.types import Block, Chunk, Document

MOST_WIDTH = 1200

PARAGRAPHS = st.text(
    alphabet="abc de. 。！、日本語\n\r\t#-*>`|[]()<!é\u0301\u200d👩🚀🇯🇵각ก็",
    max_size=400,
).map(lambda text: text * 6)


def document(text: str, kind: str = "md") -> Document:
    found = read("notes/a." + kind, kind, text.encode())
    assert isinstance(found, Document)
    return found


def chunks(text: str, kind: str = "md") -> list[Chunk]:
    found = document(text, kind)
    made = chunk(found)
    assert made == chunk(found)
    assert_sound(found, made)
    return made


def assert_sound(found: Document, made: list[Chunk]) -> None:
    if not found.text.strip():
        assert made == []
        return
    assert "".join(one.text for one in made) == found.text
    for one in made:
        assert one.text.strip()
        assert display_width(one.text.strip()) <= MOST_WIDTH
        passage = embedding_text_of(found.kind, one)
        assert passage.strip()
        assert chunk_hash(passage) == one.chunk_hash


def trail_of(text: str, words: str) -> tuple[str, ...]:
    (found,) = [one for one in chunks(text) if words in one.text]
    return found.heading_path


def test_a_short_section_is_one_chunk_with_its_heading() -> None:
    first, second = chunks("# A\n\nOne.\n\nTwo.\n\n## B\n\n- x\n- y\n")
    assert (first.text, first.heading_path) == ("# A\n\nOne.\n\nTwo.\n\n", ("A",))
    assert (second.text, second.heading_path) == ("## B\n\n- x\n- y\n", ("A", "B"))


def test_headings_with_nothing_under_them_go_with_the_next_section() -> None:
    deep = "# a\n## b\n### c\n#### d\n##### e\n###### f\n\nlark-deep\n\n## b2\n\nlark-b2\n"
    assert trail_of(deep, "lark-deep") == ("a", "b", "c", "d", "e", "f")
    assert trail_of(deep, "lark-b2") == ("a", "b2")
    assert [one.text for one in chunks("# Only a heading\n")] == ["# Only a heading\n"]


def test_sections_of_one_name_stay_apart() -> None:
    text = "# X\n\n## Set\n\nlark-1\n\n# Y\n\n## Set\n\nlark-2\n\n## Set\n\nlark-3\n"
    assert trail_of(text, "lark-1") == ("X", "Set")
    assert trail_of(text, "lark-2") == ("Y", "Set")
    assert trail_of(text, "lark-3") == ("Y", "Set")
    assert len(chunks(text)) == 3


def test_text_before_the_first_heading_has_no_trail() -> None:
    assert trail_of("lark-before\n\nSet\n===\n\nafter\n", "lark-before") == ()


def test_frontmatter_and_comments_go_with_what_follows() -> None:
    made = chunks(
        "---\ntitle: T\n---\n\n<!-- c -->\n\n# H\n\nBody.\n\n## I\n\n<!-- d -->\n\nMore.\n"
    )
    assert [one.heading_path for one in made] == [("H",), ("H", "I")]
    assert made[0].text.startswith("---\ntitle: T\n")
    assert len(chunks("---\ntitle: T\ntags: [x]\n---\n")) == 1
    assert len(chunks("<!-- only a comment -->\n")) == 1


def test_huge_frontmatter_takes_chunks_of_its_own() -> None:
    head = "---\ntitle: T\n" + "".join(f"key{i}: some value\n" for i in range(200)) + "---\n\n"
    made = chunks(head + "# H\n\nBody.\n")
    assert len(made) > 2
    assert made[-1].heading_path == ("H",)


def test_many_tiny_sections_share_chunks_under_their_common_trail() -> None:
    text = "# Glossary\n\n" + "".join(f"## Term {i}\n\nMeaning {i}.\n\n" for i in range(300))
    made = chunks(text)
    assert len(made) < 20
    assert {one.heading_path for one in made} == {("Glossary",)}
    assert all(one.text.startswith(("# Glossary", "## Term")) for one in made)


def test_a_few_tiny_sections_keep_their_own_trails() -> None:
    text = "# Words\n\n" + "".join(f"## Term {i}\n\nMeaning {i}.\n\n" for i in range(6))
    assert trail_of(text, "Meaning 4") == ("Words", "Term 4")


def test_an_outline_of_headings_alone_is_not_cut_to_crumbs() -> None:
    assert len(chunks("# All\n" + "".join(f"## Item number {i}\n" for i in range(200)))) < 12


def test_a_list_is_cut_before_its_outer_items() -> None:
    items = "".join(
        f"- item {i} of the list\n  - with a child\n  - and another\n" for i in range(80)
    )
    made = chunks("# L\n\n" + items)
    assert len(made) > 2
    assert all(one.text.startswith("- item") for one in made[1:])


def test_a_table_is_cut_between_rows_and_a_fence_between_lines() -> None:
    rows = "".join(f"| cell {i} | another cell |\n" for i in range(120))
    for one in chunks("# T\n\n| a | b |\n|---|---|\n" + rows)[1:]:
        assert one.text.startswith("| cell ")
    lines = "".join(f"call(number={i}); done. next\n" for i in range(120))
    for one in chunks("# F\n\n```\n" + lines + "```\n")[1:]:
        assert one.text.startswith("call(")


def test_prose_is_cut_between_sentences_in_any_script() -> None:
    english = "".join(f"Sentence {i} says a little more than nothing. " for i in range(100))
    assert all(one.text.startswith("Sentence ") for one in chunks(english))
    japanese = "".join(f"これは{i}番目の文で、少しだけ長い。" for i in range(200))
    assert all(one.text.startswith("これは") for one in chunks(japanese))


def test_a_text_in_cjk_gets_chunks_of_half_as_many_characters() -> None:
    latin = chunks("word and " * 4000, "text")
    wide = chunks("倉庫の移転。" * 4000, "text")
    assert max(len(one.text) for one in latin) > 2 * max(len(one.text) for one in wide) - 100


@pytest.mark.parametrize(
    "text",
    [
        "start " + "harbour wall " * 25_000 + "middle " + "pier " * 10_000 + "end",
        "z" * 120_000,
        "熊猫在竹林里休息" * 8_000,
        "a" + "\u0301" * 50_000,
        "\u200b" * 50_000 + "x",
        "👩‍🚀" * 20_000,
        "{" + '"key":[1,2,3],' * 20_000 + "}",
        "| h |\n| - |\n| " + "z" * 30_000 + " |\n\nnext paragraph\n",
        "a\n" * 50_000,
        "a" + " " * 50_000 + "b",
        "\n" * 50_000 + "b" + "\r\n" * 50_000,
    ],
    ids=lambda text: text[:8].encode("unicode_escape").decode(),
)
def test_huge_lines_are_cut_in_linear_time(text: str) -> None:
    started = time.process_time()
    made = chunks(text)
    assert time.process_time() - started < 20
    assert len(made) < len(text) / 100 + 2


def test_tags_are_those_of_the_document_and_of_the_blocks_within() -> None:
    first, second = chunks("---\ntags: [all]\n---\n# A\n\n#one here\n\n# B\n\n#two and #one\n")
    assert first.tags == ("all", "one")
    assert second.tags == ("all", "two", "one")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_counts_add_up_to_where_a_chunk_starts(line_end: str) -> None:
    text = "".join(f"# {i}\n\n" + f"Words of section {i}. " * (9 * i) + "\n\n" for i in range(1, 9))
    made = chunks(text.replace("\n", line_end))
    line = 0
    for one in made:
        if one.text.startswith("# "):
            number = int(one.text.split()[1])
            assert line == 4 * (number - 1)
        line += one.line_count
    assert line == 32


def test_a_chunk_never_holds_two_turns_and_knows_who_spoke_when() -> None:
    said = datetime(2026, 5, 1, 12, tzinfo=UTC)
    turns = ["Why?\n\n", "Because of this. " * 200 + "\n\n", "I see.\n"]
    text = "".join(turns)
    ends = [len("".join(turns[: i + 1])) for i in range(3)]
    blocks = tuple(
        Block(end - len(turn), end, "turn", ("Session",), (), role, said, 1)
        for turn, end, role in zip(turns, ends, ("user", "assistant", "user"), strict=True)
    )
    talk = Document("claude", text, "", blocks, "utf-8", "application/jsonl")
    made = chunk(talk)
    assert_sound(talk, made)
    assert made[0].text == "Why?\n\n"
    assert made[-1].text == "I see.\n"
    assert [one.role for one in made] == ["user", *["assistant"] * (len(made) - 2), "user"]
    assert {one.said_at for one in made} == {said}
    # A turn is one line of its log: all of its chunks start there, the last one ends it.
    assert [one.line_count for one in made] == [1, *[0] * (len(made) - 3), 1, 1]


@settings(max_examples=150, deadline=None)
@given(PARAGRAPHS, st.sampled_from(["md", "text"]))
def test_any_text_comes_back_whole_in_chunks_that_are_not_too_wide(text: str, kind: str) -> None:
    chunks(text, kind)


@settings(max_examples=150, deadline=None)
@given(PARAGRAPHS, st.sampled_from(["md", "text"]))
def test_no_grapheme_is_cut(text: str, kind: str) -> None:
    ends = {match.end() for match in regex.finditer(r"\X", text)}
    position = 0
    for one in chunks(text, kind):
        position += len(one.text)
        assert position in ends


@given(st.text())
def test_a_text_is_at_least_as_wide_as_a_terminal_shows_it(text: str) -> None:
    assert display_width(text) >= max(wcswidth(text), len(text))


def test_no_single_character_is_narrower_than_in_a_terminal() -> None:
    narrow = [
        code
        for code in range(0x110000)
        if not 0xD800 <= code < 0xE000 and display_width(chr(code)) < wcwidth(chr(code))
    ]
    assert narrow == []
    assert display_width("abc") == 3
    assert display_width("日本語") == 6
