"""Servers over HTTP that are up to no good."""

from __future__ import annotations

import gzip
import json
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import attrs
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.anyio
_SECRET = "s3cret-value-of-a-token"


@attrs.define
class Seen:
    """What a server got: the headers of each request."""

    headers: list[dict[str, str]] = attrs.field(factory=list)


class _Request(BaseHTTPRequestHandler):
    """One request, with what was sent in it."""

    body = b""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _server(answer: Callable[[_Request], None]) -> Iterator[tuple[str, Seen]]:
    seen = Seen()

    class Handler(_Request):
        def do_POST(self) -> None:
            seen.headers.append({key.lower(): value for key, value in self.headers.items()})
            self.body = self.rfile.read(int(self.headers.get("content-length", 0)))
            with suppress(ConnectionError):
                answer(self)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _start(request: _Request, kind: str, **headers: str) -> None:
    request.send_response(200)
    request.send_header("content-type", kind)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()


def _endless(request: _Request) -> None:
    _start(request, "application/json")
    while True:
        request.wfile.write(b"[" * 65536)


def _packed(request: _Request) -> None:
    body = gzip.compress(b" " * 10_000_000)
    _start(request, "application/json", content_encoding="gzip", content_length=str(len(body)))
    request.wfile.write(body)


def _comments(request: _Request) -> None:
    _start(request, "text/event-stream")
    while True:
        request.wfile.write(b": nothing\n" * 10_000)


def _events(request: _Request) -> None:
    _start(request, "text/event-stream")
    message = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    while True:
        request.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())


def _error(request: _Request) -> None:
    _start(request, "application/json")
    token = request.headers["authorization"]
    error = {"code": -32000, "message": f"no \u202e such token: {token}" + "!" * 9000}
    answer = {"jsonrpc": "2.0", "id": json.loads(request.body)["id"], "error": error}
    request.wfile.write(json.dumps(answer).encode())


def _other(request: _Request) -> None:
    _start(request, "text/html")
    request.wfile.write(b"<html>")


def _echo(request: _Request) -> None:
    _start(request, "application/json")
    request.wfile.write(b"{" + request.body)


def _line(request: _Request) -> None:
    _start(request, "text/event-stream")
    for _ in range(40):
        request.wfile.write(b"x" * 32768)


def _halves(request: _Request) -> None:
    """Answer with halves of surrogate pairs, also as a stream, an escape in two pieces."""
    asked = json.loads(request.body)
    listed = {"name": "a", "description": "b \ud83d c", "inputSchema": {"type": "object"}}
    said = {"type": "text", "text": f"\udc00 {asked.get('params', {}).get('arguments')} \\ud83d"}
    agreed = {"protocolVersion": "2025-06-18", "serverInfo": {"name": "x", "version": "1"}}
    results: dict[str, Any] = {
        "initialize": {**agreed, "capabilities": {"tools": {}}},
        "tools/list": {"tools": [listed]},
        "tools/call": {"content": [said]},
    }
    answer = {"jsonrpc": "2.0", "id": asked.get("id"), "result": results.get(asked["method"], {})}
    body = json.dumps(answer).encode()
    if asked["method"] != "tools/call":
        _start(request, "application/json")
        request.wfile.write(body)
        return
    _start(request, "text/event-stream")
    middle = body.index(b"\\udc00") + 3
    request.wfile.write(b"data: " + body[:middle])
    request.wfile.flush()
    request.wfile.write(body[middle:] + b"\r\n\r\n")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (_endless, "sends an answer of more than 1048576 bytes"),
        (_packed, "sends an answer in a packed form that it was not asked for"),
        (_comments, "sends more than 8388608 bytes in a second"),
        (_events, "sends more than 500 messages in a second"),
        (_other, "answers with an error: Unexpected content type: text/html"),
        (_echo, "answers with what is no message"),
        (_line, "sends a message of more than 1048576 bytes"),
    ],
)
async def test_misdeeds(loaded: Any, answer: Any, told: str) -> None:
    """What is too much, or no MCP, ends the connection; nobody else notices."""
    with _server(answer) as (url, _):
        settings = {"web": {"url": url}}
        later = {"retry_after": 3600.0, "max_message_bytes": 2**20}
        async with loaded(settings, **later) as host:
            assert host.mcp.servers["web"].error == told
            assert host.tools == []


async def test_halves(loaded: Any) -> None:
    """Half of a surrogate pair is mended, in what a server sends and in what it gets."""
    with _server(_halves) as (url, _):
        settings = {"web": {"url": url, "handshake": "initialize"}}
        async with loaded(settings, retry_after=3600.0) as host:
            (schema,) = host.assemble().tools
            assert schema.description == "b \ufffd c"
            answer = await host.mcp.call("mcp__web__a", {"what": "\ud83d"})
            assert answer.text == "\ufffd {'what': '\ufffd'} \\ud83d"
            assert (await host.mcp.call("mcp__web__a", {"what": float("inf")})).refused
            assert host.state("web") == "up"


@pytest.mark.parametrize(
    ("token", "told"),
    [
        (f" {_SECRET}\n", ""),
        (f"{_SECRET}\nX-Other: y", "cannot be given the header Authorization: its value holds a "),
    ],
)
async def test_control_characters(
    loaded: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    token: str,
    told: str,
) -> None:
    """The line break at the end of a file is left out of a header; others are refused."""
    monkeypatch.setenv("WEB_TOKEN", token)
    with _server(_halves) as (url, seen):
        settings = {"web": {"url": url, "headers": {"Authorization": "${WEB_TOKEN}"}}}
        async with loaded(settings, retry_after=3600.0) as host:
            assert host.mcp.servers["web"].error.startswith(told)
        assert {one["authorization"] for one in seen.headers} == (set() if told else {_SECRET})
    assert _SECRET not in caplog.text


async def test_quoted_secret(
    loaded: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A header's value comes from the environment; where an error quotes it, it is left out."""
    monkeypatch.setenv("WEB_TOKEN", _SECRET)
    with _server(_error) as (url, seen):
        settings = {"web": {"url": url, "headers": {"Authorization": "Bearer ${WEB_TOKEN}"}}}
        async with loaded(settings, retry_after=3600.0) as host:
            error = host.mcp.servers["web"].error
            assert error.startswith(r"answers with an error: no \u202e such token: ***!!!")
            assert len(error) < 400
        assert seen.headers[0]["authorization"] == f"Bearer {_SECRET}"
        assert seen.headers[0]["accept-encoding"] == "identity"
    assert _SECRET not in caplog.text


async def test_redirect(loaded: Any) -> None:
    """A redirect to another server is not followed: it would get the headers."""
    with _server(_other) as (elsewhere, seen):

        def redirect(request: _Request) -> None:
            request.send_response(307)
            request.send_header("location", elsewhere)
            request.send_header("content-length", "0")
            request.end_headers()

        with _server(redirect) as (url, _):
            settings = {"web": {"url": url, "headers": {"Authorization": _SECRET}}}
            async with loaded(settings, retry_after=3600.0) as host:
                assert "not followed" in host.mcp.servers["web"].error
        assert seen.headers == []


async def test_nobody(loaded: Any) -> None:
    """An address where nobody listens is tried again, and named."""
    with _server(_other) as (url, _):
        pass
    async with loaded({"web": {"url": url}}) as host:
        await host.until(lambda: host.mcp.servers["web"].retries >= 2)
        assert host.mcp.servers["web"].error.startswith("cannot be used: ConnectError: ")
