"""Latent semantic analysis: a model that is learned from the notes themselves, in seconds.

TF-IDF of words, and of characters and their pairs in scripts without spaces; then a truncated SVD,
whose basis a new text is folded into. Nothing is fetched, and any language will do; but it knows
only what stands together in the notes that it was learned from.

Deerwester and others, Indexing by latent semantic analysis, JASIS 41 (1990).

What was learned is kept in the index folder, a file a version. It holds no words: a feature is a
hash of one.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders.engine import About, EmbedderSpec, EngineOptions
from lancebrain.embedders.lsa_features import Counted, count
from lancebrain.errors import EmbedderError, ModelUnavailableError, UsageError

NAME = "lsa"
DIM = 50
MAX_DIM = 256
LEAST_TEXTS = 64
"""With fewer there is nothing to learn."""

_METHOD = 1
"""Raised whenever the same texts would give another basis."""
_UNFITTED = "unfitted"
_MOST_FEATURES = 200_000
_LEAST_DOCUMENTS = 2
_KEPT_VERSIONS = 3
_FUSION_WEIGHT = 0.0
"""It finds what words do not, and orders nothing that they do. With 0.02 vague questions have .31
in place of .28 and those in another language .12 in place of .14, with 0.1 they have .34 and .06.
"""
_LANGUAGES: Mapping[str, float] = {}

ABOUT = About(
    summary="Learned from your own notes in seconds; no download, any language.",
    modules=("sklearn",),
    install="lancebrain[lsa]",
    variants="DIMENSIONS",
)


@dataclass(frozen=True, slots=True)
class Basis:
    """What was learned.

    Attributes:
        features: (n,) hashes of the words and pairs that are known, ascending.
        idf: (n,) how telling each is.
        directions: (n, dim) where each points.
        unknown: share of the features of the texts it was learned from that are not among them.
    """

    features: NDArray[np.uint32]
    idf: NDArray[np.float32]
    directions: NDArray[np.float32]
    unknown: float

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return int(self.directions.shape[1])


def spec(variant: str, options: EngineOptions) -> EmbedderSpec:
    """See :meth:`lancebrain.embedders.engine.Engine.spec`: the version that is wanted, else the
    newest, else one that has learned nothing yet."""
    dim = _dim_of(variant)
    fingerprint = options.fingerprint
    if not fingerprint and options.index is not None:
        newest = next(iter(_files(options.index, dim)), None)
        fingerprint = "" if newest is None else _fingerprint_of(newest)
    name = f"{NAME}:{variant}" if variant else NAME
    return EmbedderSpec(
        name, fingerprint or _fingerprint(_UNFITTED, dim), dim, _FUSION_WEIGHT, _LANGUAGES
    )


def load(variant: str, options: EngineOptions) -> LSA:
    """See :meth:`lancebrain.embedders.engine.Engine.load`."""
    known = spec(variant, options)
    if f"/{_UNFITTED}/" in known.fingerprint or options.index is None:
        return LSA(known, None)
    return LSA(known, _read(options.index, known.fingerprint))


def fit(
    variant: str, texts: Sequence[str], options: EngineOptions, in_use: Collection[str]
) -> EmbedderSpec:
    """See :meth:`lancebrain.embedders.engine.LearningEngine.fit`."""
    if options.index is None:
        raise UsageError("What is learned from texts needs an index to be kept in.")
    basis = learn(texts, _dim_of(variant), threads=options.threads)
    fingerprint = _write(options.index, basis, in_use)
    name = f"{NAME}:{variant}" if variant else NAME
    return EmbedderSpec(name, fingerprint, basis.dim, _FUSION_WEIGHT, _LANGUAGES)


def drift(texts: Sequence[str], options: EngineOptions) -> float:
    """See :meth:`lancebrain.embedders.engine.LearningEngine.drift`: how much larger a share of
    their features is unknown than was when it was learned; 1 when nothing was learned yet."""
    if f"/{_UNFITTED}/" in options.fingerprint or options.index is None:
        return 1.0
    basis = _read(options.index, options.fingerprint)
    return max(0.0, _unknown(count(texts), basis.features) - basis.unknown)


class LSA:
    """An :class:`~lancebrain.embedders.base.Embedder`; safe to call from several threads.

    Args:
        spec: what it is.
        basis: what it learned; None for one that knows nothing yet.
    """

    def __init__(self, spec: EmbedderSpec, basis: Basis | None) -> None:
        self.name = spec.name
        self.fingerprint = spec.fingerprint
        self.dim = spec.dim
        self.fusion_weight = spec.fusion_weight
        self.languages = spec.languages
        self._basis = basis

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        if self._basis is None:
            raise ModelUnavailableError(
                f"The model {self.name} has not learned from your notes yet; it needs "
                f"{LEAST_TEXTS} passages, and more different words in them than {self.dim}, its "
                "dimensions.",
                hint=f"With fewer: lancebrain model use {NAME}:8",
            )
        owners, features, times = count(texts)
        ends = np.searchsorted(owners, np.arange(len(texts) + 1)).tolist()
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, (start, end) in enumerate(pairwise(ends)):
            out[row] = _folded_in(features[start:end], times[start:end], self._basis)
        return out

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector


def learn(texts: Sequence[str], dim: int, *, threads: int = 1) -> Basis:
    """Learn a basis from texts; the same texts give the same one.

    Raises:
        ModelUnavailableError: there are too few.
        EmbedderError: scikit-learn is not installed.
    """
    try:
        from scipy.sparse import csr_matrix
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfTransformer
        from threadpoolctl import threadpool_limits
    except ImportError as error:
        raise EmbedderError(
            f"The model {NAME} learns by scikit-learn, which is not there: {error}.",
            hint=f"Install it: pip install '{ABOUT.install}'",
        ) from error
    if len(texts) < LEAST_TEXTS:
        raise ModelUnavailableError(
            f"{NAME} learns from your notes: {len(texts)} passages are there, and {LEAST_TEXTS} "
            "are needed."
        )
    counted = count(texts)
    features = _telling(counted)
    if len(features) <= dim:
        raise ModelUnavailableError(
            f"{NAME} learns from your notes, and these have too few words in common."
        )
    places, is_known = _places(counted.features, features)
    rows = np.bincount(counted.owners[is_known], minlength=len(texts))
    matrix = csr_matrix(
        (
            counted.times[is_known].astype(np.float32),
            places[is_known],
            np.concatenate(([0], np.cumsum(rows))),
        ),
        shape=(len(texts), len(features)),
    )
    weighing = TfidfTransformer(sublinear_tf=True)
    svd = TruncatedSVD(dim, n_iter=5, random_state=7)
    # Equal texts have no variance, by which the shares are divided that nobody asks for.
    with threadpool_limits(threads), np.errstate(divide="ignore", invalid="ignore"):
        svd.fit(weighing.fit_transform(matrix))
    directions = np.zeros((len(features), dim), dtype=np.float32)
    directions[:, : len(svd.components_)] = svd.components_.T  # fewer texts give fewer
    return Basis(
        features=features,
        idf=weighing.idf_.astype(np.float32),
        directions=directions,
        unknown=_unknown(counted, features),
    )


def _folded_in(
    features: NDArray[np.uint32], times: NDArray[np.intp], basis: Basis
) -> NDArray[np.float32]:
    """The vector of a text: length 1, also of one that holds nothing that is known."""
    places, is_known = _places(features, basis.features)
    places = places[is_known]
    weights = (1 + np.log(times[is_known].astype(np.float32))) * basis.idf[places]
    vector: NDArray[np.float32] = weights @ basis.directions[places]
    length = float(np.linalg.norm(vector))
    if length < 1e-6:
        nothing = np.zeros(basis.dim, dtype=np.float32)
        nothing[-1] = 1
        return nothing
    return vector / length


def _telling(counted: Counted) -> NDArray[np.uint32]:
    """The features of more than one text; of too many, those of most texts."""
    features, documents = np.unique(counted.features, return_counts=True)
    order = np.argsort(-documents, kind="stable")[:_MOST_FEATURES]
    kept = features[order[documents[order] >= _LEAST_DOCUMENTS]]
    return np.sort(kept)


def _places(
    asked: NDArray[np.uint32], features: NDArray[np.uint32]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Where features are among those that are known, and which of them are known at all."""
    places = np.minimum(np.searchsorted(features, asked), len(features) - 1)
    return places, features[places] == asked


def _unknown(counted: Counted, features: NDArray[np.uint32]) -> float:
    _, is_known = _places(counted.features, features)
    return float(1 - is_known.mean()) if len(is_known) else 0.0


def _dim_of(variant: str) -> int:
    if not variant:
        return DIM
    if not variant.isdigit() or not 2 <= int(variant) <= MAX_DIM:
        raise UsageError(
            f"There is no model named '{NAME}:{variant}'.",
            hint=f"Write {NAME}:N with N dimensions, 2 to {MAX_DIM}.",
        )
    return int(variant)


def _fingerprint(version: str, dim: int) -> str:
    return f"{NAME}/{_METHOD}/{version}/{dim}"


def _files(index: Path, dim: int) -> list[Path]:
    """Versions that were learned, the newest first."""
    files = index.glob(f"{NAME}-{_METHOD}-*-{dim}.npz")
    return sorted(files, key=lambda file: file.stat().st_mtime_ns, reverse=True)


def _fingerprint_of(file: Path) -> str:
    _, _, version, dim = file.stem.split("-")
    return _fingerprint(version, int(dim))


def _file_of(index: Path, fingerprint: str) -> Path:
    return index / f"{fingerprint.replace('/', '-')}.npz"


def _write(index: Path, basis: Basis, in_use: Collection[str]) -> str:
    """Keep a basis; its fingerprint. Older ones go, but for the last few and those in use."""
    digest = hashlib.sha256(basis.features.tobytes() + basis.directions.tobytes())
    fingerprint = _fingerprint(digest.hexdigest()[:16], basis.dim)
    file = _file_of(index, fingerprint)
    fresh = file.with_name(f"{file.name}.new")
    try:
        with fresh.open("wb") as stream:
            np.savez(
                stream,
                features=basis.features,
                idf=basis.idf,
                directions=basis.directions,
                unknown=np.float64(basis.unknown),
            )
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(file)
        for old in _files(index, basis.dim)[_KEPT_VERSIONS:]:
            if _fingerprint_of(old) not in in_use:
                old.unlink(missing_ok=True)
    except OSError as error:
        raise EmbedderError(
            f"What {NAME} learned cannot be kept in {index}: {error.strerror}."
        ) from error
    return fingerprint


def _read(index: Path, fingerprint: str) -> Basis:
    file = _file_of(index, fingerprint)
    try:
        with np.load(file) as kept:
            return Basis(kept["features"], kept["idf"], kept["directions"], float(kept["unknown"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise EmbedderError(
            f"What the model {NAME} learned cannot be read from {file}: {error}.",
            hint=f"Let it learn anew: lancebrain model use {NAME}",
        ) from error
