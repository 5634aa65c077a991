"""A server of two tools, made with the official SDK of the Model Context Protocol."""

import sys

try:
    from mcp.server.fastmcp import FastMCP
except ImportError:
    from mcp.server.mcpserver import MCPServer as FastMCP

form, port = sys.argv[1], int(sys.argv[2])


def tools(server):
    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def greet(name: str) -> str:
        """Greet somebody."""
        return f"hello {name}"

    return server


try:
    tools(FastMCP("test", host="127.0.0.1", port=port)).run(transport=form)
except TypeError:
    tools(FastMCP("test")).run(transport=form, host="127.0.0.1", port=port)
