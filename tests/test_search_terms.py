"""A question's terms, its literal parts, and the languages it is in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lancebrain.search.languages import share, unspoken
from lancebrain.search.question import MAX_CHARS, parse
from lancebrain.search.terms import MAX_TERMS, fold, held, terms_of


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("How do I restart the Label Printers?", ("restart", "label", "printers")),
        ("索引更新", ("索引", "引更", "更新")),
        ("なぜ検索は遅い", ("ぜ検", "検索", "索は", "遅い", "は遅")),
        ("するとても", ("する", "ると", "とて", "ても")),
        ("哪个索引是什么时候更新的", ("个索", "索引", "引是", "候更", "更新", "新的")),
        ("為什麼", ("為什", "什麼")),
        ("猫", ("猫",)),
        ("검색 엔진", ("검색", "엔진")),
        ("ＡＢＣ ｶﾅ", ("abc", "カナ")),
        ("snake_case E0382", ("snake", "case", "e0382")),
        ("SR99提升到1号", ("sr99", "提升", "升到", "1", "号")),
        ("Rust の所有権", ("rust", "の所", "所有", "有権")),
        ("Где лежит отчёт?", ("где", "лежит", "отчёт")),
        ("to be or not to be", ("to", "be", "or", "not")),
        ("!!! …", ()),
        ("", ()),
    ],
)
def test_terms_are_words_without_stop_words_and_pairs_without_grammar(
    question: str, terms: tuple[str, ...]
) -> None:
    assert sorted(terms_of(question)) == sorted(terms)


def test_a_pasted_page_has_a_bounded_number_of_terms() -> None:
    assert len(terms_of(" ".join(f"word{number}" for number in range(1_000)))) == MAX_TERMS


@given(st.text())
def test_terms_occur_in_the_folded_question_itself(question: str) -> None:
    terms = terms_of(question)
    assert held(terms, fold(question)) == frozenset(terms)


def test_held_looks_for_substrings() -> None:
    assert held(("print", "label"), fold("Printers")) == {"print"}


@pytest.mark.parametrize(
    ("word", "is_identifier"),
    [
        ("snake_case", True),
        ("__init__", True),
        ("camelCase", True),
        ("HTTPServer2", True),
        ("a.b.c", True),
        ("lancebrain.store.rows", True),
        ("src/foo/bar.py", True),
        ("/usr/local/bin", True),
        ("~/.ssh/config", True),
        (".gitignore", True),
        ("--no-cache", True),
        ("std::move", True),
        ("E0382", True),
        ("ADR-0007", True),
        ("2026-03-12", True),
        ("C++", True),
        ("well-known", False),
        ("printer", False),
        ("Printer", False),
        ("NASA", False),
        ("2026", False),
        ("don't", False),
        ("19th", False),
        ("1990s", False),
        ("U.S", False),
    ],
)
def test_identifiers_are_told_from_words(word: str, is_identifier: bool) -> None:
    for question in (word, f"what is {word}?", f"({word})", f"{word}。", f"なぜ{word}なのか"):
        assert parse(question).identifiers == ((word,) if is_identifier else ())


def test_phrases_are_taken_out_of_straight_and_curly_quotes() -> None:
    question = parse('where is “the  red\nfox” and "blue bird" now ""')
    assert question.phrases == ("the red fox", "blue bird")
    assert question.text == "where is the red fox and blue bird now"
    assert question.keywords == '"the red fox" "blue bird" where is and now'
    assert '"' not in question.unquoted


def test_a_lone_quote_is_no_phrase() -> None:
    question = parse('5" disk')
    assert question.phrases == ()
    assert question.keywords.split() == ["5", "disk"]


@pytest.mark.parametrize(
    ("typed", "widths"),
    [
        ("ﾃﾞｰﾀ 移行", {"ﾃﾞｰﾀ", "移行", "データ"}),
        ("データ移行とパン", {"データ移行とパン", "ﾃﾞｰﾀ", "ﾊﾟﾝ"}),
        ("ＡＰＩ", {"ＡＰＩ", "API"}),
        ("plain かな words words", {"plain", "かな", "words"}),
    ],
)
def test_words_are_asked_for_in_every_width(typed: str, widths: set[str]) -> None:
    assert set(parse(typed).keywords.split()) == widths
    assert parse(typed).folded == " ".join(fold(typed).split())


def test_short_words_are_those_of_a_look_up_not_of_a_sentence() -> None:
    assert parse("索").short_words == ("索",)
    assert parse("검색 엔진").short_words == ("검색", "엔진")
    assert parse("ค้นหา").short_words == ("ค้นหา",)
    assert parse("ぬか 床").short_words == ("ぬか", "床")
    assert parse("データベースを復旧する手順はどこにありますか").short_words == ()
    assert parse("哪个城市是首都").short_words == ()
    assert parse("나의 색인 을 되 돌린다").short_words == ()
    assert parse("plain English").short_words == ()


@pytest.mark.parametrize(
    "typed", ["", " ", "?!", "---", "\x00\x01", "\ud800", "\u202e\u200b", "()"]
)
def test_what_says_nothing_is_told(typed: str) -> None:
    assert not parse(typed).says_something


@pytest.mark.parametrize("typed", ["a", "索", "42", "🎉", "¿qué?", "\x00a\ud800"])
def test_what_says_something_is_told(typed: str) -> None:
    assert parse(typed).says_something


@given(st.text())
def test_any_string_parses_and_what_is_left_can_be_encoded(typed: str) -> None:
    question = parse(typed)
    for part in (question.text, question.keywords, question.unquoted, *question.phrases):
        assert part.encode() is not None
        assert "\x00" not in part
    assert question.keywords.count('"') == 2 * len(question.phrases)


def test_a_pasted_book_is_clipped() -> None:
    question = parse("word " * 10_000)
    assert question.clipped
    assert len(question.text) <= MAX_CHARS
    assert not parse("word").clipped


@pytest.mark.parametrize(
    ("question", "languages", "written"),
    [
        ("なぜ", ("en",), "Japanese"),
        ("検索", ("en",), "Chinese or Japanese"),
        ("検索", ("en", "zh"), None),
        ("검색", ("en", "ja"), "Korean"),
        ("שלום", ("en", "ar"), "Hebrew"),
        ("отчёт", ("ru",), None),
        ("hello", ("ja",), None),
        ("שלום", (), None),
        ("restart the ไฟล์ server", ("en",), "Thai"),
        ("β-carotene dose", ("en",), None),
    ],
)
def test_a_language_the_model_does_not_speak_is_named_by_its_script(
    question: str, languages: tuple[str, ...], written: str | None
) -> None:
    assert unspoken(question, languages) == written


@pytest.mark.parametrize(
    ("question", "languages", "expected"),
    [
        ("restart the server", {"en": 1.0, "ja": 0.5}, 1.0),
        ("サーバーを再起動", {"en": 1.0, "ja": 0.5, "zh": 1.0}, 0.5),
        ("重启服务器", {"ja": 0.5, "zh": 1.0}, 1.0),
        ("再起動", {"ja": 0.5}, 0.5),
        ("restart the ไฟล์ server", {"en": 1.0}, 0.0),
        ("what is the value of π", {"en": 1.0}, 1.0),
        ("a 10 kΩ resistor", {"en": 1.0}, 1.0),
        ("who is דוד in my notes about the family meeting", {"en": 1.0}, 1.0),
        ("π", {"en": 1.0}, 0.0),
        ("サーバー", {}, 1.0),
    ],
)
def test_a_model_has_as_much_say_as_it_knows_the_language(
    question: str, languages: dict[str, float], expected: float
) -> None:
    assert share(question, languages) == expected
