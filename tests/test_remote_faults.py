"""An index on object storage when processes are killed, lines are cut and locks are lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lancebrain.errors import IndexLockedError
from lancebrain.store import object_lock
from tests.conftest import PROJECT
from tests.machines import Machine, assert_nothing_lost_or_doubled
from tests.object_storage import BUCKET, Line, s3_server

pytest.importorskip("obstore", reason="object storage takes the extra lancebrain[remote]")
pytest.importorskip("moto", reason="the S3 server of these tests is moto's")
pytestmark = pytest.mark.remote


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def uri(request: pytest.FixtureRequest) -> str:
    return f"s3://{BUCKET}/{request.node.name[:60]}"


@pytest.fixture
def line(server: str) -> Iterator[Line]:
    line = Line(server)
    yield line
    line.close()


@pytest.mark.parametrize("folder", ["_versions", "data"])
def test_a_process_killed_in_the_middle_of_a_commit_leaves_nothing_in_part(
    tmp_path: Path, uri: str, line: Line, server: str, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setattr(object_lock, "STILL_S", 2.0)
    here = Machine(tmp_path, "here", uri, server).write("alpha")
    here.engine.sync()
    there = Machine(tmp_path, "there", uri, line.address).write("beta")
    settings = there.settings.model_dump_json()
    process = subprocess.Popen([sys.executable, "-c", SYNCING, settings], cwd=PROJECT)

    def kill(method: str, path: str) -> bool:
        if method == "PUT" and f"chunks.lance/{folder}/" in path:
            os.kill(process.pid, signal.SIGKILL)
        return False

    line.on_request = kill
    assert process.wait(60) == -signal.SIGKILL
    line.on_request = lambda method, path: False
    here.write("gamma").engine.sync()
    there.engine.sync()
    assert_nothing_lost_or_doubled(here.store, here, there)


SYNCING = """
import sys
from lancebrain.config import Settings
from lancebrain.store import Store, storage_at
from lancebrain.sync import Engine
from tests.stand_in import StandIn
settings = Settings.model_validate_json(sys.argv[1])
storage = storage_at(settings.index, settings.index_uri, settings.storage_options, refresh_s=0)
Engine(Store.open(storage), settings, StandIn).sync()
"""


def test_a_line_cut_for_five_seconds_loses_and_doubles_nothing(
    tmp_path: Path, uri: str, line: Line, server: str
) -> None:
    here = Machine(tmp_path, "here", uri, line.address).write(*range(30))
    there = Machine(tmp_path, "there", uri, server).write("x")
    cuts = iter((3, 40))  # in the middle of one thing, and of another
    left = next(cuts)

    def cut(method: str, path: str) -> bool:
        nonlocal left
        left -= 1
        if left == 0:
            line.cut_for(5.0 if next(cuts, None) else 0.5)
            return True
        return False

    line.on_request = cut
    assert here.engine.sync().problems == ()
    line.on_request = lambda method, path: False
    there.engine.sync()
    assert_nothing_lost_or_doubled(there.store, here, there)


@pytest.mark.parametrize("name", ["_versions", "lock.json", "commits.jsonl"])
def test_a_write_whose_answer_is_lost_is_not_done_twice(
    tmp_path: Path, uri: str, line: Line, server: str, name: str
) -> None:
    here = Machine(tmp_path, "here", uri, line.address).write("alpha")
    lost: list[str] = []

    def lose(method: str, path: str) -> bool:
        if method == "PUT" and name in path and not lost:
            lost.append(path)
            return True
        return False

    line.on_request = lose
    here.engine.sync()
    assert lost
    assert_nothing_lost_or_doubled(here.store, here)


def test_who_lost_the_lock_writes_nothing_more(
    tmp_path: Path, uri: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Machine(tmp_path, "here", uri, server).write("alpha")
    there = Machine(tmp_path, "there", uri, server).write("beta")
    monkeypatch.setattr(object_lock, "PULSE_S", 1e6)
    monkeypatch.setattr(object_lock, "STILL_S", 0.5)
    monkeypatch.setattr(object_lock, "_FRESH_S", 0.0)
    with pytest.raises(IndexLockedError, match="took over"), here.store.lock(5):
        there.engine.sync()
        here.engine.sync()
    here.engine.sync()
    assert_nothing_lost_or_doubled(there.store, here, there)
    assert "maintenance" in [record.reason for record in there.store.commits.read()]


def test_a_holder_that_lives_keeps_the_lock(
    tmp_path: Path, uri: str, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_lock, "PULSE_S", 0.1)
    monkeypatch.setattr(object_lock, "STILL_S", 3.0)
    here = Machine(tmp_path, "here", uri, server)
    there = Machine(tmp_path, "there", uri, server)
    with (
        here.store.lock(5),
        pytest.raises(IndexLockedError, match="process"),
        there.store.lock(4.0),
    ):
        pass
    with there.store.lock(5):
        pass
