"""What crashes, full disks and read-only folders do to an index, and what is said of it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lancebrain.errors import IndexLockedError, IndexNotFoundError, LancebrainError, StoreError
from lancebrain.store import Checkpoints, Store
from lancebrain.store.failures import as_store_error, translated
from lancebrain.store.lock import IndexLock
from lancebrain.store.manifests import manifest_file, newest_manifests
from lancebrain.types import Filter
from tests.stored import NOW, make_store, put


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path)


def manifest(store: Store, version: int) -> Path:
    return manifest_file(store.folder / "chunks.lance", version)


def newest_data_file(store: Store) -> Path:
    return max(
        (store.folder / "chunks.lance" / "data").iterdir(), key=lambda f: f.stat().st_mtime_ns
    )


@pytest.mark.parametrize("kept_bytes", [0, 1, 0.5])
def test_a_torn_newest_manifest_is_dropped_and_the_version_before_opens(
    store: Store, kept_bytes: float
) -> None:
    whole = put(store, {"n/a.md": ["alpha"]})
    torn = put(store, {"n/b.md": ["beta"]})
    content = manifest(store, torn).read_bytes()
    kept = kept_bytes if kept_bytes != 0.5 else len(content) // 2
    manifest(store, torn).write_bytes(content[: int(kept)])
    opened = Store.open(store.folder)
    assert opened.recovered.versions == (torn,)
    assert opened.snapshot().version == whole
    assert opened.snapshot().stats().keys() == {"n/a.md"}
    assert torn not in [record.version for record in opened.commits.read()]
    assert put(opened, {"n/c.md": ["gamma"]}) == torn
    assert opened.snapshot().stats().keys() == {"n/a.md", "n/c.md"}
    assert [record.version for record in opened.commits.read()] == [whole, torn]
    assert not Store.open(store.folder).recovered


def test_a_checkpoint_of_a_torn_version_goes_with_it_and_history_tells(store: Store) -> None:
    whole = put(store, {"n/a.md": ["alpha"]})
    torn = [put(store, {f"n/{name}.md": [name]}) for name in "bc"]
    with store.lock(1):
        for name, version in {"kept": whole, "last": torn[1], "lost.1": torn[0]}.items():
            Checkpoints(store).create(name, version, at=NOW)
    for version in torn:
        manifest(store, version).write_bytes(b"")
    opened = Store.open(store.folder)
    assert put(opened, {"n/d.md": ["delta"]}) == torn[0]
    assert [(one.name, one.version) for one in Checkpoints(opened).all()] == [("kept", whole)]
    (note,) = [record.note for record in opened.commits.read() if record.note]
    assert f"tore versions {torn[0]}, {torn[1]} and checkpoints last, lost.1 " in note
    with store.lock(1):
        Checkpoints(store).create("last", torn[0], at=NOW)  # the name is free again


def test_a_recovery_that_is_cut_short_is_done_again_and_no_name_passes_to_another_version(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, {"n/a.md": ["alpha"]})
    torn = put(store, {"n/b.md": ["beta"]})
    with store.lock(1):
        Checkpoints(store).create("mine", torn, at=NOW)
    manifest(store, torn).write_bytes(b"")
    for step in ("lancebrain.store.commit_log.CommitLog.append", "pathlib.Path.unlink"):

        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(step, refuse)
            with pytest.raises(StoreError):
                Store.open(store.folder)
    opened = Store.open(store.folder)
    assert opened.recovered.versions == (torn,)
    assert put(opened, {"n/c.md": ["gamma"]}) == torn
    assert opened.tags() == {}
    (note,) = [record.note for record in opened.commits.read() if record.note]
    assert note.count("tore") == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"version": "?"}'])
def test_a_torn_checkpoint_is_dropped_and_the_others_stay(store: Store, content: bytes) -> None:
    whole = put(store, {"n/a.md": ["alpha"]})
    with store.lock(1):
        for name in ("torn", "kept"):
            Checkpoints(store).create(name, whole, at=NOW)
    (store.folder / "chunks.lance" / "_refs" / "tags" / "torn.json").write_bytes(content)
    opened = Store.open(store.folder)
    assert opened.recovered.checkpoints == ("torn",)
    assert opened.tags() == {"kept": whole}
    assert [record.note for record in opened.commits.read() if "checkpoint torn" in record.note]
    assert not Store.open(store.folder).recovered


def test_several_torn_manifests_are_dropped_down_to_a_whole_one(store: Store) -> None:
    whole = put(store, {"n/a.md": ["alpha"]})
    torn = [put(store, {f"n/{n}.md": ["beta"]}) for n in range(2)]
    for version in torn:
        manifest(store, version).write_bytes(b"")
    assert Store.open(store.folder).snapshot().version == whole


def test_where_no_version_is_whole_nothing_is_touched_and_it_is_told(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    files = newest_manifests(store.folder / "chunks.lance")
    for file in files:
        file.write_bytes(b"")
    with pytest.raises(StoreError, match="damaged") as caught:
        Store.open(store.folder)
    assert str(store.folder) in str(caught.value)
    assert "doctor" in caught.value.hint
    assert newest_manifests(store.folder / "chunks.lance") == files


@pytest.mark.parametrize("kept_bytes", [0, 100])
def test_a_version_whose_data_was_not_written_out_is_dropped(store: Store, kept_bytes: int) -> None:
    whole = put(store, {"n/a.md": ["alpha"]})
    put(store, {"n/b.md": ["beta"]})
    data = newest_data_file(store)
    data.write_bytes(data.read_bytes()[:kept_bytes])
    opened = Store.open(store.folder)
    assert opened.snapshot().version == whole
    assert [c.path for c in opened.snapshot().keyword_candidates("alpha beta", Filter(), 5)] == [
        "n/a.md"
    ]


def test_damage_to_an_old_file_drops_no_version(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    old = newest_data_file(store)
    versions = [put(store, {f"n/{n}.md": ["beta"]}) for n in range(3)]
    old.write_bytes(old.read_bytes()[:100])
    opened = Store.open(store.folder)
    assert not opened.recovered
    assert opened.snapshot().version == versions[-1]
    with pytest.raises(StoreError, match="damaged"):
        opened.snapshot().chunks(["n/a.md"])


def test_a_version_whose_data_is_missing_is_dropped(store: Store) -> None:
    whole = put(store, {"n/a.md": ["alpha"]})
    put(store, {"n/b.md": ["beta"]})
    newest_data_file(store).unlink()
    assert Store.open(store.folder).snapshot().version == whole


@pytest.mark.parametrize("kept", [0, 0.5])
def test_a_version_whose_deletions_were_not_written_out_is_dropped(
    store: Store, kept: float
) -> None:
    put(store, {f"n/{n}.md": ["alpha"] for n in range(30)})
    whole = put(store, {"n/b.md": ["beta"]})
    torn = put(store, {"n/3.md": ["alpha changed"]})
    deletions = (store.folder / "chunks.lance" / "_deletions").iterdir()
    newest = max(deletions, key=lambda file: file.stat().st_mtime_ns)
    content = newest.read_bytes()
    newest.write_bytes(content[: int(len(content) * kept)])
    opened = Store.open(store.folder)
    assert (opened.recovered.versions, opened.snapshot().version) == ((torn,), whole)
    assert len(opened.snapshot().keyword_candidates("alpha", Filter(), 50)) == 30


@pytest.mark.parametrize(
    "stray",
    [
        "data/Copy of {}",
        "_deletions/desktop.ini",
        "_deletions/1-2-three.arrow",
        "_indices/desktop.ini",
        "_versions/desktop.ini",
    ],
)
def test_what_others_put_beside_the_files_of_a_table_is_passed_over(
    store: Store, stray: str
) -> None:
    put(store, {"n/a.md": ["alpha"]})
    newest = put(store, {"n/a.md": ["alpha beta"]})
    data = newest_data_file(store)
    file = store.folder / "chunks.lance" / stray.format(data.name)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(data.read_bytes())
    opened = Store.open(store.folder)
    assert (opened.recovered.versions, opened.snapshot().version) == ((), newest)
    with opened.lock(1):
        opened.maintain(keep_versions=timedelta(days=1))
    assert Store.open(store.folder).snapshot().stats().keys() == {"n/a.md"}


def test_a_version_whose_full_text_index_was_not_written_out_is_dropped(store: Store) -> None:
    put(store, {f"n/{n}.md": ["alpha beta"] for n in range(20)})
    put(store, {"n/last.md": ["alpha"]})
    with store.lock(1):
        store.maintain(keep_versions=timedelta(days=1))
    torn = store.snapshot().version
    parts = (store.folder / "chunks.lance" / "_indices").rglob("*.lance")
    max(parts, key=lambda part: part.stat().st_mtime_ns).write_bytes(b"")
    opened = Store.open(store.folder)
    assert opened.recovered.versions == (torn,)
    assert len(opened.snapshot().keyword_candidates("alpha", Filter(), 50)) == 21


def test_a_torn_version_is_dropped_by_one_process_at_a_time(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lancebrain.store.opened._SETTLE_TIMEOUT_S", 0.05)
    put(store, {"n/a.md": ["alpha"]})
    torn = put(store, {"n/b.md": ["beta"]})
    manifest(store, torn).write_bytes(b"")
    with IndexLock(store.folder).held(0), pytest.raises(IndexLockedError):
        Store.open(store.folder)
    assert Store.open(store.folder).recovered.versions == (torn,)


def test_what_a_write_that_failed_left_behind_makes_no_later_version_torn(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"], "n/b.md": ["beta"]})
    put(store, {"n/a.md": ["gamma"]})
    table = store.folder / "chunks.lance"
    first = store.snapshot().version - 1
    assert len(list((table / "_deletions").iterdir())) == 1
    # As a full disk leaves it, when the rows of a version were about to be deleted.
    (table / "_deletions" / f"1-{first + 1}-123456789.arrow").write_bytes(b"")
    with store.lock(1):
        version = store.restore(first)
    opened = Store.open(store.folder)
    assert not opened.recovered
    assert opened.snapshot().version == version


def test_leftovers_of_a_killed_writer_change_nothing_and_go_with_maintenance(store: Store) -> None:
    version = put(store, {"n/a.md": ["alpha"]})
    table = store.folder / "chunks.lance"
    leftovers = [table / "data" / f"{'0' * 40}.lance", table / "_versions" / ".tmp_manifest_1"]
    for file in leftovers:
        file.write_bytes(b"half")
    opened = Store.open(store.folder)
    assert not opened.recovered
    assert opened.snapshot().version == version
    with opened.lock(1):
        opened.maintain(keep_versions=timedelta(days=1))
    assert not leftovers[0].exists()
    assert opened.snapshot().stats().keys() == {"n/a.md"}


def test_damage_is_told_with_the_file_and_the_way_out(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    data = newest_data_file(store)
    for number in range(3):
        put(store, {f"n/{number}.md": ["beta"]})
    data.unlink()
    with pytest.raises(StoreError) as caught:
        Store.open(store.folder).snapshot().chunks(["n/a.md"])
    assert data.name in caught.value.message
    assert "doctor" in caught.value.hint


def test_a_version_that_was_cleaned_up_is_told_as_such(store: Store) -> None:
    old = put(store, {"n/a.md": ["alpha"]})
    data = newest_data_file(store)
    put(store, {"n/a.md": ["beta"]})
    snapshot = store.snapshot(old)
    manifest(store, old).unlink()
    data.unlink()
    with pytest.raises(StoreError, match=f"Version {old} .* cleaned up"):
        snapshot.chunks(["n/a.md"])


def test_what_is_no_index_of_ours_is_told(tmp_path: Path) -> None:
    import lancedb

    lancedb.connect(tmp_path).create_table("chunks", [{"x": 1}])
    with pytest.raises(StoreError, match="not made by LanceBrain"):
        Store.open(tmp_path)


def test_a_store_opened_for_reading_writes_nothing(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    reader = Store.open(store.folder, read_only=True)
    files = sorted(store.folder.rglob("*"))
    assert reader.snapshot().chunk_count() == 1
    with pytest.raises(StoreError, match="reading only"), reader.lock(1):
        reader.maintain(keep_versions=timedelta(days=1))
    assert set(store.folder.rglob("*")) - set(files) <= {store.folder / "lock.json"}


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_is_read_and_told_of_on_writing(store: Store) -> None:
    put(store, {"n/a.md": ["alpha"]})
    folders = [store.folder, *(f for f in store.folder.rglob("*") if f.is_dir())]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert Store.open(store.folder).snapshot().chunk_count() == 1
        with pytest.raises(StoreError, match="may not be written"):
            put(Store.open(store.folder), {"n/b.md": ["beta"]})
    finally:
        for folder in folders:
            folder.chmod(0o755)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "No room left"),
        (
            RuntimeError("lance error: LanceError(IO): No space left on device (os error 28)"),
            "No room",
        ),
        (PermissionError(errno.EACCES, "Permission denied"), "may not be written"),
        (OSError(errno.EROFS, "Read-only file system"), "may not be written"),
        (RuntimeError("LanceError(IO): Input/output error (os error 5)"), "cannot be used"),
        (RuntimeError("LanceError(IO): Structure needs cleaning (os error 117)"), "cannot be used"),
        (RuntimeError("lance error: something\nelse entirely"), "damaged"),
        (RuntimeError("a data file: No such file or directory (os error 2)"), "damaged"),
    ],
)
def test_errors_of_the_system_are_told_as_ours(error: Exception, said: str) -> None:
    with pytest.raises(StoreError, match=said) as caught, translated(Path("/index"), "writing"):
        raise error
    assert caught.value.__cause__ is error
    assert "/index" in caught.value.message
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_our_own_errors_and_those_of_the_program_pass_through() -> None:
    own = LancebrainError("ours")
    with pytest.raises(LancebrainError) as caught, translated(Path("/index"), "writing"):
        raise own
    assert caught.value is own
    with pytest.raises(KeyboardInterrupt), translated(Path("/index"), "writing"):
        raise KeyboardInterrupt
    assert as_store_error(RuntimeError(""), Path("/index"), "x").message


def test_a_damaged_full_text_index_is_built_anew_by_maintenance(store: Store) -> None:
    put(store, {f"n/{n}.md": ["alpha beta"] for n in range(20)})
    with store.lock(1):
        store.maintain(keep_versions=timedelta(days=1))
    put(store, {f"m/{n}.md": ["alpha gamma"] for n in range(20)})
    for file in (store.folder / "chunks.lance" / "_indices").rglob("*"):
        if file.is_file():
            file.write_bytes(b"broken")
    opened = Store.open(store.folder)
    with opened.lock(1):
        report = opened.maintain(keep_versions=timedelta(days=1), now=datetime.now(UTC))
    assert report.rebuilt == ("text",)
    assert len(opened.snapshot().keyword_candidates("alpha", Filter(), 100)) == 40


@pytest.mark.parametrize(
    "step",
    [
        Store.open_to_write,
        Store.snapshot,
        Store.tags,
        Store.is_index_behind,
        lambda store: put(store, {"n/b.md": ["beta"]}),
        lambda store: store.snapshot(2),
    ],
)
def test_an_index_that_was_deleted_meanwhile_is_told_as_such_and_not_as_damage(
    store: Store, step: Callable[[Store], object]
) -> None:
    put(store, {"n/a.md": ["alpha"]})
    opened = Store.open(store.folder)
    shutil.rmtree(store.folder)
    with pytest.raises(IndexNotFoundError):
        step(opened)


@pytest.mark.parametrize("commits", [1, 2, 3])
def test_an_open_index_follows_where_the_numbers_of_torn_versions_are_used_again(
    store: Store, commits: int
) -> None:
    for name in "ab":
        put(store, {f"n/{name}.md": [f"quokka {name}"]})
    long_open = Store.open(store.folder)
    torn = [put(long_open, {f"n/{name}.md": [f"wombat {name}"]}) for name in "cd"]
    found = long_open.snapshot().keyword_candidates("wombat quokka", Filter(), 9)
    assert {one.path for one in found} == {"n/a.md", "n/b.md", "n/c.md", "n/d.md"}
    for version in torn:
        manifest(store, version).write_bytes(b"")
    other = Store.open(store.folder)
    assert list(other.recovered.versions) == torn
    for name in "xyz"[:commits]:
        put(other, {f"n/{name}.md": [f"numbat {name}"]})
    for opened in (long_open, other):
        found = opened.snapshot().keyword_candidates("wombat quokka numbat", Filter(), 9)
        there = {"n/a.md", "n/b.md", *(f"n/{name}.md" for name in "xyz"[:commits])}
        assert {one.path for one in found} == there
        assert all(one.text.endswith(one.path[2]) for one in found)
    put(long_open, {"n/e.md": ["wombat e"]})
    put(other, {"n/f.md": ["wombat f"]})
    assert long_open.snapshot().document_count() == other.snapshot().document_count()
