"""Commits beside other work: in order, and what goes wrong in one is told."""

from __future__ import annotations

import threading

import pytest

from lancebrain.sync.commits import Commits


def test_a_commit_is_made_beside_and_the_next_waits_for_it() -> None:
    commits = Commits()
    go, done = threading.Event(), []

    def first() -> int:
        assert go.wait(30)
        done.append("first")
        return 3

    assert commits.begin({"a"}, first) == 0
    assert commits.under_way == {"a"}
    go.set()
    assert commits.begin({"b"}, lambda: done.append("second") or 4) == 3
    assert commits.under_way == {"b"}
    assert commits.settle() == 4
    assert (done, commits.under_way, commits.close()) == (["first", "second"], (), 0)


def test_a_commit_that_fails_is_told_and_the_next_is_made_all_the_same() -> None:
    commits = Commits()
    done = []

    def fail() -> int:
        raise OSError("no room")

    commits.begin({"a"}, fail)
    with pytest.raises(OSError, match="no room"):
        commits.begin({"b"}, lambda: done.append("second") or 1)
    assert commits.close() == 1
    assert done == ["second"]
    commits = Commits()
    commits.begin({"a"}, fail)
    with pytest.raises(OSError, match="no room"):
        commits.close()
    assert commits.under_way == ()
