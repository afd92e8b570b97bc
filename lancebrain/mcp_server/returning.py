"""``history`` and ``rollback``: the index in time, and going back."""

from __future__ import annotations

from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import AcceptedElicitation, Context, Elicit, ElicitationResult, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from lancebrain.brain import Brain
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.arguments import READS
from lancebrain.mcp_server.failures import translated
from lancebrain.mcp_server.quoting import label
from lancebrain.mcp_server.results import HistoryResult, RollbackResult, VersionEntry
from lancebrain.types import Rollback, Version

Ref = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="A version from history (`42`), a checkpoint, `~1` for one change back, or a "
        "time (`yesterday`, `2h`, `2026-11-29T10:00`).",
    ),
]
_NEXT = (
    "The index is held at this state and does not follow the files until the owner runs "
    "`lancebrain resume`. The way back is rollback to the checkpoint."
)


class Agreement(BaseModel):
    """What the user is asked before a rollback."""

    agree: Annotated[bool, Field(description="Roll the index back?")] = False


def register_history(server: MCPServer[App]) -> None:
    """Add the tool that lists versions."""

    @server.tool(title="Versions of the index", annotations=READS)
    async def history(
        ctx: Context[App],
        limit: Annotated[int, Field(ge=1, le=200, description="Versions at most.")] = 20,
    ) -> HistoryResult:
        """List the states that the index was in, newest first, with what changed in each.

        Use it to find when something changed, and for a version to pass as `at` to
        search_knowledge or get_detail, which then answer as of then.

        Example: history(limit=10)
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain()
            return await app.ask(_history, brain, limit)


def register_rollback(server: MCPServer[App]) -> None:
    """Add the tool that goes back."""

    @server.tool(
        title="Roll the index back",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=True,
            idempotent_hint=False,
            open_world_hint=False,
        ),
    )
    async def rollback(
        to: Ref,
        ctx: Context[App],
        agreement: Annotated[ElicitationResult[Agreement], Resolve(_agreement)],
        confirm: Annotated[
            bool, Field(description="The user agreed to exactly this; ask them before.")
        ] = False,
    ) -> RollbackResult:
        """Make the index equal to an earlier state and hold it there. No file is changed.

        Rarely right: to read how things were, pass `at` to search_knowledge or get_detail
        instead. Use it only when the user wants everyone who asks this index to see the earlier
        state. Without confirm=true nothing is done and the result tells what would be; a client
        that can ask the user does so itself.

        Example: rollback(to="~1", confirm=true)
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain()
            agreed = confirm or (
                isinstance(agreement, AcceptedElicitation) and agreement.data.agree
            )
            if not agreed:
                planned = await app.ask(_rollback, brain, to, True)
                return _rolled(planned, done=False, what_next=_ask_first(to))
            done = await app.change(_rollback, brain, to, False)
            return _rolled(done, done=True, what_next=_NEXT)


async def _agreement(
    ctx: Context[App], to: str, confirm: bool = False
) -> Elicit[Agreement] | Agreement:
    """Ask the user where the client can; what they said, or that nobody was asked."""
    able = ctx.client_capabilities
    if confirm or able is None or able.elicitation is None:
        return Agreement(agree=False)
    return Elicit(
        f"Roll the index back to {label(to)} and hold it there? Searches of every program that "
        "uses it will see the earlier state. No file is changed.",
        Agreement,
    )


def _history(brain: Brain, limit: int) -> HistoryResult:
    versions = brain.history()
    more = len(versions) - limit
    return HistoryResult(
        versions=[_version(version) for version in versions[:limit]],
        pinned=brain.status().pinned,
        left_out=f"{more} older versions: give a higher limit." if more > 0 else "",
    )


def _version(version: Version) -> VersionEntry:
    return VersionEntry(
        version=version.version,
        at=version.at.astimezone().isoformat(timespec="seconds"),
        reason=version.reason,
        counts=dict(version.counts),
        checkpoints=list(version.tags),
        message=label(version.message),
        is_current=version.is_current,
    )


def _rollback(brain: Brain, to: str, dry_run: bool) -> Rollback:
    return brain.rollback(to, dry_run=dry_run)


def _ask_first(to: str) -> str:
    return (
        "Nothing was done. If the user agrees to these changes, call again: "
        f"rollback(to={to!r}, confirm=true)"
    )


def _rolled(what: Rollback, *, done: bool, what_next: str) -> RollbackResult:
    return RollbackResult(
        done=done,
        restored=what.restored,
        version=what.version,
        version_before=what.version_before,
        checkpoint=what.checkpoint,
        changes=dict(what.changes),
        model=what.model if what.changes_model else None,
        what_next=what_next,
    )
