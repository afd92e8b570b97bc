"""Snippets: around the match, within the width, and nothing in them that acts."""

from __future__ import annotations

from itertools import accumulate

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from lancebrain.chunking import display_width
from lancebrain.search.snippet import (
    WIDTH,
    _best_span,
    _matches,
    safe_line,
    snippet,
    without_frontmatter,
)

FILLER = "Nothing of interest is said in this sentence, nor in the next one. " * 10
FAMILY = "👩‍👩‍👧‍👦"


def width_of(text: str) -> int:
    return sum(max(0, wcwidth(char)) for char in text)


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    assert snippet("# Title\n\nSome   text,\n\tand more.\n", ["text"]) == (
        "# Title Some text, and more."
    )


def test_the_window_is_around_the_match_and_ends_between_words() -> None:
    text = FILLER + "The label printer needs a new ribbon. " + FILLER
    found = snippet(text, ["label", "printer", "ribbon"])
    assert "label printer needs a new ribbon" in found
    assert found.startswith("…") and found.endswith("…")
    assert all(word in text.split() for word in found.strip("…").split())
    assert width_of(found) <= WIDTH


def test_the_window_takes_the_stretch_with_most_of_what_was_asked() -> None:
    text = "printer " + FILLER + "label and printer and ribbon " + FILLER + "label"
    assert "label and printer and ribbon" in snippet(text, ["label", "printer", "ribbon"])


def test_a_match_at_the_end_is_shown_with_what_leads_up_to_it() -> None:
    found = snippet(FILLER + "the ribbon.", ["ribbon"])
    assert found.endswith("the ribbon.")
    assert width_of(found) > WIDTH * 0.8


def test_without_a_match_the_beginning_is_shown() -> None:
    assert snippet("Begin here. " + FILLER, ["absent"]).startswith("Begin here. Nothing")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("這是一個很長的段落。" * 40 + "索引可以回滾。" + "後面還有很多字。" * 40, "回滾"),
        ("ここは関係のない文です。" * 40 + "ｶﾀｶﾅの検索。" + "まだ続きます。" * 40, "カタカナ"),
        ("ﬁller ﬁrst ".replace("ﬁ", "ﬁ") * 80 + "ＦＵＬＬ width" + " ﬁne" * 80, "full"),
    ],
    ids=["chinese", "half-width-kana", "ligatures"],
)
def test_matches_are_found_in_any_width_and_form(text: str, term: str) -> None:
    from lancebrain.search.terms import fold

    found = snippet(text, [term])
    assert term in fold(found)
    assert width_of(found) <= WIDTH


def test_frontmatter_is_not_shown_when_there_is_other_text() -> None:
    text = "---\ntitle: Secret\ntags: [a]\n---\n\n# Heading\n\nBody.\n"
    assert snippet(text, ["secret"]) == "# Heading Body."
    assert without_frontmatter("+++\r\na = 1\r\n+++\r\nBody") == "Body"


def test_encoded_data_is_cut_short() -> None:
    text = "Logo: ![](data:image/png;base64," + "iVBORw0KGgo" * 40 + ") and text after."
    assert (
        snippet(text, ["after"]) == "Logo: ![](data:image/png;base64,iVBORw0KGgoi…) and text after."
    )


def test_long_words_that_are_not_encoded_data_stay() -> None:
    for word in ("ありがとう" * 20, "x" * 80):
        assert snippet(word, []) == word


def test_frontmatter_alone_and_rules_in_the_middle_stay() -> None:
    assert snippet("---\ntitle: Alone\n---\n", []) == "--- title: Alone ---"
    assert snippet("Above\n\n---\n\nbelow\n\n---\n", []) == "Above --- below ---"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mred\x1b[0m b", "ared b"),
        ("\x1b]0;evil title\x07after", "after"),
        ("\x1b]8;;http://x.test\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("a\x1b[2J\x1b[Hb", "ab"),
        ("\x9b31mx", "x"),
        ("bell\x07 back\x08space nul\x00 del\x7f", "bell backspace nul del"),
        ("abc\u202edcba\u202c \u2066x\u2069 \u200fy\u200e", "abcdcba x y"),
        ("in\u200bvis\u2060ible\ufeff\u00ad", "invisible"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("lone\ud800", "lone"),
        ("line\u2028sep\u2029arated\x85here", "line sep arated here"),
        ("a\u3164b\u115fc", "abc"),
        ("x\u200d\u200d\u200dy", "xy"),
    ],
)
def test_nothing_that_acts_or_hides_is_left(text: str, shown: str) -> None:
    assert safe_line(text) == shown


def test_joiners_that_make_letters_and_emoji_stay() -> None:
    assert safe_line(f"{FAMILY} می‌خواهم क्‍ष ❤️ e\u0301") == f"{FAMILY} می‌خواهم क्‍ष ❤️ e\u0301"


def test_piled_up_marks_are_thinned() -> None:
    assert len(safe_line("Z" + "\u0301" * 500)) <= 9


@given(
    st.lists(
        st.sampled_from(
            [
                FAMILY,
                "e\u0301",
                "🇯🇵",
                "한",
                "각",
                "ก็",
                "word ",
                "。",
                "\x1b[1m",
                "\u202e",
                "👍🏽",
                "\n",
            ]
        ),
        max_size=300,
    ),
    st.sampled_from(["word", "한", "각", "e\u0301", "zzz"]),
)
def test_a_snippet_is_whole_graphemes_within_the_width(parts: list[str], term: str) -> None:
    text = "".join(parts)
    found = snippet(text, [term], width=40)
    assert width_of(found) <= 40
    clean = safe_line(text)
    inside = found.strip("…").strip()
    graphemes = regex.findall(r"\X", clean)
    assert inside in clean
    starts = {0}
    for grapheme in graphemes:
        starts.add(max(starts) + len(grapheme))
    at = [m.start() for m in regex.finditer(regex.escape(inside), clean, overlapped=True)]
    assert not inside or any(a in starts and a + len(inside) in starts for a in at)


@given(st.text(), st.lists(st.text(max_size=5), max_size=4))
def test_any_text_gives_one_safe_line_within_the_width(text: str, wanted: list[str]) -> None:
    found = snippet(text, wanted, width=30)
    assert width_of(found) <= 30
    assert not regex.search(r"[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]", found)


def test_a_word_that_is_there_hundreds_of_times_leaves_room_for_the_others() -> None:
    text = "1 2 3 " * 300 + "the rollout of kubernetes " + "1 2 3 " * 300
    assert "kubernetes" in snippet(text, ["1", "kubernetes", "rollout"])


@given(
    text=st.text(st.sampled_from("ab 字"), max_size=120),
    wanted=st.lists(st.text(st.sampled_from("ab字"), min_size=1, max_size=4), max_size=5),
    width=st.integers(6, 40),
)
def test_no_stretch_holds_more_of_what_was_asked(text: str, wanted: list[str], width: int) -> None:
    clean = safe_line(text)
    columns = [0, *accumulate(map(display_width, clean))]
    matches = _matches(clean, wanted)

    def weight(start: int) -> int:
        within = {
            term
            for begin, end, term in matches
            if begin >= start and columns[end] - columns[start] <= width
        }
        return sum(map(len, within))

    most = max((weight(start) for start, _, _ in matches), default=0)
    first, _ = _best_span(clean, wanted, columns, width)
    assert weight(first) == most or not most
