"""What the facade tells of models: each that there is, the one of an index, and a change."""

from __future__ import annotations

from dataclasses import dataclass

from lancebrain.types import Problem


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model, or an engine for any number of them.

    Attributes:
        name: as ``model use`` takes it; what follows a colon is to be filled in.
        summary: one sentence.
        installed: it can be used now.
        install: what installs it.
        in_use: the index has it, or one of this engine.
        needs_network: it asks a server, or fetches its model the first time.
    """

    name: str
    summary: str
    installed: bool
    install: str
    in_use: bool
    needs_network: bool


@dataclass(frozen=True, slots=True)
class ModelState:
    """The model of an index.

    Attributes:
        model: its name.
        fingerprint: changes whenever the same text would get another vector.
        dim: length of a vector.
        fusion_weight: the vectors' share in the score of an answer, 0 to 1; None where the model
            cannot be had now.
        languages: ISO 639-1 codes; empty for so many that a question's does not matter.
        chunks, pending: in the index, and those without a vector.
        configured: what the settings say.
        next_model: what the index is on its way to, or "".
        next_done: chunks that have the next model's vector already, of different texts.
        next_total: chunks of different texts.
    """

    model: str
    fingerprint: str
    dim: int
    fusion_weight: float | None
    languages: tuple[str, ...]
    chunks: int
    pending: int
    configured: str
    next_model: str = ""
    next_done: int = 0
    next_total: int = 0


@dataclass(frozen=True, slots=True)
class ModelChange:
    """What changing the model did.

    Attributes:
        before, model: the model of the index before and now.
        done: it is the one that was asked for.
        embedded: texts that were given to it.
        pending: chunks without a vector now.
        version: of the index.
        problems: what keeps chunks from their vector.
    """

    before: str
    model: str
    done: bool
    embedded: int
    pending: int
    version: int
    seconds: float
    problems: tuple[Problem, ...] = ()
