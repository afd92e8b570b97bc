"""Forgetting: out of every version, of the indices and the cache, and out of every look."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lancebrain.errors import StoreError, UsageError
from lancebrain.store import Checkpoints, Store, replacement, rewriting
from lancebrain.store.connection import table_folder
from lancebrain.types import Filter
from lancebrain.versions import Forgot, allow, forget, history, resolve, resume, rollback
from lancebrain.versions.problems import problems_in_time
from lancebrain.versions.proof import distinctive_lines, prove
from tests.indexes import Notes

SECRET = "the launch code is xyzzy-plugh"
OLDER = "the launch code was 0815-swordfish"
SHARED = "this sentence stands in two notes of them"
TEXTS = {
    "secret.md": f"# Codes\n\n{OLDER}\n\n{SHARED}\n",
    "open.md": f"# Open\n\nnothing to hide here\n\n{SHARED}\n",
    "folder/other.md": "# Other\n\na third note\n",
}


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """Checkpoints ``one`` (with the older secret) and ``two``; the newest version has no name."""
    notes = Notes(tmp_path)
    notes.write(TEXTS).sync()
    name_version(notes, "one", "the first")
    notes.write({"secret.md": f"# Codes\n\n{SECRET}\n\n{SHARED}\n"})
    notes.write({"folder/other.md": "# Other\n\na third note, edited\n"}).sync()
    name_version(notes, "two")
    notes.write({"open.md": f"# Open\n\nstill nothing to hide\n\n{SHARED}\n"}).sync()
    return notes


def name_version(notes: Notes, name: str, message: str = "") -> None:
    with notes.store.lock(5):
        version = notes.store.snapshot().version
        Checkpoints(notes.store).create(name, version, at=datetime.now(UTC), message=message)


def forgotten(notes: Notes, *paths: str, **options: bool) -> Forgot:
    now = datetime.now(UTC)
    paths = paths or ("notes/secret.md",)
    return forget(notes.store, paths, now=now, lock_timeout_s=5, **options)


def texts(store: Store, version: int | None = None) -> dict[str, str]:
    snapshot = store.snapshot(version)
    by_path = snapshot.chunks(list(snapshot.stats()))
    return {path: "".join(row.chunk.text for row in rows) for path, rows in by_path.items()}


def files_with(folder: Path, text: str) -> list[str]:
    needles = [text.encode(encoding) for encoding in ("utf-8", "utf-16-le", "utf-16-be")]
    files = [file for file in folder.rglob("*") if file.is_file()]
    return [str(f) for f in files if any(needle in f.read_bytes() for needle in needles)]


def test_a_forgotten_document_is_in_no_version_and_no_file(notes: Notes) -> None:
    kept = {name: texts(notes.store, resolve(notes.store, name)) for name in ("one", "two")}
    done = forgotten(notes, verify=True)
    assert done.documents == ("notes/secret.md",)
    assert [(v.tags[0], v.removed) for v in done.rewritten[:2]] == [("one", 1), ("two", 1)]
    for version in notes.store.versions():
        assert "notes/secret.md" not in texts(notes.store, version)
        assert "xyzzy" not in str(notes.store.snapshot(version).to_arrow().to_pylist())
        candidates = notes.store.snapshot(version).keyword_candidates
        assert candidates("swordfish xyzzy", Filter(), 5) == []
        assert [c.path for c in candidates("hide", Filter(), 5)] == ["notes/open.md"]
    for name, before in kept.items():
        del before["notes/secret.md"]
        assert texts(notes.store, resolve(notes.store, name)) == before
    assert files_with(notes.settings.index, "xyzzy-plugh") == []
    assert done.proof is not None
    assert done.proof.found == ()
    assert (done.proof.lines, done.proof.versions) == (2, len(notes.store.versions()))


def test_vectors_and_every_other_column_of_the_rest_are_as_they_were(notes: Notes) -> None:
    def rows(version: int) -> list[dict[str, Any]]:
        found = notes.store.snapshot(version).to_arrow().to_pylist()
        left = [row for row in found if row["path"] != "notes/secret.md"]
        return sorted(left, key=lambda row: (row["path"], row["chunk_index"]))

    before = {name: rows(resolve(notes.store, name)) for name in ("one", "two", "latest")}
    forgotten(notes)
    assert {name: rows(resolve(notes.store, name)) for name in before} == before


def test_the_proof_finds_what_is_left(notes: Notes) -> None:
    documents = ("notes/secret.md",)
    lines = distinctive_lines(notes.store, documents, documents)
    assert set(lines) == {SECRET, OLDER}
    (notes.settings.index / "stray.txt").write_text(SECRET, encoding="utf-16-le")
    found = prove(notes.store, lines, documents).found
    assert any("has rows of notes/secret.md" in place for place in found)
    assert any("answers" in place and OLDER in place for place in found)
    assert any(place.endswith(f"stray.txt holds {SECRET!r}") for place in found)


def test_what_was_said_of_versions_goes_with_them(notes: Notes) -> None:
    before = {entry.tags: entry for entry in history(notes.store) if entry.tags}
    forgotten(notes)
    after = {entry.tags: entry for entry in history(notes.store) if entry.tags}
    for tags in (("one",), ("two",)):
        for field in ("at", "reason", "counts", "message"):
            assert getattr(after[tags], field) == getattr(before[tags], field)
    newest, *_ = history(notes.store)
    assert (newest.reason, newest.counts["removed"]) == ("forget", 1)
    assert after[("one",)].message == "the first"
    at = before[("two",)].at + timedelta(milliseconds=1)
    assert resolve(notes.store, at.isoformat()) == resolve(notes.store, "two")


def test_versions_without_a_name_go(notes: Notes) -> None:
    notes.write({"open.md": "changed once more\n"}).sync()
    done = forgotten(notes)
    assert done.versions_dropped == 2  # the empty index, and the one between
    assert len(notes.store.versions()) == 4  # one, two, before, after


def test_it_stays_out_until_it_is_allowed(notes: Notes) -> None:
    forgotten(notes)
    notes.write({"secret.md": f"# Codes\n\n{SECRET} again\n"})
    assert notes.sync().added == 0
    assert notes.sync(["notes/secret.md"]).added == 0
    allow(notes.store, ["notes/secret.md"], lock_timeout_s=5)
    assert notes.synced().added == 1
    with pytest.raises(UsageError, match="was not forgotten"):
        allow(notes.store, ["notes/secret.md"], lock_timeout_s=5)


def test_folders_and_globs_are_forgotten_and_stay_out(notes: Notes) -> None:
    assert forgotten(notes, "notes/folder/").documents == ("notes/folder/other.md",)
    notes.write({"folder/new.md": "# New\n\nin the folder\n", "folder2.md": "# Two\n\nbeside\n"})
    notes.sync()
    assert notes.paths() == ["notes/folder2.md", "notes/open.md", "notes/secret.md"]
    assert forgotten(notes, "notes/*2.md", "notes/s*").documents == (
        "notes/folder2.md",
        "notes/secret.md",
    )
    assert notes.sync().added == 0


def test_a_document_that_only_old_versions_hold_is_forgotten(notes: Notes) -> None:
    (notes.root / "secret.md").unlink()
    notes.sync()
    notes.write({"open.md": "and on\n"}).sync()
    assert forgotten(notes, verify=True).documents == ("notes/secret.md",)
    assert files_with(notes.settings.index, "xyzzy") == []


def test_a_document_that_only_a_checkpoint_holds_is_forgotten(notes: Notes) -> None:
    """Also where the versions that took it away, and their records, were cleaned up."""
    (notes.root / "secret.md").unlink()
    removed = notes.sync().version
    for number in range(2):
        notes.write({"open.md": f"and on {number}\n"}).sync()
    with notes.store.lock(5):
        notes.store.maintain(keep_versions=timedelta(0), now=datetime.now(UTC) + timedelta(days=9))
    assert removed not in notes.store.versions()
    assert "notes/secret.md" in forgotten(notes, "notes/s*", verify=True).documents
    assert files_with(notes.settings.index, "xyzzy") == []


def test_the_same_text_under_another_path_is_told(notes: Notes) -> None:
    (notes.root / "secret.md").rename(notes.root / "renamed.md")
    notes.sync()
    done = forgotten(notes, "notes/renamed.md", verify=True)
    assert done.copies == ("notes/secret.md",)
    assert done.proof is not None
    assert done.proof.lines == 0
    assert forgotten(notes, verify=True).copies == ()
    assert files_with(notes.settings.index, "xyzzy") == []


def test_what_is_forgotten_already_is_told_so(notes: Notes) -> None:
    forgotten(notes)
    with pytest.raises(UsageError, match="forgotten already") as raised:
        forgotten(notes)
    assert "lancebrain forget --list" in raised.value.hint


def test_vectors_of_it_are_in_no_cache(notes: Notes) -> None:
    cache = notes.store.vector_cache
    stored, *_ = notes.store.snapshot().chunks(["notes/secret.md"])["notes/secret.md"]
    hashes = [stored.chunk.chunk_hash, "other"]
    vector = np.full((1, notes.embedder.dim), 0.125, np.float32)
    cache.put(notes.embedder.fingerprint, hashes, vector.repeat(2, 0))
    forgotten(notes)
    assert cache.get(notes.embedder.fingerprint, hashes) == {}
    for file in notes.settings.index.glob("vectors.sqlite*"):
        assert hashes[0].encode() not in file.read_bytes()
        assert vector.tobytes()[:64] not in file.read_bytes()


def test_vectors_of_it_are_not_among_those_for_another_model(notes: Notes) -> None:
    stored, *_ = notes.store.snapshot().chunks(["notes/secret.md"])["notes/secret.md"]
    notes.store.staged.put("other/1", [stored.chunk.chunk_hash], np.ones((1, 8), np.float32))
    forgotten(notes)
    assert notes.store.staged.hashes("other/1") == set()


def test_damaged_tables_that_were_set_aside_go_too(notes: Notes) -> None:
    index = notes.settings.index
    shutil.copytree(table_folder(index), index / "chunks.lance.damaged-1")
    assert forgotten(notes).tables_dropped == 1
    assert list(index.glob("*damaged*")) == []


def test_a_dry_run_tells_and_changes_nothing(notes: Notes) -> None:
    before = history(notes.store)
    plan = forgotten(notes, dry_run=True)
    assert (plan.documents, plan.versions_dropped) == (("notes/secret.md",), 1)
    assert history(notes.store) == before
    assert notes.store.forgotten.read() == []


def test_a_document_that_never_was_is_an_error(notes: Notes) -> None:
    before = history(notes.store)
    with pytest.raises(UsageError, match=r"No document 'notes/none\.md'"):
        forgotten(notes, "notes/secret.md", "notes/none.md")
    assert history(notes.store) == before
    assert notes.store.forgotten.read() == []


def test_a_hold_goes_with_the_version_that_it_names(notes: Notes) -> None:
    rollback(notes.store, "one", now=datetime.now(UTC), lock_timeout_s=5)
    forgotten(notes)
    hold = notes.store.hold.read()
    assert hold is not None
    assert (hold.ref, hold.version, hold.done) == ("one", resolve(notes.store, "one"), True)
    assert problems_in_time(notes.store) == ()
    assert "nothing to hide here" in texts(notes.store)["notes/open.md"]
    resume(notes.store, lock_timeout_s=5)
    notes.sync()
    assert notes.paths() == ["notes/folder/other.md", "notes/open.md"]


def test_what_names_a_version_by_its_number_names_the_same_one_after_it(notes: Notes) -> None:
    unnamed = notes.write({"open.md": "changed once more\n"}).sync().version
    before = notes.write({"open.md": "and again\n"}).sync().version
    name_version(notes, "three")
    for version in (unnamed, before):
        rollback(notes.store, str(version), now=datetime.now(UTC), lock_timeout_s=5)
    forgotten(notes)
    after = resolve(notes.store, "three")
    assert after != before
    hold = notes.store.hold.read()
    assert hold is not None
    assert (hold.ref, hold.version) == (str(after), after)
    told = [entry.note for entry in history(notes.store) if entry.reason == "rollback"]
    assert told == [f"to version {after}", "to a version that is gone"]


def test_a_rollback_after_it_does_not_bring_it_back(notes: Notes) -> None:
    forgotten(notes)
    rollback(notes.store, "one", now=datetime.now(UTC), lock_timeout_s=5)
    assert set(texts(notes.store)) == {"notes/folder/other.md", "notes/open.md"}
    assert "here" in texts(notes.store)["notes/open.md"]


def test_the_index_goes_on_as_any_other(notes: Notes) -> None:
    forgotten(notes)
    (notes.root / "secret.md").unlink()
    notes.write({"open.md": "# Open\n\nedited\n", "new.md": "# New\n\nadded\n"}).synced()
    with notes.store.lock(5):
        notes.store.maintain(now=datetime.now(UTC) + timedelta(days=30))
    notes.synced()
    assert (
        "nothing to hide here" in texts(notes.store, resolve(notes.store, "one"))["notes/open.md"]
    )


def test_a_handle_that_was_open_before_follows(notes: Notes) -> None:
    other = Store.open(notes.settings.index)
    old = other.snapshot()
    forgotten(notes)
    assert set(texts(other)) == {"notes/folder/other.md", "notes/open.md"}
    assert other.tags() == notes.store.tags()
    assert set(texts(other, resolve(other, "one"))) == {"notes/folder/other.md", "notes/open.md"}
    # What was read before moves to the newest version, as its own is gone.
    assert set(old.stats()) == {"notes/folder/other.md", "notes/open.md"}
    with other.lock(5):
        other.maintain()
    notes.write({"new.md": "# New\n\nadded\n"}).sync()
    assert "notes/new.md" in other.snapshot().stats()


# Cut short


class Killed(BaseException):
    """What a process that is killed does not survive."""


def die_at(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """Let the swap of the tables end at its n-th step on the disk."""
    left = [step]

    def counted(real: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return real(*arguments, **options)

        return run

    for name in ("rename", "replace", "unlink", "touch"):
        monkeypatch.setattr(Path, name, counted(getattr(Path, name)))
    for name in ("rmtree",):
        monkeypatch.setattr(shutil, name, counted(getattr(shutil, name)))


@pytest.mark.parametrize("step", range(10))
def test_a_swap_that_was_cut_short_is_finished_or_undone(
    notes: Notes, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    store, kept = notes.store, {resolve(notes.store, name) for name in ("one", "two", "latest")}
    ready = replacement.make_ready
    with store.lock(5), monkeypatch.context() as patch:
        patch.setattr(replacement, "make_ready", lambda new: (ready(new), die_at(patch, step)))
        try:
            store.rewrite(kept, without=["notes/secret.md"], counts={}, started=0.0)
        except Killed:
            pass
        else:
            assert step >= 6
    assert Store.exists(notes.settings.index)
    opened = Store.open(notes.settings.index)
    assert set(texts(opened)) == {"notes/folder/other.md", "notes/open.md"}
    assert set(opened.tags()) == {"one", "two"}
    assert opened.versions().keys() == {entry.version for entry in history(opened)}
    assert history(opened)[0].reason == "forget"
    assert list(notes.settings.index.glob("rewriting*")) == []


def test_a_table_that_was_not_ready_is_thrown_away(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = history(notes.store)
    new = notes.settings.index / "rewriting"
    shutil.copytree(table_folder(notes.settings.index), table_folder(new))
    (new / "commits.jsonl").write_text("")
    opened = Store.open(notes.settings.index)
    assert history(opened) == before
    assert not new.exists()


def test_whoever_takes_the_lock_finishes_what_was_cut_short(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Store.open(notes.settings.index)
    kept = {resolve(notes.store, name) for name in ("one", "two", "latest")}
    settle = replacement.settle
    with notes.store.lock(5), monkeypatch.context() as patch:
        patch.setattr(replacement, "settle", lambda _: None)
        notes.store.rewrite(kept, without=["notes/secret.md"], counts={}, started=0.0)
    assert replacement.settle is settle
    assert "notes/secret.md" in texts(other)
    with other.lock(5):
        assert "notes/secret.md" not in texts(other)
    assert "notes/secret.md" not in texts(notes.store)


def test_a_forgetting_that_was_cut_short_is_told_and_can_be_done_again(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Store, "drop_set_aside", lambda _: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Killed):
            forgotten(notes)
    (problem,) = problems_in_time(notes.store)
    assert problem.code == "forget-cut-short"
    assert "lancebrain forget notes/secret.md" in problem.message
    forgotten(notes, verify=True)
    assert problems_in_time(notes.store) == ()


def test_a_forgetting_that_fails_leaves_everything_as_it_was(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = history(notes.store)
    with monkeypatch.context() as patch:
        patch.setattr(rewriting, "_close", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
        with pytest.raises(StoreError, match="No room left"):
            forgotten(notes)
    assert notes.store.forgotten.read() == []
    assert history(notes.store) == before
    assert list(notes.settings.index.glob("rewriting*")) == []
    assert "notes/secret.md" in notes.paths()
    assert notes.sync().removed == 0


def test_a_list_of_what_was_forgotten_that_is_damaged_is_not_taken_for_none(notes: Notes) -> None:
    forgotten(notes)
    (notes.settings.index / "forgotten.json").write_text("[{")
    with pytest.raises(StoreError, match="is damaged"):
        notes.sync()
