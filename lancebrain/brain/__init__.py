"""The facade over everything: what every front calls, and the only thing it calls."""

from lancebrain.brain.facade import Brain
from lancebrain.brain.opening import open, write_config

__all__ = ["Brain", "open", "write_config"]
