"""Which sources each configuration gave an index, to tell a source that was taken out of one.

Several configurations may feed one index: a ``lancebrain.toml`` here, variables of a server
there. A source that is missing from the settings of one of them may be another's; only one that
the same configuration listed before is surely meant to go.

A file is known by its path. Variables and programs are not: two may list different sources and
look the same. So a list of theirs counts as one from before when it holds all or only sources of
it, something being added or taken out, and as another configuration's when they differ both ways.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path

ENVIRONMENT = "the environment"
PROGRAM = "the program"


class Ledger:
    """The ledger of one index folder; losing it means that documents stay until confirmed.

    Args:
        folder: the index folder.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "configured.json"

    def dropped(self, origin: str, names: Collection[str]) -> set[str]:
        """Sources that ``origin`` listed at its last sync and does not now, and no other lists.

        Args:
            origin: which configuration: a file, or words for another place.
            names: of the sources it lists now.
        """
        listed = self._read()
        before = set(listed.pop(_entry(listed, origin, names), ()))
        return before.difference(names, *listed.values())

    def of_other_files(self, origin: str) -> set[str]:
        """Sources that a configuration file other than ``origin`` lists, if it is still there."""
        listed = self._read()
        others = (file for file in listed if file != origin and Path(file).is_file())
        return {name for file in others for name in listed[file]}

    def record(self, origin: str, names: Collection[str]) -> None:
        """Remember what ``origin`` lists now; the caller has synced it, and holds the lock.

        Raises:
            StoreError: the folder cannot be written, or is full.
        """
        from lancebrain.store import write_beside

        listed = self._read()
        entry = _entry(listed, origin, names)
        if sorted(listed.get(entry, ())) == sorted(names):
            return
        listed[entry] = sorted(names)
        text = json.dumps(listed, ensure_ascii=False, indent=1)
        write_beside(self._file.parent, self._file.name, text)

    def _read(self) -> dict[str, list[str]]:
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
            return {str(origin): list(map(str, names)) for origin, names in content.items()}
        except (FileNotFoundError, ValueError, AttributeError, TypeError):
            return {}


def _entry(listed: Mapping[str, Collection[str]], origin: str, names: Collection[str]) -> str:
    """Under which word a configuration's list stands, or is to stand."""
    if not origin.startswith((ENVIRONMENT, PROGRAM)):
        return origin
    now = set(names)
    own = [entry for entry in listed if entry.partition("; ")[0] == origin]
    for entry in sorted(own, key=lambda entry: len(now.symmetric_difference(listed[entry]))):
        before = set(listed[entry])
        if now <= before or now >= before:
            return entry
    return f"{origin}; {' '.join(sorted(now))}" if own else origin
