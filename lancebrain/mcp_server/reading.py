"""``get_detail``: from a passage to all of it, and to what is around."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from lancebrain.brain import Brain
from lancebrain.brain.detail import Detail, read_detail
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.arguments import (
    FRAME_TOKENS,
    MOST_TOKENS,
    READS,
    At,
    Cursor,
    note_uri,
)
from lancebrain.mcp_server.cursors import cursor as cursor_at
from lancebrain.mcp_server.cursors import position
from lancebrain.mcp_server.failures import translated
from lancebrain.mcp_server.quoting import Fence, label, labels, plain, tokens
from lancebrain.mcp_server.results import DetailResult, LinkOut, OutlineEntry

_OUTLINE_TOKENS = 1_200
_LINK_TOKENS = 400
_METADATA_CHARS = 1_500
_QUESTION_CHARS = 2_000
_PAGE_TOKENS = MOST_TOKENS - FRAME_TOKENS - _OUTLINE_TOKENS - 2 * _LINK_TOKENS - 900
_MOST_TAGS = 50
_T = TypeVar("_T", str, LinkOut, OutlineEntry)


def register(server: MCPServer[App]) -> None:
    """Add the tool that reads."""

    @server.tool(title="Read a document or passage", annotations=READS)
    async def get_detail(
        id: Annotated[
            str,
            Field(
                min_length=1,
                max_length=2_000,
                description="The id of a hit, a document path for all of it, or lines of one: "
                "`notes/plan.md:12-40`.",
            ),
        ],
        ctx: Context[App],
        before: Annotated[int, Field(ge=0, le=50, description="Passages before it to add.")] = 0,
        after: Annotated[int, Field(ge=0, le=50, description="Passages after it to add.")] = 0,
        at: At = None,
        cursor: Cursor = None,
    ) -> DetailResult:
        """Read a passage or a whole document, and see what is around it.

        Use it after search_knowledge, with a hit's id, to read the passage in full; add
        before/after for the passages around it, or give the path alone for the whole document, in
        pages. Also returns the document's outline (each section has an id to read next), its
        links, the documents that link to it, and the sha256 that update_knowledge asks for.

        Example: get_detail(id="notes/espresso.md#1048576", after=1)
        """
        app = ctx.request_context.lifespan_context
        with translated(ToolError):
            brain = await app.brain(lambda done, doing: ctx.report_progress(done, 1, doing))
            await app.settle()
            asked = {"id": id, "before": before, "after": after, "at": at}
            return await app.ask(
                _read, brain, id, before, after, at, position(cursor, asked), asked
            )


def _read(
    brain: Brain,
    what: str,
    before: int,
    after: int,
    at: str | None,
    from_rank: int,
    asked: Mapping[str, Any],
) -> DetailResult:
    found = read_detail(
        brain,
        what,
        before=before,
        after=after,
        from_rank=from_rank,
        most=_PAGE_TOKENS,
        size=tokens,
        at=at,
    )
    fence, passage = Fence(), found.passage
    text = _cut(plain(passage.text))
    outline = _fitting(_outline(found), _OUTLINE_TOKENS)
    links = _fitting(
        (LinkOut(target=label(target), path=path) for target, path in found.links), _LINK_TOKENS
    )
    backlinks = _fitting(found.backlinks, _LINK_TOKENS)
    question = plain(passage.question)[:_QUESTION_CHARS]
    metadata = plain(json.dumps(dict(passage.metadata), ensure_ascii=False, default=str))
    left_out = []
    if len(text) < len(plain(passage.text)):
        left_out.append("The text is cut: it has no place to be parted.")
    if found.next_rank is not None:
        left_out.append("The document goes on: give the cursor to get the next page.")
    if len(outline) < len(found.outline):
        left_out.append(f"The outline has {len(found.outline)} sections; the first are here.")
    if len(links) < len(found.links) or len(backlinks) < len(found.backlinks):
        left_out.append(f"It has {len(found.links)} links and {len(found.backlinks)} backlinks.")
    return DetailResult(
        about_text=fence.about,
        path=passage.path,
        uri=note_uri(passage.path),
        title=label(passage.title),
        headings=labels(passage.heading_path),
        text=fence.around(text),
        line_start=passage.line_start,
        line_end=passage.line_end,
        ids=_fitting(found.ids, _LINK_TOKENS),
        passages=f"{passage.rank_start + 1}-{passage.rank_end + 1} of {passage.chunk_count}",
        sha256=found.sha256,
        freshness=passage.freshness,
        kind=passage.kind,
        domain=label(passage.domain),
        tags=labels(passage.tags[:_MOST_TAGS]),
        role=passage.role,
        said_at=passage.said_at.isoformat() if passage.said_at else None,
        question=fence.around(question) if question else "",
        question_id=passage.question_id,
        metadata=fence.around(metadata[:_METADATA_CHARS]),
        outline=outline,
        links=links,
        backlinks=backlinks,
        version=passage.version,
        left_out=" ".join(left_out),
        cursor=cursor_at(found.next_rank, dict(asked)) if found.next_rank is not None else None,
    )


def _outline(found: Detail) -> Iterable[OutlineEntry]:
    for section in found.outline:
        yield OutlineEntry(
            id=section.id,
            headings=labels(section.heading_path),
            line_start=section.line_start,
            line_end=section.line_end,
        )


def _fitting(items: Iterable[_T], room: int) -> list[_T]:
    """The first items that fit into so many tokens."""
    kept: list[_T] = []
    for item in items:
        room -= tokens(item.model_dump_json() if isinstance(item, BaseModel) else item)
        if room < 0:
            break
        kept.append(item)
    return kept


def _cut(text: str) -> str:
    """The text within a page: only a single passage may be longer."""
    size = tokens(text)
    return text if size <= _PAGE_TOKENS else text[: int(len(text) * _PAGE_TOKENS / size)]
