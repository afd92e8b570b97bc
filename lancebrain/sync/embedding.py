"""Texts → vectors, a fraction of a second of the model's time at a time.

Whoever fills in vectors calls this: the backlog of an index, and a change of its model. Texts of
about the same length go together, as most models pad the texts of a call to the longest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from lancebrain.chunking import embedding_text
from lancebrain.errors import EmbedderError, ModelUnavailableError
from lancebrain.store import Snapshot
from lancebrain.types import ChunkText

from .vectors import Vector

_PART_S = 0.125
"""Questions wait for no more than this; parts of a second are no quicker."""
_FIRST_PART = 1
_LEAST_PART = 1
_MAX_PART = 512
_TRIES = 3
"""A model that fails on the first so many texts, each by itself, fails on all."""
_PLAIN_TEXT = "A text."
"""A model that fails on it is broken, and what else it fails on says nothing of that text."""
_NEIGHBOURS = 256
"""So many texts are put in order of their length; more would keep the newest waiting."""
_LIKE_CHARS = 64

Text = tuple[str, str]
"""Chunk hash and text."""


class Embedding:
    """Gives texts to a model in parts. A text that it fails on keeps no other from its vector.

    Args:
        load: has the model ready.
        embed: vectors by chunk hash, of texts by chunk hash.

    Attributes:
        embedded: texts that the model gave a vector for so far.
        refused: what it said of those that it fails on, by chunk hash.
    """

    def __init__(
        self, load: Callable[[], object], embed: Callable[[Mapping[str, str]], dict[str, Vector]]
    ) -> None:
        self._load = load
        self._embed = embed
        self._part = _FIRST_PART
        self.embedded = 0
        self.refused: dict[str, EmbedderError] = {}

    def next_part(self, lacking: list[Text]) -> dict[str, Vector]:
        """Take texts from the end of a list, and give their vectors.

        Raises:
            EmbedderError: the model cannot be loaded, or fails on every text.
        """
        texts = dict(lacking.pop() for _ in range(min(self._part, len(lacking))))
        self._load()
        started = time.monotonic()
        try:
            vectors = self._embed(texts)
        except ModelUnavailableError:
            raise
        except EmbedderError:
            vectors = self._one_by_one(texts)
        self.embedded += len(vectors)
        seconds = max(time.monotonic() - started, 1e-3)
        self._part = max(_LEAST_PART, min(_MAX_PART, int(len(texts) / seconds * _PART_S)))
        return vectors

    def _one_by_one(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        vectors: dict[str, Vector] = {}
        for tried, (chunk_hash, text) in enumerate(texts.items(), 1):
            try:
                vectors |= self._embed({chunk_hash: text})
            except EmbedderError as error:
                if not self._works():
                    if vectors:
                        return vectors  # the next part finds it broken
                    raise
                if tried == _TRIES and not (vectors or self.embedded):
                    raise
                self.refused[chunk_hash] = error
        return vectors

    def _works(self) -> bool:
        """Whether the model takes a text that nothing is wrong with."""
        try:
            self._embed({"": _PLAIN_TEXT})
        except EmbedderError:
            return False
        return True


def texts_to_embed(rows: Sequence[ChunkText], hashes: Collection[str]) -> list[Text]:
    """The texts of the rows with one of the hashes, to be taken from the end of the list: the
    first rows are last, but for neighbours, which are in order of their length."""
    wanted = set(hashes)
    texts = {
        row.chunk_hash: embedding_text(row.kind, row.heading_path, row.text, row.table_header)
        for row in rows
        if row.chunk_hash in wanted
    }
    first = list(texts.items())
    ordered: list[Text] = []
    for at in range(0, len(first), _NEIGHBOURS):
        neighbours = first[at : at + _NEIGHBOURS]
        ordered += sorted(neighbours, key=lambda text: len(text[1]) // _LIKE_CHARS)
    ordered.reverse()
    return ordered


def sample_texts(snapshot: Snapshot, limit: int) -> list[Text]:
    """Some texts of an index, at random and the same ones each time."""
    rows = snapshot.sample(limit)
    return texts_to_embed(rows, {row.chunk_hash for row in rows})
