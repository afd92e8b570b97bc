"""Results for people: the same dataclasses that ``--json`` prints."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lancebrain.cli.text import human_bytes, one_line, path_line, plural, printable
from lancebrain.kinds import LOGS
from lancebrain.types import Answer, Hit, Problem, SourceStatus, Status, SyncReport

if TYPE_CHECKING:
    from lancebrain.brain import Diagnosis
    from lancebrain.brain.passages import Passage
    from lancebrain.cli.front import Front

_FEW_PROBLEMS = 10
_MANY_REMOVED = 5
_INDENT = 3
_STATE_STYLE = {"ok": "green", "empty": "yellow", "missing": "red", "unreadable": "red"}


def print_answer(front: Front, answer: Answer, *, terms: Sequence[str]) -> None:
    """Hits to stdout, the state of the index to stderr.

    Args:
        terms: words to highlight in the snippets.
    """
    for number, hit in enumerate(answer.hits, 1):
        front.out.print(_hit_head(number, hit), soft_wrap=True)
        if hit.heading_path:
            trail = " › ".join(one_line(title) for title in hit.heading_path)
            _indented(front, Text(trail, style="italic"))
        snippet = Text(printable(hit.snippet).strip())
        _highlight(snippet, terms)
        _indented(front, snippet)
        if hit.also_at:
            places = ", ".join(f"{path_line(p.path)}:{p.line_start}" for p in hit.also_at)
            _indented(front, Text(f"also at {places}", style="dim"))
        front.out.print()
    if not answer.hits:
        front.remark("Nothing found.")
    for note in answer.notes:
        front.remark(one_line(note))
    if answer.pinned is not None:
        front.remark(f"The index is pinned at {answer.pinned}: changes on disk are not in it.")
    if answer.pending:
        front.remark(f"{plural(answer.pending, 'chunk')} cannot be found by meaning yet.")
    if answer.has_more:
        front.remark("There are more: --limit, or --offset for the next ones.")


def print_passage(front: Front, passage: Passage) -> None:
    """The text to stdout, exactly when it goes into a file or a pipe; about it to stderr."""
    lines = f":{passage.line_start}-{passage.line_end}" if passage.rank_start >= 0 else ""
    about = f"{path_line(passage.path)}{lines}"
    if passage.heading_path:
        about += "  " + " › ".join(one_line(title) for title in passage.heading_path)
    front.remark(about)
    for line in _exchange(passage):
        front.remark(line)
    if passage.freshness != "fresh":
        front.remark(_FRESHNESS[passage.freshness])
    exact = not sys.stdout.isatty()
    text = passage.text if exact else printable(passage.text)
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass"))
    if not exact and not text.endswith("\n"):
        sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def _exchange(passage: Passage) -> Iterator[str]:
    """Of a session log: who said it, when and where; and the question that it answers."""
    if passage.kind not in LOGS:
        return
    facts = passage.metadata
    said = (passage.role, _local(passage.said_at)) if passage.role and passage.said_at else ()
    place = (passage.title, facts.get("project"), facts.get("git_branch"))
    shown = [one_line(str(part)) for part in (*said, *place) if part]
    if shown:
        yield "  ".join(shown)
    if passage.question:
        yield f"Asked: {printable(passage.question)}"


def print_report(
    front: Front, report: SyncReport, *, dry_run: bool = False, one_of_many: bool = False
) -> None:
    """What a sync did, or would do; as JSON in one line when more reports follow."""
    if front.as_json:
        front.emit(report, indent=None if one_of_many else 2)
        return
    changes = [
        f"{count:,} {what}"
        for what in ("added", "changed", "moved", "removed")
        if (count := getattr(report, what))
    ]
    what = (", ".join(changes) or "nothing changed", "bold" if changes else "")
    would = ("would be: ", "yellow") if dry_run else ""
    details = [f"{report.unchanged:,} unchanged"]
    if report.rows_written or report.rows_deleted:
        details.append(f"{plural(report.rows_written, 'row')} written")
        details.append(f"{plural(report.embedded, 'chunk')} embedded, {report.reused:,} reused")
    elif report.embedded:  # what waited since an earlier sync
        details.append(f"{plural(report.embedded, 'chunk')} embedded")
    details.append(f"{report.seconds:.1f} s")
    about = ("  " + " · ".join(details), "dim")
    front.out.print(Text.assemble(would, what, about), soft_wrap=True)
    if report.removed >= _MANY_REMOVED and not dry_run:
        front.remark("If that was a mistake: lancebrain restore FOLDER/ brings the notes back.")
    print_problems(front, report.problems, every=False)
    if not (changes or report.unchanged or report.problems):
        front.remark(
            "There are no notes or texts there. Session logs want to be named: "
            "lancebrain sources add FOLDER --kind claude"
        )


def print_status(front: Front, status: Status, *, every_problem: bool) -> None:
    """The index at a glance."""
    print_sources(front, status.sources)
    pending = f", {status.pending:,} of them pending" if status.pending else ""
    pinned = f", pinned at {status.pinned}" if status.pinned else ""
    kept = f"; {status.versions:,} kept, the first of {_local(status.oldest_at)}"
    for name, value in (
        ("documents", f"{status.documents:,}"),
        ("chunks", f"{status.chunks:,}{pending}"),
        ("version", f"{status.version}{pinned}{kept}"),
        ("watching", status.watching or "no process follows the files"),
        *_left_out(status),
        *_recall(status),
        ("size", human_bytes(status.bytes)),
        (
            "model",
            status.model + (f", {_next(status)}" if status.next_model else ""),
        ),
        ("index", status.index),
    ):
        shown = Text.assemble((f"{name:<11}", "dim"), one_line(value))
        front.out.print(shown, soft_wrap=True)
    print_problems(front, status.problems, every=every_problem)
    if len(status.problems) > _FEW_PROBLEMS and not every_problem:
        front.remark("All of them: lancebrain status --problems")


def _recall(status: Status) -> Iterator[tuple[str, str]]:
    if status.recall is not None:
        yield "recall", f"{status.recall:.1%} of the nearest, by the vector index"


def _left_out(status: Status) -> Iterator[tuple[str, str]]:
    if status.masked_secrets:
        yield "masked", plural(status.masked_secrets, "secret")
    if status.skipped_records:
        named = (f"{count:,} {kind}" for kind, count in status.skipped_records.items())
        count = sum(status.skipped_records.values())
        yield "skipped", f"{plural(count, 'record')} of unknown types: {', '.join(named)}"


def print_sources(front: Front, sources: Iterable[SourceStatus]) -> None:
    """A line a source."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("source", style="bold", overflow="fold")
    table.add_column("state")
    table.add_column("documents", justify="right")
    table.add_column("folder", overflow="fold")
    for source in sources:
        table.add_row(
            Text(one_line(source.name)),
            Text(source.state, style=_STATE_STYLE.get(source.state, "")),
            f"{source.documents:,}",
            Text(path_line(source.root)),
        )
    if table.row_count:
        front.out.print(table)
    else:
        front.remark("No sources yet. Begin: lancebrain sync FOLDER")


def _next(status: Status) -> str:
    """What becomes of the model: only who follows the files goes on with it by itself."""
    return f"{'changing to' if status.watching else 'planned is'} {status.next_model}"


def print_problems(front: Front, problems: Sequence[Problem], *, every: bool) -> None:
    """What was wrong with files: counted by code, the first few (or all) named."""
    if not problems:
        return
    counts = Counter(problem.code for problem in problems).most_common()
    summary = ", ".join(f"{count:,} {code}" for code, count in counts)
    head = Text.assemble((plural(len(problems), "problem"), "yellow"), (f"  {summary}", "dim"))
    front.out.print(head, soft_wrap=True)
    for problem in problems if every else problems[:_FEW_PROBLEMS]:
        place = path_line(problem.path) or "—"
        _indented(front, Text.assemble(place, "  ", (one_line(problem.message), "dim")))


def print_findings(front: Front, diagnosis: Diagnosis) -> None:
    """What the doctor found, and what was or can be done about it."""
    for finding in diagnosis.findings:
        mark = ("repaired", "green") if finding.fixed else ("found", "yellow")
        message = one_line(finding.message)
        front.out.print(Text.assemble(mark, "  ", message), soft_wrap=True)
        for path in finding.paths:
            _indented(front, Text(path_line(path), style="dim"))
        if not finding.fixed:
            _indented(front, Text(f"repair: {one_line(finding.repair)}", style="dim"))
    left = sum(not finding.fixed for finding in diagnosis.findings)
    verdict = ("healthy", "green")
    if diagnosis.findings:
        verdict = (f"{plural(left, 'finding')} left", "") if left else ("all repaired", "green")
    checks = f"  {plural(len(diagnosis.checks), 'check')}, {diagnosis.seconds:.1f} s"
    front.out.print(Text.assemble(verdict, (checks, "dim")))
    if any(finding.fixable and not finding.fixed for finding in diagnosis.findings):
        front.remark("Repair: lancebrain doctor --fix")


def _indented(front: Front, text: Text) -> None:
    """Wrapped with its indent on a terminal; one line in a pipe."""
    if front.out.is_terminal:
        front.out.print(Padding(text, (0, 0, 0, _INDENT), expand=False))
    else:
        front.out.print(Text.assemble(" " * _INDENT, text), soft_wrap=True)


_FRESHNESS = {
    "gone": "The file is not there any more.",
    "changed": "The file has changed since it was indexed.",
    "unknown": "The file's source cannot be reached now.",
}


def _local(at: datetime | None) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M}" if at else "unknown"


def _hit_head(number: int, hit: Hit) -> Text:
    head = Text(f"{number:<3}", style="dim")
    head.append(path_line(hit.path), style="bold cyan")
    last = f"-{hit.line_end}" if hit.line_end != hit.line_start else ""
    head.append(f":{hit.line_start}{last}", style="cyan")
    head.append(f"  {hit.score:.2f}", style="dim")
    for extra in (hit.role, _local(hit.said_at) if hit.said_at else None):
        if extra:
            head.append(f"  {extra}", style="magenta")
    if hit.freshness != "fresh":
        head.append(f"  {hit.freshness}", style="yellow")
    return head


def _highlight(line: Text, terms: Sequence[str]) -> None:
    words = sorted({re.escape(term) for term in terms if term}, key=len, reverse=True)
    if words:
        line.highlight_regex(re.compile("|".join(words), re.IGNORECASE), "bold yellow")
