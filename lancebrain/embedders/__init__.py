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
from lancebrain.embedders.reranker import Reranker, load_reranker

__all__ = [
    "About",
    "Embedder",
    "EmbedderSpec",
    "EngineOptions",
    "Reranker",
    "about_engine",
    "drift_of_embedder",
    "embedder_spec",
    "engines",
    "learn_embedder",
    "learns",
    "load_embedder",
    "load_reranker",
]
