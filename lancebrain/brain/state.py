"""The index at a glance, for ``status`` and ``sources list``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from lancebrain.kinds import LOGS
from lancebrain.osnames import to_text
from lancebrain.readers.secrets import MASKED
from lancebrain.types import Problem, Source, SourceStatus, Status

if TYPE_CHECKING:
    from lancebrain.store import Recall, Snapshot, Store


def status_of(
    store: Store, snapshot: Snapshot, problems: Iterable[Problem], sources: Iterable[Source]
) -> Status:
    """Everything that ``status`` tells.

    Args:
        snapshot: the version that it is about.
        problems: that have no document row, from the last full look.
        sources: that are configured now.
    """
    from lancebrain.versions import problems_in_time

    hold, planned = store.hold.read(), store.plan.read()
    counts = document_counts(snapshot)
    recall = store.recall.read()
    told = {*problems, *snapshot.problems(), *problems_in_time(store), *_of_recall(recall)}
    masked, skipped = _left_out(snapshot)
    made = store.versions()
    oldest = min(made, default=0)
    return Status(
        version=snapshot.version,
        pinned=None if hold is None else hold.ref,
        documents=sum(counts.values()),
        chunks=snapshot.chunk_count(),
        pending=snapshot.pending(),
        sources=source_states(sources, counts),
        problems=tuple(sorted(told, key=lambda problem: (problem.path, problem.code))),
        bytes=store.bytes(),
        model=snapshot.info.model,
        index=str(store.storage),
        pinned_at=None if hold is None else hold.at,
        at=made.get(snapshot.version),
        versions=len(made),
        oldest_version=oldest,
        oldest_at=made.get(oldest),
        watching=_watching(store),
        masked_secrets=masked,
        skipped_records=skipped,
        next_model="" if planned is None else planned.model,
        recall=None if recall is None else recall.share,
    )


def _of_recall(recall: Recall | None) -> Iterator[Problem]:
    from lancebrain.store import ENOUGH

    if recall is not None and recall.share < ENOUGH:
        yield Problem(
            "",
            "recall-low",
            f"The vector index finds {recall.share:.0%} of the nearest passages. To have it built "
            "anew: lancebrain doctor --fix",
        )


def _left_out(snapshot: Snapshot) -> tuple[int, Mapping[str, int]]:
    """How many secrets are masked, and how many records of logs were skipped, by type."""
    from lancebrain.store.filters import literal, one_of

    logs = snapshot.metadata(one_of("kind", sorted(LOGS))).values()
    notes = snapshot.metadata(f"ends_with(doc.mime, {literal(MASKED)})").values()
    skipped: Counter[str] = Counter()
    for facts in logs:
        skipped.update(facts.get("skipped_records", {}))
    counts = [facts.get("masked_secrets", 0) for facts in (*logs, *notes)]
    # In the frontmatter of a note without secrets, the key is the writer's own.
    masked = sum(count for count in counts if isinstance(count, int))
    return masked, dict(skipped.most_common())


def _watching(store: Store) -> str:
    from lancebrain.sync.watchstate import WatchRecord

    state = WatchRecord(store.folder).read()
    if state is None:
        return ""
    return f"{state.mode}: {state.reason}" if state.reason else state.mode


def document_counts(snapshot: Snapshot) -> dict[str, int]:
    """Documents by source; files that no reader takes are not counted."""
    from lancebrain.sync.manner import REFUSED

    stats = snapshot.stats()
    return dict(Counter(p.partition("/")[0] for p, s in stats.items() if s.kind != REFUSED))


def source_states(sources: Iterable[Source], counts: Mapping[str, int]) -> tuple[SourceStatus, ...]:
    """Each source as it is on disk now, then those that are configured nowhere any more.

    Args:
        counts: documents of each source in the index.
    """
    from lancebrain.sources import root_state

    states = [
        SourceStatus(s.name, to_text(str(s.root)), root_state(s), counts.get(s.name, 0))
        for s in sources
    ]
    names = {state.name for state in states}
    unlisted = (
        SourceStatus(name, "", "unlisted", count)
        for name, count in sorted(counts.items())
        if name not in names
    )
    return (*states, *unlisted)
