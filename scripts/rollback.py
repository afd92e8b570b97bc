#!/usr/bin/env python3
"""Roll an index back, for operators: the engine of ``lancebrain rollback``, for scripts.

    python scripts/rollback.py --list
    python scripts/rollback.py --to before-cleanup --dry-run
    python scripts/rollback.py --to before-cleanup --yes

The index then equals the version and is held there: running servers say so and follow no files
until ``lancebrain resume``. No file of a source is touched.

Exit codes:
  0    done, listed, or told what would be done
  1    an error, or the answer was no: nothing was changed
  2    the command line or the reference is wrong, or --yes lacks where nobody can be asked
  10   there is no index
  11   another process held the index for too long
  130  stopped by Ctrl-C
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime

import lancebrain
from lancebrain.errors import LancebrainError, UsageError
from lancebrain.types import Rollback, Version


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        with lancebrain.open(options.index) as brain:
            if options.list:
                _list(brain.history(limit=options.limit), as_json=options.json)
                return 0
            plan = brain.rollback(options.to, dry_run=True)
            if options.dry_run:
                _tell(plan, as_json=options.json, is_done=False)
                return 0
            if not options.yes and not _agreed(plan):
                _say("Nothing was changed.")
                return 1
            done = brain.rollback(plan.ref)
            _tell(done, as_json=options.json, is_done=True)
            _say(f"Held at {done.ref}; follow the files again: lancebrain resume")
            _say(f"The way back: {sys.argv[0]} --to {done.checkpoint}")
    except LancebrainError as error:
        _say(f"Error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
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
    parser.add_argument("--limit", type=int, default=20, help="versions to list (20)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--index", metavar="DIR", help="folder of the index; else as configured")
    return parser


def _list(versions: Sequence[Version], *, as_json: bool) -> None:
    if as_json:
        print(_to_json([asdict(version) for version in versions]))
        return
    for version in versions:
        counts = ", ".join(f"{count} {name}" for name, count in version.counts.items())
        names = " ".join(version.tags)
        about = f"{version.reason or '-'} {version.note}".strip()
        pin = "  (held here)" if version.pinned is not None else ""
        line = f"{version.version:>8}  {version.at.astimezone():%Y-%m-%d %H:%M:%S}  {about:<24}"
        print(f"{line}  {counts}  {names}{pin}".rstrip())


def _tell(rollback: Rollback, *, as_json: bool, is_done: bool) -> None:
    if as_json:
        print(_to_json(asdict(rollback)))
        return
    changes = ", ".join(f"{count} {what}" for what, count in rollback.changes.items())
    verb = "Rolled back" if is_done else "Would roll back"
    print(
        f"{verb} from version {rollback.version_before} to {rollback.restored}: "
        f"{changes or 'the same documents'}"
    )


def _agreed(plan: Rollback) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(
            "Nobody is there to be asked.", hint="Add --yes to go on, or --dry-run to look."
        )
    question = f"Roll back from version {plan.version_before} to {plan.restored}? [y/N] "
    print(question, end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _to_json(value: object) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False, indent=2)


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _say(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
