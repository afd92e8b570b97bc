"""Question → answer: candidates, fusion, folding, snippets, freshness. Above the store."""

from lancebrain.search.answer import search

__all__ = ["search"]
