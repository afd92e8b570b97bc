"""Text → vector: the only place that knows a model. Above chunking's texts, below the store."""

from lancebrain.embedders.base import Embedder
from lancebrain.embedders.engine import About, EmbedderSpec, EngineOptions
from lancebrain.embedders.registry import (
    about_engine,
    drift_of_embedder,
    embedder_spec,
    engines,
    learn_embedder,
    learns,
    load_embedder,
)

__all__ = [
    "About",
    "Embedder",
    "EmbedderSpec",
    "EngineOptions",
    "about_engine",
    "drift_of_embedder",
    "embedder_spec",
    "engines",
    "learn_embedder",
    "learns",
    "load_embedder",
]
