"""A deterministic embedder for tests: no model, microseconds a text, and it counts its work.

Each word and character trigram of the NFKC-folded text adds a vector of pseudo-random signs
made from its hash (a random projection), so texts that share words are near each other, in any
script, and the same text always has the same vector, in every process and any batch.

Use it in code as ``StandIn()``, or in a configuration as ``model = "tests.stand_in:make"``.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

DIM = 64


class StandIn:
    """An :class:`lancebrain.embedders.base.Embedder` whose work can be asserted.

    Args:
        dim: length of a vector, a multiple of 8, at most 512.
        revision: part of the fingerprint; another revision is another model.

    Attributes:
        calls: how often ``embed_passages`` was called with at least one text.
        texts: every passage embedded, in order; ``len(texts)`` is the cost so far.
        queries: every question embedded, in order.
        fail_on: when set, a passage that contains it makes the engine raise ``EmbedderError``.
        failures: how often it raised.
    """

    def __init__(self, *, dim: int = DIM, revision: str = "1") -> None:
        self.name = "stand-in"
        self.dim = dim
        self.fingerprint = f"stand-in/{revision}/{dim}"
        self.fusion_weight = 0.4
        self.languages: Mapping[str, float] = {}
        self.calls = 0
        self.texts: list[str] = []
        self.queries: list[str] = []
        self.fail_on: str | None = None
        self.failures = 0
        self._revision = revision

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        if self.fail_on is not None and any(self.fail_on in text for text in texts):
            from lancebrain.errors import EmbedderError

            self.failures += 1
            raise EmbedderError(f"The stand-in was told to fail on {self.fail_on!r}.")
        if texts:
            self.calls += 1
        self.texts.extend(texts)
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            out[row] = self._vector(text)
        return out

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        self.queries.append(text)
        return self._vector(text)

    def reset(self) -> None:
        """Forget what was counted so far."""
        self.calls = 0
        self.texts.clear()
        self.queries.clear()

    def _vector(self, text: str) -> NDArray[np.float32]:
        counts = Counter(_features(text))
        digests = b"".join(
            hashlib.blake2b(
                f"{self._revision}\0{feature}".encode("utf-8", "surrogatepass"),
                digest_size=self.dim // 8,
            ).digest()
            for feature in counts
        )
        bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(-1, self.dim)
        weights = np.fromiter(counts.values(), dtype=np.float64, count=len(counts))
        total = weights @ (2.0 * bits - 1.0)
        # The sums above are whole numbers: this keeps the vector of any text, also "", from zero.
        total[0] += 0.1
        return (total / np.linalg.norm(total)).astype(np.float32)


def _features(text: str) -> Iterator[str]:
    for word in unicodedata.normalize("NFKC", text).lower().split():
        yield word
        for start in range(len(word) - 2):
            yield word[start : start + 3]


def make() -> StandIn:
    """A fresh stand-in; the factory that ``tests.stand_in:make`` names."""
    return StandIn()
