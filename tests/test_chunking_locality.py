"""An edit changes the chunks around it and no others; so little is embedded anew."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lancebrain.chunking import chunk
from lancebrain.readers import read
from lancebrain.types import Chunk, Document

FARTHEST = 1200 + 240
"""How far ahead of a cut its place may depend on the text, in columns."""

WORDS = (
    *("harbour", "pier", "keel", "sail", "rope", "anchor", "tide", "storm", "lamp", "chart"),
    *("bell", "crew", "deck", "mast", "hull", "oar", "port", "mooring", "cargo", "crane"),
    *("dock", "ferry", "gull", "wave"),
)


def chunks(text: str, kind: str) -> list[Chunk]:
    document = read("a." + kind, kind, text.encode())
    assert isinstance(document, Document)
    return chunk(document)


def embedded_anew(before: str, after: str, kind: str) -> int:
    known = {one.chunk_hash for one in chunks(before, kind)}
    return sum(one.chunk_hash not in known for one in chunks(after, kind))


def edited(rng: random.Random, lines: list[str], index: int, operation: str) -> str:
    lines = list(lines)
    if operation == "insert":
        lines.insert(index, f"A line that was not here before, {rng.random()}\n")
    elif operation == "delete":
        del lines[index]
    else:
        lines[index] = lines[index].rstrip("\n") + f" and changed {rng.random()}\n"
    return "".join(lines)


def log(rng: random.Random, lines: int) -> list[str]:
    return [
        f"2026-05-{i // 9000 + 1:02}T{i // 600 % 24:02}:{i // 10 % 60:02} INFO "
        f"{' '.join(rng.choices(WORDS, k=rng.randrange(3, 14)))} id={rng.randrange(10**6)}\n"
        for i in range(lines)
    ]


def vault(rng: random.Random) -> Iterable[list[str]]:
    """Notes as people keep them: sections, paragraphs, lists, code, some of them long."""
    for number in range(60):
        lines = [f"# Note {number}\n", "\n"]
        for section in range(rng.randrange(1, 7)):
            lines += [f"## Part {section} of {rng.choice(WORDS)}\n", "\n"]
            for _ in range(rng.randrange(1, 9)):
                style = rng.randrange(4)
                if style == 0:
                    lines += [
                        f"- {' '.join(rng.choices(WORDS, k=rng.randrange(2, 15)))}\n"
                        for _ in range(rng.randrange(2, 9))
                    ]
                elif style == 1:
                    code = [f"{rng.choice(WORDS)}({rng.random()})\n" for _ in range(5)]
                    lines += ["```\n", *code, "```\n"]
                else:
                    text = " ".join(rng.choices(WORDS, k=rng.randrange(10, 90)))
                    lines.append(text.capitalize() + ".\n")
                lines.append("\n")
        yield lines


def test_one_line_of_a_log_changes_at_most_three_chunks_wherever_it_is() -> None:
    rng = random.Random(1)
    lines = log(rng, 12_000)
    whole = "".join(lines)
    for index in (0, len(lines) // 2, len(lines) - 1):
        for operation in ("insert", "delete", "change"):
            after = edited(rng, lines, index, operation)
            assert embedded_anew(whole, after, "text") <= 3


def test_edits_of_notes_embed_less_than_two_and_a_half_chunks_on_average() -> None:
    rng = random.Random(2)
    notes = list(vault(rng))
    anew = []
    for _ in range(200):
        lines = rng.choice(notes)
        after = edited(
            rng, lines, rng.randrange(len(lines)), rng.choice(("insert", "delete", "change"))
        )
        anew.append(embedded_anew("".join(lines), after, "md"))
    assert sum(anew) / len(anew) <= 2.5


CONTENTS: dict[str, Callable[[random.Random], list[str]]] = {
    "identical lines": lambda rng: ["the same line again\n"] * 2000,
    "two lines in turn": lambda rng: ["one of two lines\n", "the other one, longer\n"] * 1000,
    "short lines": lambda rng: [f"{rng.randrange(10)}\n" for _ in range(5000)],
    "rows of numbers": lambda rng: [f"{rng.random()},{rng.random()}\n" for _ in range(2000)],
    "one line of words": lambda rng: [f"{rng.choice(WORDS)} " for _ in range(3000)],
    "one line without spaces": lambda rng: [f"{rng.getrandbits(32):08x}" for _ in range(3000)],
    "one line of hanzi": lambda rng: [chr(rng.randrange(0x4E00, 0x9000)) for _ in range(9000)],
}


@pytest.mark.parametrize("content", CONTENTS)
def test_cuts_fall_back_into_place_after_an_edit_of_any_content(content: str) -> None:
    rng = random.Random(3)
    units = CONTENTS[content](rng)
    before = "".join(units)
    anew = []
    for _ in range(25):
        index = rng.randrange(len(units))
        after = [*units[:index], "something new", *units[index + rng.randrange(2) :]]
        anew.append(embedded_anew(before, "".join(after), "text"))
    assert sum(anew) / len(anew) <= 3
    assert max(anew) <= 8


PRINTABLE = st.one_of(st.characters(exclude_categories=("Cc", "Cs")), st.sampled_from("\n\t"))
"""A text of control characters is refused as binary."""


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, int, str]:
    rng = random.Random(draw(st.integers(0, 2**32)))
    unit = draw(st.sampled_from(["{} ", "{}. ", "{}\n", "{}\n\n", "{}，", "- {}\n", "{}"]))
    text = "".join(unit.format(rng.choice(WORDS)) for _ in range(draw(st.integers(10, 2500))))
    return text, draw(st.integers(0, len(text))), draw(st.text(PRINTABLE, max_size=30))


@settings(max_examples=60, deadline=None)
@given(texts_and_edits(), st.sampled_from(["md", "text"]))
def test_chunks_well_before_an_edit_stay(edit: tuple[str, int, str], kind: str) -> None:
    text, position, new = edit
    after = chunks(text[:position] + new + text[position:], kind)
    end = 0
    for old, now in zip(chunks(text, kind), after, strict=False):
        end += len(old.text)
        if end + FARTHEST >= position:
            break
        assert old == now


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(45, 400), min_size=2, max_size=12),
    st.integers(0, 11),
    # No dashes: a line of them under a paragraph makes it a heading, which is a trail of its own.
    st.text(alphabet="ab \n.。", min_size=1, max_size=40),
)
def test_an_edit_in_one_section_leaves_the_others(
    lengths: list[int], edited_section: int, new: str
) -> None:
    sections = [
        f"# {WORDS[i]}\n\n" + " ".join(WORDS[(i * j) % len(WORDS)] for j in range(length)) + "\n\n"
        for i, length in enumerate(lengths)
    ]
    at = edited_section % len(sections)
    after = [*sections]
    after[at] = sections[at].rstrip("\n") + "x" + new + "\n\n"
    known = {one.chunk_hash for one in chunks("".join(sections), "md")}
    for one in chunks("".join(after), "md"):
        if one.heading_path and one.heading_path[0] != WORDS[at]:
            assert one.chunk_hash in known
