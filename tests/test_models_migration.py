"""Changing the model of an index: old answers until the new vectors are in, then one switch."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from lancebrain.errors import EmbedderError, IndexMismatchError, ModelUnavailableError, UsageError
from lancebrain.store import PlannedChange, Store
from lancebrain.sync import Engine, embedding
from lancebrain.sync.migration import give_up_change, plan_change, switch, switch_now
from lancebrain.types import Progress
from lancebrain.versions import rollback
from tests.health import assert_healthy
from tests.indexes import Notes, codes
from tests.stand_in import StandIn

MANY = 40


class Changing:
    """An index with notes, and the model that it is to have."""

    def __init__(self, folder: Path, notes: int = MANY) -> None:
        self.notes = Notes(folder)
        self.notes.write({f"{n}.md": f"# Note {n}\n\nWord{n} of it.\n" for n in range(notes)})
        self.notes.synced()
        self.old = StandIn()
        self.new = StandIn(dim=128, revision="2")
        self.store = self.notes.store
        self.loaded = 0

    @property
    def planned(self) -> PlannedChange:
        at = datetime(2026, 3, 1, tzinfo=UTC)
        return PlannedChange("other", self.new.fingerprint, self.new.dim, at)

    def plan(self) -> None:
        plan_change(self.store, self.planned, lock_timeout_s=5)

    def engine(self, store: Store | None = None) -> Engine:
        """An engine that, like a process of its own, knows both models."""

        def planned(wanted: PlannedChange) -> StandIn:
            self.loaded += 1
            return self.new

        store = store or self.store
        settings = self.notes.settings.model_copy(update={"model": "auto"})

        def of_index() -> StandIn:
            both = {model.fingerprint: model for model in (self.old, self.new)}
            return both[store.info.fingerprint]

        return Engine(store, settings, of_index, planned=planned)

    def assert_has(self, model: StandIn) -> None:
        assert self.store.snapshot().info.fingerprint == model.fingerprint
        fresh = StandIn(dim=model.dim, revision=model.fingerprint.split("/")[1])
        assert_healthy(self.store, self.notes.settings, fresh)


@pytest.fixture
def changing(tmp_path: Path) -> Changing:
    return Changing(tmp_path)


def test_a_change_gives_each_text_to_the_new_model_once_and_reads_no_file(
    changing: Changing,
) -> None:
    changing.plan()
    for file in changing.notes.root.iterdir():
        file.chmod(0)
    told: list[Progress] = []
    migration = changing.engine().migrate(progress=told.append)
    for file in changing.notes.root.iterdir():
        file.chmod(0o644)
    assert migration.changed is not None
    assert (migration.changed.embedded, migration.changed.pending) == (MANY, 0)
    assert sorted(changing.new.texts) == sorted(set(changing.new.texts))
    assert (migration.embedded, len(changing.new.texts)) == (MANY, MANY)
    assert told[-1].chunks == told[-1].chunks_total == MANY
    assert (changing.store.plan.read(), changing.loaded) == (None, 1)
    assert not list(changing.store.folder.glob("next-vectors*"))
    changing.assert_has(changing.new)


def test_until_the_switch_the_index_is_as_it_was(changing: Changing) -> None:
    version = changing.store.snapshot().version
    changing.plan()
    steps = changing.engine().migration_steps()
    for _ in range(3):
        next(steps)
        assert changing.store.snapshot().version == version
        assert changing.store.info.fingerprint == changing.old.fingerprint
    steps.close()


def test_what_was_given_before_a_stop_is_not_given_again(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MAX_PART", 8)
    changing.plan()
    for _ in range(3):
        steps = changing.engine(Store.open(changing.store.folder)).migration_steps()
        next(steps)
        next(steps)
        steps.close()
    assert len(changing.new.texts) == 3  # the first part is of one text
    changing.engine().migrate()
    assert len(changing.new.texts) == len(set(changing.new.texts)) == MANY
    changing.assert_has(changing.new)


def test_what_is_written_meanwhile_is_in_the_new_index_too(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MAX_PART", 8)
    changing.plan()
    engine = changing.engine()
    edits = iter(
        [{"0.md": "# Edited\n"}, {"new.md": "# New\n"}, {"1.md": "# Note 2\n\nWord2 of it.\n"}]
    )
    for _ in engine.migration_steps():
        edit = next(edits, None)
        if edit is not None:
            changing.notes.write(edit)
            changing.engine().sync()
    assert changing.store.plan.read() is None
    changing.assert_has(changing.new)
    assert len(changing.new.texts) == len(set(changing.new.texts))


def test_a_text_written_between_the_last_vector_and_the_switch_is_not_left_out(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing.plan()
    engine = changing.engine()
    real = Store.lock
    wrote = []

    def late(self: Store, timeout_s: float) -> object:
        if not wrote and len(changing.new.texts) == MANY:
            wrote.append(True)
            changing.notes.write({"late.md": "# Late\n"})
            changing.engine(Store.open(self.folder)).sync()
        return real(self, timeout_s)

    monkeypatch.setattr(Store, "lock", late)
    engine.migrate()
    assert wrote
    changing.assert_has(changing.new)


def test_going_back_to_the_old_model_embeds_nothing(changing: Changing) -> None:
    changing.plan()
    changing.engine().migrate()
    changing.old.reset()
    at = datetime.now(UTC)
    back = PlannedChange("tests.stand_in:make", changing.old.fingerprint, changing.old.dim, at)
    plan_change(changing.store, back, lock_timeout_s=5)
    changing.new = changing.old
    changing.engine().migrate()
    assert changing.old.texts == []
    changing.assert_has(changing.old)


def test_rolling_back_undoes_the_change_and_the_index_works_with_its_model(
    changing: Changing,
) -> None:
    before = changing.store.snapshot().version
    changing.plan()
    changing.engine().migrate()
    checkpoint = {v: name for name, v in changing.store.tags().items()}[before]
    assert checkpoint.startswith("before-model-")
    done = rollback(changing.store, "latest~1", now=datetime.now(UTC), lock_timeout_s=5)
    assert done.restored == before
    changing.store.hold.clear()
    changing.old.reset()
    changing.notes.write({"after.md": "# After\n"})
    assert changing.engine().sync().embedded == 1
    assert len(changing.old.texts) == 1
    changing.assert_has(changing.old)


def test_an_index_that_is_held_is_not_changed(changing: Changing) -> None:
    changing.plan()
    changing.store.hold.set("old", changing.store.version, datetime.now(UTC))
    assert changing.engine().migrate().changed is None
    assert changing.new.texts == []
    with pytest.raises(UsageError, match="pinned at old"):
        changing.plan()


def test_giving_up_keeps_what_was_given_for_another_time(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MAX_PART", 8)
    changing.plan()
    steps = changing.engine().migration_steps()
    for _ in range(3):
        next(steps)
    steps.close()
    assert give_up_change(changing.store, lock_timeout_s=5) == changing.planned
    assert changing.store.plan.read() is None
    changing.engine().migrate()
    changing.assert_has(changing.old)
    changing.plan()
    changing.engine().migrate()
    assert len(changing.new.texts) == len(set(changing.new.texts)) == MANY


def test_a_text_that_the_new_model_fails_on_does_not_keep_the_others(changing: Changing) -> None:
    changing.notes.write({"bad.md": "# Poison\n"})
    changing.engine().sync()
    changing.new.fail_on = "Poison"
    changing.plan()
    changed = changing.engine().migrate().changed
    assert changed is not None
    assert (changed.embedded, changed.pending) == (MANY, 1)
    problems = changing.engine().sync().problems
    assert [(one.path, one.code) for one in problems] == [("notes/bad.md", "text-refused")]
    changing.new.fail_on = None
    changing.engine().sync()
    changing.assert_has(changing.new)


def test_what_is_switched_at_once_keeps_the_old_vectors_too(changing: Changing) -> None:
    fingerprint = changing.old.fingerprint
    hashes = changing.store.snapshot().chunk_hashes()
    switch_now(changing.store, changing.planned, lock_timeout_s=5)
    assert changing.store.vector_cache.hashes(fingerprint) >= hashes


def test_a_model_that_breaks_on_the_way_is_not_switched_to(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MAX_PART", 8)
    changing.plan()
    steps = changing.engine().migration_steps()
    for _ in range(3):
        next(steps)
    changing.new.fail_on = ""
    with pytest.raises(EmbedderError, match="told to fail"):
        for _ in steps:
            pass
    assert changing.store.plan.read() == changing.planned
    changing.assert_has(changing.old)
    changing.new.fail_on = None
    changing.engine().migrate()
    changing.assert_has(changing.new)


def test_a_model_that_cannot_be_had_leaves_the_plan_for_later(changing: Changing) -> None:
    changing.plan()

    def down(_: PlannedChange) -> StandIn:
        raise ModelUnavailableError("The server is down.")

    settings = changing.notes.settings.model_copy(update={"model": "auto"})
    engine = Engine(changing.store, settings, lambda: changing.old, planned=down)
    with pytest.raises(ModelUnavailableError):
        engine.migrate()
    assert changing.store.plan.read() == changing.planned
    changing.assert_has(changing.old)
    changing.engine().migrate()
    changing.assert_has(changing.new)


def test_a_model_that_became_another_meanwhile_is_not_mixed_in(changing: Changing) -> None:
    changing.plan()
    changing.new = StandIn(dim=128, revision="3")
    with pytest.raises(EmbedderError, match="not what it was"):
        changing.engine().migrate()
    changing.assert_has(changing.old)


def test_two_processes_share_the_work_without_doing_any_twice(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_MAX_PART", 8)
    changing.plan()
    steps = changing.engine().migration_steps()
    next(steps)
    next(steps)
    other = changing.engine(Store.open(changing.store.folder))
    assert list(other.migration_steps()) == []  # someone is at it
    waiting = threading.Thread(target=other.migrate)
    waiting.start()
    for _ in steps:
        pass
    waiting.join(20)
    assert not waiting.is_alive()
    assert len(changing.new.texts) == MANY
    changing.assert_has(changing.new)


def test_one_that_was_killed_right_after_the_switch_is_tidied_up(
    changing: Changing, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lancebrain.sync import migration

    class Killed(BaseException):
        pass

    def killed(*_: object) -> None:
        raise Killed

    changing.plan()
    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(migration, "_tidy", killed)
        changing.engine().migrate()
    assert changing.store.plan.read() is not None
    changing.engine().migrate()
    assert changing.store.plan.read() is None
    assert len(changing.new.texts) == MANY
    changing.assert_has(changing.new)


def test_at_once_means_words_alone_for_what_has_no_vector_yet(changing: Changing) -> None:
    changing.plan()
    with changing.store.lock(5):
        switch(changing.store, changing.planned)
    assert changing.store.snapshot().pending() == MANY
    assert changing.engine().fill()[0] == MANY
    changing.assert_has(changing.new)


def test_a_sync_says_what_to_do_when_another_model_is_configured(changing: Changing) -> None:
    changing.notes.with_settings(model="usem3")
    with pytest.raises(IndexMismatchError, match="lancebrain model use usem3"):
        changing.notes.sync()
    changing.notes.with_settings(model="other")
    changing.plan()
    assert changing.notes.sync().problems == ()  # it is on its way there


def test_a_sync_takes_texts_in_while_the_model_cannot_be_had(changing: Changing) -> None:
    def down() -> StandIn:
        raise ModelUnavailableError("The server is down.", hint="Start it.")

    changing.notes.write({"new.md": "# New\n", "0.md": "# Changed\n"})
    engine = Engine(changing.store, changing.notes.settings, down)
    report = engine.sync()
    assert (report.added, report.changed, report.embedded) == (1, 1, 0)
    assert codes(report.problems) == {("", "model-unavailable")}
    assert "Start it." in report.problems[0].message
    assert changing.store.snapshot().pending() == 2
    assert changing.notes.synced().embedded == 2


def test_old_vectors_within_the_budget_are_kept_and_no_more(changing: Changing) -> None:
    changing.store.vector_cache.budget_bytes = 4 * changing.old.dim * 10
    changing.plan()
    changing.engine().migrate()
    kept = changing.store.vector_cache.hashes(changing.old.fingerprint)
    assert 0 < len(kept) <= 10
    found = changing.store.vector_cache.get(changing.old.fingerprint, sorted(kept))
    assert all(np.isclose(np.linalg.norm(vector), 1) for vector in found.values())
