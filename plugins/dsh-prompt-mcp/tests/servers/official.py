"""A server made with the SDK, over stdio, or over HTTP at the port that it prints."""

from __future__ import annotations

import os
import socket
import sys

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("official", instructions="Add with care.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def pid() -> int:
    """Tell the process."""
    return os.getpid()


@server.tool()
async def grow(context: Context) -> str:
    """Add a tool."""
    server.add_tool(lambda: "new", name="grown", description="Was not there before.")
    await context.notify_tools_changed()
    return "grown"


def serve() -> None:
    if len(sys.argv) == 1:
        server.run()
        return
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", int(sys.argv[1])))
    # Who connects from here on waits until the server is there.
    listening.listen()
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    app = server.streamable_http_app()
    config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run([listening])


serve()
