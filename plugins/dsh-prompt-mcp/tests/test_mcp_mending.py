"""What is no text, promised shapes and empty errors: a call goes on, and a server too."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest
from dsh_prompt_mcp.mending import mended, sendable
from hypothesis import given, settings
from hypothesis import strategies as st

_TEXTS = st.text(st.sampled_from('\\"ud83c0/\n\0a\ud83d\udc00\udfff\U0001f600') | st.characters())
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(_TEXTS, inner),
    max_leaves=8,
)


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@settings(deadline=None)
@given(_TEXTS, st.booleans())
def test_read(text: str, ascii_alone: bool) -> None:
    """Whatever is written can be read, and only what is no text has changed."""
    written = json.dumps([text], ensure_ascii=ascii_alone).encode("utf-8", "surrogatepass")
    (read,) = json.loads(mended(written).decode())
    if ascii_alone:
        assert read == _whole(text)
    else:
        read.encode()


@settings(deadline=None)
@given(_VALUES)
def test_sent(value: Any) -> None:
    """Whatever is JSON can be sent, and stays what it is but for what is no text."""
    written = json.dumps(sendable(value), ensure_ascii=False)
    assert json.loads(written) == json.loads(mended(json.dumps(value).encode()))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": float("nan")}, "nan"),
        ({"a": 10**5000}, "digits"),
        ({"a": {1: 2}}, "a key is no string"),
        ({"a": object()}, "object"),
    ],
)
def test_no_json(value: Any, told: str) -> None:
    """What is no JSON is refused before it is on the wire."""
    with pytest.raises(ValueError, match=told):
        sendable(value)


def test_deep() -> None:
    """What is too deep is refused; tuples and other mappings are JSON as well."""
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="deeper"):
        sendable(deep)
    assert sendable(MappingProxyType({"a": (1, None)})) == {"a": [1, None]}


_PATTERN = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}


@pytest.mark.anyio
async def test_server(bare: Any, loaded: Any, tool: Any) -> None:
    """No odd text, promise, cursor or silence of a server keeps it from its work."""
    tools = [
        tool("half", "a \ud83d b"),
        tool("silent"),
        tool("shape", outputSchema=_PATTERN),
        tool("lies", outputSchema={"type": "no such type"}),
    ]
    results: dict[str, Any] = {
        "half": {"content": [{"type": "text", "text": "half \udc00"}]},
        "silent": {"content": [{"type": "text", "text": " "}], "isError": True},
        "shape": {"content": [], "structuredContent": {"a": "a" * 20 + "!"}},
        "lies": {"content": [{"type": "text", "text": "fine"}]},
    }
    server = bare(tools=tools, results=results, page_says={"nextCursor": ""})
    async with loaded({"fs": server.settings(timeout=5.0)}) as host:
        assert host.assemble().tools[0].description == "a \ufffd b"
        told = {name: await host.mcp.call(f"mcp__fs__{name}") for name in results}
        assert told["half"].text == "half \ufffd"
        assert told["silent"].text == "The tool failed and did not say why."
        assert told["shape"].structured == results["shape"]["structuredContent"]
        assert told["lies"].text == "fine"
        assert [one.is_error for one in told.values()] == [False, True, False, False]
        server.plan(tools=tools)
        echo = json.loads((await host.mcp.call("mcp__fs__half", {"\ud83d": ["\udc00"]})).text)
        assert echo["with"] == {"\ufffd": ["\ufffd"]}
        refused = await host.mcp.call("mcp__fs__half", {"what": float("nan")})
        assert (refused.is_error, refused.refused) == (True, True)
        assert refused.text.startswith("the arguments cannot be sent: ")
        assert len(server.pids) == 1
