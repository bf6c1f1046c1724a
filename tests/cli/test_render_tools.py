"""``dsh-prompt render --tools``: tools in the spellings of the providers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

DESCRIBED = {"name": "read", "description": "Reads a file."}
PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "encoding": {"type": ["string", "null"]}},
    "required": ["path"],
}
GEMINI_PARAMETERS = {
    "type": "OBJECT",
    "properties": {"path": {"type": "STRING"}, "encoding": {"type": "STRING", "nullable": True}},
    "required": ["path"],
}
OTHER: dict[str, Any] = {"name": "stop", "description": "", "parameters": {}}

SPELLINGS: dict[str, list[Any]] = {
    "openai-chat": [
        {"type": "function", "function": {**DESCRIBED, "parameters": PARAMETERS}},
        {"type": "function", "function": OTHER},
    ],
    "openai-responses": [
        {"type": "function", **DESCRIBED, "parameters": PARAMETERS},
        {"type": "function", "name": "stop"},
    ],
    "anthropic": [
        {**DESCRIBED, "input_schema": PARAMETERS},
        {"type": "custom", "name": "stop", "input_schema": {}},
    ],
    "gemini": [
        {"functionDeclarations": [{**DESCRIBED, "parameters": GEMINI_PARAMETERS}, {"name": "stop"}]}
    ],
    "mcp": [{**DESCRIBED, "inputSchema": PARAMETERS}, {"name": "stop", "inputSchema": {}}],
    "mixed": [{"name": "stop", "inputSchema": {}}, {**DESCRIBED, "parameters": GEMINI_PARAMETERS}],
}


def render(run: Run, data: object) -> dict[str, Any]:
    """Give the whole assembly with the tools in *data*."""
    outcome = run("render", "--tools", "-", "--format", "json", stdin=json.dumps(data))
    assert (outcome.code, outcome.err) == (0, "")
    assembly: dict[str, Any] = json.loads(outcome.out)
    return assembly


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_spelling_makes_no_difference(run: Run, spelling: str) -> None:
    """The assembly is the same, as a list of tools and as a request that holds them."""
    own = render(run, [{**DESCRIBED, "parameters": PARAMETERS}, OTHER])
    assert [tool["name"] for tool in own["tools"]] == ["read", "stop"]
    assert own["tools"][0]["parameters"] == PARAMETERS
    assert render(run, SPELLINGS[spelling]) == own
    assert render(run, {"model": "any", "tools": SPELLINGS[spelling]}) == own


def test_what_is_no_field_of_a_tool_is_an_annotation(run: Run) -> None:
    """It is shown, beside the annotations that the item has."""
    item = {"name": "a", "inputSchema": {}, "title": "A", "annotations": {"readOnlyHint": True}}
    (tool,) = render(run, [item])["tools"]
    assert tool["annotations"] == {"readOnlyHint": True, "title": "A"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '[{"function": {"name": "a"}}, {"function": {"name": 1}}]',
            "[1].function.name: must be a string, got 1",
        ),
        (
            '{"tools": [{"type": "web_search"}]}',
            'tools[0]: a tool of type "web_search" is the provider\'s own',
        ),
        (
            '[{"name": "a"}, {"functionDeclarations": [{"name": "a"}]}]',
            '[1].functionDeclarations[0]: a second tool "a" (the first is [0])',
        ),
        ('{"tolos": []}', "expected a list of tools, got {'tolos': []}; in an object it stands"),
    ],
)
def test_errors_name_file_and_place(run: Run, workdir: Path, text: str, problem: str) -> None:
    """The file as it was given, and the path within it."""
    (workdir / "tools.json").write_text(text)
    outcome = run("render", "--tools", "tools.json")
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.err.startswith(f"Error: tools.json: {problem}")


def test_tools_that_are_too_deep_are_an_error(run: Run) -> None:
    """Whether the JSON, or only the schema in it, is more than can be followed."""
    for depth in (90, 300, 900, 100_000):
        schema = '{"items":' * depth + "{}" + "}" * depth
        text = f'[{{"functionDeclarations": [{{"name": "a", "parameters": {schema}}}]}}]'
        outcome = run("render", "--tools", "-", "--format", "text", stdin=text)
        assert outcome.code == (0 if depth == 90 else 2)
        assert "Traceback" not in outcome.err
