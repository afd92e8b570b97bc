"""A tour in ten seconds: index a small vault, ask it in three languages, edit a note, go back.

Run by ``make demo``. Everything happens in a temporary folder; nothing of yours is touched.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

import lancebrain
from lancebrain.types import Hit

VAULT = Path(__file__).parent.parent / "demo" / "vault"

QUESTIONS = (
    ("English", "how metal crates let factories send goods overseas for pennies"),
    ("日本語", "太古の大木に会うため、どのくらい歩いたか"),
    ("中文", "宠物蹲了一宿厕所却尿不了"),
    ("English, found in 中文", "how long did restoring the photos from backup take"),
    ("日本語, found in English", "テストが不安定なとき、壊したコミットを探す方法"),
    ("中文, found in 日本語", "米糠腌菜表面长了一层白膜"),
)
WORDS = ("WHK-4031", "缬沙坦")
EDITED = "office/runbooks/Label printers.md"
BEFORE = "# Label printers"
SPARE = "where is the spare printer"
CHECKPOINT = "before-the-edit"
ADDED = "\n\nThe spare Zebra printer stands in the lost property room, under the umbrellas."

out = Console(highlight=False, emoji=False)


def main() -> None:
    """Run the tour."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lancebrain-demo-") as folder:
        vault = Path(shutil.copytree(VAULT, Path(folder) / "vault"))
        with lancebrain.open(Path(folder) / "index", sources=[]) as brain:
            tour(brain, vault)
    program = Path(sys.executable).with_name("lancebrain")
    if program.is_relative_to(Path.cwd()):
        program = program.relative_to(Path.cwd())
    out.print(f"\n[dim]{time.monotonic() - started:.1f} s in all. Yours:[/] {program} sync ~/notes")


def tour(brain: lancebrain.Brain, vault: Path) -> None:
    """Index, ask, edit, ask again."""
    heading("1. Index a folder of notes")
    with out.status("Reading, cutting and embedding …"):
        report = brain.sync([vault])
    out.print(
        f"{report.added} notes in English, 日本語 and 中文, {report.embedded} chunks embedded, "
        f"{report.seconds:.1f} s"
    )

    heading("2. Ask, in the words that come to mind")
    for languages, question in QUESTIONS:
        ask(brain, question, languages)

    heading("3. Look up a word, to the letter")
    for word in WORDS:
        ask(brain, word, "an exact word")

    heading("4. Edit one note")
    brain.checkpoint(CHECKPOINT, look=False)
    note = vault / EDITED
    text = note.read_text(encoding="utf-8")
    note.write_text(text.replace(BEFORE, BEFORE + ADDED, 1), encoding="utf-8")
    report = brain.sync()
    out.print(
        f"{report.changed} note changed, {report.unchanged} as before: "
        f"[bold]{report.embedded} chunk embedded[/], {report.rows_written} rows written, "
        f"{report.seconds * 1000:.0f} ms"
    )
    ask(brain, SPARE, "right after the save")
    nothing = brain.sync()
    out.print(f"A sync with nothing to do: {nothing.seconds * 1000:.0f} ms, nothing written")

    heading("5. Go back in time")
    go_back(brain, note)


def go_back(brain: lancebrain.Brain, note: Path) -> None:
    """Roll back and on again; delete the note, and bring it back."""
    started = time.monotonic()
    done = brain.rollback(CHECKPOINT)
    out.print(
        f"Rolled back from version {done.version_before} to {CHECKPOINT!r}, "
        f"{(time.monotonic() - started) * 1000:.0f} ms; the files are as they were"
    )
    ask(brain, SPARE, "the index as before the edit")
    report = brain.resume()
    out.print(
        f"Resumed: {report.changed} note changed, [bold]{report.embedded} chunks embedded[/], "
        "as its vectors are known"
    )
    before = note.read_bytes()
    note.unlink()
    report = brain.sync()
    brain.restore(note)
    same = "byte for byte" if note.read_bytes() == before else "with other bytes"
    out.print(f"Deleted the note: {report.removed} removed. Restored it: it is back, {same}")


def heading(text: str) -> None:
    """Begin a part of the tour."""
    out.print(f"\n[bold magenta]{text}[/]")


def ask(brain: lancebrain.Brain, question: str, about: str) -> None:
    """Ask, and show the best hit."""
    started = time.monotonic()
    answer = brain.search(question, limit=1)
    milliseconds = (time.monotonic() - started) * 1000
    line(Text.assemble("? ", (question, "bold"), (f"   {about}, {milliseconds:.0f} ms", "dim")))
    for hit in answer.hits:
        show(hit)


def show(hit: Hit) -> None:
    """Print where a hit is and what it says, a line each."""
    trail = " › ".join(hit.heading_path[1:])
    place = f"{hit.path}:{hit.line_start}-{hit.line_end}"
    line(Text.assemble("  ", (place, "cyan"), f"  {trail}"))
    line(Text.assemble("  ", (" ".join(hit.snippet.split()), "dim")))


def line(text: Text) -> None:
    """Print what fits in one line."""
    out.print(text, no_wrap=True, overflow="ellipsis")


if __name__ == "__main__":
    main()
