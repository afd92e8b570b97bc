"""Telling clients that something changed, in both eras of the protocol.

The one module that knows names which the SDK keeps to itself: it gives older clients no
subscriptions by its own.
"""

from __future__ import annotations

import functools
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server import MCPServer, NotificationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated
from mcp.types import EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

MOST_SUBSCRIPTIONS = 200
"""Of one connection; what is beyond is not told of."""
_TELLING_S = 2.0


class Notifier:
    """Connections and what each wants to hear of. URIs match as they are spelled.

    Attributes:
        subscribed: set when somebody begins to wait for something; replace it to wait anew.
    """

    def __init__(self) -> None:
        self.bus = InMemorySubscriptionBus()
        self.subscribed = anyio.Event()
        self._connections: dict[int, tuple[Any, set[str]]] = {}
        self._listening: dict[object, set[str]] = {}

    def attach(self, server: MCPServer[Any]) -> None:
        """Let a server, made with this bus and middleware, take subscriptions of older clients."""
        low = server._lowlevel_server
        low.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        low.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe
        )
        low.create_initialization_options = functools.partial(  # type: ignore[method-assign]
            low.create_initialization_options, NotificationOptions(resources_changed=True)
        )

    @staticmethod
    def introduce(server: MCPServer[Any], instructions: str) -> None:
        """Change what later connections are told at first."""
        server._lowlevel_server.instructions = instructions

    async def middleware(self, ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
        """Remember a connection as it begins."""
        if ctx.method == "notifications/initialized":
            self._uris_of(ctx)
        if ctx.method != "subscriptions/listen":
            return await call_next(ctx)
        stream = object()
        self._listening[stream] = _listened(ctx.params)
        self.subscribed.set()
        try:
            return await call_next(ctx)
        finally:
            del self._listening[stream]

    def wanted(self) -> set[str]:
        """The URIs that somebody waits for."""
        of_older = (uris for _, uris in self._connections.values())
        return set().union(*self._listening.values(), *of_older)

    async def updated(self, uri: str) -> None:
        """Tell all that subscribed to a resource."""
        await self.bus.publish(ResourceUpdated(uri=uri))
        for session, uris in list(self._connections.values()):
            if uri in uris:
                # One that goes, or takes nothing in, keeps no other from hearing.
                with (
                    suppress(anyio.ClosedResourceError, anyio.BrokenResourceError),
                    anyio.move_on_after(_TELLING_S),
                ):
                    await session.send_resource_updated(uri)

    async def _subscribe(self, ctx: Any, params: SubscribeRequestParams) -> EmptyResult:
        uris = self._uris_of(ctx)
        if len(uris) < MOST_SUBSCRIPTIONS:
            uris.add(params.uri)
            self.subscribed.set()
        return EmptyResult()

    async def _unsubscribe(self, ctx: Any, params: UnsubscribeRequestParams) -> EmptyResult:
        self._uris_of(ctx).discard(params.uri)
        return EmptyResult()

    def _uris_of(self, ctx: Any) -> set[str]:
        connection = ctx.session._connection
        known = self._connections.get(id(connection))
        if known is None:
            known = self._connections[id(connection)] = (ctx.session, set())
            connection.exit_stack.callback(self._connections.pop, id(connection), None)
        return known[1]


async def converse(server: MCPServer[Any], reading: Any, writing: Any) -> None:
    """Serve one more client beside those that are served, over streams of its messages."""
    low = server._lowlevel_server
    await low.run(reading, writing, low.create_initialization_options())


def _listened(params: Mapping[str, Any] | None) -> set[str]:
    """The URIs of a request to listen, which the SDK has not checked yet."""
    kinds = (params or {}).get("notifications")
    uris = kinds.get("resourceSubscriptions") if isinstance(kinds, dict) else None
    wanted = [uri for uri in uris if isinstance(uri, str)] if isinstance(uris, list) else []
    return set(wanted[:MOST_SUBSCRIPTIONS])
