"""An engine of the user's own, ``package.module:factory``, kept to the protocol's promises.

Other people's code may raise anything and return anything. Here, at its boundary, both become
an ``EmbedderError``, so that a bad vector never reaches the table.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders.base import Embedder
from lancebrain.errors import EmbedderError, ModelUnavailableError, UsageError

_USUAL_WEIGHT = 0.4
"""Did well for every engine that was measured, weak or strong."""


def load_custom(name: str) -> Embedder:
    """Import and call the factory that ``package.module:factory`` names.

    Raises:
        UsageError: the module or the factory does not exist.
        EmbedderError: the factory failed, or what it made is not an embedder.
    """
    factory = _factory(name)
    try:
        engine: object = factory()
    except Exception as error:
        raise EmbedderError(f"The model {name!r} failed to load: {error!r}.") from error
    return checked(name, engine)


def checked(name: str, engine: object) -> Embedder:
    """An engine that keeps its promises, or says so.

    Args:
        name: what the configuration calls it.

    Raises:
        EmbedderError: it is not an embedder.
    """
    lacking = [
        what
        for what in ("fingerprint", "dim", "embed_passages", "embed_query")
        if not hasattr(engine, what)
    ]
    if lacking:
        raise EmbedderError(
            f"The model {name!r} lacks {', '.join(lacking)}.",
            hint="See lancebrain.embedders.base.Embedder for what an engine must give.",
        )
    try:
        return Checked(name, cast("Embedder", engine))
    except (TypeError, ValueError) as error:
        raise EmbedderError(f"The model {name!r} does not say what it is: {error}.") from error


class Checked:
    """An engine whose every vector is checked: shape, finiteness, length.

    Args:
        name: what the configuration calls it; takes the place of the engine's own name.
        engine: the engine to call.

    Raises:
        TypeError, ValueError: what it says of itself is not what the protocol asks for.
    """

    def __init__(self, name: str, engine: Embedder) -> None:
        self.name = name
        self.fingerprint = engine.fingerprint
        self.dim = engine.dim
        if not (isinstance(self.fingerprint, str) and self.fingerprint):
            raise TypeError("fingerprint is a text, and not an empty one")
        if not (isinstance(self.dim, int) and self.dim > 0):
            raise TypeError("dim is a whole number from 1")
        self._engine = engine
        if not all(0 <= share <= 1 for share in (self.fusion_weight, *self.languages.values())):
            raise ValueError("fusion_weight and what languages are worth are from 0 to 1")

    @property
    def fusion_weight(self) -> float:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        return float(getattr(self._engine, "fusion_weight", _USUAL_WEIGHT))

    @property
    def languages(self) -> Mapping[str, float]:
        """See :class:`lancebrain.embedders.base.Embedder`."""
        return _shares(getattr(self._engine, "languages", None) or ())

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        if not texts:
            return np.empty((0, self.dim), dtype=np.float32)
        try:
            vectors = self._engine.embed_passages(texts)
        except Exception as error:
            raise self._failure(error, f"{len(texts)} texts") from error
        return self._checked(vectors, (len(texts), self.dim))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        try:
            vector = self._engine.embed_query(text)
        except Exception as error:
            raise self._failure(error, "a question") from error
        return self._checked(vector, (self.dim,))

    def _failure(self, error: Exception, on: str) -> EmbedderError:
        if isinstance(error, EmbedderError):
            return error
        return EmbedderError(f"The model {self.name!r} failed on {on}: {error!r}.")

    def _checked(self, vectors: object, shape: tuple[int, ...]) -> NDArray[np.float32]:
        try:
            out = np.asarray(vectors, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise EmbedderError(f"The model {self.name!r} gave no vectors: {error}.") from error
        if out.shape != shape:
            raise EmbedderError(
                f"The model {self.name!r} gave shape {out.shape} where {shape} was due."
            )
        length = np.linalg.norm(out, axis=-1)
        if not np.all(np.abs(length - 1.0) < 1e-3):  # also catches NaN
            raise EmbedderError(f"The model {self.name!r} gave vectors that are not of length 1.")
        return out


def _shares(languages: Mapping[str, float] | Iterable[str]) -> dict[str, float]:
    """Codes alone are worth all of the weight."""
    if isinstance(languages, str):
        raise TypeError("languages are several codes, not one string")
    if isinstance(languages, Mapping):
        return {str(code): float(share) for code, share in languages.items()}
    return dict.fromkeys(map(str, languages), 1.0)


_HOW = "Write package.module:factory, and install the package in this environment."


def _factory(name: str) -> Callable[[], Embedder]:
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ValueError as error:
        raise UsageError(f"{name!r} names no model: {error}.", hint=_HOW) from error
    except ImportError as error:
        # An index goes on without it, as without a server that is down.
        raise ModelUnavailableError(
            f"The model {name!r} cannot be imported: {error}.", hint=_HOW
        ) from error
    factory: Callable[[], Embedder] | None = getattr(module, attribute, None)
    if not callable(factory):
        raise UsageError(f"The module {module_name!r} has no callable {attribute!r}.")
    return factory
