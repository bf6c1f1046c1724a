"""Five hundred tools of fifty services, and a hundred questions that one of them answers.

The questions were written from the list of services before there was a ranking.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsh_prompt import ToolSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

CORPUS = Path(__file__).parent / "corpus"


@cache
def tools() -> tuple[ToolSchema, ...]:
    """Give the tools, in the order of their names."""
    return tuple(sorted(_tools(), key=lambda tool: tool.name))


@cache
def questions() -> tuple[tuple[str, str], ...]:
    """Give each question with the name of the tool that answers it."""
    pairs = (line.split(" | ") for line in _lines("questions"))
    return tuple((question, _name(*answer.split())) for question, answer in pairs)


def _tools() -> Iterator[ToolSchema]:
    known = {name: (kind, text) for name, kind, text in _fields("parameters")}
    service = ""
    for line in _lines("tools"):
        if line.startswith("= "):
            service = line.removeprefix("= ")
            continue
        name, description, parameters = (part.strip() for part in line.split(" |"))
        yield ToolSchema(_name(service, name), description, _schema(parameters.split(), known))


def _schema(names: list[str], known: dict[str, tuple[str, str]]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for name in names:
        kind, text = known.get(name, ("string", f"The {name.replace('_', ' ')}, by name or id."))
        items = {"items": {"type": "string"}} if kind == "array" else {}
        properties[name] = {"type": kind, "description": text, **items}
    required = [name for name in names if name not in ("limit", "cursor")]
    return {"type": "object", "properties": properties, "required": required}


def _name(service: str, tool: str) -> str:
    return f"mcp__{service}__{tool}"


def _fields(name: str) -> Iterator[list[str]]:
    return (line.split(" | ") for line in _lines(name))


def _lines(name: str) -> list[str]:
    return (CORPUS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
