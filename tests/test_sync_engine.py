"""One sync after another over real files: what is written, and what is left alone."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lancebrain.errors import EmbedderError, IndexMismatchError
from lancebrain.store import indices, maintenance
from lancebrain.sync import Change, Engine, run
from lancebrain.sync.wanted import Wanted
from lancebrain.types import Source
from tests.health import assert_healthy
from tests.indexes import Notes, codes, set_event
from tests.stand_in import StandIn
from tests.trees import write_tree

SECTIONS = 12


def section(number: int, word: str = "plain") -> str:
    """A section that is a chunk by itself."""
    body = " ".join(f"{word}{number}x{at}" for at in range(110))
    return f"## Section {number}\n\n{body}.\n\n"


def long_note(**changed: str) -> str:
    return "# Long\n\n" + "".join(
        section(n, changed.get(f"s{n}", "plain")) for n in range(SECTIONS)
    )


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


# Nothing new


def test_a_folder_of_notes_is_indexed_whole_and_equals_the_files(notes: Notes) -> None:
    notes.write({"a.md": "# A\n\nAlpha.\n", "sub/b.md": "# B\n\nBeta.\n", "c.txt": "Gamma\n"})
    report = notes.synced()
    assert (report.added, report.unchanged, report.problems) == (3, 0, ())
    assert report.rows_written == 6
    assert report.embedded == len(notes.embedder.texts) == 3
    assert notes.text("notes/sub/b.md") == "# B\n\nBeta.\n"


def test_a_second_sync_writes_nothing(notes: Notes) -> None:
    notes.write({"a.md": "# A\n", "b.md": "# B\n"})
    first = notes.sync()
    second = notes.synced()
    assert second.version == first.version
    assert (second.unchanged, second.rows_written, second.embedded) == (2, 0, 0)


def test_line_ends_and_trailing_blanks_make_no_change_of_their_own(notes: Notes) -> None:
    notes.write({"a.md": "# A\r\n\r\nCr lf.  \r\n", "b.md": "no newline", "c.md": "x\n\n\n  \n"})
    first = notes.sync()
    assert notes.synced().version == first.version


def test_touched_files_tell_their_document_rows_alone(notes: Notes) -> None:
    notes.write({"a.md": "# A\r\n", "b.md": "no newline"}).sync()
    for name in ("a.md", "b.md"):
        os.utime(notes.root / name, ns=(1_000_000_000, 1_000_000_000))
    touched = notes.synced()
    assert (touched.unchanged, touched.rows_written, touched.embedded) == (2, 2, 0)
    assert notes.synced().rows_written == 0


def test_an_empty_folder_makes_an_empty_index(notes: Notes) -> None:
    report = notes.synced()
    assert (report.added, report.rows_written, report.problems) == (0, 0, ())


# Edits


def test_an_edited_section_is_the_only_one_embedded_and_written(notes: Notes) -> None:
    notes.write({"long.md": long_note()}).sync()
    assert len(notes.texts("notes/long.md")) >= SECTIONS
    notes.write({"long.md": long_note(s5="fresh")})
    report = notes.synced()
    assert report.changed == 1
    assert report.embedded == 1
    assert report.rows_written == 2  # the document's own row, and the section's
    assert report.rows_deleted == 0


@pytest.mark.parametrize("place", [0, 6, SECTIONS])
def test_a_section_put_in_anywhere_leaves_all_other_rows_alone(notes: Notes, place: int) -> None:
    sections = [section(n) for n in range(SECTIONS)]
    notes.write({"a.md": "".join(sections)}).sync()
    sections.insert(place, section(99, "new"))
    notes.write({"a.md": "".join(sections)})
    report = notes.synced()
    assert (report.embedded, report.rows_written, report.rows_deleted) == (1, 2, 0)


def test_a_section_taken_out_deletes_its_row_and_embeds_nothing(notes: Notes) -> None:
    sections = [section(n) for n in range(SECTIONS)]
    notes.write({"a.md": "".join(sections)}).sync()
    del sections[4]
    notes.write({"a.md": "".join(sections)})
    report = notes.synced()
    assert (report.embedded, report.rows_written, report.rows_deleted) == (0, 1, 1)


def test_thirty_edits_of_one_note_leave_only_the_last(notes: Notes) -> None:
    notes.write({"steady.md": "Steady.\n"})
    for number in range(30):
        notes.write({"n.md": f"# N\n\nEdit number{number}.\n\n## Two\n\nPart two{number}.\n"})
        notes.sync()
    assert notes.text("notes/n.md").count("number") == 1
    assert "two29" in notes.text("notes/n.md")
    assert_healthy(notes.store, notes.settings, StandIn())


def test_a_note_that_shrinks_loses_the_rest(notes: Notes) -> None:
    notes.write({"n.md": long_note()}).sync()
    notes.write({"n.md": section(0)})
    report = notes.synced()
    assert report.rows_deleted >= SECTIONS - 1
    assert "Section 5" not in notes.everything()


def test_a_changed_tag_rewrites_rows_with_the_vectors_they_have(notes: Notes) -> None:
    notes.write({"a.md": f"---\ntags: [old]\n---\n{long_note()}"}).sync()
    notes.write({"a.md": f"---\ntags: [new]\n---\n{long_note()}"})
    report = notes.synced()
    assert report.embedded <= 1  # the frontmatter's own chunk
    assert report.reused >= SECTIONS


def test_a_file_rewritten_with_its_old_size_and_time_is_noticed(notes: Notes) -> None:
    file = notes.root / "n.md"
    notes.write({"n.md": "# Same\n\nMarker 1111.\n"}).sync()
    before = file.stat()
    file.write_text("# Same\n\nMarker 2222.\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert notes.synced().changed == 1
    assert "2222" in notes.text("notes/n.md")


def test_a_file_changed_about_when_it_was_looked_at_is_read_again(notes: Notes) -> None:
    notes.write({"n.md": "# Same\n"}).sync()
    # The clock of the look stands just behind the file's, as within one tick.
    engine = Engine(
        notes.store, notes.settings, StandIn, clock=lambda: (notes.root / "n.md").stat().st_ctime_ns
    )
    notes.write({"n.md": "# Some\n"})
    engine.sync()
    stat = notes.store.snapshot().stats()["notes/n.md"]
    assert stat.looked_at_ns <= stat.mtime_ns
    report = engine.sync()
    assert (report.unchanged, report.rows_written) == (1, 0)


# Coming, going, moving


def test_a_deleted_file_goes_at_once_and_alone(notes: Notes) -> None:
    notes.write({f"p{n}/README.md": f"Civet {n}.\n" for n in range(4)})
    notes.write({"Note.md": "Upper.\n", "note.md": "Lower.\n"}).sync()
    (notes.root / "p3" / "README.md").unlink()
    (notes.root / "note.md").unlink()
    report = notes.synced()
    assert (report.removed, report.rows_deleted) == (2, 4)
    assert notes.text("notes/Note.md") == "Upper.\n"
    assert "notes/p2/README.md" in notes.paths()


def test_a_renamed_file_keeps_its_vectors_and_when_it_was_first_seen(notes: Notes) -> None:
    notes.write({"old.md": long_note(), "b.md": "B\n"}).sync()
    first = notes.store.snapshot().chunks(["notes/old.md"])["notes/old.md"]
    (notes.root / "old.md").rename(notes.root / "new.md")
    report = notes.synced()
    assert (report.moved, report.added, report.removed, report.embedded) == (1, 0, 0, 0)
    assert report.reused == len(first)
    now = notes.store.snapshot().chunks(["notes/new.md"])["notes/new.md"]
    assert [row.created_at for row in now] == [row.created_at for row in first]
    assert [row.updated_at for row in now] == [row.updated_at for row in first]
    assert notes.changes == [Change("moved", "notes/new.md", "notes/old.md", len(first))]


def test_a_moved_folder_embeds_nothing(notes: Notes) -> None:
    notes.write({"a": {f"{n}.md": f"# {n}\n\nText {n}.\n" for n in range(70)}, "b.md": "B\n"})
    notes.sync()
    (notes.root / "a").rename(notes.root / "z")
    report = notes.synced()
    assert (report.moved, report.removed, report.embedded) == (70, 0, 0)


def test_a_case_only_rename_is_a_move(notes: Notes) -> None:
    notes.write({"Config.md": "# Config\n", "Docs/a.md": "A\n"}).sync()
    (notes.root / "Config.md").rename(notes.root / "config.md")
    (notes.root / "Docs").rename(notes.root / "docs")
    assert notes.synced().moved == 2
    assert notes.paths() == ["notes/config.md", "notes/docs/a.md"]


def test_equal_files_that_move_each_find_their_own_name(notes: Notes) -> None:
    notes.write({"a": {"x.md": "Same.\n", "y.md": "Same.\n"}, "keep.md": "K\n"}).sync()
    (notes.root / "a").rename(notes.root / "b")
    notes.synced()
    assert {(c.before, c.path) for c in notes.changes} == {
        ("notes/a/x.md", "notes/b/x.md"),
        ("notes/a/y.md", "notes/b/y.md"),
    }


def test_a_renamed_note_that_becomes_a_text_is_cut_like_a_text(notes: Notes) -> None:
    notes.write({"a.md": long_note(), "b.md": "B\n"}).sync()
    (notes.root / "a.md").rename(notes.root / "a.txt")
    assert notes.synced().moved == 1


def test_two_files_that_swap_names_embed_nothing(notes: Notes) -> None:
    notes.write({"a.md": "# A\n\nAlpha.\n", "b.md": "# B\n\nBeta.\n"}).sync()
    (notes.root / "a.md").rename(notes.root / "t")
    (notes.root / "b.md").rename(notes.root / "a.md")
    (notes.root / "t").rename(notes.root / "b.md")
    report = notes.synced()
    assert (report.changed, report.embedded) == (2, 0)


def test_a_copy_is_a_document_of_its_own_without_being_embedded(notes: Notes) -> None:
    notes.write({"a.md": "# A\n\nAlpha.\n"}).sync()
    notes.write({"copy.md": "# A\n\nAlpha.\n"})
    report = notes.synced()
    assert (report.added, report.moved, report.embedded, report.reused) == (1, 0, 0, 1)


def test_equal_chunks_are_embedded_once(notes: Notes) -> None:
    notes.write({f"{n}.md": "# Same\n\nText.\n" for n in range(5)})
    report = notes.synced()
    assert (report.embedded, report.reused) == (1, 4)


def test_an_undone_edit_and_a_restored_file_embed_nothing(notes: Notes) -> None:
    notes.write({"a.md": long_note(), "b.md": "# B\n\nBeta.\n"}).sync()
    notes.write({"a.md": long_note(s3="fresh")})
    (notes.root / "b.md").unlink()
    assert notes.sync().embedded == 1
    notes.write({"a.md": long_note(), "b.md": "# B\n\nBeta.\n"})
    report = notes.synced()
    assert (report.changed, report.added, report.embedded) == (1, 1, 0)


def test_changes_made_while_nobody_looked_are_all_found(notes: Notes) -> None:
    notes.write({"edit.md": "Old puma.\n", "gone.md": "Gone puma.\n", "ren.md": "Ren puma.\n"})
    notes.sync()
    notes.write({"edit.md": "New puma.\n", "added.md": "Added puma.\n"})
    (notes.root / "gone.md").unlink()
    (notes.root / "ren.md").rename(notes.root / "ren2.md")
    report = notes.synced()
    assert (report.changed, report.added, report.removed, report.moved) == (1, 1, 1, 1)


# Names


HOSTILE = (
    "🐘.md",
    "°.md",
    "-rf.md",
    "%2e%2e.md",
    "[x]*?|<>.md",
    "a#b?c&d=e.md",
    "trail .md",
    "two\nlines.md",
    "it's a test/don't.md",
    "x' OR 1=1 --.md",
    "under_score%.md",
    "underXscoreY.md",
    "a''b;DROP TABLE chunks.md",
    'say "hi".md',
    "back\\slash.md",
    "caf\udce9.md",
    "日本語 ノート.md",
)


def test_hostile_names_are_indexed_each_for_itself(notes: Notes) -> None:
    notes.write({name: f"Marker {number}.\n" for number, name in enumerate(HOSTILE)})
    report = notes.synced()
    assert report.added == len(HOSTILE)
    assert len(notes.paths()) == len(HOSTILE)


def test_a_file_with_a_quote_in_its_name_goes_without_taking_another_along(notes: Notes) -> None:
    notes.write({name: f"Marker {number}.\n" for number, name in enumerate(HOSTILE)}).sync()
    for name in ("x' OR 1=1 --.md", "under_score%.md", "a''b;DROP TABLE chunks.md"):
        (notes.root / name).unlink()
    notes.write({"it's a test/don't.md": "Edited.\n"})
    report = notes.synced()
    assert (report.removed, report.changed) == (3, 1)
    assert notes.text("notes/underXscoreY.md") == f"Marker {HOSTILE.index('underXscoreY.md')}.\n"


# Files without text


def test_files_without_text_are_known_without_a_chunk(notes: Notes) -> None:
    notes.write({"zero.md": "", "blank.md": " \n\n", "front.md": "---\ntitle: T\n---\n"})
    first = notes.synced()
    assert first.added == 3
    assert all(text.strip() for path in notes.paths() for text in notes.texts(path))
    second = notes.synced()
    assert (second.unchanged, second.version) == (3, first.version)


def test_an_empty_file_that_is_filled_is_found_and_one_that_is_emptied_is_not(notes: Notes) -> None:
    notes.write({"zero.md": "", "real.md": "Real.\n"}).sync()
    notes.write({"zero.md": "Filled.\n", "real.md": ""})
    notes.synced()
    assert notes.text("notes/zero.md") == "Filled.\n"
    assert notes.texts("notes/real.md") == []


def test_a_binary_file_is_reported_once_and_then_known(notes: Notes) -> None:
    notes.write({"image.md": bytes(range(256)) * 8, "a.md": "A\n"})
    first = notes.synced()
    assert codes(first.problems) == {("notes/image.md", "not-text")}
    state = notes.store.snapshot().documents(["notes/image.md"])["notes/image.md"]
    assert codes(state.problems) == {("notes/image.md", "not-text")}
    second = notes.synced()
    assert (second.version, second.rows_written) == (first.version, 0)
    notes.write({"image.md": "Text now.\n"})
    assert notes.synced().changed == 1
    assert notes.text("notes/image.md") == "Text now.\n"


def test_a_note_that_becomes_binary_loses_its_old_text(notes: Notes) -> None:
    notes.write({"a.md": "Old text.\n"}).sync()
    notes.write({"a.md": bytes(range(256)) * 8})
    notes.synced()
    assert notes.texts("notes/a.md") == []


def test_what_has_no_document_is_remembered_for_the_status(notes: Notes) -> None:
    notes.with_settings(max_file_bytes=10)
    notes.write({"large.md": "More than ten bytes.\n", "a.md": "A\n"})
    report = notes.synced()
    engine = Engine(notes.store, notes.settings, StandIn)
    assert codes(report.problems) == codes(engine.problems()) == {("notes/large.md", "too-large")}
    (notes.root / "large.md").unlink()
    notes.sync()
    assert engine.problems() == ()


# Times


def test_a_first_index_takes_the_time_of_the_files_for_the_last_change(notes: Notes) -> None:
    notes.write({"a.md": "A\n"})
    day = datetime(2024, 5, 6, 7, 8, tzinfo=UTC)
    os.utime(notes.root / "a.md", (day.timestamp(), day.timestamp()))
    notes.sync()
    (row,) = notes.store.snapshot().chunks(["notes/a.md"])["notes/a.md"]
    assert row.updated_at == day
    assert row.created_at > day


def test_an_edit_moves_the_last_change_of_its_own_chunk_alone(notes: Notes) -> None:
    notes.write({"a.md": long_note()}).sync()
    before = notes.store.snapshot().chunks(["notes/a.md"])["notes/a.md"]
    notes.write({"a.md": long_note(s5="fresh")})
    hour_later = time.time() + 3600
    os.utime(notes.root / "a.md", (hour_later, hour_later))
    notes.sync()
    after = notes.store.snapshot().chunks(["notes/a.md"])["notes/a.md"]
    changed = [a for a, b in zip(after, before, strict=True) if a.updated_at != b.updated_at]
    assert ["fresh5x1" in row.chunk.text for row in changed] == [True]
    assert [row.created_at for row in after] == [row.created_at for row in before]
    # A time in the future is not believed.
    assert changed[0].updated_at.timestamp() < hour_later - 3000


# Parts, sources, settings


def test_a_sync_of_one_folder_or_file_touches_nothing_else(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    write_tree(first, {"docs/in.md": "In.\n", "a.md": "A.\n", "gone.md": "Gone.\n"})
    write_tree(second, {"c.md": "C.\n"})
    notes = Notes(tmp_path, Source("one", first), Source("two", second))
    notes.sync()
    (first / "gone.md").unlink()
    (first / "docs" / "new.md").write_text("New.\n")
    (second / "d.md").write_text("D.\n")
    report = notes.sync(["one/docs"])
    assert (report.added, report.removed) == (1, 0)
    there = ["one/a.md", "one/docs/in.md", "one/docs/new.md", "one/gone.md", "two/c.md"]
    assert notes.paths() == there
    assert notes.sync(["one/gone.md"]).removed == 1
    assert notes.sync(["two"]).added == 1
    notes.synced()


def test_a_folder_whose_name_begins_like_the_scope_is_outside_of_it(notes: Notes) -> None:
    notes.write({"doc/a.md": "A.\n", "docs/b.md": "B.\n"}).sync()
    (notes.root / "docs" / "b.md").unlink()
    assert notes.sync(["notes/doc"]).removed == 0
    assert notes.sync(["notes/docs/"]).removed == 1


def test_what_include_names_is_text_where_no_kind_is_given(tmp_path: Path) -> None:
    code = write_tree(tmp_path / "code", {"a.py": "x = 1\n", "Makefile": "all:\n", "b.md": "# B\n"})
    notes = Notes(tmp_path, Source("code", code, include=("*.py", "Makefile", "*.md")))
    assert notes.synced().problems == ()
    kinds = {path: stat.kind for path, stat in notes.store.snapshot().stats().items()}
    assert kinds == {"code/a.py": "text", "code/Makefile": "text", "code/b.md": "md"}


def test_a_source_that_is_not_named_any_more_stays_until_it_is_dropped(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    write_tree(first, {"a.md": "A.\n"})
    write_tree(second, {f"{n}.md": f"C{n}.\n" for n in range(60)})
    notes = Notes(tmp_path, Source("one", first), Source("two", second))
    notes.sync()
    notes.with_settings(sources=(Source("one", first),))
    assert notes.sync().removed == 0
    assert notes.sync(dropped={"one"}).removed == 0
    assert notes.sync(dropped={"two"}).removed == 60
    assert notes.paths() == ["one/a.md"]
    notes.synced()


def test_a_source_inside_another_takes_over_its_files_without_embedding(tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    write_tree(outer, {"a.md": "A.\n", "inner/b.md": "B.\n"})
    notes = Notes(tmp_path, Source("outer", outer))
    notes.sync()
    notes.with_settings(sources=(Source("outer", outer), Source("inner", outer / "inner")))
    report = notes.synced()
    assert (report.moved, report.embedded) == (1, 0)
    assert notes.paths() == ["inner/b.md", "outer/a.md"]


def test_a_new_domain_rewrites_the_rows_of_its_source(notes: Notes) -> None:
    notes.write({"a.md": long_note()}).sync()
    notes.with_settings(sources=(Source("notes", notes.root, domain="work"),))
    report = notes.synced()
    assert (report.changed, report.embedded) == (1, 0)
    assert notes.synced().rows_written == 0


def test_a_source_that_becomes_text_is_read_as_text(notes: Notes) -> None:
    notes.write({"a.txt": "# A\n\nText.\n", "b.md": "# B\n"}).sync()
    notes.with_settings(sources=(Source("notes", notes.root, kind="text"),))
    notes.synced()
    assert notes.synced().rows_written == 0


def test_an_ignore_rule_removes_documents_and_brings_them_back(notes: Notes) -> None:
    notes.write({"web/ok.md": "Ok.\n", "keep.md": "K.\n"}).sync()
    notes.write({"web/.gitignore": "ok.md\n"})
    assert notes.synced().removed == 1
    (notes.root / "web" / ".gitignore").unlink()
    report = notes.synced()
    assert (report.added, report.embedded) == (1, 0)


# Dry runs, holds, models


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(notes: Notes) -> None:
    notes.write({"a.md": "A.\n", "b.md": "B.\n", "c.md": "C.\n"}).sync()
    notes.write({"a.md": "Edited.\n", "d.md": "D.\n"})
    (notes.root / "b.md").rename(notes.root / "e.md")
    (notes.root / "c.md").unlink()
    told = notes.sync(dry_run=True)
    changes = sorted((c.what, c.path) for c in notes.changes)
    assert notes.embedder.texts == []
    assert notes.paths() == ["notes/a.md", "notes/b.md", "notes/c.md"]
    done = notes.synced()
    assert sorted((c.what, c.path) for c in notes.changes) == changes
    for name in ("added", "changed", "moved", "removed", "rows_written", "embedded", "reused"):
        assert getattr(told, name) == getattr(done, name), name


def test_a_pinned_index_is_left_alone_and_says_so(notes: Notes) -> None:
    notes.write({"a.md": "A.\n"})
    version = notes.sync().version
    notes.store.hold.set("before", version, datetime.now(UTC))
    notes.write({"a.md": "Edited.\n"})
    report = notes.sync()
    assert codes(report.problems) == {("", "pinned")}
    assert (report.version, report.rows_written) == (version, 0)
    notes.store.hold.clear()
    assert notes.synced().changed == 1


def test_another_model_than_the_index_was_made_with_is_an_error(notes: Notes) -> None:
    notes.with_settings(model="usem3")
    with pytest.raises(IndexMismatchError, match="lancebrain sync --index"):
        notes.sync()


def test_another_revision_of_the_model_is_an_error_before_anything_is_written(
    notes: Notes,
) -> None:
    notes.write({"a.md": "A.\n"})
    notes.embedder = StandIn(revision="2")
    with pytest.raises(IndexMismatchError, match="lancebrain sync --index"):
        notes.sync()
    assert notes.paths() == []


def test_a_text_that_the_model_fails_on_is_in_all_the_same_and_gets_its_vector_later(
    notes: Notes,
) -> None:
    notes.write({"a.md": "Old text.\n", "b.md": "B.\n"})
    notes.sync()
    notes.write({"a.md": "Poison text.\n", "c.md": "C.\n"})
    notes.embedder.fail_on = "Poison"
    assert [one.path for one in notes.sync().problems] == ["notes/a.md"]
    assert notes.text("notes/a.md") == "Poison text.\n"
    assert notes.store.snapshot().pending() == 1
    assert [one.path for one in notes.sync().problems] == ["notes/a.md"]
    notes.embedder.fail_on = None
    report = notes.synced()
    assert (report.changed, report.embedded) == (0, 1)


def test_a_model_that_gives_no_unit_vectors_is_refused(notes: Notes) -> None:
    class Broken(StandIn):
        def embed_passages(self, texts):  # type: ignore[no-untyped-def]
            return super().embed_passages(texts) * float("nan")

    notes.write({"a.md": "A.\n"})
    notes.embedder = Broken()
    with pytest.raises(EmbedderError, match="not finite"):
        notes.sync()
    assert notes.text("notes/a.md") == "A.\n"
    assert notes.store.snapshot().pending() == 1


def test_a_cancelled_sync_stops_after_the_batch_it_is_at(notes: Notes) -> None:
    notes.write({"a.md": "A.\n"})
    assert notes.sync(cancel=set_event()).added == 1


def test_while_many_files_come_in_most_of_them_are_in_the_full_text_index(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_BATCH_ROWS", 100)
    monkeypatch.setattr(run, "_GROUP_PATHS", 50)
    eager = replace(maintenance.WHILE_FILLING, unindexed_rows=50, unindexed_share=0.25)
    monkeypatch.setattr(maintenance, "WHILE_FILLING", eager)
    notes.write({f"n{number}.md": f"Note {number}.\n" for number in range(400)})
    engine = Engine(notes.store, notes.settings, lambda: notes.embedder)
    outside = []
    for _ in engine.run(Wanted()).steps():
        with notes.store._handles.probe() as table:
            index = indices.indices_of(table)["text"]
        rows = index.num_indexed_rows + index.num_unindexed_rows
        assert index.num_unindexed_rows <= 50 + rows / 4
        outside.append(index.num_unindexed_rows)
    assert len(outside) > 4
    assert max(outside) > 0  # it is not brought up each time
