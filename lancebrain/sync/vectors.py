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
    "Change the index to the model that is configured: `lancebrain model use {model}`; or "
    "configure that of the index again; or make another index: `lancebrain sync --index DIR "
    "FOLDER`."
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
        fingerprint, cache = snapshot.info.fingerprint, self._store.vector_cache
        if kept:
            cache.put(fingerprint, list(kept), np.stack(list(kept.values())))
        cached = cache.get(fingerprint, missing(hashes, found))
        dim = snapshot.info.dim
        return found | {h: vector for h, vector in cached.items() if vector.shape == (dim,)}

    @property
    def fingerprint(self) -> str:
        """Of the model that embedded last; ``""`` before."""
        return self._embedder.fingerprint if self._embedder else ""

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
        return embedded(self._model(), texts, self._store.info.dim)

    def _model(self) -> Embedder:
        info = self._store.info
        # Each time: this process or another may have changed the model of the index.
        if self._embedder is None or self._embedder.fingerprint != info.fingerprint:
            self._embedder = self._provider()
        if self._embedder.fingerprint != info.fingerprint:
            raise IndexMismatchError(
                f"The index in {self._store.storage} was embedded by {info.fingerprint}, and the "
                f"model is now {self._embedder.fingerprint}.",
                hint=OTHER_MODEL_HINT.format(model=self._embedder.name),
            )
        return self._embedder


def embedded(model: Embedder, texts: Mapping[str, str], dim: int) -> dict[str, Vector]:
    """Vectors from a model, by chunk hash, checked.

    Raises:
        EmbedderError: the model failed, or gave what is no vector of ``dim`` components.
    """
    matrix = model.embed_passages(list(texts.values()))
    if matrix.shape != (len(texts), dim):
        raise EmbedderError(
            f"The model gave an array of shape {matrix.shape} for {len(texts)} texts; "
            f"({len(texts)}, {dim}) was expected."
        )
    lengths = np.linalg.norm(matrix, axis=1)
    # NaN fails every comparison, so this catches it too.
    if not bool((np.abs(lengths - 1) < _LENGTH_TOLERANCE).all()):
        raise EmbedderError("The model gave a vector that is not finite or not of length 1.")
    return dict(zip(texts, matrix, strict=True))


def missing(hashes: Iterable[str], found: Collection[str]) -> list[str]:
    """The hashes without a vector, each once."""
    return [chunk_hash for chunk_hash in dict.fromkeys(hashes) if chunk_hash not in found]
