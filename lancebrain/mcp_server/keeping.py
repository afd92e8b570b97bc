"""``reindex_now``, ``index_status`` and ``list_sources``: the state of what is searched."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Annotated

import anyio.from_thread
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from lancebrain.brain import Brain
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.arguments import READS, PathOrNone
from lancebrain.mcp_server.failures import translated
from lancebrain.mcp_server.quoting import label
from lancebrain.mcp_server.results import (
    ProblemEntry,
    ReindexResult,
    SourceEntry,
    SourcesResult,
    StatusResult,
)
from lancebrain.types import Problem, Progress, SourceStatus, SyncReport

_MOST_PROBLEMS = 20
_HELD = (
    "The index is held at {} since a rollback, so the files were not looked at. The owner lets it "
    "follow them again with `lancebrain resume`; until then, answers are as of that version."
)
_HOW_TO_ADD = "The owner adds a folder with: lancebrain sync FOLDER"


def register(server: MCPServer[App]) -> None:
    """Add the tools that tell of the index and bring it up to the files."""

    @server.tool(
        title="Look at the files now",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )
    async def reindex_now(
        ctx: Context[App],
        path: Annotated[
            PathOrNone,
            Field(
                description="Only this document or folder, such as `notes/2026/`; else all.",
            ),
        ] = None,
    ) -> ReindexResult:
        """Look at the files now and bring the index up to them.

        Rarely needed: saved changes are taken in by themselves within a second. Use it when
        index_status says that changes are not noticed, or when an answer must not miss a file
        that another program is writing in bulk. Returns what was added, changed and removed, and
        the problems with files.

        Example: reindex_now(path="notes/inbox/")
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain(lambda done, doing: ctx.report_progress(done, 1, doing))
            stop = threading.Event()

            def tell(progress: Progress) -> None:
                if not stop.is_set():
                    anyio.from_thread.run(_report, ctx, progress)

            try:
                report = await app.change(_look, brain, path, tell, stop)
            finally:
                stop.set()
            return _reindexed(report, await app.ask(_pinned, brain))

    @server.tool(title="State of the index", annotations=READS)
    async def index_status(ctx: Context[App]) -> StatusResult:
        """See whether the index is complete, followed and sound.

        Use it when an answer is missing something, or before relying on there being no hit: it
        tells what is still pending, whether the index is held at an earlier version, which
        sources cannot be read, and which files could not be taken in and why.

        Example: index_status()
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain()
            await app.settle()
            return await app.ask(status_of, app, brain)

    @server.tool(title="What is indexed", annotations=READS)
    async def list_sources(ctx: Context[App]) -> SourcesResult:
        """List the folders that are indexed, with the domains, kinds and tags to filter by.

        Use it to learn what there is to search, and which source add_knowledge may write to.

        Example: list_sources()
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain()
            return await app.ask(_sources, app, brain)


def status_of(app: App, brain: Brain) -> StatusResult:
    """The index at a glance."""
    doing = app.doing_in_words  # first: what is in by then is counted
    state = brain.status()
    problems = [_problem(problem) for problem in state.problems[:_MOST_PROBLEMS]]
    more = len(state.problems) - len(problems)
    return StatusResult(
        ready=app.is_ready,
        doing=doing,
        version=state.version,
        documents=state.documents,
        passages=state.chunks,
        pending=state.pending,
        pinned=state.pinned,
        following=following(app),
        model=state.model,
        index=state.index,
        bytes=state.bytes,
        sources=[_source(app, brain, source) for source in state.sources],
        problems=problems,
        left_out=f"{more} more problems: lancebrain status --problems" if more > 0 else "",
    )


def following(app: App) -> str:
    """How changes of the files are noticed, in a sentence."""
    if app.worker is None:
        return "Not followed in the background; the files are looked at before an answer."
    state = app.worker.state
    every = f"everything is looked at each {state.look_interval_s:.0f} s"
    if state.mode == "events":
        return f"By events of {state.folders} folders; {every} as well."
    return f"Without events ({state.reason}): {every}."


async def _report(ctx: Context[App], progress: Progress) -> None:
    if progress.phase == "embed" and progress.chunks_total:
        await ctx.report_progress(progress.chunks, progress.chunks_total, "embedding passages")
    elif progress.files_total:
        await ctx.report_progress(progress.files, progress.files_total, "reading changed files")
    else:
        await ctx.report_progress(progress.files, None, "looking at the files")


def _look(
    brain: Brain, path: str | None, tell: Callable[[Progress], None], stop: threading.Event
) -> SyncReport:
    from lancebrain.brain.background import look_now

    return look_now(brain, path, progress=tell, cancel=stop)


def _pinned(brain: Brain) -> str | None:
    from lancebrain.brain.background import pinned

    return pinned(brain)


def _reindexed(report: SyncReport, pinned: str | None) -> ReindexResult:
    more = len(report.problems) - _MOST_PROBLEMS
    return ReindexResult(
        version=report.version,
        added=report.added,
        changed=report.changed,
        moved=report.moved,
        removed=report.removed,
        unchanged=report.unchanged,
        embedded=report.embedded,
        seconds=round(report.seconds, 3),
        problems=[_problem(problem) for problem in report.problems[:_MOST_PROBLEMS]],
        pinned=pinned,
        notes=[_HELD.format(pinned)] if pinned else [],
        left_out=f"{more} more problems: see index_status" if more > 0 else "",
    )


def _sources(app: App, brain: Brain) -> SourcesResult:
    from lancebrain.brain.vocabulary import vocabulary_of
    from lancebrain.errors import IndexNotFoundError

    states = brain.sources()
    try:
        known = vocabulary_of(brain)
        domains, kinds = dict(known.domains), dict(known.kinds)
        tags = {label(tag, most_chars=60): count for tag, count in known.tags.most_common(30)}
    except IndexNotFoundError:
        domains, kinds, tags = {}, {}, {}
    return SourcesResult(
        sources=[_source(app, brain, state) for state in states],
        domains=domains,
        kinds=kinds,
        frequent_tags=tags,
        how_to_add=_HOW_TO_ADD,
    )


def _source(app: App, brain: Brain, state: SourceStatus) -> SourceEntry:
    configured = {source.name: source for source in brain.settings.sources}
    source = configured.get(state.name)
    return SourceEntry(
        name=state.name,
        root=label(state.root, most_chars=1_000),
        state=state.state,
        documents=state.documents,
        domain=source.domain if source else "",
        kind=source.kind if source else None,
        writable=bool(source and source.writable and not app.read_only),
    )


def _problem(problem: Problem) -> ProblemEntry:
    return ProblemEntry(
        path=problem.path, code=problem.code, message=label(problem.message, most_chars=400)
    )
