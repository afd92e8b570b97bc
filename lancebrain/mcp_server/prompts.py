"""Prompts that a person picks, and completions of what they type into them."""

from __future__ import annotations

from typing import Annotated

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Message, UserMessage
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from pydantic import Field

from lancebrain.brain.vocabulary import Vocabulary, vocabulary_of
from lancebrain.errors import LancebrainError
from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.quoting import label

_MOST = 100
"""Values of a completion, by the protocol."""
_MOST_CHARS = 1_000
_PATIENCE_S = 1.0


def register(server: MCPServer[App], app: App) -> None:
    """Add the prompts, and the completions for them and for the resources."""

    @server.prompt(title="Recall what is known")
    def recall(
        topic: Annotated[str, Field(description="What to recall, in your own words.")],
        domain: Annotated[str, Field(description="Only this domain.")] = "",
    ) -> list[Message]:
        """Everything the notes and sessions say about a topic, with sources."""
        only = f" Pass domain={_said(domain)!r}." if domain else ""
        return [
            UserMessage(
                f"What do my notes and past sessions say about this: {_said(topic)}\n\n"
                "Use search_knowledge with two or three differently worded questions, also in the "
                f"other languages of my notes.{only} Read the best hits with get_detail. Then tell "
                "me what is known, most certain first, each point with path and lines; what the "
                "notes disagree on; and what they do not say."
            )
        ]

    @server.prompt(title="What changed since")
    def what_changed_since(
        since: Annotated[str, Field(description="yesterday, 7d, 2026-11-01, a checkpoint.")],
        path: Annotated[str, Field(description="Only this folder or document.")] = "",
    ) -> list[Message]:
        """What is new or different in the notes since a time."""
        only = f" and path={_said(path)!r}" if path else ""
        return [
            UserMessage(
                f"What has changed in my notes since {_said(since)}?\n\n"
                f"Use history for the versions since then, and search_knowledge with "
                f"since={_said(since)!r}{only} for the passages. For what changed within a "
                f"document, compare get_detail(id) with get_detail(id, at={_said(since)!r}). Tell "
                "me the changes by topic, not by file, each with its path."
            )
        ]

    @server.prompt(title="Find contradictions")
    def find_contradictions(
        topic: Annotated[str, Field(description="What the notes may disagree on.")],
    ) -> list[Message]:
        """Where the notes contradict each other on a topic, and which is newer."""
        return [
            UserMessage(
                f"Where do my notes contradict each other about this: {_said(topic)}\n\n"
                "Use search_knowledge with several questions, one for each claim that could be "
                "made about it, and detail=detailed. Quote the passages that cannot both be "
                "right, with path, lines and date, tell which is newer and which is likely to "
                "hold, and what to change. Change nothing yourself."
            )
        ]

    @server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        del ref, context  # an argument of one name means the same everywhere
        if argument.name not in ("path", "domain", "tags", "at", "since"):
            return None
        try:
            with anyio.fail_after(_PATIENCE_S):
                brain = await app.brain()
                known = await app.ask(vocabulary_of, brain)
        except (LancebrainError, TimeoutError):
            return None
        values = _matching(_words(known, argument.name), argument.value[:_MOST_CHARS])
        return Completion(values=values[:_MOST], total=len(values), has_more=len(values) > _MOST)


def _said(text: str) -> str:
    return label(text, most_chars=_MOST_CHARS)


def _words(known: Vocabulary, name: str) -> list[str]:
    if name == "path":
        folders = {path.rpartition("/")[0] + "/" for path in known.paths}
        return [*sorted(folders), *known.paths]
    if name == "domain":
        return [domain for domain, _ in known.domains.most_common()]
    if name == "tags":
        return [tag for tag, _ in known.tags.most_common()]
    return ["yesterday", "today", "7d", "2w", "12h", str(known.version)]


def _matching(words: list[str], typed: str) -> list[str]:
    """Those that begin with what was typed, then those that contain it."""
    folded = typed.casefold()
    first = [word for word in words if word.casefold().startswith(folded)]
    begun = set(first)
    return first + [word for word in words if word not in begun and folded in word.casefold()]
