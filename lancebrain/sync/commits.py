"""Commits beside other work: one at a time, and none that is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor


class Commits:
    """Makes one commit after the other, in a thread of its own.

    Attributes:
        under_way: what the commit that is being made is of.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lancebrain-commit")
        self._begun: Future[int] | None = None
        self.under_way: Collection[str] = ()

    def begin(self, of: Collection[str], commit: Callable[[], int]) -> int:
        """Make a commit, after the one before.

        Args:
            of: what tells others that it is being committed.
            commit: gives how many rows it wrote.

        Returns:
            How many rows the one before wrote.

        Raises:
            Whatever the one before raised; the new one is made all the same.
        """
        try:
            return self.settle()
        finally:
            self._begun = self._thread.submit(commit)
            self.under_way = of

    def settle(self) -> int:
        """Wait until there is no commit under way; how many rows it wrote.

        Raises:
            Whatever it raised.
        """
        begun, self._begun = self._begun, None
        try:
            return 0 if begun is None else begun.result()
        finally:
            self.under_way = ()

    def close(self) -> int:
        """The same, and there will be no other."""
        try:
            return self.settle()
        finally:
            self._thread.shutdown()
