"""``rollback``, ``resume``, ``restore``, ``forget`` and ``optimize``: what changes the past."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lancebrain.cli.app import command
from lancebrain.cli.confirming import confirmed
from lancebrain.cli.exits import ERROR, PROBLEMS
from lancebrain.cli.front import Front
from lancebrain.cli.progress import shown_progress
from lancebrain.cli.refs import REF_HELP, At
from lancebrain.cli.timeline import PANEL
from lancebrain.errors import UsageError

if TYPE_CHECKING:
    from lancebrain.brain import Brain

_DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; do nothing.")]
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@command(
    "rollback",
    panel=PANEL,
    examples=(
        "lancebrain rollback latest~1",
        "lancebrain rollback yesterday --dry-run",
        "lancebrain rollback before-cleanup --yes",
    ),
)
def rollback(
    front: Front,
    ref: Annotated[str, typer.Argument(metavar="REF", help=REF_HELP)],
    dry_run: _DryRun = False,
    yes: _Yes = False,
) -> int:
    """Make the index equal to an earlier version, and hold it there. No file is touched.

    The files are not followed until `lancebrain resume`. A checkpoint is made first, the way back.
    """
    from lancebrain.cli.render_time import changes_of, print_rollback

    with front.brain() as brain:
        done = brain.rollback(ref, dry_run=True)
        if not dry_run:
            question = (
                f"Roll the index back from version {done.version_before} to {done.restored} "
                f"({changes_of(done)})?"
            )
            if not confirmed(front, question, yes=yes):
                return ERROR
            done = brain.rollback(done.ref)
    if front.as_json:
        front.emit(done)
    else:
        print_rollback(front, done, dry_run=dry_run)
    return 0


@command("resume", panel=PANEL, examples=("lancebrain resume",))
def resume(front: Front) -> int:
    """Follow the files again after a rollback; only what is not known is embedded."""
    from lancebrain.cli.render import print_report

    with front.brain() as brain, shown_progress(front) as progress:
        report = brain.resume(progress=progress)
    print_report(front, report)
    return PROBLEMS if report.problems else 0


@command(
    "restore",
    panel=PANEL,
    examples=(
        "lancebrain restore notes/ideas.md",
        "lancebrain restore notes/ideas.md --at yesterday --to ideas-before.md",
        "lancebrain restore 'notes/2026/**' --dry-run",
    ),
)
def restore(
    front: Front,
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A document, a folder, a glob, or a file.")
    ],
    at: At = None,
    to: Annotated[
        Path | None,
        typer.Option("--to", metavar="FILE", show_default=False, help="Write one document here."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Also in place of a file with other content.")
    ] = False,
    dry_run: _DryRun = False,
) -> int:
    """Write notes back to disk, to the byte, also deleted ones.

    Without --at the newest version counts that has the note. A file with other content is left
    alone; the command then ends with 3.
    """
    with front.brain() as brain:
        restored = brain.restore(path, at=at, to=to, overwrite=overwrite, dry_run=dry_run)
    if front.as_json:
        front.emit(restored)
    else:
        from lancebrain.cli.render_time import print_restored

        print_restored(front, restored, dry_run=dry_run)
    is_well = all(entry.done or entry.is_same or entry.moved_to for entry in restored)
    return 0 if is_well else PROBLEMS


@command(
    "forget",
    panel=PANEL,
    examples=(
        "lancebrain forget notes/diary.md --verify",
        "lancebrain forget 'notes/private/**' --dry-run",
        "lancebrain forget --list",
        "lancebrain forget --allow notes/diary.md",
    ),
)
def forget(
    front: Front,
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="[PATH]...", help="Documents, folders, globs, or files."),
    ] = None,
    allow: Annotated[
        bool, typer.Option("--allow", help="Let them in again, with the next sync.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Prove it: look through everything in the index.")
    ] = False,
    every: Annotated[bool, typer.Option("--list", help="List what was forgotten.")] = False,
    dry_run: _DryRun = False,
    yes: _Yes = False,
) -> int:
    """Take documents out of the index for good, out of every version, and keep them out.

    No file is touched. This cannot be undone: versions without a checkpoint go, the others are
    written anew. Ends with 3 if --verify finds something.
    """
    if not paths and not every:
        raise UsageError("Nothing to forget was named.", hint="Name a document, or --list.")
    with front.brain() as brain:
        if every:
            _list_forgotten(front, brain)
            return 0
        if allow:
            brain.allow(paths or ())
            if front.as_json:
                front.emit(brain.forgotten())
            else:
                front.remark("They come back with the next sync.")
            return 0
        return _forget(front, brain, paths or [], verify=verify, dry_run=dry_run, yes=yes)


@command(
    "optimize",
    panel="Look after",
    examples=("lancebrain optimize --dry-run", "lancebrain optimize"),
)
def optimize(front: Front, dry_run: _DryRun = False) -> None:
    """Clean up old versions without a checkpoint, and make searches quick.

    Goes by itself when it pays. How long versions stay: keep_versions_days.
    """
    with front.brain() as brain:
        done = brain.optimize(dry_run=dry_run)
    if front.as_json:
        front.emit(done)
        return
    from lancebrain.cli.render_time import print_optimized

    print_optimized(front, done, dry_run=dry_run)


def _forget(
    front: Front, brain: Brain, paths: list[str], *, verify: bool, dry_run: bool, yes: bool
) -> int:
    from lancebrain.cli.render_time import print_forgot
    from lancebrain.cli.text import plural

    forgot = brain.forget(paths, dry_run=True)
    if not dry_run:
        question = f"Forget {plural(len(forgot.documents), 'document')} for good"
        if forgot.versions_dropped:
            question += f", with {plural(forgot.versions_dropped, 'version')} without a checkpoint"
        if not confirmed(front, f"{question}?", yes=yes):
            return ERROR
        forgot = brain.forget(paths, verify=verify)
    if front.as_json:
        front.emit(forgot)
    else:
        print_forgot(front, forgot, dry_run=dry_run)
    return PROBLEMS if forgot.proof is not None and forgot.proof.found else 0


def _list_forgotten(front: Front, brain: Brain) -> None:
    entries = brain.forgotten()
    if front.as_json:
        front.emit(entries)
        return
    for entry in entries:
        front.out.print(f"{entry.path}{'' if entry.done else '  (cut short)'}", markup=False)
    if not entries:
        front.remark("Nothing is forgotten.")
