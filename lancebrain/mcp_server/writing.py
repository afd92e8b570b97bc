"""``add_knowledge``, ``update_knowledge``, ``remove_knowledge``: notes written for an agent."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field

from lancebrain.brain.authoring import WrittenNote, add_note, remove_note, update_note
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.arguments import (
    NOT_BLANK,
    TAG,
    Hash,
    HashOrNone,
    Path,
    PathOrNone,
    TextOrNone,
    listed,
    note_uri,
)
from lancebrain.mcp_server.failures import translated
from lancebrain.mcp_server.results import WriteResult

Tag = Annotated[str, Field(min_length=1, max_length=100, pattern=TAG)]

_CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False
)


def register(server: MCPServer[App]) -> None:
    """Add the tools that write notes."""

    @server.tool(
        title="Write a new note",
        annotations=ToolAnnotations(
            read_only_hint=False,
            destructive_hint=False,
            idempotent_hint=False,
            open_world_hint=False,
        ),
    )
    async def add_knowledge(
        title: Annotated[str, Field(min_length=1, max_length=300, pattern=NOT_BLANK)],
        text: Annotated[str, Field(min_length=1, max_length=1_000_000, description="Markdown.")],
        ctx: Context[App],
        path: Annotated[
            PathOrNone,
            Field(
                description="Where, such as `notes/decisions/deploy.md`; else named after the title"
            ),
        ] = None,
        tags: Annotated[
            Annotated[list[Tag], Field(max_length=20)] | None,
            BeforeValidator(listed),
        ] = None,
    ) -> WriteResult:
        """Write a new note into the user's notes, as a file that they own and can edit.

        Use it when the user asks to remember something, or when a decision or finding is worth
        keeping and the user agrees. Search first: if there is a note on it, update that one.
        Never overwrites a file. Returns when the note can be found.

        Example: add_knowledge(title="Deploys on Fridays", text="Moved to Friday because …",
        path="notes/decisions/deploys.md", tags=["deploy"])
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain()
            work = partial(add_note, brain, title, text, path=path, tags=tags or ())
            return _written(await app.change(work))

    @server.tool(title="Change a note", annotations=_CHANGES)
    async def update_knowledge(
        path: Annotated[Path, Field(description="Of the document, as hits name it.")],
        ctx: Context[App],
        text: Annotated[
            TextOrNone,
            Field(description="All of the new text; frontmatter stays if it brings none."),
        ] = None,
        old: Annotated[
            TextOrNone,
            Field(description="A passage to replace, exactly as in the file; it occurs once."),
        ] = None,
        new: Annotated[TextOrNone, Field(description="What takes its place.")] = None,
        expected_hash: Annotated[
            HashOrNone,
            Field(description="sha256 from get_detail, so that no one's change is lost."),
        ] = None,
    ) -> WriteResult:
        """Change one of the user's notes: one passage (old, new), or all of its text.

        Use it to correct or extend a note that search_knowledge found. Prefer old/new, which
        leaves the rest as it is; a whole text needs expected_hash. Line ends and frontmatter are
        kept. Returns when the new text can be found; the text before stays readable through
        get_detail(at=…).

        Example: update_knowledge(path="notes/espresso.md", old="every 3 months",
        new="every 2 months")
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain()
            work = partial(
                update_note, brain, path, text=text, old=old, new=new, expected_hash=expected_hash
            )
            return _written(await app.change(work))

    @server.tool(title="Remove a note", annotations=_CHANGES)
    async def remove_knowledge(
        path: Annotated[Path, Field(description="Of the document, as hits name it.")],
        expected_hash: Annotated[Hash, Field(description="sha256 from get_detail.")],
        ctx: Context[App],
    ) -> WriteResult:
        """Delete the file of one of the user's notes. Ask the user first.

        The text stays readable in earlier versions of the index, through get_detail(at=…), for
        as long as those are kept. Returns when the note cannot be found any more.

        Example: remove_knowledge(path="notes/draft.md", expected_hash="9f86d0…")
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain()
            work = partial(remove_note, brain, path, expected_hash=expected_hash)
            return _written(await app.change(work))


def _written(note: WrittenNote) -> WriteResult:
    return WriteResult(
        path=note.path,
        uri=note_uri(note.path),
        sha256=note.sha256,
        searchable=note.searchable,
        why_not=note.why,
        version=note.version,
    )
