"""A model that takes as long to load as a test wants: until a file is there."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.stand_in import StandIn


def make() -> StandIn:
    """Wait for the file that the variable ``TEST_MODEL_GATE`` names."""
    gate = Path(os.environ["TEST_MODEL_GATE"])
    while not gate.exists():
        time.sleep(0.02)
    return StandIn()
