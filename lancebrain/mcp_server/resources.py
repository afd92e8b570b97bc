"""Resources: notes, searches and the status by URI; what they hold is what the tools return."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import unquote

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, ResourceSecurity
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from lancebrain.brain.vocabulary import hash_of, version_of
from lancebrain.errors import LancebrainError, UsageError
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.asking import search
from lancebrain.mcp_server.failures import told, translated
from lancebrain.mcp_server.keeping import status_of
from lancebrain.mcp_server.quoting import Fence, plain
from lancebrain.types import Filter, Mode, Query

if TYPE_CHECKING:
    from lancebrain.brain import Brain

STATUS = "status://index"
_NOTE, _SEARCH = "note://", "search://knowledge/"
_MOST_QUERY = 1_000
_MOST_PATH = 2_000
_MOST_NOTE_CHARS = 60_000
_HITS = 8
_PAUSE_S = 1.0
"""Between two looks for what to tell of: a burst of changes is told of once."""


def register(server: MCPServer[App], app: App) -> None:
    """Add the resources."""

    @server.resource(
        "search://knowledge/{query}",
        name="search",
        title="A search",
        description="The passages that answer a question, as search_knowledge returns them. "
        "Percent-encode the question. Subscribe to hear when its hits change.",
        mime_type="application/json",
        security=ResourceSecurity(exempt_params={"query"}),
    )
    async def search_resource(query: str, ctx: Context[App]) -> str:
        if not query.strip() or len(query) > _MOST_QUERY:
            raise ResourceError(f"A question has 1 to {_MOST_QUERY} characters.")
        here = ctx.request_context.lifespan_context
        with translated(ResourceError):
            found = await search(here, None, query, Filter(), limit=_HITS, asked={"query": query})
        return found.model_dump_json()

    @server.resource(
        "note://{+path}",
        name="note",
        title="A document",
        description="The text of a document, by its path as hits name it: "
        "note://notes/plan.md. Subscribe to hear when it changes.",
        mime_type="text/plain",
        security=ResourceSecurity(exempt_params={"path"}),
    )
    async def note(path: str, ctx: Context[App]) -> str:
        return await _note(ctx, path, None)

    @server.resource(
        "note://{+path}{?at}",
        name="note-as-of",
        title="A document as it was",
        description="The text of a document in a version, at a checkpoint or a time: "
        "note://notes/plan.md?at=yesterday",
        mime_type="text/plain",
        security=ResourceSecurity(exempt_params={"path", "at"}),
    )
    async def note_as_of(path: str, ctx: Context[App], at: str = "") -> str:
        return await _note(ctx, path, at or None)

    @server.resource(
        STATUS,
        name="status",
        title="State of the index",
        description="As index_status returns it. Subscribe to hear of every new version.",
        mime_type="application/json",
    )
    async def status() -> str:
        with translated(ResourceError):
            brain = await app.brain()
            await app.settle()
            return (await app.ask(status_of, app, brain)).model_dump_json()


async def tell_subscribers(app: App) -> None:
    """Tell who subscribed to a note, a search or the status when it has changed; for ever."""
    known: dict[str, str] = {}
    version = -1
    while True:
        wanted = app.notifier.wanted()
        known = {uri: state for uri, state in known.items() if uri in wanted}
        if not wanted:
            app.notifier.subscribed = anyio.Event()
            if not app.notifier.wanted():
                await app.notifier.subscribed.wait()
            continue
        try:
            brain = await app.brain()
            # Other processes write the same index: their versions are looked for as well.
            newest = await app.ask(version_of, brain)
            for uri in sorted(wanted) if newest != version else sorted(wanted - known.keys()):
                state = await app.ask(_state, app, brain, uri)
                if known.get(uri, state) != state:
                    await app.notifier.updated(uri)
                known[uri] = state
            version = newest
        except LancebrainError:
            pass  # whoever asks is told; here it is tried again
        app.changed = anyio.Event()
        with anyio.move_on_after(_PAUSE_S):
            await app.changed.wait()


async def _note(ctx: Context[App], path: str, at: str | None) -> str:
    if len(path) > _MOST_PATH or (at is not None and len(at) > _MOST_PATH):
        raise ResourceError("The path is too long.")
    app = ctx.request_context.lifespan_context
    try:
        brain = await app.brain()
        await app.settle()
        return await app.ask(_text, brain, path, at)
    except UsageError as error:
        raise ResourceNotFoundError(told(error)) from error
    except LancebrainError as error:
        raise ResourceError(told(error)) from error


def _text(brain: Brain, path: str, at: str | None) -> str:
    from lancebrain.brain.detail import read_detail

    found = read_detail(brain, path, most=_MOST_NOTE_CHARS, at=at)
    fence = Fence()
    text = f"{fence.about}\n{fence.around(plain(found.passage.text))}"
    if found.next_rank is not None:
        text += f"\nThe document goes on after line {found.passage.line_end}: use get_detail."
    return text


def _state(app: App, brain: Brain, uri: str) -> str:
    """Something that differs when what a URI holds differs."""
    if uri.startswith(_SEARCH):
        query = unquote(uri.removeprefix(_SEARCH))
        if not query.strip() or len(query) > _MOST_QUERY:
            return ""
        mode: Mode = "hybrid" if app.is_ready else "keyword"
        hits = brain.search(Query(query, mode, _HITS), look=False).hits
        said = repr([(hit.id, hit.snippet) for hit in hits])
        return f"{mode} {hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()}"
    if uri.startswith(_NOTE):
        return hash_of(brain, unquote(uri.removeprefix(_NOTE).partition("?")[0]))
    return str(version_of(brain))
