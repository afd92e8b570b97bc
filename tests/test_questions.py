"""The questions that retrieval quality is measured with are themselves right.

`questions.jsonl` holds one question a line. `paths` are relative to the two folders that hold
the notes: `vault/…` in `demo/`, `notes/…` in `tests/`.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOTS = {"vault": TESTS.parent / "demo" / "vault", "notes": TESTS / "notes"}
LANGUAGES = ("en", "ja", "zh")
KINDS = ("paraphrase", "cross", "literal")


def words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH_FUNCTION_WORDS = words_in(
    """
    a about after again all along although am an and any anyone are as at be because been before
    being but by can could did do does doing done down each else ever every for from get go got had
    has have he her here him his how i if in instead into is it its just let may me more most much
    must my new no not now of off on one only or other our out over own per she should so some
    someone still such than that the their them then there these they this those though through to
    too under until up us very was way we were what when where whether which while who whose why
    will with without would you your
    """
)
# Words that carry grammar or ask, not matter. They are cut out of a question before its runs are
# compared, longest first.
CJK_FUNCTION_WORDS = sorted(
    words_in(
        """
    なければ なかった なくなった したとき すること ということ ための ために どのくらい どうやって
    なぜ どうして どれだけ いくら どこで どこに 何を 誰が
    为什么 怎么办 怎么样 怎样 怎么 什么 哪些 哪里 哪家 哪一 多久 多少 是不是 能不能 要不要
    的时候 时候 以后 以前 还是 还要 还能 没有 可以 如果 因为 所以 一个 两个 这张 那家 那么 这个
    那个 我们 他们 自己 不能
    """
    ),
    key=len,
    reverse=True,
)
CJK_RUN = re.compile(
    r"[\u3005-\u3007\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe\u3400-\u4dbf\u4e00-\u9fff]+"
)
HIRAGANA_ONLY = re.compile(r"[\u3041-\u3096\u309d\u309e\u30fc]+")
HAS_HIRAGANA = re.compile(r"[\u3041-\u3096\u309d\u309e]")
# In Chinese a pair with one of these is two halves of two words; a triple with one still tells.
CHINESE_PARTICLE = re.compile(r"[的了着过吗呢吧也就不是在有]")


def load() -> list[dict]:
    lines = (TESTS / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def note_file(path: str) -> Path:
    root, _, rest = path.partition("/")
    return ROOTS[root] / rest


def all_notes() -> dict[str, str]:
    """Every note by its path; its text is the path, too, since a name can be searched for."""
    return {
        (path := f"{name}/{file.relative_to(root).as_posix()}"): normal(
            path + "\n" + file.read_text(encoding="utf-8")
        )
        for name, root in ROOTS.items()
        for file in sorted(root.rglob("*"))
        if file.suffix in {".md", ".txt"}
    }


def language_of(text: str) -> str:
    """English, Japanese or Chinese, by the letters used. The notes are long enough for that."""
    kana = len(re.findall(r"[\u3041-\u30fa]", text))
    han = len(re.findall(r"[\u4e00-\u9fff]", text))
    latin = len(re.findall(r"[A-Za-z]", text))
    if kana + han < latin / 8:
        return "en"
    return "ja" if kana > han / 5 else "zh"


def stem(word: str) -> str:
    """Enough of an English stemmer to see that "printers" and "printing" are one word."""
    for ending in ("ings", "ing", "ers", "er", "ies", "ed", "es", "ly", "s", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word


def english_stems(text: str) -> set[str]:
    words = re.findall(r"[a-z]+", normal(text).replace("'s", "").replace("’s", ""))
    return {stem(word) for word in words if len(word) > 2 and word not in ENGLISH_FUNCTION_WORDS}


def shared_english(query: str, note: str) -> set[str]:
    """Content words of the query that the note has, also in another form."""
    query_stems, note_stems = english_stems(query), english_stems(note)
    prefixes = {word[:5] for word in note_stems if len(word) >= 5}
    return {word for word in query_stems if word in note_stems or word[:5] in prefixes}


def shared_cjk(query: str, note: str) -> set[str]:
    """Runs of the query that the note has: two characters of a word, or three of which one is."""
    rest = normal(query)
    for word in CJK_FUNCTION_WORDS:
        rest = rest.replace(word, " ")
    runs = CJK_RUN.findall(rest)
    pairs = {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
    triples = {run[i : i + 3] for run in runs for i in range(len(run) - 2)}
    telling = {pair for pair in pairs if not HAS_HIRAGANA.search(pair)}
    if not HAS_HIRAGANA.search(query):
        telling = {pair for pair in telling if not CHINESE_PARTICLE.search(pair)}
    telling |= {triple for triple in triples if not HIRAGANA_ONLY.fullmatch(triple)}
    return {run for run in telling if run in note}


def terms(query: str) -> list[str]:
    """Phrases in quotes, and the words around them."""
    return [normal(phrase or word) for phrase, word in re.findall(r'"([^"]+)"|(\S+)', query)]


QUESTIONS = load()
NOTES = all_notes()
of_kind = {kind: [q for q in QUESTIONS if q["kind"] == kind] for kind in KINDS}


def test_every_question_has_the_same_fields_and_known_values():
    for question in QUESTIONS:
        assert list(question) == ["query", "language", "kind", "paths"]
        assert question["language"] in LANGUAGES
        assert question["kind"] in KINDS
        assert question["query"] == question["query"].strip() != ""


def test_every_named_note_exists():
    for question in QUESTIONS:
        assert question["paths"], question["query"]
        assert len(set(question["paths"])) == len(question["paths"]), question["query"]
        for path in question["paths"]:
            assert note_file(path).is_file(), path
            assert path in NOTES


def test_no_question_is_asked_twice():
    assert len({normal(question["query"]) for question in QUESTIONS}) == len(QUESTIONS)


def test_each_language_and_each_kind_has_enough_questions():
    by_language = Counter(question["language"] for question in QUESTIONS)
    by_both = Counter((question["language"], question["kind"]) for question in QUESTIONS)
    assert len(QUESTIONS) >= 90
    assert all(by_language[language] >= 30 for language in LANGUAGES)
    assert len(of_kind["paraphrase"]) >= 36
    assert len(of_kind["cross"]) >= 30
    assert len(of_kind["literal"]) >= 24
    assert all(by_both[language, kind] >= 8 for language in LANGUAGES for kind in KINDS)


def test_questions_are_spread_over_most_notes():
    asked = {path for question in QUESTIONS for path in question["paths"]}
    assert len(asked) >= 0.8 * len(NOTES)
    assert max(Counter(p for q in QUESTIONS for p in q["paths"]).values()) <= 6


@pytest.mark.parametrize("question", of_kind["paraphrase"], ids=lambda q: q["query"])
def test_a_paraphrase_uses_none_of_the_words_of_its_note(question):
    for path in question["paths"]:
        assert language_of(NOTES[path]) == question["language"]
        assert shared_english(question["query"], NOTES[path]) == set()
        assert shared_cjk(question["query"], NOTES[path]) == set()


@pytest.mark.parametrize("question", of_kind["cross"], ids=lambda q: q["query"])
def test_a_cross_language_question_is_in_another_language_than_its_note(question):
    assert language_of(question["query"]) == question["language"]
    for path in question["paths"]:
        assert language_of(NOTES[path]) != question["language"]


def test_cross_language_questions_go_in_every_direction():
    directions = Counter(
        (question["language"], language_of(NOTES[question["paths"][0]]))
        for question in of_kind["cross"]
    )
    assert len(directions) == 6
    assert min(directions.values()) >= 4


@pytest.mark.parametrize("question", of_kind["literal"], ids=lambda q: q["query"])
def test_a_literal_question_stands_in_its_notes_and_in_no_other(question):
    wanted = terms(question["query"])
    found = {path for path, text in NOTES.items() if all(term in text for term in wanted)}
    assert found == set(question["paths"])


def test_the_check_for_shared_words_sees_other_forms_of_a_word():
    assert shared_english("printing two labels", "The printer prints a label.") == {
        "print",
        "label",
    }
    assert shared_english("what is it about", "What is it about?") == set()
    assert shared_cjk("为什么报关会慢", "报关为什么快") == {"报关"}
    assert shared_cjk("在庫が合わない", "在庫の話") == {"在庫"}
    assert shared_cjk("赤くなった", "丸くなった") == set()
