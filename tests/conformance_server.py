"""Our server with what the protocol's own test suite calls: tools, resources and prompts by the
names that its scenarios know. Run as ``python tests/conformance_server.py FOLDER PORT``.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    Message,
    Resolve,
    UserMessage,
)
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

from lancebrain.mcp_server.http import web_app
from lancebrain.mcp_server.server import build
from tests.served import brain_of

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
SILENCE = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80>\0\0\2\0\x10\0data\0\0\0\0"
)


class Profile(BaseModel):
    """A question with defaults of every type."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


class Name(BaseModel):
    name: str


class Consent(BaseModel):
    ok: bool


class Named(BaseModel):
    """What a person is asked."""

    username: Annotated[str, Field(description="User's response")]
    email: Annotated[str, Field(description="User's email address")]


def text(said: str) -> TextContent:
    return TextContent(type="text", text=said)


def image() -> ImageContent:
    return ImageContent(type="image", data=PIXEL, mime_type="image/png")


def embedded(uri: str) -> EmbeddedResource:
    content = TextResourceContents(uri=uri, mime_type="text/plain", text="An embedded resource.")
    return EmbeddedResource(type="resource", resource=content)


def add_tools(server: MCPServer[Any]) -> None:
    @server.tool()
    def test_simple_text() -> list[TextContent]:
        """Text."""
        return [text("This is a simple text response for testing.")]

    @server.tool()
    def test_image_content() -> list[ImageContent]:
        """An image."""
        return [image()]

    @server.tool()
    def test_audio_content() -> list[AudioContent]:
        """Audio."""
        return [AudioContent(type="audio", data=SILENCE.decode(), mime_type="audio/wav")]

    @server.tool()
    def test_embedded_resource() -> list[EmbeddedResource]:
        """A resource."""
        return [embedded("test://embedded-resource")]

    @server.tool()
    def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Three kinds."""
        return [
            text("Multiple content types test:"),
            image(),
            embedded("test://mixed-content-resource"),
        ]

    @server.tool()
    def test_error_handling() -> str:
        """An error."""
        raise ToolError("This tool intentionally returns an error for testing")

    @server.tool()
    async def test_tool_with_progress(ctx: Context[Any]) -> str:
        """Progress."""
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"Completed step {done} of 100")
        return "done"


async def _ask_profile() -> Elicit[Profile]:
    return Elicit("Please review", Profile)


async def user_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


async def confirm() -> Elicit[Consent]:
    return Elicit("Please confirm", Consent)


async def _ask(ctx: Context[Any], message: str) -> Elicit[Named]:
    return Elicit(message, Named)


def add_questions(server: MCPServer[Any]) -> None:
    @server.tool()
    async def test_elicitation(
        message: str, answer: Annotated[ElicitationResult[Named], Resolve(_ask)]
    ) -> str:
        """Ask a person."""
        said = answer.data.model_dump_json() if isinstance(answer, AcceptedElicitation) else "{}"
        return f"User response: {answer.action}, {said}"

    @server.tool()
    async def test_elicitation_sep1034_defaults(
        answer: Annotated[ElicitationResult[Profile], Resolve(_ask_profile)],
    ) -> str:
        """Ask with defaults."""
        return f"Elicitation completed: action={answer.action}"

    @server.tool()
    async def test_input_required_result_elicitation(
        answer: Annotated[Name, Resolve(user_name)],
    ) -> str:
        """Ask for a name."""
        return f"Hello, {answer.name}!"

    @server.tool()
    async def test_input_required_result_request_state(
        answer: Annotated[Consent, Resolve(confirm)],
    ) -> str:
        """Ask, and go on where it was."""
        return f"state-ok {answer.ok}"

    @server.tool()
    async def test_input_required_result_tampered_state(
        answer: Annotated[Consent, Resolve(confirm)],
    ) -> str:
        """Ask, and trust no state that is not ours."""
        return f"state-ok {answer.ok}"


def add_resources(server: MCPServer[Any]) -> None:
    @server.resource("test://static-text", mime_type="text/plain")
    def static_text() -> str:
        """Text."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", mime_type="image/png")
    def static_binary() -> bytes:
        """Bytes."""
        return base64.b64decode(PIXEL)

    @server.resource("test://template/{id}/data", mime_type="application/json")
    def template(id: str) -> str:
        """Text by id."""
        return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'

    @server.resource("test://watched-resource", mime_type="text/plain")
    def watched() -> str:
        """Text that one can subscribe to."""
        return "Watched resource content"


def add_prompts(server: MCPServer[Any]) -> None:
    @server.prompt()
    def test_simple_prompt() -> list[Message]:
        """Text."""
        return [UserMessage("This is a simple prompt for testing.")]

    @server.prompt()
    def test_prompt_with_arguments(arg1: str, arg2: str) -> list[Message]:
        """Text with arguments."""
        return [UserMessage(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]

    @server.prompt()
    def test_prompt_with_embedded_resource(resourceUri: str) -> list[Message]:  # noqa: N803
        """A resource."""
        return [UserMessage(embedded(resourceUri)), UserMessage("Please process it.")]

    @server.prompt()
    def test_prompt_with_image() -> list[Message]:
        """An image."""
        return [UserMessage(image()), UserMessage("Please analyze the image above.")]


def main() -> None:
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    server = build(brain_of(folder, folder / "notes"))
    for add in (add_tools, add_questions, add_resources, add_prompts):
        add(server)
    uvicorn.run(web_app(server, host="127.0.0.1", port=port), port=port, log_level="warning")


if __name__ == "__main__":
    main()
