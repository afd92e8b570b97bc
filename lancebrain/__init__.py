"""LanceBrain: local knowledge search that is never stale and can go back in time."""

__version__ = "0.1.0"
