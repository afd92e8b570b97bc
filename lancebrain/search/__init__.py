"""Question → answer: candidates, fusion, folding, snippets, freshness. Above the store."""

from lancebrain.search.search import search

__all__ = ["search"]
