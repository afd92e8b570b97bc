"""nDCG@10 on labelled questions: keyword, vector and fused, all with the same settings.

Every paragraph becomes a Markdown file and goes the real way: sync, chunks, table, search. A
document stands where its best chunk stands.

    paragraphs  sets of ``corpus.jsonl``, ``queries.jsonl``, ``qrels.jsonl`` in a folder each;
                ``mixed`` is the mean over all of them in one index; ``en > zh`` are the first
                set's questions on the second's paragraphs
    vault       the project's own questions on its demo vault and more notes; ``among all`` has
                the paragraphs in the same index
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

import lancebrain
from benchmarks.measure import say
from lancebrain.embedders import (
    Embedder,
    EngineOptions,
    learn_embedder,
    learns,
    load_embedder,
)
from lancebrain.evaluation import (
    LabelledQuestion,
    LabelledSet,
    evaluate,
    load_labelled_set,
    load_questions,
    ndcg_at_k,
)
from lancebrain.types import Mode

_PROJECT = Path(__file__).parents[2]
_NOTES = {"vault": _PROJECT / "demo" / "vault", "notes": _PROJECT / "tests" / "notes"}
_VARIABLE = "LANCEBRAIN_LABELLED_SETS"
_SETS = {"en": "xquad_en", "zh": "xquad_zh", "ja": "jsquad_ja"}
_HITS = 30  # several may be of one document, and ten documents are measured
_AT_ONCE = 16
_SAVED_EVERY_S = 15.0
_MODES: tuple[Mode, ...] = get_args(Mode)
_Row = tuple[str, Sequence[float]]


class _Remembering:
    """An embedder that embeds each text once; several indices hold the same paragraphs.

    Args:
        file: an ``.npz`` to begin with and to keep everything in, or None. It is written every
            few seconds, so that a run that was stopped goes on where it was.
    """

    def __init__(self, inner: Embedder, file: Path | None) -> None:
        self._inner = inner
        self._file = file
        self.name = f"measured {inner.name}"  # which no index can load, or let learn, by itself
        self.fingerprint = inner.fingerprint
        self.dim = inner.dim
        self.fusion_weight = inner.fusion_weight
        self.languages = inner.languages
        self._known: dict[str, dict[str, NDArray[np.float32]]] = {"passages": {}, "queries": {}}
        self._saved_at = time.monotonic()
        if file is not None and file.exists():
            kept = np.load(file)
            if str(kept["fingerprint"]) == self.fingerprint:
                for kind, known in self._known.items():
                    known |= zip(json.loads(str(kept[kind])), kept[f"{kind}_vectors"], strict=True)

    def weigh(self, weight: float | None) -> None:
        """Give the vectors this share of a fused score; None for the model's own."""
        self.fusion_weight = self._inner.fusion_weight if weight is None else weight

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        known = self._known["passages"]
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for at in range(0, len(new), _AT_ONCE):
            some = new[at : at + _AT_ONCE]
            known |= zip(some, self._inner.embed_passages(some), strict=True)
            self._save_now_and_then()
        return np.stack([known[text] for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        known = self._known["queries"]
        if text not in known:
            known[text] = self._inner.embed_query(text)
            self._save_now_and_then()
        return known[text]

    def save(self) -> None:
        """Keep the vectors for the next run."""
        self._saved_at = time.monotonic()
        if self._file is None:
            return
        arrays: dict[str, NDArray[Any]] = {"fingerprint": np.array(self.fingerprint)}
        for kind, known in self._known.items():
            arrays[kind] = np.array(json.dumps(list(known)))
            arrays[f"{kind}_vectors"] = np.array(list(known.values())).reshape(-1, self.dim)
        written = self._file.with_suffix(".part.npz")
        np.savez(written, **arrays)  # type: ignore[arg-type]
        written.replace(self._file)

    def _save_now_and_then(self) -> None:
        if time.monotonic() - self._saved_at > _SAVED_EVERY_S:
            self.save()


def main(argv: Sequence[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(
        prog="bench.py quality",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "data",
        type=Path,
        nargs="?",
        default=os.environ.get(_VARIABLE),
        help=f"folder of the sets {', '.join(_SETS.values())}; by default ${_VARIABLE}; "
        "without either, only the project's own questions are asked",
    )
    parser.add_argument("--model", default="usem3")
    parser.add_argument(
        "--weights",
        type=float,
        nargs="+",
        metavar="A",
        help="the vectors' shares to fuse with; by default the model's own",
    )
    parser.add_argument("--sample", type=int, metavar="N", help="ask N questions of each set only")
    parser.add_argument("--cache", type=Path, metavar="FILE.npz", help="keep vectors between runs")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        sets: dict[str, LabelledSet] = {}
        if options.data is not None:
            sets = {short: load_labelled_set(options.data / name) for short, name in _SETS.items()}
        models = _Models(options.model, options.cache)
        paragraphs = {short: _as_files(folder / short, one) for short, one in sets.items()}
        if sets:
            _print_paragraphs(folder, sets, paragraphs, models, options.sample, options.weights)
        _print_own("vault", _open(folder / "own-index", _NOTES, models), options.weights)
        if sets:
            among_all = _open(folder / "all-index", _NOTES | paragraphs, models)
            _print_own("vault among all", among_all, options.weights)
        models.save()
    return 0


class _Models:
    """The model of each index: one for all, or, if it learns from the texts, one for each; from
    whole files here, where an index lets it learn from passages.

    Args:
        name: of the model.
        cache: as for :class:`_Remembering`.
    """

    def __init__(self, name: str, cache: Path | None) -> None:
        self._name = name
        self._for_all = None if learns(name) else _Remembering(load_embedder(name), cache)

    def of(self, index: Path, folders: Iterable[Path]) -> _Remembering:
        """That of an index of these folders."""
        if self._for_all is not None:
            return self._for_all
        files = (file for folder in folders for file in sorted(folder.rglob("*.md")))
        texts = [file.read_text(encoding="utf-8") for file in files]
        learned = index.with_name(f"{index.name}-learned")
        learned.mkdir()
        spec = learn_embedder(self._name, texts, EngineOptions(index=learned))
        options = EngineOptions(index=learned, fingerprint=spec.fingerprint)
        return _Remembering(load_embedder(self._name, options), None)

    def save(self) -> None:
        """Keep the vectors for the next run."""
        if self._for_all is not None:
            self._for_all.save()


@dataclass(frozen=True, slots=True)
class _Index:
    """What is asked, and the model that its vectors are of."""

    brain: lancebrain.Brain
    embedder: _Remembering


@dataclass(frozen=True, slots=True)
class _Way:
    """A way to search, and what it is called.

    Attributes:
        weight: the vectors' share, in place of the model's own.
    """

    name: str
    mode: Mode
    weight: float | None = None


def _ways(weights: Sequence[float] | None) -> list[_Way]:
    fused = [_Way(f"fused, {weight:g}", "hybrid", weight) for weight in weights or ()]
    alone = [_Way(mode, mode) for mode in _MODES if mode != "hybrid"]
    return alone + (fused or [_Way("fused, own share", "hybrid")])


def _as_files(folder: Path, labelled: LabelledSet) -> Path:
    """Each paragraph as ``ID.md``: its title as a heading, then its text."""
    folder.mkdir()
    for name, paragraph in labelled.corpus.items():
        text = f"# {paragraph.title}\n\n{paragraph.text}\n"
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return folder


def _open(index: Path, folders: Mapping[str, Path], models: _Models) -> _Index:
    embedder = models.of(index, folders.values())
    brain = lancebrain.open(index, model=embedder.name, embedder=embedder)
    report = brain.sync(list(folders.values()))
    say(f"{index.name}: {report.added} documents, {report.rows_written} rows")
    return _Index(brain, embedder)


def _documents(index: _Index, way: _Way, question: str) -> list[str]:
    """Paths of the documents found, best first; a folded one follows the one it is named by."""
    index.embedder.weigh(way.weight)
    answer = index.brain.search(question, mode=way.mode, limit=_HITS, look=False)
    paths = (path for hit in answer.hits for path in (hit.path, *(p.path for p in hit.also_at)))
    return list(dict.fromkeys(paths))


def _print_paragraphs(
    folder: Path,
    sets: Mapping[str, LabelledSet],
    paragraphs: Mapping[str, Path],
    models: _Models,
    sample: int | None,
    weights: Sequence[float] | None,
) -> None:
    questions = {short: _sampled(one.queries, sample) for short, one in sets.items()}
    own = {
        short: _open(folder / f"{short}-index", {short: path}, models)
        for short, path in paragraphs.items()
    }
    together = _open(folder / "mixed-index", paragraphs, models)
    crossings = [("en", "zh"), ("zh", "en")]
    ndcg: list[_Row] = []
    precision: list[_Row] = []
    for way in _ways(weights):
        say(f"asking by {way.name}")
        alone = [_measured(own[s], s, sets[s], questions[s], way) for s in sets]
        mixed = [_measured(together, s, sets[s], questions[s], way) for s in sets]
        across = [
            _measured(own[to], to, sets[to], _shared(questions[asked], sets[to]), way)
            for asked, to in crossings
        ]
        ndcg.append(
            (
                way.name,
                [*(s[0] for s in alone), fmean(s[0] for s in mixed), *(s[0] for s in across)],
            )
        )
        precision.append(
            (
                way.name,
                [*(s[1] for s in alone), fmean(s[1] for s in mixed), *(s[1] for s in across)],
            )
        )
    columns = [*sets, "mixed", *(f"{asked} > {to}" for asked, to in crossings)]
    _print_table("nDCG@10, paragraphs", columns, ndcg)
    _print_table("R-precision, paragraphs", columns, precision)


def _sampled(queries: Mapping[str, str], sample: int | None) -> Mapping[str, str]:
    if sample is None or sample >= len(queries):
        return queries
    chosen = random.Random(7).sample(sorted(queries), sample)
    return {name: queries[name] for name in chosen}


def _shared(questions: Mapping[str, str], other: LabelledSet) -> Mapping[str, str]:
    """The questions that the other set has too, in another language."""
    return {name: text for name, text in questions.items() if name in other.qrels}


def _measured(
    index: _Index,
    source: str,
    labelled: LabelledSet,
    questions: Mapping[str, str],
    way: _Way,
) -> tuple[float, float]:
    """nDCG@10 and R-precision."""
    qrels = {
        name: {f"{source}/{document}.md": grade for document, grade in judgements.items()}
        for name, judgements in labelled.qrels.items()
    }
    scores = evaluate(partial(_documents, index, way), questions, qrels)
    return scores.ndcg_at_10, scores.r_precision


def _print_own(title: str, index: _Index, weights: Sequence[float] | None) -> None:
    questions = load_questions(_PROJECT / "tests" / "questions.jsonl")
    groups: dict[str, list[LabelledQuestion]] = {"all": questions}
    for question in questions:
        groups.setdefault(question.kind, []).append(question)
    for question in questions:
        groups.setdefault(f"{question.kind} {question.language}", []).append(question)
    rows: list[_Row] = []
    for way in _ways(weights):
        gained = {
            question: ndcg_at_k(
                _documents(index, way, question.query), dict.fromkeys(question.paths, 1)
            )
            for question in questions
        }
        rows.append((way.name, [fmean(gained[q] for q in group) for group in groups.values()]))
    columns = [f"{name} ({len(group)})" for name, group in groups.items()]
    _print_table(f"nDCG@10, {title}", columns, rows)


def _print_table(title: str, columns: Sequence[str], rows: Sequence[_Row]) -> None:
    print(f"\n| {title} | {' | '.join(columns)} |")
    print(f"|---|{'---|' * len(columns)}")
    for name, values in rows:
        cells = (re.sub(r"^0", "", f"{value:.3f}") for value in values)
        print(f"| {name} | {' | '.join(cells)} |")
    sys.stdout.flush()
