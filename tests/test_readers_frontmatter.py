"""Metadata at the head of a note: read where it is meant, text where it is not."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.readers import frontmatter, read
from lancebrain.types import Document


def note(text: str) -> Document:
    document = read("notes/a.md", "md", text.encode())
    assert isinstance(document, Document)
    assert "".join(document.text[block.start : block.end] for block in document.blocks) == text
    json.dumps(document.metadata, allow_nan=False).encode()
    return document


def codes(document: Document) -> list[str]:
    return [problem.code for problem in document.problems]


def test_yaml_gives_title_tags_and_metadata() -> None:
    document = note(
        "---\ntitle: Pears\ntags: [fruit, '#tree']\naliases: [pear tree]\n---\n\n# Heading\n"
    )
    assert document.title == "Pears"
    assert document.document_tags == ("fruit", "tree")
    assert document.metadata["aliases"] == ["pear tree"]
    assert document.blocks[0].kind == "frontmatter"


def test_toml_and_json_heads_are_read_too() -> None:
    toml = note('+++\ntitle = "Quince"\ndate = 2026-01-02\n[extra]\nx = true\n+++\n\nBody.\n')
    assert toml.title == "Quince"
    assert toml.metadata == {"title": "Quince", "date": "2026-01-02", "extra": {"x": True}}
    head = note('{\n  "title": "Medlar",\n  "tags": ["a"]\n}\n\n# Real\n')
    assert (head.title, head.tags) == ("Medlar", ("a",))


def test_the_title_is_else_the_first_heading_and_else_empty() -> None:
    assert note("---\ntags: x\n---\n# Fig\n").title == "Fig"
    assert note("Only text.\n").title == ""


@pytest.mark.parametrize(
    ("value", "tags"),
    [
        ("a, b c, d", ("a", "b c", "d")),
        ("a b", ("a", "b")),
        ("[a, b, a]", ("a", "b")),
        ("7", ("7",)),
        ("null", ()),
        ("", ()),
        ("\n  - x\n  - null\n  - y", ("x", "y")),
        ("果物, 木", ("果物", "木")),
    ],
)
def test_tags_are_a_list_or_words(value: str, tags: tuple[str, ...]) -> None:
    assert note(f"---\ntags: {value}\n---\n\nBody.\n").document_tags == tags


def test_values_stay_as_they_were_written() -> None:
    text = "---\nday: 2024-05-01\nno_day: 2024-02-30\nat: 12:30\nyes: yes\nnr: 007\nn: 12\nf: 2.5\n"
    assert note(text + "t: true\nnone: ~\n---\nx\n").metadata == {
        "day": "2024-05-01",
        "no_day": "2024-02-30",
        "at": "12:30",
        "yes": "yes",
        "nr": "007",
        "n": 12,
        "f": 2.5,
        "t": True,
        "none": None,
    }


def test_of_two_equal_keys_the_last_holds() -> None:
    assert note("---\ntitle: One\ntitle: Two\n---\nx\n").title == "Two"


@pytest.mark.parametrize(
    "head",
    [
        "---\ntitle: Soup: the long story: part 2\n---\n",
        "---\ntitle: Tabbed\n\tsub: 1\n---\n",
        "---\nup: [[Home]]\nrel: *alias\n---\n",
        '---\nx: !!python/object/apply:os.system ["true"]\n---\n',
        "---\nx: !!int many\n---\n",
        "+++\ntitle = unquoted words\n+++\n",
    ],
)
def test_broken_metadata_is_reported_and_kept_as_text(head: str) -> None:
    document = note(head + "\n# Heading\n\nBody.\n")
    assert codes(document) == ["frontmatter-invalid"]
    assert document.metadata == {}
    assert document.title == "Heading"


@pytest.mark.parametrize(
    "text",
    [
        "---\n**HALVERSON & DAUGHTERS**\nSails, pier 9\n---\n\nDear customer.\n",
        "---\n\nText after a rule.\n\n---\n\nMore.\n",
        "---\ntitle: never closed\n\n# Heading\n\nBody.\n",
        "\n---\ntitle: Late\n---\n\nBody.\n",
        "+++ not metadata\n\nBody.\n",
        "{% include x %}\n\nBody.\n",
        "--- \n- a\n- b\n---\n",
    ],
)
def test_what_is_no_metadata_is_text_without_a_complaint(text: str) -> None:
    document = note(text)
    assert document.metadata == {}
    assert codes(document) == []
    assert all(block.kind != "frontmatter" for block in document.blocks)


def test_three_dots_close_it_and_an_indented_rule_does_not() -> None:
    assert note("---\ntitle: Dots\n...\n\nBody.\n").title == "Dots"
    inside = note("---\ntitle: Rule\nnote: |\n  a\n  ---- on\n  ---\n---\n\nBody.\n")
    assert inside.metadata["note"] == "a\n---- on\n---\n"


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_other_line_ends_part_it_as_well(line_end: str) -> None:
    text = "---\ntitle: Plum\n---\n\n# Heading\n".replace("\n", line_end)
    document = note(text)
    assert document.title == "Plum"
    assert [block.kind for block in document.blocks] == ["frontmatter", "heading"]


def test_half_a_character_from_an_escape_is_replaced() -> None:
    document = note('{"title": "half \\ud83d and \\u0000"}\n\nBody.\n')
    assert document.title == "half \ufffd and"


def _bomb(line: str) -> str:
    names = "abcdefghijklmnop"
    levels = (line.format(new=new, old=old) for old, new in pairwise(names))
    return "---\na: &a {x: 1}\n" + "\n".join(levels) + "\n---\n\nBody.\n"


@pytest.mark.parametrize(
    "text",
    [
        _bomb("{new}: &{new} [*{old}, *{old}, *{old}, *{old}]"),
        _bomb("{new}: &{new} {{<<: [*{old}, *{old}, *{old}, *{old}]}}"),
        "---\na: " + "[" * 20_000 + "\n---\n",
        "---\na: " + "[" * 900 + "]" * 900 + "\n---\n",
        "---\na: &a [*a]\n---\n",
        "+++\na = " + "[" * 20_000 + "\n+++\n",
        '{"a": ' + "[" * 50_000,
    ],
)
def test_a_bomb_is_bounded_and_reported(text: str) -> None:
    started = time.process_time()
    assert codes(note(text)) == ["frontmatter-invalid"]
    assert time.process_time() - started < 5


@given(
    st.sampled_from(["---\n", "+++\n", "{"]),
    st.text(alphabet="ab:-[]{}&*!|>\"'\n\t #,=.1~<?%@`\\", max_size=80),
    st.sampled_from(["\n---\n", "\n+++\n", "}\n", "\n...\n"]),
)
def test_no_head_raises(opening: str, inside: str, closing: str) -> None:
    found = frontmatter.find(opening + inside + closing + "body")
    if found is not None:
        json.dumps(found.values, allow_nan=False).encode()
        assert 0 <= found.end <= len(opening + inside + closing)
