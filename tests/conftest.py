"""What all tests share: they see no configuration of the machine, and run the real program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

PROJECT = Path(__file__).parent.parent

# A busy machine makes any example slow now and then; that is no failure.
hypothesis.settings.register_profile("lancebrain", deadline=None)
hypothesis.settings.load_profile("lancebrain")


@dataclass(frozen=True)
class Ran:
    """What a command line gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output as the one JSON document that it is."""
        return json.loads(self.out)


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home of its own for each test, without configuration; no variables of ours."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in list(os.environ):
        if name.startswith(("LANCEBRAIN_", "XDG_")) and name != "LANCEBRAIN_SHARED":
            monkeypatch.delenv(name)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deterministic model of the tests in place of the real one, also in subprocesses."""
    monkeypatch.setenv("LANCEBRAIN_MODEL", "tests.stand_in:make")
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))


@pytest.fixture
def lb(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run ``lancebrain`` in this process, through its real entry point."""
    from lancebrain.cli.main import main

    def run(*arguments: object) -> Ran:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Ran(int(left.value.code or 0), out, err)

    return run


@pytest.fixture
def lb_process() -> Callable[..., Ran]:
    """Run ``lancebrain`` as a process of its own."""

    def run(*arguments: object, **options: Any) -> Ran:
        done = subprocess.run(
            [sys.executable, "-m", "lancebrain", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
            **options,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return run
