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
        self._begun: Future[None] | None = None
        self.under_way: Collection[str] = ()

    def begin(self, of: Collection[str], commit: Callable[[], None]) -> None:
        """Make a commit, after the one before.

        Args:
            of: what tells others that it is being committed.

        Raises:
            Whatever the commit before raised.
        """
        try:
            self.settle()
        finally:
            # Also where the one before failed: nothing is lost that can be kept.
            self._begun = self._thread.submit(commit)
            self.under_way = of

    def settle(self) -> None:
        """Wait until there is no commit under way.

        Raises:
            Whatever it raised.
        """
        begun, self._begun = self._begun, None
        if begun is not None:
            try:
                begun.result()
            finally:
                self.under_way = ()

    def close(self) -> None:
        """Wait until there is no commit under way; there will be no other.

        Raises:
            Whatever it raised.
        """
        try:
            self.settle()
        finally:
            self._thread.shutdown()
