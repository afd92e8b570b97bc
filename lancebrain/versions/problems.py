"""What was cut short, told in every status until someone finishes it or gives it up."""

from __future__ import annotations

from lancebrain.store import Store
from lancebrain.types import Problem
from lancebrain.versions.forget import unfinished
from lancebrain.versions.rollback import cut_short


def problems_in_time(store: Store) -> tuple[Problem, ...]:
    """A rollback, or a forgetting, that was cut short."""
    rollback = cut_short(store)
    return (*((rollback,) if rollback else ()), *unfinished(store))
