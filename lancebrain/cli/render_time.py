"""Versions and what happened to them, for people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lancebrain.cli.text import human_bytes, one_line, path_line, plural, printable
from lancebrain.cli.times import ago
from lancebrain.types import Diff, Rollback, Version

if TYPE_CHECKING:
    from lancebrain.brain import Checkpoint, Forgot, Optimized, Proof, RestoredFile
    from lancebrain.cli.front import Front

_DOCUMENTS = ("added", "changed", "moved", "removed")
_QUIET = frozenset({"backfill", "maintenance"})
_MARKS = {
    "added": ("+", "green"),
    "changed": ("~", "yellow"),
    "moved": (">", "cyan"),
    "removed": ("-", "red"),
}
_FEW_FILES = 20


def print_history(front: Front, versions: Sequence[Version], *, has_more: bool) -> None:
    """A line a version, the newest first."""
    now = datetime.now().astimezone()
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("version", justify="right", style="bold", no_wrap=True)
    table.add_column("when", no_wrap=True)
    table.add_column("what", overflow="fold")
    table.add_column("checkpoint", style="cyan", overflow="fold")
    for entry in versions:
        table.add_row(
            f"{entry.version}",
            Text(ago(entry.at, now=now)),
            _event(entry),
            _names(entry),
            style="dim" if entry.reason in _QUIET else "",
        )
    front.out.print(table)
    if has_more:
        front.remark("There are older ones: --limit")
    if versions and versions[0].pinned is not None:
        front.remark(
            f"Pinned at {versions[0].pinned}: files are not followed until `lancebrain resume`."
        )


def print_diff(front: Front, changes: Diff) -> None:
    """A line a document, with its text where that was asked for; the sums to stderr."""
    for change in changes.changes:
        mark, style = _MARKS[change.what]
        before = f"{path_line(change.before)} → " if change.before else ""
        line = Text.assemble((f"{mark} {before}{path_line(change.path)}", style))
        front.out.print(line, soft_wrap=True)
        if change.text_diff is not None:
            _print_text_diff(front, change.text_diff)
    counts: Counter[str] = Counter(change.what for change in changes.changes)
    front.remark(
        f"Version {changes.version_from} to {changes.version_to}: "
        f"{_counted(counts, _DOCUMENTS) or 'the same documents'}."
    )


def print_checkpoints(front: Front, checkpoints: Sequence[Checkpoint]) -> None:
    """A line a checkpoint, that of the newest version first."""
    if not checkpoints:
        front.remark("No checkpoints yet. Make one: lancebrain checkpoint NAME")
        return
    now = datetime.now().astimezone()
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("checkpoint", style="cyan", overflow="fold")
    table.add_column("version", justify="right")
    table.add_column("named")
    table.add_column("message", overflow="fold")
    for checkpoint in checkpoints:
        message = one_line(checkpoint.message) or ("(automatic)" if checkpoint.automatic else "")
        table.add_row(
            Text(checkpoint.name),
            f"{checkpoint.version}",
            Text(ago(checkpoint.at, now=now) if checkpoint.at else ""),
            Text(message, style="dim" if checkpoint.automatic else ""),
        )
    front.out.print(table)


def print_rollback(front: Front, done: Rollback, *, dry_run: bool) -> None:
    """What a rollback changed, and the way back."""
    would = ("would be: ", "yellow") if dry_run else ""
    what = (f"version {done.version_before} → {done.restored}", "bold")
    front.out.print(Text.assemble(would, what, f"  {changes_of(done)}"), soft_wrap=True)
    if done.changes_model:
        front.remark(
            f"The model is that of the version, {one_line(done.model)}. To have "
            f"{one_line(done.model_before)} after `lancebrain resume`: "
            f"lancebrain model use {one_line(done.model_before)}"
        )
    if not dry_run:
        front.remark(f"Pinned at {done.ref}: files are not followed until `lancebrain resume`.")
        front.remark(f"The way back: lancebrain rollback {done.checkpoint}")


def changes_of(rollback: Rollback) -> str:
    """How many documents a rollback concerns, and whether the model, in words."""
    documents = _counted(rollback.changes, _DOCUMENTS) or "the same documents"
    return f"{documents}, model {rollback.model}" if rollback.changes_model else documents


def print_restored(front: Front, restored: Sequence[RestoredFile], *, dry_run: bool) -> None:
    """A line a file; of several, those that were as they should be already are only counted."""
    same = [entry for entry in restored if entry.is_same]
    for entry in restored:
        if entry.is_same and len(restored) > 1:
            continue
        if entry.done:
            verb = ("would restore", "yellow") if dry_run else ("restored", "green")
            about = f"  {path_line(entry.file)}  version {entry.version}"
        else:
            verb = ("left alone", "dim" if entry.is_same or entry.moved_to else "yellow")
            about = f"  {path_line(entry.file)}  {path_line(entry.why)}"
        front.out.print(Text.assemble(verb, about), soft_wrap=True)
    if same and len(restored) > 1:
        front.remark(f"{plural(len(same), 'file is', 'files are')} the same already.")
    versions = {entry.version for entry in restored if entry.done}
    if len(versions) > 1:
        front.remark(
            f"From {len(versions)} versions, the newest that has each; --at takes all from one."
        )


def print_forgot(front: Front, forgot: Forgot, *, dry_run: bool) -> None:
    """What was rewritten, and the proof where it was asked for."""
    would = ("would be: ", "yellow") if dry_run else ""
    count = plural(len(forgot.documents), "document")
    front.out.print(Text.assemble(would, (f"{count} forgotten", "bold")), soft_wrap=True)
    for path in forgot.documents[:_FEW_FILES]:
        front.out.print(Text(f"   {path_line(path)}"), soft_wrap=True)
    if len(forgot.documents) > _FEW_FILES:
        front.out.print(Text(f"   and {len(forgot.documents) - _FEW_FILES:,} more", style="dim"))
    for version in forgot.rewritten:
        names = f" ({', '.join(version.tags)})" if version.tags else ""
        number = f"{version.before}" if dry_run else f"{version.before} → {version.version}"
        gone = f", without {plural(version.removed, 'document')}" if version.removed else ""
        about = f"rewritten: version {number}{names}{gone}"
        front.out.print(Text(about, style="dim"), soft_wrap=True)
    if forgot.versions_dropped:
        dropped = plural(forgot.versions_dropped, "version")
        front.out.print(Text(f"dropped: {dropped} without a checkpoint", style="dim"))
    if forgot.tables_dropped:
        tables = plural(forgot.tables_dropped, "damaged table")
        front.out.print(Text(f"deleted: {tables} that had been set aside", style="dim"))
    if forgot.copies:
        _print_copies(front, forgot.copies)
    if dry_run:
        return
    front.out.print(Text("emptied: the cache of vectors", style="dim"))
    if forgot.proof is not None:
        _print_proof(front, forgot.proof)
    front.remark(f"They stay out until: lancebrain forget --allow {shlex.join(forgot.paths)}")
    front.remark("The files themselves, and what other programs keep of them, are as they were.")


def print_optimized(front: Front, done: Optimized, *, dry_run: bool) -> None:
    """What was cleaned up."""
    would = ("would be: ", "yellow") if dry_run else ""
    what = [plural(len(done.versions_removed), "old version") + " removed"]
    if done.tombstones:
        what.append(f"{plural(done.tombstones, 'removed row')} taken out")
    if not dry_run:
        what.append(f"{done.fragments_before:,} → {plural(done.fragments_after, 'piece')}")
    front.out.print(Text.assemble(would, (", ".join(what), "bold")), soft_wrap=True)
    size = human_bytes(done.bytes_before)
    if not dry_run:
        size += f" → {human_bytes(done.bytes_after)}"
    about = f"{plural(done.versions_kept, 'version')} left · {size} · {done.seconds:.1f} s"
    front.out.print(Text(about, style="dim"), soft_wrap=True)


def _event(entry: Version) -> Text:
    counts = {name.replace("_", " "): count for name, count in entry.counts.items()}
    told = _counted(counts, _DOCUMENTS) or _counted(counts, ("embedded",))
    parts = [entry.reason or "(not recorded)", entry.note]
    line = " ".join(part for part in parts if part)
    return Text(f"{line}: {told}" if told else line)


def _names(entry: Version) -> Text:
    names = ", ".join(entry.tags)
    if entry.message:
        names += f" “{one_line(entry.message)}”"
    if entry.pinned is not None:
        names = f"pinned  {names}".rstrip()
    return Text(names)


def _counted(counts: Mapping[str, int], names: Sequence[str]) -> str:
    return ", ".join(f"{counts[name]:,} {name}" for name in names if counts.get(name))


def _print_text_diff(front: Front, text_diff: str) -> None:
    if not text_diff:
        what = "no line of text: line ends, encoding, or a file without text"
        front.out.print(Text(f"   {what}", style="dim"), soft_wrap=True)
        return
    for line in printable(text_diff).split("\n"):
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
        front.out.print(Text(f"   {line}", style=style), soft_wrap=True)


def _print_copies(front: Front, copies: Sequence[str]) -> None:
    count = plural(len(copies), "other document")
    front.out.print(Text(f"the same text stays in {count}:", style="yellow"), soft_wrap=True)
    for path in copies[:_FEW_FILES]:
        front.out.print(Text(f"   {path_line(path)}"), soft_wrap=True)
    if len(copies) > _FEW_FILES:
        front.out.print(Text(f"   and {len(copies) - _FEW_FILES:,} more", style="dim"))


def _print_proof(front: Front, proof: Proof) -> None:
    looked = (
        f"{plural(proof.files, 'file')} ({human_bytes(proof.bytes)}), "
        f"{proof.rows:,} rows of {plural(proof.versions, 'version')}, "
        f"{plural(proof.questions, 'question')}"
    )
    if not proof.found:
        # Of an empty note, or one that is elsewhere word by word, only the path can be looked for.
        what = plural(proof.lines, "distinctive line") if proof.lines else "their paths alone"
        line = Text.assemble(("proof", "green"), f"  {what} looked for in {looked}: none found")
        front.out.print(line, soft_wrap=True)
        return
    front.out.print(Text.assemble(("still there", "red"), f"  looked through {looked}"))
    for place in proof.found[:_FEW_FILES]:
        front.out.print(Text(f"   {one_line(place)}"), soft_wrap=True)
