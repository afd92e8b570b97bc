"""``search_knowledge`` and ``get_detail``: from a question to passages, and to what is around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field

from lancebrain.brain import Brain
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.cursors import cursor as cursor_at
from lancebrain.mcp_server.cursors import position
from lancebrain.mcp_server.failures import told, translated
from lancebrain.mcp_server.quoting import Fence, label, labels, plain, tokens
from lancebrain.mcp_server.results import (
    DetailResult,
    FoundPassage,
    LinkOut,
    OutlineEntry,
    SearchResult,
)
from lancebrain.moments import moment
from lancebrain.types import Answer, Filter, Hit, Place, Query

MOST_TOKENS = 7_500
"""Of an answer, so that it leaves room for others in a conversation."""
_PAGE_CHARS = 12_000
_PASSAGE_CHARS = 6_000
_MOST_OUTLINE = 100
_MOST_LINKS = 50
_FRAME_TOKENS = 400

Short = Annotated[str, Field(min_length=1, max_length=300)]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Words = Annotated[Annotated[list[Short], Field(max_length=20)] | None, BeforeValidator(_listed)]
Kind = Literal["md", "text", "claude", "codex", "gemini", "jsonl"]
Cursor = Annotated[
    str | None,
    Field(max_length=200, description="From the answer before, with the same other arguments."),
]
At = Annotated[
    str | None,
    Field(
        max_length=100,
        description="Read the index as it was: a version (`42`), a checkpoint's name, or a time "
        "(`yesterday`, `7d`, `2026-11-29T10:00`). See history.",
    ),
]

READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)


def note_uri(path: str) -> str:
    """The resource of a document."""
    return f"note://{quote(path, safe='/')}"


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
            str | None,
            Field(
                min_length=1,
                max_length=1_000,
                description="Only this document, folder (`notes/2026/`) or glob (`notes/**/*.md`).",
            ),
        ] = None,
        kind: Annotated[
            Annotated[list[Kind], Field(max_length=6)] | None,
            BeforeValidator(_listed),
            Field(description="md and text are notes; the others session logs."),
        ] = None,
        role: Annotated[
            Literal["user", "assistant"] | None,
            Field(description="Only what was said by the user, or by the agent, in session logs."),
        ] = None,
        tags: Annotated[Words, Field(description="Only passages with one of these tags.")] = None,
        since: Annotated[
            str | None,
            Field(max_length=100, description="Not older: `2026-11-01`, `yesterday`, `7d`, `12h`."),
        ] = None,
        until: Annotated[str | None, Field(max_length=100, description="Not newer.")] = None,
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
            "role": role, "tags": tags, "since": since, "until": until, "at": at,
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
            )
            offset = position(cursor, asked)
            return await search(
                app, ctx, query, wanted, limit=limit, offset=offset, at=at, detail=detail,
                asked=asked,
            )  # fmt: skip

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
    room = MOST_TOKENS - _FRAME_TOKENS
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


def _read(
    brain: Brain,
    what: str,
    before: int,
    after: int,
    at: str | None,
    from_rank: int,
    asked: Mapping[str, Any],
) -> DetailResult:
    import json

    from lancebrain.brain.detail import read_detail

    found = read_detail(
        brain, what, before=before, after=after, from_rank=from_rank, most_chars=_PAGE_CHARS,
        at=at,
    )  # fmt: skip
    fence, passage = Fence(), found.passage
    text, fits = _cut(plain(passage.text))
    metadata = plain(json.dumps(dict(passage.metadata), ensure_ascii=False, default=str))
    left_out = []
    if not fits:
        left_out.append(f"The text is cut after {len(text)} characters: read it by lines.")
    if found.next_rank is not None:
        left_out.append("The document goes on: give the cursor to get the next page.")
    if len(found.outline) > _MOST_OUTLINE:
        left_out.append(f"The outline has {len(found.outline)} sections; the first are here.")
    if max(len(found.links), len(found.backlinks)) > _MOST_LINKS:
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
        ids=list(found.ids),
        passages=f"{passage.rank_start + 1}-{passage.rank_end + 1} of {passage.chunk_count}",
        sha256=found.sha256,
        freshness=passage.freshness,
        kind=passage.kind,
        domain=label(passage.domain),
        tags=labels(passage.tags[:_MOST_LINKS]),
        metadata=fence.around(metadata[:_PASSAGE_CHARS]),
        outline=[
            OutlineEntry(
                id=section.id,
                headings=labels(section.heading_path),
                line_start=section.line_start,
                line_end=section.line_end,
            )
            for section in found.outline[:_MOST_OUTLINE]
        ],
        links=[LinkOut(target=label(t), path=path) for t, path in found.links[:_MOST_LINKS]],
        backlinks=list(found.backlinks[:_MOST_LINKS]),
        version=passage.version,
        left_out=" ".join(left_out),
        cursor=cursor_at(found.next_rank, dict(asked)) if found.next_rank is not None else None,
    )


def _cut(text: str) -> tuple[str, bool]:
    """The text within the budget; whether it is whole."""
    most = MOST_TOKENS - 3 * _FRAME_TOKENS
    if tokens(text) <= most:
        return text, True
    return text[: int(len(text) * most / tokens(text))], False
