"""A server on this machine that answers as the providers do, and checks what it is sent.

A request that breaks one of the `rules` is answered with status 400, as a provider would. The
model behind it calls the first tool that it may, until there is a result, and then says so; or it
follows a script.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from tests.adapters import replies
from tests.adapters.rules import broken_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.adapters.replies import Json


class Server(ThreadingHTTPServer):
    """The server; *bodies* are those that it was sent, with their providers.

    *script* says which tools the model calls in its next replies, None in one that calls none.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[tuple[str, Json]] = []
        self.script: list[str | None] = []

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        """Check the body, and answer."""
        length = int(self.headers["content-length"])
        body = json.loads(self.rfile.read(length))
        provider = provider_of(self.path)
        self.server.bodies.append((provider, body))
        told = {key: value for key, value in body.items() if key not in ("stream", "thinking")}
        if problems := broken_rules(provider, told):
            error = {"type": "invalid_request_error", "message": "; ".join(problems), "code": 400}
            self.answer(400, "application/json", json.dumps({"error": error}))
            return
        script, choice = self.server.script, replies.CHOICES[provider]
        reply = replies.REPLIES[provider](body, script.pop(0) if script else choice(body))
        if body.get("stream") or "stream" in self.path:
            self.answer(200, "text/event-stream", replies.STREAMS[provider](reply))
        else:
            self.answer(200, "application/json", json.dumps(reply))

    def answer(self, status: int, kind: str, text: str) -> None:
        """Send a whole response."""
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def provider_of(path: str) -> str:
    """Tell whose method a *path* is: DeepSeek's has a base of its own here."""
    ends = {
        "/deepseek/chat/completions": "deepseek_chat",
        "/chat/completions": "openai_chat",
        "/responses": "openai_responses",
        "/messages": "anthropic_messages",
    }
    for end, provider in ends.items():
        if path.endswith(end):
            return provider
    return "gemini_generate"


@contextmanager
def running() -> Iterator[Server]:
    """Give a server that runs."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
