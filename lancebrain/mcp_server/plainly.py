"""A server that says in plain words what is wrong with a call; the SDK shows its own checks."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import CallToolResult, InputRequiredResult, Tool
from pydantic import ValidationError

from lancebrain.mcp_server.app import App
from lancebrain.mcp_server.wording import complaint, unknown


class PlainServer(MCPServer[App]):
    """An ``MCPServer`` whose tools take no argument that they do not have."""

    async def list_tools(self) -> list[Tool]:
        """The tools, each saying that it takes nothing else."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema = {**tool.input_schema, "additionalProperties": False}
        return tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[App, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: what is wrong, and what to do next.
        """
        schemas = {tool.name: tool.input_schema for tool in await super().list_tools()}
        if name not in schemas:
            raise ToolError(f"There is no tool {name!r}. There are: {', '.join(schemas)}.")
        wrong = unknown(name, schemas[name], arguments)
        if wrong is not None:
            raise ToolError(wrong)
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            raise UnexpectedToolError(
                f"{name} failed by a mistake of ours, which the server's log tells of. Try it "
                "otherwise, or see index_status."
            ) from error
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                said = complaint(name, schemas[name], error.__cause__)
                raise ToolError(said) from error.__cause__
            raise
