"""The doctor: every kind of damage is named, and mended without a folder deleted by hand."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pytest

from lancebrain.brain import Brain
from lancebrain.brain import open as open_brain
from lancebrain.doctor import Diagnosis
from lancebrain.errors import DamagedError, IndexNotFoundError, StoreError
from tests.stand_in import StandIn
from tests.stored import refuse_by
from tests.trees import write_tree

NOTES = {
    "a.md": "# Alpha\n\nThe quokka smiles.\n",
    "b.md": "# Beta\n\nNumbats eat termites.\n",
    "sub/c.md": "---\ntags: [x]\n---\n# Gamma\n\nWombats dig.\n",
}


@pytest.fixture
def model() -> StandIn:
    return StandIn()


@pytest.fixture
def brain(tmp_path: Path, model: StandIn) -> Iterator[Brain]:
    notes = write_tree(tmp_path / "notes", NOTES)
    with open_brain(tmp_path / "index", embedder=model, look_interval_s=3600) as brain:
        brain.sync([notes])
        yield brain


def table_of(brain: Brain) -> Any:
    return lancedb.connect(brain.settings.index).open_table("chunks")


def codes(diagnosis: Diagnosis) -> list[str]:
    return [finding.code for finding in diagnosis.findings]


def assert_healthy(brain: Brain) -> None:
    diagnosis = brain.doctor(deep=True)
    assert codes(diagnosis) == []
    assert diagnosis.is_healthy
    assert brain.status().documents == len(NOTES)


def assert_mended(brain: Brain, code: str, *, deep: bool = False) -> Diagnosis:
    """The damage is found without a change, repaired on request, and gone afterwards."""
    version = brain.status().version
    found = brain.doctor(deep=deep)
    assert code in codes(found)
    assert not found.is_healthy
    assert brain.status().version == version
    mended = brain.doctor(deep=deep, fix=True)
    assert mended.is_healthy
    assert_healthy(brain)
    return found


def test_a_fresh_index_is_healthy(brain: Brain) -> None:
    assert_healthy(brain)


def test_without_an_index_there_is_nothing_to_examine(tmp_path: Path) -> None:
    with pytest.raises(IndexNotFoundError):
        open_brain(tmp_path / "none").doctor()


def test_rows_that_lost_their_vector_get_one(brain: Brain, model: StandIn) -> None:
    before = len(model.texts)
    rows = table_of(brain).search().where("path = 'notes/a.md' AND embedded").to_arrow()
    _overwrite(brain, _without_vectors(rows))
    assert_mended(brain, "vectors-missing")
    assert len(model.texts) == before + rows.num_rows


@pytest.mark.parametrize("value", [float("nan"), 0.0, 7.0])
def test_vectors_that_are_none_are_embedded_again(brain: Brain, value: float) -> None:
    rows = table_of(brain).search().where("path = 'notes/b.md' AND embedded").to_arrow()
    dim = rows.schema.field("vector").type.list_size
    bad = pa.FixedSizeListArray.from_arrays(
        pa.array(np.full(rows.num_rows * dim, value, dtype=np.float32)), dim
    )
    _overwrite(brain, rows.set_column(rows.schema.get_field_index("vector"), "vector", bad))
    found = assert_mended(brain, "vectors-invalid")
    assert found.findings[0].paths == ("notes/b.md",)
    assert brain.search("numbats", mode="vector").hits[0].path == "notes/b.md"


@pytest.mark.parametrize("where", ["path = 'notes/a.md'", "chunk_index = -1", "true"])
def test_rows_that_are_there_twice_are_there_once_afterwards(
    brain: Brain, model: StandIn, where: str
) -> None:
    table = table_of(brain)
    table.add(table.search().where(where).to_arrow())
    embedded = len(model.texts)
    assert_mended(brain, "duplicate-keys")
    assert len(model.texts) == embedded


def test_chunks_without_a_document_are_read_again(brain: Brain) -> None:
    table_of(brain).delete("path = 'notes/a.md' AND chunk_index = -1")
    assert_mended(brain, "orphans")


def test_chunks_without_a_document_and_without_a_vector_keep_no_sync_from_ending(
    brain: Brain, tmp_path: Path
) -> None:
    rows = table_of(brain).search().where("path = 'notes/a.md' AND embedded").to_arrow()
    _overwrite(brain, _without_vectors(rows))
    table_of(brain).delete("path = 'notes/a.md' AND chunk_index = -1")
    (tmp_path / "notes/a.md").unlink()
    assert brain.sync().embedded == 0
    assert "orphans" in codes(brain.doctor(fix=True))
    assert codes(brain.doctor(deep=True)) == []


def test_chunks_of_a_document_that_is_nowhere_go(brain: Brain, tmp_path: Path) -> None:
    table_of(brain).delete("path = 'notes/a.md' AND chunk_index = -1")
    (tmp_path / "notes/a.md").unlink()
    assert "orphans" in codes(brain.doctor(fix=True))
    assert codes(brain.doctor(deep=True)) == []
    assert brain.search("quokka", mode="keyword").hits == ()


def test_what_cannot_be_read_again_is_not_taken_out(brain: Brain, tmp_path: Path) -> None:
    rows = table_of(brain).search().where("path = 'notes/a.md'").to_arrow()
    table_of(brain).add(rows)
    (tmp_path / "notes").rename(tmp_path / "away")
    assert "duplicate-keys" in codes(brain.doctor(fix=True))
    assert brain.search("quokka", mode="keyword").hits
    (tmp_path / "away").rename(tmp_path / "notes")
    assert_mended(brain, "duplicate-keys")


def test_an_index_that_is_held_is_not_compared_with_the_files(brain: Brain, tmp_path: Path) -> None:
    note = tmp_path / "notes/a.md"
    before, version = note.stat(), brain.status().version
    note.write_text(NOTES["a.md"].replace("smiles", "frowns"))
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    brain.sync()
    held = brain.rollback(str(version)).version
    assert codes(brain.doctor(deep=True, fix=True)) == ["pinned"]
    assert brain.status().version == held
    brain.resume()
    assert_healthy(brain)


def test_changes_on_disk_are_taken_in(brain: Brain, tmp_path: Path) -> None:
    (tmp_path / "notes/a.md").write_text("# Alpha\n\nThe quokka sleeps.\n")
    assert_mended(brain, "behind-disk")
    assert brain.search("sleeps", mode="keyword").hits


def test_a_text_that_is_not_the_files_is_found_by_the_deep_check(brain: Brain) -> None:
    table_of(brain).update(where="path = 'notes/a.md' AND embedded", values={"text": "Lies."})
    assert codes(brain.doctor()) == []
    found = assert_mended(brain, "rows-differ", deep=True)
    assert found.findings[0].paths == ("notes/a.md",)
    assert brain.show("notes/a.md").text == NOTES["a.md"]


def test_a_file_changed_behind_its_times_is_found_by_the_deep_check(
    brain: Brain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "notes/a.md"
    before = file.stat()
    file.write_text(NOTES["a.md"].replace("smiles", "frowns"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    # The row is made to agree with the file's times, as on a system that keeps no change time.
    from dataclasses import replace

    from lancebrain.store import RowBatch

    store = brain._access.store()
    state = store.snapshot().documents(["notes/a.md"])["notes/a.md"]
    batch = RowBatch()
    batch.document(
        replace(state, ctime_ns=file.stat().st_ctime_ns, looked_at_ns=state.looked_at_ns + 10**12)
    )
    with store.lock(10):
        store.commit(batch, reason="test", counts={}, started=0.0)
    assert codes(brain.doctor()) == []
    assert_mended(brain, "rows-differ", deep=True)
    assert "frowns" in brain.show("notes/a.md").text


def test_a_missing_full_text_index_is_built(brain: Brain) -> None:
    table = table_of(brain)
    table.drop_index(next(i.name for i in table.list_indices() if i.columns == ["text"]))
    assert_mended(brain, "index-behind")
    assert brain.search("quokka", mode="keyword").hits


@pytest.mark.parametrize("content", [b"", b"broken", None])
def test_indices_that_are_damaged_are_built_anew(brain: Brain, content: bytes | None) -> None:
    brain.close()
    for file in (brain.settings.index / "chunks.lance/_indices").rglob("*.lance"):
        file.unlink() if content is None else file.write_bytes(content)
    assert "index-damaged" in codes(brain.doctor())
    assert brain.doctor(fix=True).is_healthy
    brain.close()
    assert_healthy(brain)
    assert brain.search("quokka", mode="keyword").hits


@pytest.mark.parametrize("column", ["path", "chunk_index", "chunk_hash"])
def test_a_damaged_index_on_a_key_is_built_anew_and_the_table_stays(
    brain: Brain, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lancebrain.store.indices._KEY_INDEX_ROWS", 0)
    store = brain._access.store()
    with store.lock(1):
        store.ensure_indices()
    brain.checkpoint("mine")
    table = table_of(brain)
    (index,) = [one for one in table.to_lance().describe_indices() if one.field_names == [column]]
    brain.close()
    for segment in index.segments:
        folder = brain.settings.index / "chunks.lance" / "_indices" / segment.uuid
        (folder / "page_data.lance").unlink()
    assert codes(brain.doctor()) == ["index-damaged"]
    assert brain.doctor(fix=True).is_healthy
    brain.close()
    assert_healthy(brain)
    assert [one.name for one in brain.checkpoints()] == ["mine"]


@pytest.mark.parametrize(
    "error", [OSError(errno.ENOSPC, "No space left on device"), PermissionError(errno.EACCES, "No")]
)
def test_a_disk_that_is_full_is_no_reason_to_move_the_table_aside(
    brain: Brain, monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    def refuse(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("lancebrain.store.handles.Handles.newest", refuse)
        with pytest.raises(StoreError):
            brain.doctor(fix=True)
    assert_healthy(brain)
    assert not list(brain.settings.index.glob("*.damaged-*"))


@pytest.mark.parametrize("pragma", ["max_page_count = 1", "query_only = ON"])
def test_a_vector_cache_that_cannot_be_written_is_no_reason_to_move_the_table_aside(
    brain: Brain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pragma: str
) -> None:
    sections = (f"## Night {n}\n\n{f'The quokka sleeps {n}. ' * 60}\n\n" for n in range(200))
    (tmp_path / "notes/a.md").write_text("# Alpha\n\n" + "".join(sections))
    brain.sync()
    brain.checkpoint("mine")
    history = brain.history()
    brain.close()
    write_tree(tmp_path / "notes", NOTES)  # what makes vectors of 200 chunks go into the cache
    with monkeypatch.context() as patch:
        refuse_by(patch, pragma)
        with pytest.raises(StoreError) as caught:
            brain.doctor(fix=True)
        assert not isinstance(caught.value, DamagedError)
    assert not list(brain.settings.index.glob("*.damaged-*"))
    assert [one.name for one in brain.checkpoints()] == ["mine"]
    assert brain.history()[-len(history) :] == history
    brain.doctor(fix=True)
    assert_healthy(brain)


def test_what_is_damaged_beside_the_table_is_no_reason_to_move_it_aside(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_: object, **__: object) -> None:
        raise DamagedError("Something that nobody thought of.")

    with monkeypatch.context() as patch:
        patch.setattr("lancebrain.sync.Engine.sync", damaged)
        with pytest.raises(DamagedError):
            brain.doctor(fix=True)
    assert not list(brain.settings.index.glob("*.damaged-*"))
    assert_healthy(brain)


def test_a_damaged_table_stays_where_no_new_one_can_be_made(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage_data_files(brain)
    before = set(brain.settings.index.iterdir())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("lancebrain.store.indices.build_full_text", refuse)
        with pytest.raises(StoreError, match="No room left"):
            brain.doctor(fix=True)
    assert set(brain.settings.index.iterdir()) == before
    assert brain.doctor(fix=True).is_healthy


def test_a_table_that_cannot_be_read_goes_back_to_the_newest_version_that_can(
    brain: Brain, model: StandIn, tmp_path: Path
) -> None:
    write_tree(tmp_path / "notes", {"a.md": "# Alpha\n\nThe quokka sleeps.\n"})
    brain.sync()
    newest = max((brain.settings.index / "chunks.lance/data").iterdir(), key=_made)
    write_tree(tmp_path / "notes", {"b.md": "# Beta\n\nNumbats sleep.\n"})
    last = brain.sync().version
    brain.close()
    newest.write_bytes(b"\xff" * newest.stat().st_size)
    model.reset()
    assert codes(brain.doctor()) == ["damaged"]
    assert brain.doctor(fix=True).is_healthy
    assert_healthy(brain)
    assert [record.reason for record in brain.history() if record.version > last][-1] == "repair"
    assert len(model.texts) == 2
    assert not list(brain.settings.index.glob("*.damaged-*"))


def _made(file: Path) -> int:
    return file.stat().st_mtime_ns


def damage_data_files(brain: Brain) -> None:
    for file in (brain.settings.index / "chunks.lance/data").glob("*.lance"):
        content = file.read_bytes()
        file.write_bytes(b"\xff" * (len(content) - 16) + content[-16:])
    brain.close()


def test_a_data_file_that_cannot_be_read_leads_to_a_new_table(brain: Brain) -> None:
    damage_data_files(brain)
    found = brain.doctor()
    assert codes(found) == ["damaged"]
    assert str(brain.settings.index) in found.findings[0].message
    assert brain.doctor(fix=True).is_healthy
    assert_healthy(brain)
    assert list(brain.settings.index.glob("*.damaged-*"))


def test_a_new_table_is_not_held_at_a_version_of_the_damaged_one(brain: Brain) -> None:
    brain.sync()
    brain.rollback(str(brain.status().version))
    damage_data_files(brain)
    assert brain.doctor(fix=True).is_healthy
    assert brain.status().pinned is None
    assert_healthy(brain)


def test_versions_that_a_power_cut_tore_are_dropped_and_synced_again(
    brain: Brain, tmp_path: Path
) -> None:
    (tmp_path / "notes/a.md").write_text("# Alpha\n\nThe quokka sleeps.\n")
    brain.sync()
    newest = min((brain.settings.index / "chunks.lance/_versions").glob("*.manifest"))
    newest.write_bytes(b"")
    brain.close()
    found = brain.doctor()
    assert codes(found) == ["torn-versions", "behind-disk"]
    assert brain.doctor(fix=True).is_healthy
    brain.close()
    assert_healthy(brain)


def test_a_source_that_is_away_is_told_and_left_alone(brain: Brain, tmp_path: Path) -> None:
    (tmp_path / "notes").rename(tmp_path / "away")
    mended = brain.doctor(fix=True)
    assert codes(mended) == ["source-missing"]
    assert not mended.findings[0].fixable
    assert brain.status().documents == len(NOTES)
    (tmp_path / "away").rename(tmp_path / "notes")
    assert_healthy(brain)


def test_a_lock_that_another_holds_is_told(brain: Brain, monkeypatch: pytest.MonkeyPatch) -> None:
    from filelock import FileLock

    monkeypatch.setattr("lancebrain.doctor.checks._LOCK_TIMEOUT_S", 0.05)
    with FileLock(brain.settings.index / "lock"):
        assert "locked" in codes(brain.doctor())
    assert_healthy(brain)


def test_several_kinds_of_damage_are_mended_at_once(brain: Brain, tmp_path: Path) -> None:
    table = table_of(brain)
    table.add(table.search().where("path = 'notes/a.md'").to_arrow())
    table.delete("path = 'notes/b.md' AND chunk_index = -1")
    (tmp_path / "notes/sub/c.md").write_text("# Gamma\n\nWombats sleep.\n")
    assert {"duplicate-keys", "orphans", "behind-disk"} <= set(codes(brain.doctor()))
    assert brain.doctor(fix=True).is_healthy
    assert_healthy(brain)


def _without_vectors(rows: pa.Table) -> pa.Table:
    vector = rows.schema.field("vector")
    rows = rows.set_column(
        rows.schema.get_field_index("vector"), vector, pa.nulls(rows.num_rows, vector.type)
    )
    embedded = pa.array([False] * rows.num_rows)
    return rows.set_column(rows.schema.get_field_index("embedded"), "embedded", embedded)


def _overwrite(brain: Brain, rows: pa.Table) -> None:
    table = table_of(brain)
    merge = table.merge_insert(["path", "chunk_index"]).when_matched_update_all()
    merge.execute(rows.select(table.schema.names), on_bad_vectors="fill", fill_value=float("nan"))
