"""Who asks goes first, and nobody waits for ever."""

from __future__ import annotations

import threading
import time

import pytest

from lancebrain.service import courtesy
from lancebrain.service.courtesy import Courtesy


def test_work_waits_while_questions_are_answered_and_goes_on_after_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(courtesy, "_MOST_S", 60.0)
    way = Courtesy()
    way.give_way()  # nobody asks
    done = threading.Event()

    def work() -> None:
        way.give_way()
        done.set()

    with way.asking():
        with way.asking():
            worker = threading.Thread(target=work)
            worker.start()
            assert not done.wait(0.05)
        assert not done.wait(0.05)
    assert done.wait(30)
    worker.join()


def test_a_question_that_fails_or_takes_long_does_not_keep_work_waiting_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(courtesy, "_MOST_S", 0.01)
    way = Courtesy()
    with way.asking():
        way.give_way()
    monkeypatch.setattr(courtesy, "_MOST_S", 60.0)
    with pytest.raises(ValueError, match="odd"), way.asking():
        raise ValueError("odd")
    started = time.monotonic()
    way.give_way()
    assert time.monotonic() - started < 30


def test_questions_are_expected_for_a_while_after_one(monkeypatch: pytest.MonkeyPatch) -> None:
    way = Courtesy()
    assert not way.is_asked()
    with way.asking():
        assert way.is_asked()
    assert way.is_asked()
    monkeypatch.setattr(courtesy, "_LATELY_S", 0.0)
    assert not way.is_asked()
