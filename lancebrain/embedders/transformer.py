"""Any model of the sentence-transformers library, by its name on the Hugging Face hub or by folder.

Nothing is fetched but a model that is not on this machine yet, and that only where the options
allow it; one that is there is never asked about again. Prompts are those of the model's own
configuration, else of the presets.

Importing torch takes seconds, so that a model is described from its files alone.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders.engine import About, EmbedderSpec, EngineOptions
from lancebrain.embedders.hub import model_folder
from lancebrain.embedders.presets import Preset, preset_of
from lancebrain.embedders.texts import speakable
from lancebrain.errors import EmbedderError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

NAME = "sentence-transformers"
_BATCH = {"cpu": 8}
"""Texts at once: on a processor more gain nothing, and a question waits for them."""
_LARGE_BATCH = 32
_CONFIGURATIONS = ("*.json", "vocab.txt", "merges.txt", "*.model", "*.py")
_WEIGHTS = ("*.safetensors", "*.bin")
_EXPORTED = ("*.onnx*", "*.xml", "*.bin")
_PASSAGE_PROMPTS = ("document", "passage", "corpus")

ABOUT = About(
    summary="Any model of the sentence-transformers library, from the hub or a folder.",
    modules=("sentence_transformers", "torch"),
    install="lancebrain[sentence-transformers]",
    variants="NAME|FOLDER",
    needs_variant=True,
    needs_network=True,
)


@dataclass(frozen=True, slots=True)
class Described:
    """A model by its files.

    Attributes:
        folder: where they are.
        query, passage: prompts.
    """

    spec: EmbedderSpec
    folder: Path
    query: str
    passage: str
    preset: Preset


def spec(variant: str, options: EngineOptions) -> EmbedderSpec:
    """See :meth:`lancebrain.embedders.engine.Engine.spec`; fetches a model that is not there."""
    return describe(variant, options).spec


def load(variant: str, options: EngineOptions) -> Transformer:
    """See :meth:`lancebrain.embedders.engine.Engine.load`; takes some ten seconds."""
    return Transformer(describe(variant, options), options)


def describe(variant: str, options: EngineOptions) -> Described:
    """Describe a model by its files.

    Raises:
        ModelUnavailableError: it is not on this machine and cannot be fetched now.
        EmbedderError: there is no such model, or its files are not those of one.
    """
    folder = model_folder(variant, options)
    preset = preset_of(variant)
    try:
        query, passage = _prompts(folder, preset)
        dim = _dim(folder)
        checksum = _checksum(folder, options)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderError(
            f"The files in {folder} are not those of a sentence-transformers model: {error}."
        ) from error
    pooled = "" if (folder / "modules.json").exists() else f"{preset.pooling} {preset.max_tokens}"
    parts = "\0".join((checksum, query, passage, pooled))
    about = hashlib.sha256(parts.encode()).hexdigest()[:16]
    fingerprint = f"{NAME}/{about}/{dim}"
    name = f"{NAME}:{variant}"
    known = EmbedderSpec(name, fingerprint, dim, preset.fusion_weight, preset.languages)
    return Described(known, folder, query, passage, preset)


class Transformer:
    """An :class:`~lancebrain.embedders.base.Embedder`; safe to call from several threads.

    Args:
        described: which model.
        options: how it is to run. Threads are those of the whole process.

    Raises:
        EmbedderError: the library is missing, or the model fails to load.
    """

    def __init__(self, described: Described, options: EngineOptions) -> None:
        spec = described.spec
        self.name = spec.name
        self.fingerprint = spec.fingerprint
        self.dim = spec.dim
        self.fusion_weight = spec.fusion_weight
        self.languages = spec.languages
        self._query = described.query
        self._passage = described.passage
        self._model = _loaded(described, options)
        self._batch = _BATCH.get(self._model.device.type, _LARGE_BATCH)
        # The tokenizer is not to be used by two threads at once.
        self._one_at_a_time = threading.Lock()
        self.embed_query("ready?")  # torch prepares itself on its first text, for seconds

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        for places in _by_length(texts, self._batch):
            out[places] = self._encode([texts[place] for place in places], self._passage)
        return out

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        vector: NDArray[np.float32] = self._encode([text], self._query, is_query=True)[0]
        return vector

    def _encode(
        self, texts: list[str], prompt: str, *, is_query: bool = False
    ) -> NDArray[np.float32]:
        encode = self._model.encode_query if is_query else self._model.encode_document
        try:
            with self._one_at_a_time:
                given = encode(
                    [speakable(text) for text in texts],
                    prompt=prompt,
                    batch_size=self._batch,
                    show_progress_bar=False,
                    normalize_embeddings=True,
                )
            vectors = np.asarray(given, dtype=np.float32)
        except Exception as error:  # the library and those below it raise what they like
            raise EmbedderError(f"{self.name} failed on {len(texts)} texts: {error!r}.") from error
        if vectors.shape != (len(texts), self.dim):
            raise EmbedderError(
                f"{self.name} gave an array of shape {vectors.shape} for {len(texts)} texts; its "
                f"files say that a vector has {self.dim} components."
            )
        return vectors


def _by_length(texts: Sequence[str], count: int) -> Iterator[list[int]]:
    """Places of texts, some at a time, by their length: all of a call are padded to the longest."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    for at in range(0, len(order), count):
        yield order[at : at + count]


def _loaded(described: Described, options: EngineOptions) -> SentenceTransformer:
    if ABOUT.missing:
        raise EmbedderError(
            f"The model {described.spec.name} needs {', '.join(ABOUT.missing)}.",
            hint=f"Install it: pip install '{ABOUT.install}'",
        )
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    torch.set_num_threads(options.threads)
    where: dict[str, Any] = {
        "device": options.device,
        "trust_remote_code": options.trust_remote_code,
        # Code that a model brings along is not in its folder.
        "local_files_only": options.offline or not options.trust_remote_code,
    }
    try:
        if (described.folder / "modules.json").exists():
            return SentenceTransformer(str(described.folder), backend=options.backend, **where)
        return _pooled(described, options, where)
    except Exception as error:  # the library and those below it raise what they like
        hint = "Look at its page for what it needs."
        if "trust_remote_code" in str(error):
            hint = "If you trust whoever made it, set trust_remote_code = true."
        elif options.backend != "torch":
            hint = (
                f"The backend {options.backend} has to be installed: pip install "
                f"'sentence-transformers[{options.backend}]'"
            )
        raise EmbedderError(
            f"The model {described.spec.name} cannot be loaded: {_first_line(error)}", hint=hint
        ) from error


def _pooled(
    described: Described, options: EngineOptions, where: dict[str, Any]
) -> SentenceTransformer:
    """A plain transformer, whose token vectors are pooled as its preset says."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    tokens = Transformer(
        str(described.folder),
        max_seq_length=described.preset.max_tokens,
        backend=options.backend,
        model_kwargs={"trust_remote_code": options.trust_remote_code},
    )
    pooling = Pooling(described.spec.dim, described.preset.pooling)
    return SentenceTransformer(modules=[tokens, pooling], device=where["device"])


def _prompts(folder: Path, preset: Preset) -> tuple[str, str]:
    """What the model's own configuration puts before a question and a text, else the preset."""
    file = folder / "config_sentence_transformers.json"
    own = _json(file).get("prompts") or {} if file.exists() else {}
    query = own.get("query")
    passage = next((own[name] for name in _PASSAGE_PROMPTS if own.get(name)), None)
    if query or passage:
        return query or "", passage or ""
    return preset.query, preset.passage


def _dim(folder: Path) -> int:
    """The length of a vector, from the configuration of the last part that says so."""
    modules = folder / "modules.json"
    parts = [part["path"] for part in _list(modules)] if modules.exists() else [""]
    dim = 0
    for part in parts:
        file = folder / part / "config.json"
        about = _json(file) if file.exists() else {}
        if "out_features" in about:
            dim = int(about["out_features"])
        elif "embedding_dimension" in about or "word_embedding_dimension" in about:
            width = about.get("embedding_dimension") or about["word_embedding_dimension"]
            dim = int(width) * _poolings(about)
        elif not dim:
            dim = int(about.get("hidden_size") or about.get("d_model") or about.get("dim") or 0)
    if dim < 1:
        raise ValueError("they do not say how long a vector is")
    return dim


def _poolings(about: dict[str, Any]) -> int:
    """How many ways of pooling stand side by side in a vector."""
    mode = about.get("pooling_mode")
    if mode is not None:
        return 1 if isinstance(mode, str) else len(mode)
    return sum(bool(on) for name, on in about.items() if name.startswith("pooling_mode_")) or 1


def _checksum(folder: Path, options: EngineOptions) -> str:
    """Of everything that a vector depends on: weights and configurations, by their contents."""
    parts = [folder, *(part for part in folder.glob("*_*") if part.is_dir())]
    files = {file for part in parts for name in _CONFIGURATIONS for file in part.glob(name)}
    exported = {file for name in _EXPORTED for file in (folder / options.backend).glob(name)}
    # Where nothing was exported, loading makes it of the weights of torch.
    of_torch = parts[1:] if exported else parts
    files |= exported | {file for part in of_torch for name in _WEIGHTS for file in part.glob(name)}
    digest = hashlib.sha256()
    if options.backend != "torch":
        digest.update(f"{options.backend}\n".encode())
    for file in sorted(files):
        digest.update(f"{file.relative_to(folder).as_posix()} {_checksum_of(file)}\n".encode())
    return digest.hexdigest()


def _checksum_of(file: Path) -> str:
    # In the hub's cache a large file is a link to one that is named by its SHA-256.
    target = file.resolve().name
    if file.is_symlink() and len(target) == 64:
        return target
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _json(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise TypeError(f"{file.name} holds no object")
    return content


def _list(file: Path) -> list[dict[str, Any]]:
    content = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(content, list):
        raise TypeError(f"{file.name} holds no list")
    return content


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__
