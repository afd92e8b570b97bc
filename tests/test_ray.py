"""An index that a Ray cluster prepares: a real local one, of two workers."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lancebrain.config import Settings
from lancebrain.embedders import EngineOptions
from lancebrain.store import Store
from lancebrain.sync import Engine
from lancebrain.types import Source
from tests.health import assert_healthy
from tests.stand_in import StandIn
from tests.trees import write_tree

ray = pytest.importorskip("ray", reason="takes the extra lancebrain[ray]")

from lancebrain.sync.on_ray import Cluster, prepared  # noqa: E402 - after the skip

pytestmark = [pytest.mark.ray, pytest.mark.slow]
MODEL = "tests.stand_in:make"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of two processors; where the file is, a worker dies once."""
    once = tmp_path_factory.mktemp("fragile") / "once"
    os.environ["FRAGILE"] = str(once)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    yield once
    ray.shutdown()
    del os.environ["FRAGILE"]


class Notes:
    """Notes and an index of them, synced with what a cluster made before."""

    def __init__(self, folder: Path, count: int, model: str = MODEL) -> None:
        self.root = folder / "notes"
        write_tree(
            self.root,
            {
                f"{n % 7}/{n}.md": f"# Note {n}\n\n" + f"Words of {n}. " * (n % 90)
                for n in range(count)
            },
        )
        self.settings = Settings(
            index=folder / "index", sources=(Source("notes", self.root),), model=model
        )
        self.embedder = StandIn()
        self.store = Store.create(
            self.settings.index,
            model=model,
            fingerprint=self.embedder.fingerprint,
            dim=self.embedder.dim,
        )
        self.engine = Engine(self.store, self.settings, lambda: self.embedder)

    def prepared(self, **cluster: Any) -> Any:
        return prepared(
            self.store,
            self.settings,
            EngineOptions(),
            self.engine.files_to_read(),
            Cluster(**cluster),
        )

    def check(self) -> None:
        assert_healthy(self.store, self.settings, StandIn())


def test_the_rows_are_those_of_a_local_sync_in_one_version(tmp_path: Path, cluster: Path) -> None:
    notes = Notes(tmp_path, 300)
    before = notes.store.snapshot().version
    with notes.prepared(workers=2) as ahead:
        report = notes.engine.sync(ahead=ahead)
    assert (report.added, report.embedded) == (300, 0)
    assert notes.embedder.texts == []
    records = [r for r in notes.store.commits.read() if r.version > before]
    assert [r.reason for r in records].count("sync") == 1
    notes.check()


def test_what_changed_meanwhile_is_read_here(tmp_path: Path, cluster: Path) -> None:
    notes = Notes(tmp_path, 20)
    with notes.prepared(workers=1) as ahead:
        write_tree(notes.root, {"0/7.md": "# Another\n", "new.md": "# New\n"})
        (notes.root / "1/8.md").unlink()
        notes.engine.sync(ahead=ahead, confirm_removals=True)
    assert len(notes.embedder.texts) == 2
    notes.check()


def test_only_what_changed_is_given_to_the_cluster(tmp_path: Path, cluster: Path) -> None:
    notes = Notes(tmp_path, 30)
    notes.engine.sync()
    notes.embedder.reset()
    write_tree(notes.root, {"0/7.md": "# Another\n"})
    assert "notes/0/7.md" in [file.path for file in notes.engine.files_to_read()]
    with notes.prepared(workers=1) as ahead:
        assert notes.engine.sync(ahead=ahead).changed == 1
    assert notes.embedder.texts == []
    notes.check()


class Fragile(StandIn):
    """Kills its process once, where a certain file is."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        once = Path(os.environ["FRAGILE"])
        if once.exists():
            once.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed_passages(texts)


def fragile() -> Fragile:
    return Fragile()


def test_a_worker_that_dies_is_started_again(tmp_path: Path, cluster: Path) -> None:
    notes = Notes(tmp_path, 60, "tests.test_ray:fragile")
    cluster.touch()
    with notes.prepared(workers=2) as ahead:
        assert notes.engine.sync(ahead=ahead).embedded == 0
    assert not cluster.exists()
    notes.settings = notes.settings.model_copy(update={"model": MODEL})
    notes.check()


def test_a_driver_that_is_lost_leaves_what_was_embedded(tmp_path: Path, cluster: Path) -> None:
    notes = Notes(tmp_path, 40)
    with notes.prepared(workers=2):
        pass  # and the sync never comes
    again = Notes(tmp_path, 0)
    again.store.vector_cache.close()
    report = again.engine.sync()
    assert (report.added, report.embedded) == (40, 0)
    again.check()


def test_the_command_line_has_a_cluster_prepare(
    tmp_path: Path, cluster: Path, stand_in: None, lb: Any
) -> None:
    write_tree(tmp_path / "notes", {f"{n}.md": f"# Note {n}\n" for n in range(5)})
    options = ("--index", tmp_path / "index", "--json")
    done = lb("sync", tmp_path / "notes", "--engine", "ray", "--workers", "2", *options)
    assert (done.code, done.json["added"], done.json["embedded"]) == (0, 5, 0)
    assert lb("status", *options).json["pending"] == 0
