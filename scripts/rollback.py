#!/usr/bin/env python3
"""Roll an index back, for operators: the engine of ``lancebrain rollback``, for scripts.

    python scripts/rollback.py --list
    python scripts/rollback.py --to before-cleanup --dry-run
    python scripts/rollback.py --to before-cleanup --yes

The index then equals the version and is held there: running servers say so and follow no files
until ``lancebrain resume``. No file of a source is touched.

Exit codes:
  0    done, listed, or told what would be done
  1    an error, or the answer was no: nothing was changed, unless the message says otherwise
  2    the command line or the reference is wrong, or --yes lacks where nobody can be asked
  10   there is no index
  11   another process held the index for too long
  130  stopped by Ctrl-C
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

try:
    import lancebrain
    from lancebrain.errors import LancebrainError, UsageError
    from lancebrain.machine import to_json
except ModuleNotFoundError as error:
    sys.exit(
        f"Error: this Python, {sys.executable}, has no {error.name}. "
        "Run the script with the one that LanceBrain is installed in, such as .venv/bin/python."
    )

if TYPE_CHECKING:
    from lancebrain.types import Rollback, Version

_DOCUMENTS = ("added", "changed", "moved", "removed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        with lancebrain.open(options.index) as brain:
            if options.list:
                _list(brain.history(limit=options.limit), options)
            else:
                return _roll_back(brain, options)
    except LancebrainError as error:
        _say(f"Error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever reads has seen enough; what is left must not fail as the program ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _roll_back(brain: lancebrain.Brain, options: argparse.Namespace) -> int:
    plan = brain.rollback(options.to, dry_run=True)
    if options.dry_run:
        _tell(plan, as_json=options.json, is_done=False)
        return 0
    if not options.yes and not _agreed(plan):
        _say("Nothing was changed.")
        return 1
    done = brain.rollback(plan.ref)
    _tell(done, as_json=options.json, is_done=True)
    _say(_held(done.ref, options))
    _say(f"The way back: {_again(options, '--to', done.checkpoint)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--list", action="store_true", help="list the versions, newest first")
    what.add_argument(
        "--to",
        metavar="REF",
        help="a version, a checkpoint, latest~1, or a time: yesterday, 2d, 2026-11-29T10:00",
    )
    parser.add_argument("--limit", type=_count, default=20, help="versions to list (20)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--index", metavar="DIR", help="folder of the index; else as configured")
    return parser


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 up")
    return int(text)


def _list(versions: Sequence[Version], options: argparse.Namespace) -> None:
    if options.json:
        print(to_json(versions, indent=2), flush=True)
        return
    for version in versions:
        about = f"{version.reason or '(not recorded)'} {version.note}".strip()
        columns = (
            f"{version.version:>8}",
            f"{version.at.astimezone():%Y-%m-%d %H:%M:%S}",
            f"{about:<22}",
            f"{_counted(version.counts):<32}",
            " ".join(version.tags),
        )
        print("  ".join(columns).rstrip())
    sys.stdout.flush()
    pinned = versions[0].pinned
    if pinned is not None:
        _say(_held(pinned, options))


def _tell(rollback: Rollback, *, as_json: bool, is_done: bool) -> None:
    if as_json:
        print(to_json(rollback, indent=2), flush=True)
        return
    verb = "Rolled back" if is_done else "Would roll back"
    print(f"{verb} {_what(rollback)}", flush=True)


def _agreed(plan: Rollback) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody is there to be asked.", hint="Add --yes to go on, or --dry-run to look."
        )
    print(f"Roll back {_what(plan)}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _what(rollback: Rollback) -> str:
    changes = _counted(rollback.changes) or "the same documents"
    if rollback.changes_model:
        changes += f", model {rollback.model} in place of {rollback.model_before}"
    return f"from version {rollback.version_before} to {rollback.restored} ({changes})"


def _held(ref: str, options: argparse.Namespace) -> str:
    index = f" --index {shlex.quote(options.index)}" if options.index else ""
    return f"Held at {ref}, no file is followed. To follow them again: lancebrain resume{index}"


def _again(options: argparse.Namespace, *arguments: str) -> str:
    """This script with other arguments, as it may be typed."""
    index = ("--index", options.index) if options.index else ()
    return shlex.join([sys.executable, sys.argv[0], *index, *arguments])


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in _DOCUMENTS if counts.get(name))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
