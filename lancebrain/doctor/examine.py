"""One examination: all checks, the repairs if they are wanted, and the checks once more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lancebrain.doctor import checks, deep
from lancebrain.doctor.checks import Ailment, ailment
from lancebrain.doctor.findings import Diagnosis, Finding
from lancebrain.doctor.repairs import go_back, repair
from lancebrain.errors import DamagedError
from lancebrain.sync import Engine

Check = Callable[[Engine], Iterable[Ailment]]

# These read the table alone: when one of them cannot, the table is damaged.
_OF_THE_TABLE: Mapping[str, Check] = {
    "versions": checks.recovered_versions,
    "rows": checks.rows,
    "indices": checks.indices,
    "keys": checks.keys,
    "vectors": checks.vectors,
}
_OF_THE_REST: Mapping[str, Check] = {
    "lock": checks.lock,
    "sources": checks.unlisted,
    "disk": checks.disk,
}
_DEEP: Mapping[str, Check] = {"contents": deep.contents}


def examine(
    open_engine: Callable[[], Engine],
    open_anew: Callable[[], Engine],
    *,
    deeply: bool = False,
    fix: bool = False,
) -> Diagnosis:
    """Examine an index.

    Args:
        open_engine: opens the index.
        open_anew: moves its table aside, and makes a new index, or fails and leaves it there.
        deeply: also read every file and compare every chunk.
        fix: repair what can be repaired. A table that cannot be read goes back to the newest
            version that can; where there is none, it is moved aside and built anew from the files.

    Raises:
        IndexNotFoundError: there is no index.
        IndexMismatchError: the index was made with another model or version.
        EmbedderError: a repair needs the model, which fails.
        StoreError: the index may not be used: permissions, or no room.
    """
    started = time.monotonic()
    rest = {**_OF_THE_REST, **(_DEEP if deeply else {})}
    names = (*_OF_THE_TABLE, *rest)
    engine: Engine | None = None
    try:
        engine = open_engine()
        found = _findings_of(engine, _OF_THE_TABLE)
    except DamagedError as error:
        damage = _damage(error)
        if not fix:
            return Diagnosis(0, names, (damage,), time.monotonic() - started)
        if engine is None or not go_back(engine):
            engine = open_anew()
        engine.sync()
        findings: tuple[Finding, ...] = (replace(damage, fixed=True),)
        return Diagnosis(engine.store.version, names, findings, time.monotonic() - started)
    if not _ends_early(found):
        found += _findings_of(engine, rest)
    findings = tuple(one.finding for one in found)
    if fix and found:
        repair(engine, found)
        left = _findings_of(engine, {**_OF_THE_TABLE, **rest})
        if _ends_early(found):
            # Now the rest can be seen.
            repair(engine, left)
            findings += tuple(one.finding for one in left)
            left = _findings_of(engine, {**_OF_THE_TABLE, **rest})
        codes = {one.finding.code for one in left}
        findings = tuple(_told(finding, codes) for finding in findings)
    version = engine.store.snapshot().version
    return Diagnosis(version, names, findings, time.monotonic() - started)


def _findings_of(engine: Engine, chosen: Mapping[str, Check]) -> list[Ailment]:
    found: list[Ailment] = []
    for check in chosen.values():
        found += check(engine)
        if _ends_early(found):
            break
    return found


def _ends_early(found: Iterable[Ailment]) -> bool:
    """Whether an index is damaged: other checks would read by it, and take it for the table."""
    return any(one.finding.code == "index-damaged" for one in found)


def _told(finding: Finding, left: set[str]) -> Finding:
    # What opening has mended stays in the record of this process, and is mended nonetheless.
    mended = finding.code == "torn-versions" or finding.code not in left
    return replace(finding, fixed=finding.fixable and mended)


def _damage(error: DamagedError) -> Finding:
    return ailment(
        "damaged",
        f"The table cannot be read. {error.message}",
        "go back to the newest version that can be read, and sync; where there is none, move the "
        "table aside and build a new one from the files",
    ).finding
