"""A process that is killed in the middle of anything leaves an index that is whole."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lancebrain.store import Store
from tests.health import assert_healthy
from tests.indexes import Notes
from tests.stand_in import StandIn

ROUNDS = int(os.environ.get("KILL_ROUNDS", "4"))

SYNCING = """
import sys, time
from pathlib import Path
from tests.indexes import Notes
notes = Notes(Path(sys.argv[1]))
print("ready", flush=True)
for number in range(10_000):
    for name in range(number % 7, 160, 7):
        notes.write({f"{name}.md": f"# Note {name}\\n\\nEdit {number} of {name}.\\n"})
    if number % 5 == 4:
        notes.root.joinpath("0.md").rename(notes.root / f"moved{number}.md")
    notes.sync()
"""


@pytest.mark.slow
def test_an_index_whose_process_is_killed_is_right_after_the_next_sync(tmp_path: Path) -> None:
    source = random.Random(5)
    for _ in range(ROUNDS):
        process = subprocess.Popen(
            [sys.executable, "-c", SYNCING, str(tmp_path)],
            cwd=Path(__file__).parent.parent,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(source.uniform(0, 1.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        seen = Store.open(tmp_path / "index").snapshot()
        for path, state in seen.documents().items():
            assert state.path == path
            assert path in seen.chunks([path]) or state.size == 0
        notes = Notes(tmp_path)
        notes.sync()
        assert_healthy(notes.store, notes.settings, StandIn())
