"""Several configurations on one index: none takes out what is another's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lancebrain.brain import open as open_brain
from lancebrain.brain.ledger import ENVIRONMENT, PROGRAM, Ledger
from lancebrain.types import Source
from tests.stand_in import StandIn
from tests.trees import write_tree


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path)


def _synced(ledger: Ledger, origin: str, names: Sequence[str]) -> set[str]:
    dropped = ledger.dropped(origin, names)
    ledger.record(origin, names)
    return dropped


@pytest.mark.parametrize("origin", [ENVIRONMENT, f"{PROGRAM} /bin/a.py", "/etc/lancebrain.toml"])
def test_a_source_that_is_taken_out_of_a_configuration_is_dropped(
    ledger: Ledger, origin: str
) -> None:
    assert _synced(ledger, origin, ["notes"]) == set()
    assert _synced(ledger, origin, ["notes", "wiki"]) == set()
    assert _synced(ledger, origin, ["notes"]) == {"wiki"}
    assert _synced(ledger, origin, []) == {"notes"}


@pytest.mark.parametrize("origin", [ENVIRONMENT, f"{PROGRAM} /bin/a.py"])
@pytest.mark.parametrize(
    ("first", "second"), [(["notes"], ["wiki"]), (["notes", "wiki"], ["notes", "logs"])]
)
def test_what_another_environment_or_program_lists_is_not_dropped(
    ledger: Ledger, origin: str, first: list[str], second: list[str]
) -> None:
    for names in (first, second, first, second):
        assert _synced(ledger, origin, names) == set()
    # Each is known by itself from then on.
    only = [name for name in first if name not in second]
    assert _synced(ledger, origin, [name for name in first if name in second]) == set(only)


def test_programs_are_told_apart_by_their_file(ledger: Ledger) -> None:
    assert _synced(ledger, f"{PROGRAM} /bin/a.py", ["notes", "wiki"]) == set()
    assert _synced(ledger, f"{PROGRAM} /bin/b.py", ["notes"]) == set()


def test_two_programs_with_different_sources_keep_each_others_documents(tmp_path: Path) -> None:
    for name in ("notes", "wiki"):
        write_tree(tmp_path / name, {"a.md": f"# {name}\n"})
    for name in ("notes", "wiki", "notes"):
        source = Source(name, tmp_path / name)
        with open_brain(tmp_path / "index", embedder=StandIn(), sources=[source]) as brain:
            brain.sync()
    with open_brain(tmp_path / "index", embedder=StandIn()) as brain:
        assert brain.status().documents == 2


def test_two_environments_with_different_sources_keep_each_others_documents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("notes", "wiki"):
        write_tree(tmp_path / name, {"a.md": f"# {name}\n"})
    for name in ("notes", "wiki", "notes"):
        monkeypatch.setenv("LANCEBRAIN_SOURCES", f'[{{"root": "{tmp_path / name}"}}]')
        with open_brain(tmp_path / "index", embedder=StandIn()) as brain:
            brain.sync()
    with open_brain(tmp_path / "index", embedder=StandIn()) as brain:
        assert brain.status().documents == 2


def test_a_root_with_a_name_of_bytes_is_told_as_text(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "caf\udce9", {"a.md": "# A\n"})
    source = Source("notes", root)
    with open_brain(tmp_path / "index", embedder=StandIn(), sources=[source]) as brain:
        brain.sync()
        (state,) = brain.status().sources
        assert state.root.endswith("caf\ufffde9")
        assert brain.sources() == (state,)
