"""How good are the answers? Measures of rankings against labelled questions, and their files.

Beside the flow: it is given a search as a function and knows nothing of how that works.

A *judgement* says how relevant a document is to a question: 0 not at all, higher is better. A
ranking is a list of document ids, best first; an id counts where it stands first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lancebrain.errors import UsageError

Judgements = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over questions, each 0 to 1, and how many questions there were."""

    ndcg_at_10: float
    recall_at_10: float
    mrr: float
    r_precision: float
    questions: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A document of a labelled set."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """Documents, questions and judgements, by id."""

    name: str
    corpus: Mapping[str, Paragraph]
    queries: Mapping[str, str]
    qrels: Mapping[str, Judgements]


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question whose answers are known.

    Attributes:
        language: ISO 639-1 code of the question.
        kind: ``paraphrase`` (in other words than the note), ``cross`` (in another language than
            the note), ``literal`` (a look-up).
        paths: documents that answer it.
    """

    query: str
    language: str
    kind: str
    paths: tuple[str, ...]


def ndcg_at_k(ranking: Sequence[str], judgements: Judgements, k: int = 10) -> float:
    """Normalised discounted cumulative gain, 0 to 1.

    Gains are the judgements themselves, discounted by log2(rank + 1). Järvelin and Kekäläinen,
    Cumulated gain-based evaluation of IR techniques, ACM TOIS 20 (2002); linear gain and this
    discount as in trec_eval's ndcg_cut.
    """
    gains = [judgements.get(document, 0) for document in _distinct(ranking)[:k]]
    ideal = _discounted(sorted(judgements.values(), reverse=True)[:k])
    return _discounted(gains) / ideal if ideal > 0 else 0.0


def recall_at_k(ranking: Sequence[str], judgements: Judgements, k: int = 10) -> float:
    """Share of the relevant documents that are among the first k.

    Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), 8.3.
    """
    relevant = _relevant(judgements)
    found = relevant.intersection(_distinct(ranking)[:k])
    return len(found) / len(relevant) if relevant else 0.0


def mrr(ranking: Sequence[str], judgements: Judgements) -> float:
    """1 / rank of the first relevant document; 0 if there is none.

    Voorhees, The TREC-8 Question Answering Track Report (1999). The mean over questions is the
    mean reciprocal rank.
    """
    relevant = _relevant(judgements)
    ranks = (rank for rank, document in enumerate(_distinct(ranking), 1) if document in relevant)
    return 1 / next(ranks, math.inf)


def r_precision(ranking: Sequence[str], judgements: Judgements) -> float:
    """Share of relevant documents among the first R, where R documents are relevant.

    Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), 8.4.
    """
    relevant = _relevant(judgements)
    return recall_at_k(ranking, judgements, len(relevant)) if relevant else 0.0


def evaluate(
    search: Callable[[str], Sequence[str]],
    queries: Mapping[str, str],
    qrels: Mapping[str, Judgements],
) -> Scores:
    """Ask every question that has a relevant document, and average the measures.

    Args:
        search: question → ranking of document ids, at least ten where there are as many.
        queries: question by id.
        qrels: judgements by question id.

    Raises:
        UsageError: no question has a relevant document.
    """
    rows = []
    for query_id, text in queries.items():
        judgements = qrels.get(query_id, {})
        if not _relevant(judgements):
            continue
        ranking = search(text)
        rows.append(
            (
                ndcg_at_k(ranking, judgements),
                recall_at_k(ranking, judgements),
                mrr(ranking, judgements),
                r_precision(ranking, judgements),
            )
        )
    if not rows:
        raise UsageError("No question has a relevant document, so there is nothing to measure.")
    ndcg, recall, reciprocal, precision = (
        math.fsum(column) / len(rows) for column in zip(*rows, strict=True)
    )
    return Scores(ndcg, recall, reciprocal, precision, len(rows))


def load_labelled_set(folder: Path) -> LabelledSet:
    """Read ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.jsonl`` of a folder, as BEIR has them.

    The lines are ``{"_id", "title", "text"}``, ``{"_id", "text"}`` and ``{"query-id",
    "corpus-id", "score"}``.

    Raises:
        UsageError: a file is missing or a line is not of this form.
    """
    corpus = {
        str(line["_id"]): Paragraph(str(line.get("title", "")), str(line["text"]))
        for line in _lines(folder / "corpus.jsonl", ("_id", "text"))
    }
    queries = {
        str(line["_id"]): str(line["text"])
        for line in _lines(folder / "queries.jsonl", ("_id", "text"))
    }
    qrels: dict[str, dict[str, int]] = {}
    for line in _lines(folder / "qrels.jsonl", ("query-id", "corpus-id", "score")):
        judgements = qrels.setdefault(str(line["query-id"]), {})
        judgements[str(line["corpus-id"])] = int(str(line["score"]))
    return LabelledSet(folder.name, corpus, queries, qrels)


def load_questions(file: Path) -> list[LabelledQuestion]:
    """Read lines of ``{"query", "language", "kind", "paths"}``.

    Raises:
        UsageError: the file is missing or a line is not of this form.
    """
    questions = []
    for line in _lines(file, ("query", "language", "kind", "paths")):
        paths = line["paths"]
        if not isinstance(paths, list) or not paths:
            raise UsageError(f"A question in {file} names no paths: {line['query']!r}.")
        questions.append(
            LabelledQuestion(
                str(line["query"]), str(line["language"]), str(line["kind"]), tuple(map(str, paths))
            )
        )
    return questions


def _lines(file: Path, keys: Sequence[str]) -> Iterator[Mapping[str, object]]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The file {file} cannot be read: {error.strerror}.") from error
    # Not splitlines: a JSON string may hold U+2028, which that takes for a line end.
    for number, raw in enumerate(text.split("\n"), 1):
        if not raw.strip():
            continue
        try:
            line = json.loads(raw)
        except ValueError as error:
            raise UsageError(f"Line {number} of {file} is not JSON: {error}.") from error
        if not isinstance(line, dict) or any(key not in line for key in keys):
            raise UsageError(f"Line {number} of {file} lacks one of {', '.join(keys)}.")
        yield line


def _relevant(judgements: Judgements) -> set[str]:
    return {document for document, grade in judgements.items() if grade > 0}


def _distinct(ranking: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranking))


def _discounted(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
