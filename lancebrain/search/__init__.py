"""Question → answer: candidates, fusion, folding, snippets, freshness. Above the store."""

from lancebrain.search.answer import search
from lancebrain.search.related import related
from lancebrain.search.reranking import Reranking

__all__ = ["Reranking", "related", "search"]
