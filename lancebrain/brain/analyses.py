"""Ready analyses of an index, by name; the facade's ``brain.analyze``."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from lancebrain.types import Filter

if TYPE_CHECKING:
    from lancebrain.analysis.growth import Period
    from lancebrain.analysis.map import Colour
    from lancebrain.analysis.result import Analysis
    from lancebrain.store import Snapshot


class Analyses:
    """Analyses of one version, each with a table, what it says in a sentence, and a plot.

    Every one takes a ``filter`` that tells which chunks it is about; all by default. What goes by
    meaning leaves out chunks without a vector. No model is loaded.

    Args:
        steady: calls a function with the version, and again where it moved meanwhile.
        snapshot: gives the version of a reference.
    """

    def __init__(
        self,
        steady: Callable[[Callable[[Snapshot], Analysis]], Analysis],
        snapshot: Callable[[str | None], Snapshot],
    ) -> None:
        self._steady = steady
        self._snapshot = snapshot

    def duplicates(
        self, *, threshold: float | None = None, filter: Filter | None = None
    ) -> Analysis:
        """Near-duplicate notes: see :func:`lancebrain.analysis.duplicates.duplicates`."""
        from lancebrain.analysis.duplicates import THRESHOLD, duplicates

        least = THRESHOLD if threshold is None else threshold
        return self._steady(lambda of: duplicates(of, filter or Filter(), threshold=least))

    def outliers(self, *, count: int | None = None, filter: Filter | None = None) -> Analysis:
        """Notes that nothing is like: see :func:`lancebrain.analysis.outliers.outliers`."""
        from lancebrain.analysis.outliers import COUNT, outliers

        most = COUNT if count is None else count
        return self._steady(lambda of: outliers(of, filter or Filter(), count=most))

    def topics(self, *, count: int | None = None, filter: Filter | None = None) -> Analysis:
        """What notes are about: see :func:`lancebrain.analysis.topics.topics`."""
        from lancebrain.analysis.topics import topics

        return self._steady(lambda of: topics(of, filter or Filter(), count=count))

    def map(self, *, colour: Colour = "topic", filter: Filter | None = None) -> Analysis:
        """The chunks in two dimensions: see :func:`lancebrain.analysis.map.map_of`."""
        from lancebrain.analysis.map import map_of

        return self._steady(lambda of: map_of(of, filter or Filter(), colour=colour))

    def growth(self, *, by: Period | None = None, filter: Filter | None = None) -> Analysis:
        """How many notes there were when: see :func:`lancebrain.analysis.growth.growth`."""
        from lancebrain.analysis.growth import growth

        return self._steady(lambda of: growth(of, filter or Filter(), by=by))

    def changes(self, since: str, *, filter: Filter | None = None) -> Analysis:
        """What changed most: see :func:`lancebrain.analysis.changes.changes`.

        Args:
            since: a reference to the earlier version.

        Raises:
            UsageError: there is no such version.
        """
        from lancebrain.analysis.changes import changes

        earlier = self._snapshot(since)
        return self._steady(lambda of: changes(earlier, of, filter or Filter()))

    def coverage(self, *, filter: Filter | None = None) -> Analysis:
        """What cannot be found: see :func:`lancebrain.analysis.coverage.coverage`."""
        from lancebrain.analysis.coverage import coverage

        return self._steady(lambda of: coverage(of, filter or Filter()))

    def sizes(self, *, filter: Filter | None = None) -> Analysis:
        """How long chunks are: see :func:`lancebrain.analysis.sizes.sizes`."""
        from lancebrain.analysis.sizes import sizes

        return self._steady(lambda of: sizes(of, filter or Filter()))
