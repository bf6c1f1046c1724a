"""Names of tools: valid for every provider, one for each tool, the same everywhere."""

from __future__ import annotations

import re

import pytest
from dsh_prompt_mcp import tool_name
from hypothesis import example, given, settings
from hypothesis import strategies as st

_TEXT = st.text(max_size=90)
# What makes names alike: few letters, underscores, and endings that look like a hash.
_ALIKE = st.lists(
    st.sampled_from(["a", "_", "__", "-", "\u00e9", "\0", "_0123456789abcdef", "x" * 40]),
    max_size=6,
).map("".join)
_NAME = _TEXT | _ALIKE
_IDENTITY = st.tuples(_NAME, _NAME)


def test_plain() -> None:
    """A name that is allowed stays as it is."""
    assert tool_name("fs", "read_file") == "mcp__fs__read_file"
    assert tool_name("my-fs", "a__b") == "mcp__my-fs__a__b"


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("fs", "read file", "mcp__fs__read_file_8281bca9f9747e64"),
        ("a__b", "c", "mcp__a__b__c_42fd3caac400f14b"),
        ("fs", "t" * 200, f"mcp__fs__{38 * 't'}_9df423cd4a99777c"),
        ("fs", "\u8bfb", "mcp__fs____b22f593970206461"),
    ],
)
def test_lossy(server: str, tool: str, name: str) -> None:
    """A name that is not allowed gets a hash; it was the same when this test was written."""
    assert tool_name(server, tool) == name


@settings(deadline=None)
@given(_IDENTITY)
@example(("fs", "a\n"))
def test_valid(identity: tuple[str, str]) -> None:
    """Every name is one that each provider takes."""
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,63}", tool_name(*identity))


@settings(deadline=None)
@given(_IDENTITY, _IDENTITY)
@example(("a", "b__c"), ("a__b", "c"))
@example(("a", "_b"), ("a_", "b"))
@example(("a b", "c"), ("a_b", "c"))
def test_one_each(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Two tools never get the same name."""
    assert (tool_name(*one) == tool_name(*other)) == (one == other)


@settings(deadline=None)
@given(_IDENTITY)
def test_no_forgery(identity: tuple[str, str]) -> None:
    """Nor does a tool that is called like the name of another one."""
    name = tool_name(*identity)
    server, _, own = name.removeprefix("mcp__").partition("__")
    assert tool_name(server, own) != name or (server, own) == identity
