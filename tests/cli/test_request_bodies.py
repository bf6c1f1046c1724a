"""``render --format`` of a provider: the body of its request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from dsh_prompt.cli import main

if TYPE_CHECKING:
    from pathlib import Path

TOOLS = [{"name": "read", "description": "Read.", "parameters": {"type": "object"}}]
SYSTEM = "You are an AI agent powered by DeepSeek Harness."

#: Where each body holds the system prompt, the last message's text and the first tool's name.
PLACES = {
    "openai": ("messages.0.content", "messages.-1.content", "tools.0.function.name"),
    "openai-responses": ("instructions", "input.-1.content", "tools.0.name"),
    "anthropic": ("system.0.text", "messages.-1.content.0.text", "tools.0.name"),
    "gemini": (
        "config.system_instruction",
        "contents.-1.parts.0.text",
        "config.tools.0.function_declarations.0.name",
    ),
    "deepseek": ("messages.0.content", "messages.-1.content", "tools.0.function.name"),
}


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "")
    monkeypatch.chdir(tmp_path)


def render(*arguments: str) -> Any:
    return CliRunner().invoke(main, ["render", *arguments])


def at(body: Any, place: str) -> Any:
    """Look up a dotted place."""
    for part in place.split("."):
        body = body[int(part)] if isinstance(body, list) else body[part]
    return body


def message(name: str, text: str) -> dict[str, Any]:
    if name == "gemini":
        return {"role": "user", "parts": [{"text": text}]}
    return {"role": "user", "content": text}


@pytest.mark.parametrize("name", PLACES)
def test_the_body_is_what_the_adapter_makes(name: str, tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "history.jsonl").write_text(
        json.dumps(message(name, "one")) + "\n\n" + json.dumps(message(name, "two")) + "\n"
    )
    result = render(
        *("--format", name, "--tools", "tools.json", "--messages", "history.jsonl"),
        *("--model", "a-model"),
    )
    assert result.exit_code == 0, result.output
    body = json.loads(result.stdout)
    assert [at(body, place) for place in PLACES[name]] == [SYSTEM, "two", "read"]
    assert body["model"] == "a-model"


def test_the_model_is_that_of_the_state_or_none(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps({"model": "its-model"}))
    named = render("--format", "openai", "--state", "state.json")
    assert json.loads(named.stdout)["model"] == "its-model"
    assert "model" not in json.loads(render("--format", "openai").stdout)


@pytest.mark.parametrize(
    ("content", "problem"),
    [('{"role": "user"}\n{"role"', "line 2: is no valid JSON"), (None, "cannot be read")],
)
def test_a_history_that_cannot_be_used_is_named(
    content: str | None, problem: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "history.jsonl").write_text(content)
    result = render("--format", "openai", "--messages", "history.jsonl")
    assert result.exit_code == 2
    assert f"history.jsonl{', ' if content else ': '}{problem}" in result.output


@pytest.mark.parametrize("option", ["--messages", "--model"])
def test_other_formats_have_no_history_and_no_model(option: str) -> None:
    result = render("--format", "text", option, "anything")
    assert result.exit_code == 2
    assert "are for the body of a request" in result.output
