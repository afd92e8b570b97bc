"""Question → answer: candidates, fusion, folding, snippets, freshness. Above the store."""

from lancebrain.search.answer import search
from lancebrain.search.related import related

__all__ = ["related", "search"]
