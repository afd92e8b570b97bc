"""File bytes → Document, without I/O: one module a kind, chosen by a registry.

kind_of(name, head, wanted) -> str | None
read(path, kind, data) -> Document | Problem
"""

from lancebrain.readers.registry import kind_of, read

__all__ = ["kind_of", "read"]
