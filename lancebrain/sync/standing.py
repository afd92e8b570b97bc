"""Problems that stay until they are mended, told once each."""

from __future__ import annotations

from collections.abc import Callable

from lancebrain.types import Problem


class StandingProblems:
    """What is told of.

    Args:
        told: is handed a problem when it comes up, or is another than before.
    """

    def __init__(self, told: Callable[[Problem], None]) -> None:
        self._told = told
        self._standing: dict[str, Problem | None] = {}

    def tell(self, of: str, problem: Problem | None) -> None:
        """Tell of what the matter is with something; None where there is nothing."""
        if problem is not None and problem != self._standing.get(of):
            self._told(problem)
        self._standing[of] = problem
