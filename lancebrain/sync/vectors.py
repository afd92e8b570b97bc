"""Where vectors come from: the table first, then the cache, then the model.

Equal texts have equal hashes and so equal vectors, wherever they stand; a text is embedded once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lancebrain.embedders.base import Embedder
from lancebrain.errors import EmbedderError, IndexMismatchError
from lancebrain.store import Snapshot, Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
"""(dim,) float32, L2-normalised."""

OTHER_MODEL_HINT = (
    "Configure the model of the index again, or make an index with the new one beside it: "
    "`lancebrain sync --index DIR FOLDER`."
)
_LENGTH_TOLERANCE = 1e-3


class Vectors:
    """Finds and makes the vectors of one index.

    Args:
        store: the index.
        provider: gives the loaded model; not called before a text has to be embedded.
    """

    def __init__(self, store: Store, provider: Callable[[], Embedder]) -> None:
        self._store = store
        self._provider = provider
        self._embedder: Embedder | None = None

    def known(
        self, snapshot: Snapshot, hashes: Collection[str], *, keep: Collection[str] = ()
    ) -> dict[str, Vector]:
        """The vectors that need no model, by chunk hash, from the table and the cache.

        Args:
            keep: chunk hashes of rows that are about to go: their vectors go into the cache.
        """
        found = snapshot.vectors([*hashes, *keep])
        kept = {chunk_hash: found.pop(chunk_hash) for chunk_hash in keep if chunk_hash in found}
        fingerprint, cache = self._store.info.fingerprint, self._store.vector_cache
        if kept:
            cache.put(fingerprint, list(kept), np.stack(list(kept.values())))
        cached = cache.get(fingerprint, missing(hashes, found))
        dim = self._store.info.dim
        return found | {h: vector for h, vector in cached.items() if vector.shape == (dim,)}

    def load(self) -> None:
        """Have the model ready.

        Raises:
            EmbedderError: it cannot be loaded.
            IndexMismatchError: it is not the one the index was made with.
        """
        self._model()

    def embed(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        """Vectors from the model, by chunk hash.

        Args:
            texts: chunk hash → embedding text.

        Raises:
            EmbedderError: the model failed, or gave what is no vector.
            IndexMismatchError: the model is not the one the index was made with.
        """
        if not texts:
            return {}
        matrix = self._model().embed_passages(list(texts.values()))
        self._check(matrix, len(texts))
        return dict(zip(texts, matrix, strict=True))

    def _model(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._provider()
        # Each time: another process may have built the index anew, with another model.
        if self._embedder.fingerprint != self._store.info.fingerprint:
            raise IndexMismatchError(
                f"The index in {self._store.folder} was embedded by "
                f"{self._store.info.fingerprint}, and the model is now "
                f"{self._embedder.fingerprint}.",
                hint=OTHER_MODEL_HINT,
            )
        return self._embedder

    def _check(self, matrix: Vector, count: int) -> None:
        dim = self._store.info.dim
        if matrix.shape != (count, dim):
            raise EmbedderError(
                f"The model gave an array of shape {matrix.shape} for {count} texts; "
                f"({count}, {dim}) was expected."
            )
        lengths = np.linalg.norm(matrix, axis=1)
        # NaN fails every comparison, so this catches it too.
        if not bool((np.abs(lengths - 1) < _LENGTH_TOLERANCE).all()):
            raise EmbedderError("The model gave a vector that is not finite or not of length 1.")


def missing(hashes: Iterable[str], found: Collection[str]) -> list[str]:
    """The hashes without a vector, each once."""
    return [chunk_hash for chunk_hash in dict.fromkeys(hashes) if chunk_hash not in found]
