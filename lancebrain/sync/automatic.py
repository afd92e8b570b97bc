"""The model of an index whose owner leaves the choice to it: decided once, by measurement.

A new index begins with a quick model. Once it is complete, the better one is timed on some of its
texts. Where it is done within minutes, the change is planned, and processes that stay make it when
they have nothing else to do; else it is for the owner to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lancebrain.embedders.automatic import GOAL, START
from lancebrain.store import PlannedChange, Store

from .embedding import sample_texts
from .vectors import embedded

if TYPE_CHECKING:
    from lancebrain.embedders.base import Embedder

LONGEST_S = 600.0
"""What takes no longer is begun without asking."""
_SAMPLE = 6


@dataclass(frozen=True, slots=True)
class Advice:
    """A better model, and what it costs.

    Attributes:
        model: to be had by ``lancebrain model use``.
        seconds: that the change to it takes here, about.
        planned: it is planned already.
    """

    model: str
    seconds: float
    planned: bool


def settle(
    store: Store, load: Callable[[PlannedChange], Embedder], *, lock_timeout_s: float
) -> Advice | None:
    """Decide which model an index goes on with, if that was never decided.

    Args:
        load: gives a model, loaded.

    Returns:
        What was decided now; None when there was nothing to decide.

    Raises:
        EmbedderError: the better model is there and does not work.
        IndexLockedError: another process held the lock for too long.
    """
    from lancebrain.embedders import about_engine, embedder_spec

    if store.read_only or store.plan.is_settled() or store.hold.is_set():
        return None
    snapshot, about = store.snapshot(), about_engine(GOAL)
    if snapshot.info.model != START or (about is not None and about.missing):
        return None
    if snapshot.pending() or not snapshot.chunk_count():
        return None
    spec = embedder_spec(GOAL)
    goal = PlannedChange(GOAL, spec.fingerprint, spec.dim, datetime.now(UTC), by_itself=True)
    seconds = _seconds_a_text(store, load(goal)) * len(snapshot.chunk_hashes())
    advice = Advice(GOAL, seconds, planned=seconds <= LONGEST_S)
    with store.lock(lock_timeout_s):
        if store.plan.is_settled():
            return None
        store.plan.put(goal if advice.planned else None)
    return advice


def _seconds_a_text(store: Store, model: Embedder) -> float:
    texts = dict(sample_texts(store.snapshot(), _SAMPLE))
    model.embed_query("warm")
    started = time.monotonic()
    embedded(model, texts, model.dim)
    return (time.monotonic() - started) / max(len(texts), 1)
