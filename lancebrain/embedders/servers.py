"""Models of a server on this machine: Ollama, and whatever speaks OpenAI's protocol.

The latter are llama.cpp, LM Studio, vLLM, text-embeddings-inference and others. Texts go to the
address that is configured, and nowhere else.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lancebrain.embedders.connection import Connection, RefusedError
from lancebrain.embedders.engine import About, EmbedderSpec, EngineOptions
from lancebrain.embedders.presets import preset_of
from lancebrain.embedders.texts import speakable
from lancebrain.errors import EmbedderError, ModelUnavailableError

_T = TypeVar("_T")
_BATCH = 16
"""Texts a request; some servers take no more than 32."""
_TRIES = 4
_QUERY_TRIES = 2
_SEEN_S = 1.0
"""For so long, questions take the server's model to be the one that was there."""


@dataclass(frozen=True, slots=True)
class ServerEngine:
    """An engine that asks a server.

    Attributes:
        name: of the engine.
        usual_url: where such a server usually is.
        usual_model: what is used when none is named; "" for none.
        start: how to start the server.
    """

    name: str
    ABOUT: About
    usual_url: str
    usual_model: str
    start: str

    def spec(self, variant: str, options: EngineOptions) -> EmbedderSpec:
        """See :meth:`lancebrain.embedders.engine.Engine.spec`; asks the server."""
        return self._embedder(variant, options).spec

    def load(self, variant: str, options: EngineOptions) -> ServerEmbedder:
        """See :meth:`lancebrain.embedders.engine.Engine.load`; asks the server.

        Raises:
            ModelUnavailableError: it has another version of the model than is wanted.
        """
        embedder = self._embedder(variant, options)
        if options.fingerprint and embedder.fingerprint != options.fingerprint:
            raise embedder.is_another
        return embedder

    def _embedder(self, variant: str, options: EngineOptions) -> ServerEmbedder:
        model = variant or self.usual_model
        name = f"{self.name}:{variant}" if variant else self.name
        if self.name == "ollama":
            url = options.url or ollama_url(os.environ.get("OLLAMA_HOST", ""))
            return ServerEmbedder(name, model, _Ollama(Connection(url, self.start)))
        url = (options.url or self.usual_url).rstrip("/")
        if url.count("/") == 2:
            url += "/v1"
        return ServerEmbedder(name, model, _OpenAI(Connection(url, self.start)))


OLLAMA = ServerEngine(
    name="ollama",
    ABOUT=About(
        summary="A model of an Ollama server, snowflake-arctic-embed2 unless another is named.",
        modules=("httpx2",),
        install="Ollama, from https://ollama.com; then: ollama pull snowflake-arctic-embed2",
        variants="NAME",
        needs_network=True,
    ),
    usual_url="http://127.0.0.1:11434",
    usual_model="snowflake-arctic-embed2",
    start="Start it: ollama serve",
)
OPENAI = ServerEngine(
    name="openai",
    ABOUT=About(
        summary="A model of a local server that speaks OpenAI's protocol: llama.cpp, LM Studio, "
        "vLLM, text-embeddings-inference.",
        modules=("httpx2",),
        install="one of them; then set model_url to its address",
        variants="NAME",
        needs_variant=True,
        needs_network=True,
    ),
    usual_url="http://127.0.0.1:8080",
    usual_model="",
    start="Start it, or set model_url to its address",
)


_OTHER_MODEL = "See to the server, or choose another model: lancebrain model list"


class ServerEmbedder:
    """An :class:`~lancebrain.embedders.base.Embedder`; safe to call from several threads.

    Args:
        name: how the configuration names it.
        model: how the server names it.
        server: that has it.

    Raises:
        ModelUnavailableError: the server does not answer.
        EmbedderError: it does not have the model.
    """

    def __init__(self, name: str, model: str, server: _Ollama | _OpenAI) -> None:
        preset = preset_of(model)
        self._model = model
        self._server = server
        self._query, self._passage = preset.query, preset.passage
        self._version = server.version_of(model, _TRIES)
        self._seen_at = time.monotonic()
        given = _now(partial(server.vectors, model, ["length"], _TRIES))
        if len(given) != 1:
            raise EmbedderError(f"{name} gave {len(given)} vectors for one text.")
        if not (isinstance(given[0], list) and given[0] and isinstance(given[0][0], float | int)):
            raise EmbedderError(f"{name} gave what is no vector.", hint=_OTHER_MODEL)
        self.dim = len(given[0])
        prompts = hashlib.sha256(f"{self._query}\0{self._passage}".encode()).hexdigest()[:8]
        self.name = name
        self.fingerprint = f"{server.kind}/{self._version}/{prompts}/{self.dim}"
        self.fusion_weight = preset.fusion_weight
        self.languages = preset.languages

    @property
    def spec(self) -> EmbedderSpec:
        """What it is."""
        return EmbedderSpec(
            self.name, self.fingerprint, self.dim, self.fusion_weight, self.languages
        )

    @property
    def is_another(self) -> ModelUnavailableError:
        """What to say where the texts were embedded by other weights of this name."""
        return ModelUnavailableError(
            f"The server has another model as {self._model!r} now.",
            hint=f"Embed anew with it: lancebrain model use {self.name}",
        )

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_passages`."""
        self._expect_version(_TRIES)
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        for at in range(0, len(order), _BATCH):
            places = order[at : at + _BATCH]
            out[places] = self._embed([self._passage + texts[place] for place in places], _TRIES)
        self._expect_version(_TRIES)
        return out

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """See :meth:`lancebrain.embedders.base.Embedder.embed_query`."""
        if time.monotonic() - self._seen_at > _SEEN_S:
            self._expect_version(_QUERY_TRIES)
        vectors = _now(partial(self._embed, [self._query + text], _QUERY_TRIES))
        vector: NDArray[np.float32] = vectors[0]
        return vector

    def _expect_version(self, tries: int) -> None:
        if self._server.version_of(self._model, tries) != self._version:
            raise self.is_another
        self._seen_at = time.monotonic()

    def _embed(self, texts: list[str], tries: int) -> NDArray[np.float32]:
        given = self._server.vectors(self._model, [speakable(text) for text in texts], tries)
        try:
            with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
                vectors = np.array(given, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise EmbedderError(f"{self.name} gave what is no vector: {error}.") from error
        if vectors.shape != (len(texts), self.dim):
            raise EmbedderError(
                f"{self.name} gave an array of shape {vectors.shape}; {len(texts)} vectors of "
                f"length {self.dim} were expected."
            )
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not ((lengths > 0) & np.isfinite(lengths)).all():
            raise EmbedderError(
                f"{self.name} gave a vector of zeros, or of what is no number.", hint=_OTHER_MODEL
            )
        unit: NDArray[np.float32] = vectors / lengths
        return unit


class _Ollama:
    """https://github.com/ollama/ollama/blob/main/docs/api.md"""

    kind = "ollama"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def version_of(self, model: str, tries: int) -> str:
        """The digest of a model."""
        tagged = model if ":" in model else f"{model}:latest"
        listed = self._connection.get("/api/tags", tries)
        models = listed.get("models") if isinstance(listed, dict) else None
        for entry in models if isinstance(models, list) else ():
            if isinstance(entry, dict) and tagged in (entry.get("name"), entry.get("model")):
                return str(entry.get("digest", "")).removeprefix("sha256:")[:16]
        raise self._unknown(model)

    def vectors(self, model: str, texts: Sequence[str], tries: int) -> list[list[float]]:
        content = {"model": model, "input": list(texts), "truncate": True}
        try:
            answer = self._connection.post("/api/embed", content, tries)
        except RefusedError as error:
            raise self._unknown(model) if error.status == 404 else error from error
        return _listed(answer, "embeddings")

    def _unknown(self, model: str) -> EmbedderError:
        return EmbedderError(
            f"The Ollama server at {self._connection.url} has no model {model!r}.",
            hint=f"Get it: ollama pull {model}",
        )


class _OpenAI:
    """https://platform.openai.com/docs/api-reference/embeddings"""

    kind = "openai"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def version_of(self, model: str, tries: int) -> str:
        """All that the protocol knows of a model is its name."""
        return model

    def vectors(self, model: str, texts: Sequence[str], tries: int) -> list[list[float]]:
        content = {"model": model, "input": list(texts), "encoding_format": "float"}
        answer = self._connection.post("/embeddings", content, tries)
        entries = _listed(answer, "data")
        try:
            by_index = {int(entry["index"]): list(entry["embedding"]) for entry in entries}
            return [by_index[index] for index in range(len(entries))]
        except (KeyError, TypeError, ValueError) as error:
            raise EmbedderError(
                f"The server at {self._connection.url} gave no embeddings: {error!r}."
            ) from error


def ollama_url(host: str) -> str:
    """The address that ``OLLAMA_HOST`` means; where Ollama listens everywhere, this machine's.

    As Ollama has it: without a scheme the port is 11434, else the scheme's own.
    """
    scheme, _, rest = host.strip().strip("\"'").rpartition("://")
    place, slash, path = rest.partition("/")
    name, colon, port = place.rpartition(":")
    if not colon or not port.isdigit():
        name, port = place.rstrip(":"), {"http": "80", "https": "443"}.get(scheme, "11434")
    if name in ("", "0.0.0.0", "[::]"):  # noqa: S104 - nothing is opened here
        name = "127.0.0.1"
    return f"{scheme or 'http'}://{name}:{port}{slash}{path}".rstrip("/")


def _now(embed: Callable[[], _T]) -> _T:
    """Embed what nothing is wrong with: a server that fails on it cannot do so now."""
    try:
        return embed()
    except RefusedError as error:
        if error.status < 500:
            raise
        raise ModelUnavailableError(error.message, hint=error.hint) from error


def _listed(answer: Any, key: str) -> list[Any]:
    listed = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise EmbedderError(f"The server's answer has no {key!r}.")
    return listed
