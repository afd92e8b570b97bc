"""``search_knowledge``: from a question to passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BeforeValidator, Field

from lancebrain.brain import Brain
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.arguments import (
    FRAME_TOKENS,
    MOST_TOKENS,
    READS,
    At,
    Cursor,
    Kind,
    PathOrNone,
    TimeOrNone,
    Words,
    listed,
    note_uri,
)
from lancebrain.mcp_server.cursors import cursor as cursor_at
from lancebrain.mcp_server.cursors import position
from lancebrain.mcp_server.failures import told, translated
from lancebrain.mcp_server.quoting import Fence, label, labels, plain, tokens
from lancebrain.mcp_server.results import FoundPassage, SearchResult
from lancebrain.moments import moment
from lancebrain.types import Answer, Filter, Hit, Place, Query

_PASSAGE_CHARS = 6_000


def register(server: MCPServer[App]) -> None:
    """Add the tools that answer."""

    @server.tool(title="Search the knowledge", annotations=READS)
    async def search_knowledge(
        query: Annotated[
            str,
            Field(
                min_length=1,
                max_length=1_000,
                description="A question or topic in whole words, in any language. Words in "
                '"quotes" have to occur exactly: names, identifiers, error messages.',
            ),
        ],
        ctx: Context[App],
        limit: Annotated[int, Field(ge=1, le=50, description="Hits at most.")] = 8,
        domain: Annotated[Words, Field(description="Only these domains; see list_sources.")] = None,
        exclude: Annotated[Words, Field(description="None of these domains.")] = None,
        path: Annotated[
            PathOrNone,
            Field(
                description="Only this document, folder (`notes/2026/`) or glob (`notes/**/*.md`).",
            ),
        ] = None,
        kind: Annotated[
            Annotated[list[Kind], Field(max_length=6)] | None,
            BeforeValidator(listed),
            Field(description="md and text are notes; the others session logs."),
        ] = None,
        role: Annotated[
            Literal["user", "assistant"] | None,
            Field(description="Only what was said by the user, or by the agent, in session logs."),
        ] = None,
        project: Annotated[
            Words,
            Field(
                description="Only session logs of work in or below this folder (`/home/ana/app`), "
                "or in a folder of this name (`app`)."
            ),
        ] = None,
        tags: Annotated[Words, Field(description="Only passages with one of these tags.")] = None,
        since: Annotated[
            TimeOrNone,
            Field(description="Not older: `2026-11-01`, `yesterday`, `7d`, `12h`."),
        ] = None,
        until: Annotated[TimeOrNone, Field(description="Not newer.")] = None,
        at: At = None,
        detail: Annotated[
            Literal["concise", "detailed"],
            Field(description="concise: the part that matches; detailed: whole passages."),
        ] = "concise",
        cursor: Cursor = None,
    ) -> SearchResult:
        """Find passages in the user's notes, documents and past agent sessions.

        Use it before answering anything that may have been written down, decided or discussed
        before: how something is done here, why it was decided, where a note is, what an error
        meant last time. Ask in whole words, by what the passage would say; if nothing fits, ask
        again in other words, or in the language of the notes. It sees every saved change at once.

        Returns passages, best first, with document path, lines, heading trail, the part that
        matches, and whether the file has changed since. Go on with get_detail(id).

        Example: search_knowledge(query="why did we move the deploy to Fridays", since="90d")
        """
        app = ctx.request_context.lifespan_context
        asked = {
            "query": query, "domain": domain, "exclude": exclude, "path": path, "kind": kind,
            "role": role, "project": project, "tags": tags, "since": since, "until": until,
            "at": at,
        }  # fmt: skip
        with translated(ToolError):
            wanted = Filter(
                domains=tuple(domain or ()),
                exclude_domains=tuple(exclude or ()),
                kinds=tuple(kind or ()),
                roles=(role,) if role else (),
                tags=tuple(tag.lstrip("#") for tag in tags or ()),
                path=path,
                since=moment(since) if since else None,
                until=moment(until, end=True) if until else None,
                projects=tuple(project or ()),
            )
            offset = position(cursor, asked)
            return await search(
                app, ctx, query, wanted, limit=limit, offset=offset, at=at, detail=detail,
                asked=asked,
            )  # fmt: skip


async def search(
    app: App,
    ctx: Context[App] | None,
    query: str,
    wanted: Filter,
    *,
    limit: int,
    offset: int = 0,
    at: str | None = None,
    detail: str = "concise",
    asked: Mapping[str, Any] | None = None,
) -> SearchResult:
    """Answer a question as the tool and the resource do.

    Args:
        ctx: is told of waiting; None for nobody.
        asked: what a cursor to the next hits belongs to.

    Raises:
        LancebrainError: there is no answer.
    """

    async def tell(done: float, doing: str) -> None:
        if ctx is not None:
            await ctx.report_progress(done, 1, doing)

    brain = await app.brain(tell)
    notes: list[str] = []
    has_model = await app.has_model(tell)
    if not has_model:
        notes.append(
            "Found by words alone, since the model is not loaded yet; ask again in a moment to "
            "find by meaning too."
            if app.model_failure is None
            else f"Found by words alone: {told(app.model_failure)}"
        )
    if not await app.settle():
        notes.append("Changes of the files are still being taken in; some may be missing here.")
    question = Query(query, "hybrid" if has_model else "keyword", limit, offset, wanted)
    return await app.ask(_answer, app, brain, question, at, detail, notes, asked or {})


def _answer(
    app: App,
    brain: Brain,
    question: Query,
    at: str | None,
    detail: str,
    notes: Sequence[str],
    asked: Mapping[str, Any],
) -> SearchResult:
    # The worker looks at the files already; where there is none, the facade does.
    answer = brain.search(question, look=app.worker is None, at=at)
    fence = Fence()
    texts = _whole_texts(brain, answer) if detail == "detailed" else {}
    room = MOST_TOKENS - FRAME_TOKENS
    hits: list[FoundPassage] = []
    for hit in answer.hits:
        passage = _passage(hit, fence, texts.get(hit.id))
        room -= tokens(passage.model_dump_json())
        if room < 0 and hits:
            break
        hits.append(passage)
    has_more = answer.has_more or len(hits) < len(answer.hits)
    return SearchResult(
        about_text=fence.about,
        hits=hits,
        notes=[*notes, *labels(answer.notes)],
        version=answer.version,
        pending=answer.pending,
        pinned=answer.pinned,
        left_out=_left_out(answer, len(hits), detail) if has_more else "",
        cursor=cursor_at(question.offset + len(hits), dict(asked)) if has_more else None,
    )


def _left_out(answer: Answer, shown: int, detail: str) -> str:
    if shown < len(answer.hits):
        cut = f"{len(answer.hits) - shown} of the hits did not fit into this answer: "
        less = "give the cursor to get them" + (
            ", or use detail=concise" if detail == "detailed" else ""
        )
        return cut + less + "."
    return "There are more hits: give the cursor to get the next, or narrow the question down."


def _passage(hit: Hit, fence: Fence, whole: str | None) -> FoundPassage:
    text = plain(hit.snippet if whole is None else whole)
    if len(text) > _PASSAGE_CHARS:
        text = text[:_PASSAGE_CHARS] + f"… (cut; get_detail({hit.id!r}) has all of it)"
    return FoundPassage(
        id=hit.id,
        path=hit.path,
        uri=note_uri(hit.path),
        title=label(hit.title),
        headings=labels(hit.heading_path),
        line_start=hit.line_start,
        line_end=hit.line_end,
        score=hit.score,
        text=fence.around(text),
        freshness=hit.freshness,
        kind=hit.kind,
        domain=label(hit.domain),
        role=hit.role,
        said_at=hit.said_at.isoformat() if hit.said_at else None,
        also_at=[_place(place) for place in hit.also_at[:5]],
    )


def _place(place: Place) -> str:
    return f"{place.path}:{place.line_start}-{place.line_end}"


def _whole_texts(brain: Brain, answer: Answer) -> dict[str, str]:
    from lancebrain.brain.detail import texts_of

    return texts_of(brain, [hit.id for hit in answer.hits], answer.version)
