"""Text → vector: the only place that knows a model. Above chunking's texts, below the store."""

from lancebrain.embedders.base import Embedder
from lancebrain.embedders.registry import (
    DEFAULT_EMBEDDER,
    EmbedderSpec,
    embedder_names,
    embedder_spec,
    load_embedder,
)

__all__ = [
    "DEFAULT_EMBEDDER",
    "Embedder",
    "EmbedderSpec",
    "embedder_names",
    "embedder_spec",
    "load_embedder",
]
