"""File bytes → Document, without I/O: one module a kind, chosen by a registry.

kind_of(name, head, wanted) -> str | None
read(path, kind, data) -> Document | Problem
extensions(kind) -> tuple[str, ...]
"""

from lancebrain.readers.registry import extensions, kind_of, read

__all__ = ["extensions", "kind_of", "read"]
