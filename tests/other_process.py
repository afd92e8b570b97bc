"""A second process that syncs an index of :class:`tests.indexes.Notes` on request."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_SYNCING = """
import sys
from lancebrain.config import Settings
from lancebrain.store import Store
from lancebrain.sync import Engine
from tests.stand_in import StandIn

folder = engine = None
for line in iter(sys.stdin.readline, ""):
    if line != folder:
        folder, settings = line, Settings.model_validate_json(line)
        engine = Engine(Store.open(settings.index), settings, StandIn)
    report = engine.sync()
    print(report.version, flush=True)
"""


class OtherProcess:
    """It keeps its index open from one request to the next, as a server does."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SYNCING],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def begin(self, settings: str) -> None:
        """Ask for a sync.

        Args:
            settings: as JSON in one line.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(f"{settings}\n")
        self._process.stdin.flush()

    def end(self) -> int:
        """Wait for the sync; the version it left."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()
