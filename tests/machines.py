"""Machines that share an index on object storage, each with notes of its own."""

from __future__ import annotations

from pathlib import Path

from lancebrain.config import Settings
from lancebrain.store import Storage, Store, storage_at
from lancebrain.sync import Engine
from lancebrain.types import Source
from tests.health import assert_healthy
from tests.object_storage import options
from tests.stand_in import StandIn
from tests.trees import write_tree

NOTE = "# Note {0}\n\nWhat is said of {0}.\n"


class Machine:
    """A machine with notes of its own and an index that it shares.

    Args:
        folder: of the machine.
        name: of its source.
    """

    def __init__(
        self, folder: Path, name: str, uri: str, address: str, *, refresh_s: float = 0.0
    ) -> None:
        self.root = folder / name / "notes"
        self.root.mkdir(parents=True)
        self.settings = Settings(
            index=folder / name / "local",
            index_uri=uri,
            storage_options=options(address),
            refresh_s=refresh_s,
            sources=(Source(name, self.root),),
            model="tests.stand_in:make",
        )
        self.embedder = StandIn()
        self.store = Store.create(
            self.storage(),
            model=self.settings.model,
            fingerprint=self.embedder.fingerprint,
            dim=self.embedder.dim,
        )
        self.engine = Engine(self.store, self.settings, lambda: self.embedder)

    def storage(self) -> Storage:
        settings = self.settings
        return storage_at(
            settings.index,
            settings.index_uri,
            settings.storage_options,
            refresh_s=settings.refresh_s,
        )

    def write(self, *names: int | str) -> Machine:
        write_tree(self.root, {f"{name}.md": NOTE.format(name) for name in names})
        return self


def assert_nothing_lost_or_doubled(store: Store, *machines: Machine) -> None:
    """The index is what a fresh one of all machines' files would be."""
    sources = tuple(source for machine in machines for source in machine.settings.sources)
    settings = machines[0].settings.model_copy(
        update={"sources": sources, "index_uri": None, "storage_options": {}}
    )
    assert_healthy(store, settings, StandIn())
