"""The facade: what a program gets that uses LanceBrain as a library."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import lancebrain
from lancebrain.brain import Brain
from lancebrain.errors import (
    ConfigError,
    EmbedderError,
    IndexLockedError,
    IndexMismatchError,
    IndexNotFoundError,
    StoreError,
    UsageError,
)
from lancebrain.types import Filter, Progress, Source
from tests.stand_in import StandIn
from tests.trees import write_tree


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return write_tree(
        tmp_path / "notes",
        {"a.md": "# Alpha\n\nThe quokka smiles.\n", "deep/b.md": "# Beta\n\nNumbats eat.\n"},
    )


@pytest.fixture
def model() -> StandIn:
    return StandIn()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def brain(tmp_path: Path, model: StandIn, clock: Clock) -> Brain:
    from lancebrain.brain import open as open_brain

    return open_brain(tmp_path / "index", embedder=model, clock=clock)


def test_open_costs_nothing_and_makes_nothing(tmp_path: Path) -> None:
    with lancebrain.open(tmp_path / "index") as brain:
        assert isinstance(brain, lancebrain.Brain)
        with pytest.raises(IndexNotFoundError):
            brain.search("x")
        with pytest.raises(IndexNotFoundError):
            brain.status()
        assert brain.sources() == ()
    assert not (tmp_path / "index").exists()


def test_what_was_synced_is_found_and_shown(brain: Brain, notes: Path) -> None:
    report = brain.sync([notes])
    assert (report.added, report.problems) == (2, ())
    answer = brain.search("quokka")
    assert answer.hits[0].path == "notes/a.md"
    assert brain.show(answer.hits[0].id).text == (notes / "a.md").read_text()
    status = brain.status()
    assert (status.documents, status.pending, status.pinned) == (2, 0, None)
    assert status.model == "stand-in"


def test_progress_is_told(brain: Brain, notes: Path) -> None:
    told: list[Progress] = []
    brain.sync([notes], progress=told.append)
    assert told[0].phase == "look"
    assert max(progress.files_total for progress in told) == 2


def test_a_keyword_search_never_loads_the_model(tmp_path: Path, notes: Path) -> None:
    with lancebrain.open(tmp_path / "index", model="tests.stand_in:make") as brain:
        brain.sync([notes])
    (notes / "c.md").write_text("# Gamma\n\nA wombat digs.\n")
    with lancebrain.open(tmp_path / "index", model="tests.stand_in:make") as brain:
        brain._access.embedder = lambda: pytest.fail("the model was loaded")  # type: ignore[method-assign]
        answer = brain.search("wombat", mode="keyword")
        assert [hit.path for hit in answer.hits] == ["notes/c.md"]
        assert answer.pending == 1
        brain.show("notes/c.md")
        brain.status()


def test_what_a_keyword_search_took_in_gets_its_vector_later(
    brain: Brain, notes: Path, model: StandIn, clock: Clock
) -> None:
    brain.sync([notes])
    (notes / "c.md").write_text("# Gamma\n\nA wombat digs.\n")
    clock.now += 3600
    assert brain.search("wombat", mode="keyword").pending == 1
    clock.now += 3600
    assert brain.search("wombat").pending == 0
    assert len(model.texts) == 3


def test_all_files_are_looked_at_now_and_then_and_dirty_ones_always(
    brain: Brain, notes: Path, clock: Clock
) -> None:
    brain.sync([notes])
    brain.sync()
    (notes / "c.md").write_text("# Gamma\n\nA wombat digs.\n")
    assert brain.search("wombat", mode="keyword").hits == ()
    brain.mark_dirty([notes / "c.md", "/elsewhere/d.md"])
    assert len(brain.search("wombat", mode="keyword").hits) == 1
    (notes / "a.md").unlink()
    clock.now += brain.settings.look_interval_s
    assert brain.search("quokka", mode="keyword").hits == ()


def test_an_index_that_is_locked_answers_with_what_it_has(
    brain: Brain, notes: Path, clock: Clock
) -> None:
    from filelock import FileLock

    brain.sync([notes])
    clock.now += 3600
    with FileLock(brain.settings.index / "lock"):
        answer = brain.search("quokka", mode="keyword")
        assert len(answer.hits) == 1
        assert any("may be missing" in note for note in answer.notes)
        # The answers until the next look lack the same, and say so.
        again = brain.search("numbats", mode="keyword")
        assert again.notes == answer.notes
        with (
            lancebrain.open(
                brain.settings.index, model="stand-in", lock_timeout_s=0.1
            ) as impatient,
            pytest.raises(IndexLockedError),
        ):
            impatient.sync()
    clock.now += 3600
    assert brain.search("quokka", mode="keyword").notes == ()


def test_a_note_is_told_to_be_written_also_where_the_index_cannot_follow(
    tmp_path: Path, notes: Path, model: StandIn
) -> None:
    from lancebrain.brain import open as open_brain
    from lancebrain.brain.authoring import add_note, remove_note

    source = Source("notes", notes, writable=True)
    with open_brain(tmp_path / "index", embedder=model, sources=[source]) as brain:
        brain.sync()
        model.fail_on = "echidna"
        written = add_note(brain, "Echidna", "An echidna digs.")
        assert written.searchable  # by its words
        assert "no vector" in written.why
        model.fail_on = ""
        written = add_note(brain, "Spines", "An echidna has spines.")
        assert not written.searchable
        assert "told to fail" in written.why
        assert "echidna" in (notes / "Spines.md").read_text()
        removed = remove_note(brain, written.path, expected_hash=written.sha256)
        assert removed.searchable
        assert not (notes / "Spines.md").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_index_that_cannot_be_written_still_answers(brain: Brain, notes: Path) -> None:
    brain.sync([notes])
    brain.close()
    brain.settings.index.chmod(0o555)
    try:
        assert len(brain.search("quokka").hits) == 1
    finally:
        brain.settings.index.chmod(0o755)


def test_another_model_is_refused_before_vectors_are_mixed(
    brain: Brain, notes: Path, tmp_path: Path
) -> None:
    from lancebrain.brain import open as open_brain

    brain.sync([notes])
    other = open_brain(tmp_path / "index", embedder=StandIn(revision="2"))
    with pytest.raises(IndexMismatchError):
        other.search("quokka")
    assert other.search("quokka", mode="keyword").hits
    (notes / "c.md").write_text("# Gamma\n\nA wombat digs.\n")
    with pytest.raises(IndexMismatchError):
        other.sync()


def test_threads_share_a_facade(brain: Brain, notes: Path) -> None:
    brain.sync([notes])
    found: list[str] = []

    def ask() -> None:
        found.append(brain.search("quokka").hits[0].path)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["notes/a.md"] * 8


def test_a_folder_inside_a_source_is_looked_at_alone(brain: Brain, notes: Path) -> None:
    brain.sync([notes])
    (notes / "a.md").write_text("# Alpha\n\nChanged.\n")
    (notes / "deep/c.md").write_text("# Gamma\n")
    report = brain.sync([notes / "deep"])
    assert (report.added, report.changed) == (1, 0)
    (notes / "deep/c.md").unlink()
    assert brain.sync([notes / "deep/c.md"]).removed == 1
    assert brain.sync(["notes/a.md"]).changed == 1
    assert [source.name for source in brain.sources()] == ["notes"]


def test_sources_may_lie_in_each_other(brain: Brain, notes: Path, tmp_path: Path) -> None:
    brain.sync([notes / "deep"])
    brain.sync([notes])
    assert {source.name: source.documents for source in brain.sources()} == {
        "deep": 1,
        "notes": 1,
    }
    brain.remove_source("deep")
    assert brain.sync().added == 1
    assert brain.search("numbats", mode="keyword").hits[0].path == "notes/deep/b.md"


def test_two_folders_of_one_name_become_two_sources(brain: Brain, tmp_path: Path) -> None:
    for place in ("x", "y"):
        write_tree(tmp_path / place / "notes", {f"{place}.md": f"# {place}\n"})
    brain.sync([tmp_path / "x/notes", tmp_path / "y/notes"])
    assert {source.name for source in brain.sources()} == {"notes", "notes-2"}


def test_paths_that_mean_nothing_are_refused(brain: Brain, notes: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        brain.sync()
    with pytest.raises(UsageError):
        brain.sync([tmp_path / "none"])
    with pytest.raises(UsageError) as caught:
        brain.sync([notes / "a.md"])
    assert str(notes) in caught.value.hint
    with pytest.raises(UsageError):
        brain.sync(["\0"])
    assert not brain.settings.index.exists()


def test_a_source_that_leaves_its_configuration_leaves_the_index(
    tmp_path: Path, notes: Path
) -> None:
    wiki = write_tree(tmp_path / "wiki", {"w.md": "# Wiki\n"})
    config = tmp_path / "lancebrain.toml"
    both = f'[[sources]]\nroot = "{notes}"\n[[sources]]\nroot = "{wiki}"\n'
    config.write_text(both)

    def sync(file: Path, **options: bool) -> tuple[int, set[str]]:
        with lancebrain.open(
            tmp_path / "index", config_file=file, model="tests.stand_in:make"
        ) as brain:
            report = brain.sync(**options)
            return report.removed, {s.name for s in brain.status().sources if s.documents}

    assert sync(config) == (0, {"notes", "wiki"})
    # Another configuration that never had them says nothing about them.
    other = tmp_path / "other.toml"
    other.write_text(f'[[sources]]\nname = "deep"\nroot = "{notes / "deep"}"\n')
    assert sync(other)[1] == {"notes", "wiki", "deep"}
    assert sync(other, confirm_removals=True) == (0, {"notes", "wiki", "deep"})
    config.write_text(f'[[sources]]\nroot = "{notes}"\n')
    assert sync(config, dry_run=True) == (1, {"notes", "wiki", "deep"})
    assert sync(config) == (1, {"notes", "deep"})
    # What a configuration listed that is no more stays until someone says that it may go.
    config.unlink()
    assert sync(other) == (0, {"notes", "deep"})
    assert sync(other, confirm_removals=True)[1] == {"deep"}


def test_sources_go_where_the_configuration_is(tmp_path: Path, notes: Path) -> None:
    config = tmp_path / "lancebrain.toml"
    config.write_text("# mine\n")
    with lancebrain.open(tmp_path / "index", config_file=config) as brain:
        added = brain.add_source(notes, domain="life")
        assert added == Source("notes", notes, domain="life")
        assert "# mine" in config.read_text()
        assert 'domain = "life"' in config.read_text()
        with pytest.raises(ConfigError):
            brain.add_source(notes, name="again")
        with pytest.raises(ConfigError):
            brain.add_source(tmp_path / "none")
        brain.remove_source("notes")
        assert brain.sources() == ()
    given = lancebrain.open(tmp_path / "index", sources=[added])
    with pytest.raises(UsageError, match="the program"):
        given.remove_source("notes")


def test_show_adds_neighbours_and_knows_the_disk(brain: Brain, notes: Path, clock: Clock) -> None:
    sections = "".join(f"## Part {n}\n\n{'word ' * 120}\n\n" for n in range(6))
    (notes / "long.md").write_text("# Long\n\n" + sections)
    brain.sync([notes])
    whole = brain.show("notes/long.md")
    assert whole.text == (notes / "long.md").read_text()
    assert (whole.line_start, whole.rank_start, whole.rank_end) == (1, 0, whole.chunk_count - 1)
    one = brain.show("notes/long.md:15")
    assert one.line_start <= 15 <= one.line_end
    more = brain.show("notes/long.md:15", before=1, after=99)
    assert more.rank_start == one.rank_start - 1
    assert more.rank_end == whole.chunk_count - 1
    assert one.text in more.text
    (notes / "long.md").write_text("gone over\n")
    assert brain.show("notes/long.md", look=False).freshness == "changed"
    (notes / "long.md").unlink()
    assert brain.show("notes/long.md", look=False).freshness == "gone"


def test_a_note_whose_name_looks_like_a_reference_is_shown(brain: Brain, tmp_path: Path) -> None:
    odd = write_tree(tmp_path / "odd", {"a.md": "# A\n", "a.md:3": "", "C#1.md": "# Sharp\n"})
    (odd / "b:12.md").write_text("# Colon\n")
    brain.sync([odd])
    assert brain.show("odd/C#1.md").text == "# Sharp\n"
    assert brain.show("odd/b:12.md").text == "# Colon\n"
    assert brain.show("odd/b:12.md:1").text == "# Colon\n"


def test_a_filter_is_a_value(brain: Brain, notes: Path) -> None:
    brain.sync([notes])
    found = brain.search("quokka numbats", filter=Filter(path="notes/deep/"))
    assert {hit.path for hit in found.hits} == {"notes/deep/b.md"}


def test_problems_of_files_are_news_once_and_status_keeps_them(brain: Brain, notes: Path) -> None:
    (notes / "huge.md").write_bytes(b"x" * (65 * 2**20))
    assert [problem.path for problem in brain.sync([notes]).problems] == ["notes/huge.md"]
    brain.sync()
    assert brain.sync().problems == ()
    assert [problem.path for problem in brain.status().problems] == ["notes/huge.md"]


def test_a_model_that_was_given_is_held_to_its_promises(tmp_path: Path, notes: Path) -> None:
    from lancebrain.brain import open as open_brain

    class Lengthy(StandIn):
        def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return 2 * super().embed_passages(texts)

    given = {"embedder": Lengthy(), "sources": [Source("notes", notes)]}
    with open_brain(tmp_path / "a", **given) as brain, pytest.raises(EmbedderError, match="length"):
        brain.sync()
    given["embedder"] = object()
    with open_brain(tmp_path / "b", **given) as brain, pytest.raises(EmbedderError, match="lacks"):
        brain.sync()


def test_an_index_that_may_not_be_written_is_looked_at_and_told_to_lack_what_changed(
    brain: Brain, notes: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.sync([notes])
    version = brain.status().version
    brain.close()
    # Root may write anywhere, so that the system is asked in vain.
    monkeypatch.setattr("lancebrain.brain.access.os.access", lambda *_: False)
    clock.now += 3600
    assert brain.search("quokka").notes == ()
    write_tree(notes, {"c.md": "# Gamma\n\nWombats dig.\n", "a.md": "# Alpha\n\nIt sleeps.\n"})
    clock.now += 3600
    answer = brain.search("wombats")
    assert any("may not be written, and 2 changes" in note for note in answer.notes)
    assert brain.search("wombats").notes == answer.notes
    assert brain.status().version == version


def test_an_answer_says_that_it_lacks_changes_only_where_it_does(
    brain: Brain, notes: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.sync([notes])
    monkeypatch.setattr("lancebrain.brain.freshening._BUDGET_S", 0.0)
    clock.now += 3600
    (notes / "a.md").write_text("# Alpha\n\nThe quokka sleeps.\n")
    answer = brain.search("quokka sleeps")
    assert (answer.hits[0].snippet, answer.notes) == ("# Alpha The quokka sleeps.", ())
    monkeypatch.setattr("lancebrain.sync.run._GROUP_PATHS", 1)
    monkeypatch.setattr("lancebrain.sync.run._BATCH_ROWS", 1)
    clock.now += 3600
    write_tree(notes, {f"{name}.md": f"# {name}\n\nWombats.\n" for name in "cde"})
    assert any("Not all that changed" in note for note in brain.search("wombats").notes)


def test_where_an_answer_shows_that_it_is_not_as_on_disk_the_files_are_looked_at_again(
    brain: Brain, notes: Path, clock: Clock
) -> None:
    brain.sync([notes])
    assert brain.search("quokka").hits[0].path == "notes/a.md"
    clock.now += 2
    (notes / "a.md").write_text("# Alpha\n\nThe quokka sleeps now.\n")
    hit = brain.search("quokka").hits[0]  # of a hit whose file has changed
    assert (hit.freshness, "sleeps now" in hit.snippet) == ("fresh", True)
    (notes / "c.md").write_text("# Gamma\n\nA wombat digs.\n")
    clock.now += 2
    assert brain.search('"wombat digs"').hits[0].path == "notes/c.md"  # of what is nowhere
    (notes / "d.md").write_text("# Delta\n\nA bilby hops.\n")
    assert brain.search("bilby", mode="keyword").hits == ()  # looked at a moment ago
    clock.now += 2
    assert brain.search("bilby", mode="keyword").hits[0].path == "notes/d.md"


def test_an_index_that_becomes_writable_is_written_by_who_opened_it_before(
    brain: Brain, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.sync([notes])
    brain.close()
    (notes / "a.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr("lancebrain.brain.access.os.access", lambda *_: False)
        with pytest.raises(StoreError, match="reading only"):
            brain.sync()
    assert brain.sync().removed == 1


def test_a_look_that_took_long_is_not_made_twice_where_nothing_is_found(
    brain: Brain, notes: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain.sync([notes])
    looks = 0

    def look(*_: object, **__: object) -> tuple[str, ...]:
        nonlocal looks
        looks += 1
        clock.now += 5
        return ()

    monkeypatch.setattr("lancebrain.brain.freshening._look", look)
    clock.now += 3600
    assert brain.search("bilby", mode="keyword").hits == ()
    assert looks == 1
