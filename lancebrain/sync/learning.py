"""Models that are learned from the texts of the index: when they learn, and when again.

What is learned anew is another version of the model, to which the index changes as to any other.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime

from lancebrain.embedders import EngineOptions, drift_of_embedder, learn_embedder, learns
from lancebrain.errors import (
    EmbedderError,
    LancebrainError,
    ModelUnavailableError,
    UsageError,
)
from lancebrain.store import PlannedChange, Storage, Store

from .embedding import sample_texts

MOST_DRIFT = 0.1
"""So much more of the words may be unknown than when the model was learned."""
_LEARNED_FROM = 20_000
_MEASURED_ON = 500


def reject_learning(model: str, storage: Storage) -> None:
    """Keep models from being used that are learned from the texts, where other machines would
    not have what was learned on this one.

    Raises:
        UsageError: it is such a model and such a place.
    """
    if learns(model) and storage.is_shared:
        raise UsageError(
            f"The model {model!r} is learned from the texts and kept on one machine; the index in "
            f"{storage} is for several.",
            hint="Choose one that does not learn: lancebrain model list",
        )


def learned(store: Store, model: str, *, by_itself: bool = False) -> PlannedChange:
    """Learn a model from the texts of an index.

    Args:
        model: one that learns.

    Raises:
        ModelUnavailableError: there is not enough text to learn from.
        EmbedderError: what it learns by is not installed.
        UsageError: other machines would not have what it learned here.
    """
    reject_learning(model, store.storage)
    texts = [text for _, text in sample_texts(store.snapshot(), _LEARNED_FROM)]
    spec = learn_embedder(model, texts, EngineOptions(index=store.folder), _in_use(store))
    return PlannedChange(model, spec.fingerprint, spec.dim, datetime.now(UTC), by_itself)


def _in_use(store: Store) -> set[str]:
    """The fingerprints that some version of the index needs, or a change that is planned."""
    planned = store.plan.read()
    in_use = set() if planned is None else {planned.fingerprint}
    for version in store.versions():
        with suppress(LancebrainError):  # cleaned up meanwhile
            in_use.add(store.snapshot(version).info.fingerprint)
    return in_use


def learn_again(store: Store, *, lock_timeout_s: float) -> bool:
    """Plan a change to a newer version of the model, if the index has outgrown it.

    Returns:
        Whether one is planned now.

    Raises:
        EmbedderError: what it learns by is not installed.
        IndexLockedError: another process held the lock for too long.
    """
    info = store.snapshot().info
    if not learns(info.model) or store.read_only:
        return False
    if store.hold.is_set() or store.plan.read() is not None:
        return False
    options = EngineOptions(index=store.folder, fingerprint=info.fingerprint)
    texts = [text for _, text in sample_texts(store.snapshot(), _MEASURED_ON)]
    with suppress(EmbedderError):  # what it learned is lost: then it learns anew
        if drift_of_embedder(info.model, texts, options) <= MOST_DRIFT:
            return False
    try:
        planned = learned(store, info.model, by_itself=True)
    except ModelUnavailableError:
        return False  # there is too little text yet
    with store.lock(lock_timeout_s):
        # Learning took seconds: someone may have gone back, or chosen another model.
        if store.hold.is_set() or store.plan.read() is not None or store.snapshot().info != info:
            return False
        store.plan.put(planned)
    return True
