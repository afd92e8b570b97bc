"""A change of the model in processes that are killed, with others that ask and edit meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from lancebrain.brain import open as open_brain
from lancebrain.config import Settings
from lancebrain.store import Store
from lancebrain.types import Source
from tests.conftest import PROJECT
from tests.health import assert_healthy
from tests.other_model import LOG, OtherModel
from tests.trees import write_tree

pytestmark = pytest.mark.slow

FIRST, OTHER = "tests.stand_in:make", "tests.other_model:make"
NOTES = 160
KILLS = 1
WAIT_S = 60


def start(config: Path, log: Path, seconds_a_text: float) -> subprocess.Popen[bytes]:
    environment = os.environ | {
        "PYTHONPATH": str(PROJECT),
        LOG: str(log),
        "OTHER_MODEL_S": str(seconds_a_text),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "lancebrain", "model", "use", OTHER, "--config", str(config)],
        env=environment,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_killed_on_its_way_it_ends_as_a_fresh_index_and_embeds_nothing_twice(
    tmp_path: Path,
) -> None:
    root, log, config = tmp_path / "notes", tmp_path / "log", tmp_path / "lancebrain.toml"
    write_tree(root, {f"{n}.md": f"# Note {n}\n\nWord{n} of it.\n" for n in range(NOTES)})
    config.write_text(f'index = "index"\nmodel = "{FIRST}"\n[[sources]]\nroot = "notes"\n')
    with open_brain(config_file=config) as brain:
        brain.sync()
        store = Store.open(tmp_path / "index")
        fingerprint = OtherModel().fingerprint
        for kill in range(1, KILLS + 1):
            process = start(config, log, 0.01)
            wanted = kill * NOTES // (KILLS + 1)
            deadline = time.monotonic() + WAIT_S
            while len(store.staged.hashes(fingerprint)) < wanted:
                assert time.monotonic() < deadline
                assert process.poll() is None
                answer = brain.search("Note 7 Word7", mode="vector", limit=9, look=False)
                assert "notes/7.md" in [hit.path for hit in answer.hits]
            process.send_signal(signal.SIGKILL)
            process.wait(WAIT_S)
            write_tree(root, {f"new{kill}.md": f"# New {kill}\n"})
            assert brain.sync().embedded == 1
        assert start(config, log, 0).wait(WAIT_S) == 0
        found = brain.search("Note 7 Word7", mode="vector", limit=9).hits
        assert "notes/7.md" in [hit.path for hit in found]
    embedded = Counter(log.read_text().splitlines())
    assert len(embedded) == NOTES + KILLS
    assert embedded.total() == NOTES + KILLS
    sources = (Source("notes", root),)
    settings = Settings(index=tmp_path / "index", model=OTHER, sources=sources)
    assert_healthy(Store.open(settings.index), settings, OtherModel())
