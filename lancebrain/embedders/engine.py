"""What an engine is to the registry: a module with a description of itself and two functions.

Everything here is light, so that engines can be listed without importing what they need.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import Literal, Protocol

from lancebrain.embedders.base import Embedder

Backend = Literal["torch", "onnx", "openvino"]


@dataclass(frozen=True, slots=True)
class EmbedderSpec:
    """What is known of a model before it is in memory; as in the loaded engine."""

    name: str
    fingerprint: str
    dim: int
    fusion_weight: float
    languages: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What a person can choose about how a model runs; an engine looks at what concerns it.

    Attributes:
        threads: for linear algebra. More is slower on a busy machine.
        device: ``cpu``, ``cuda``, ``mps``; None: the engine's choice.
        backend: that sentence-transformers computes with.
        offline: open no connection, not even to fetch a model for the first time.
        cache_folder: where fetched models are kept; None: where their library keeps them.
        trust_remote_code: run the code that a fetched model brings along.
        url: of the server that embeds; None: where it usually is.
        index: the index folder, for an engine that keeps there what it learned from the texts.
        fingerprint: the version that is wanted, of an engine that has several; "": the newest.
    """

    threads: int = 1
    device: str | None = None
    backend: Backend = "torch"
    offline: bool = False
    cache_folder: Path | None = None
    trust_remote_code: bool = False
    url: str | None = None
    index: Path | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class About:
    """An engine in a few words, for people.

    Attributes:
        summary: one sentence.
        modules: that have to be importable for it to work.
        install: what installs them.
        variants: what may follow its name and a colon, such as ``NAME``; "" where nothing may.
        needs_variant: it is no model without.
        needs_network: it asks a server, or fetches its model the first time.
    """

    summary: str
    modules: tuple[str, ...]
    install: str
    variants: str = ""
    needs_variant: bool = False
    needs_network: bool = False

    @property
    def missing(self) -> tuple[str, ...]:
        """Those of its modules that are not there; nothing is imported to find out."""
        return tuple(name for name in self.modules if util.find_spec(name) is None)


class Engine(Protocol):
    """An engine's module."""

    ABOUT: About

    def spec(self, variant: str, options: EngineOptions) -> EmbedderSpec:
        """Describe a model in milliseconds, without loading it where that can be helped.

        Raises:
            EmbedderError: the engine's package or files are missing.
        """
        ...

    def load(self, variant: str, options: EngineOptions) -> Embedder:
        """Load a model, ready to embed.

        Raises:
            EmbedderError: the engine's package is missing or its model fails to load.
        """
        ...


class LearningEngine(Engine, Protocol):
    """An engine whose model is learned from the texts of the index."""

    def fit(
        self, variant: str, texts: Sequence[str], options: EngineOptions, in_use: Collection[str]
    ) -> EmbedderSpec:
        """Learn a new version of the model and keep it in ``options.index``.

        Args:
            in_use: fingerprints of versions that must stay; of others the last few do.

        Raises:
            ModelUnavailableError: there is not enough text to learn from.
            EmbedderError: the engine's package is missing.
        """
        ...

    def drift(self, texts: Sequence[str], options: EngineOptions) -> float:
        """How much of these texts the version ``options.fingerprint`` does not know, 0 to 1."""
        ...
