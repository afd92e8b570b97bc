"""What a terminal, a pipe and a signal make of the program; as processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Ran
from tests.trees import write_tree

pty = pytest.importorskip("pty")

pytestmark = pytest.mark.usefixtures("stand_in")
PROGRAM = [sys.executable, "-m", "lancebrain"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*arguments: object, columns: int = 80, **environ: str) -> str:
    """Run the program on a terminal of its own, and return all that it showed."""
    import fcntl
    import struct
    import termios

    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {**os.environ, "TERM": "xterm-256color", **environ}
    env.pop("COLUMNS", None)
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], stdin=slave, stdout=slave, stderr=slave, env=env
    )
    os.close(slave)
    shown = bytearray()
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(master)
    assert process.wait(timeout=60) == 0
    return shown.decode()


def width_of(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


@pytest.fixture
def indexed(tmp_path: Path, lb: Callable[..., Ran]) -> Path:
    notes = write_tree(
        tmp_path / "ノート",
        {
            "締め切り.md": "# 申告\n\n"
            + "申告の締め切りは三月十六日です。書類をそろえる。" * 4
            + "\n",
            "trap.md": "# \x1b[31mRed\x1b[0m\n\nA quokka \x1b]0;title\x07 smiles \x1b[2J here.\n",
        },
    )
    index = tmp_path / "index"
    assert lb("sync", notes, "--index", index).code == 0
    return index


def test_a_narrow_terminal_holds_japanese_text(indexed: Path) -> None:
    shown = on_terminal("search", "締め切り", "--index", indexed, "-n", 1, columns=40)
    assert "\x1b[" in shown
    plain = ESCAPES.sub("", shown).replace("\r", "")
    snippet = [line for line in plain.splitlines() if line.startswith("   ")]
    assert len(snippet) > 2
    assert all(width_of(line) <= 40 for line in snippet)


def test_no_color_is_obeyed(indexed: Path) -> None:
    shown = on_terminal("search", "締め切り", "--index", indexed, "-n", 1, NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", shown)


def test_escape_sequences_in_a_note_do_not_reach_the_terminal(indexed: Path) -> None:
    shown = on_terminal("search", "quokka", "--index", indexed, "-n", 1, NO_COLOR="1")
    assert "smiles" in shown
    assert "\x1b]0;" not in shown
    assert "\x1b[2J" not in shown
    whole = on_terminal("show", "ノート/trap.md", "--index", indexed)
    assert "smiles" in whole
    assert "\x1b]0;" not in whole


def test_a_pipe_gets_whole_lines_without_colours(
    indexed: Path, lb_process: Callable[..., Ran]
) -> None:
    ran = lb_process("search", "締め切り", "--index", indexed, "-n", 1)
    assert "\x1b" not in ran.out
    assert not any(line.endswith(" ") for line in ran.out.splitlines())
    assert len(ran.out.splitlines()) == 4  # place, headings, snippet, blank
    exact = lb_process("show", "ノート/trap.md", "--index", indexed)
    assert "\x1b[31mRed" in exact.out


def test_a_bar_on_a_terminal_and_nothing_of_it_in_the_result(tmp_path: Path) -> None:
    notes = write_tree(tmp_path / "notes", {f"{n}.md": f"# Note {n}\n" for n in range(200)})
    shown = on_terminal("sync", notes, "--index", tmp_path / "index")
    assert "Looking" in shown
    assert "200 added" in ESCAPES.sub("", shown)


def test_a_reader_that_goes_away_ends_it_quietly(indexed: Path) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "export", "--index", str(indexed)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 1
    assert process.stderr.read() == b""
    process.stderr.close()


def test_a_terminal_that_knows_no_unicode_still_gets_an_answer(
    indexed: Path, lb_process: Callable[..., Ran]
) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    ran = lb_process("search", "締め切り", "--index", indexed, "-n", 1, env=env)
    assert ran.code == 0
    assert r"\u7de0" in ran.out


def test_following_changes_until_ctrl_c(tmp_path: Path) -> None:
    notes = write_tree(tmp_path / "notes", {"a.md": "# A\n\nfirst\n"})
    process = subprocess.Popen(
        [*PROGRAM, "sync", str(notes), "--watch", "--json", "--index", str(tmp_path / "index")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background has Ctrl-C ignored, also by what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert '"added":1' in process.stdout.readline().replace(" ", "")
    assert "Watching" in process.stderr.readline()
    # The watch begins a moment after it says so: the change is made again until it is seen.
    seen = threading.Event()

    def change() -> None:
        number = 0
        while not seen.wait(0.2):
            number += 1
            (notes / "b.md").write_text(f"# B\n\nsecond {number}\n")

    writer = threading.Thread(target=change)
    writer.start()
    report = process.stdout.readline()
    seen.set()
    writer.join()
    assert '"added":1' in report.replace(" ", "")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
    process.stdout.close()
    process.stderr.close()


def test_nobody_is_shown_a_traceback(
    tmp_path: Path, lb: Callable[..., Ran], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lancebrain.brain.open", lambda *a, **k: 1 / 0)
    ran = lb("status", "--index", tmp_path)
    assert ran.code == 1
    assert "ZeroDivisionError" in ran.err
    assert "LANCEBRAIN_DEBUG" in ran.err
    assert "Traceback" not in ran.err
