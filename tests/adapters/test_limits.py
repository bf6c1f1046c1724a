"""The table of limits, in the code and in the pages.

Run as a program, this file writes it into adapters.md.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from dsh_prompt.adapters import (
    Limits,
    anthropic_messages,
    deepseek_chat,
    gemini_generate,
    openai_chat,
    openai_responses,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt.adapters import Figure

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
BLOCK = re.compile(r"(?<=<!-- limits -->\n).*?(?=<!-- end of limits -->)", re.DOTALL)

TABLES = {
    "OpenAI": openai_chat.limits,
    "Anthropic": anthropic_messages.limits,
    "Gemini": gemini_generate.limits,
    "DeepSeek": deepseek_chat.limits,
}
RULES = {
    "name_characters": "characters of a tool's name",
    "name_length": "its length",
    "name_start": "what it starts with",
    "unique_names": "no name twice",
    "max_tools": "number of tools",
    "root_refuses": "not at the root of the parameters",
    "parameter_name": "names of parameters",
    "items_required": "arrays have `items`",
    "not_empty": "lists in a schema that may not be empty",
    "system_characters": "characters of the system prompt",
    "request_bytes": "bytes of the request",
    "breakpoints": "marks for the cache",
    "no_blank_text": "no blank text in a message",
}


def figures(limits: Limits) -> Iterator[tuple[str, Figure[Any]]]:
    """Give the figures of a table, by the names of their rules."""
    for key, rule in RULES.items():
        if figure := getattr(limits, key):
            yield rule, figure


def shown(value: Any) -> str:
    """Give a value as the page has it."""
    if value is True:
        return "yes"
    if isinstance(value, int):
        return f"{value:,}"
    return f"`{value}`" if isinstance(value, str) else ", ".join(f"`{item}`" for item in value)


def table() -> str:
    """Give the table of the page."""
    rows = ["| provider | rule | limit | source |", "|---|---|---|---|"]
    for provider, limits in TABLES.items():
        for rule, figure in figures(limits):
            rows.append(f"| {provider} | {rule} | {shown(figure.value)} | {figure.source} |")
    return "\n" + "\n".join(rows) + "\n\n"


def test_the_page_has_the_table() -> None:
    """If this fails, run this file: ``python -m tests.adapters.test_limits``."""
    [block] = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert block == table()


def test_every_rule_has_a_name_in_the_page() -> None:
    """None is left out."""
    assert {field.name for field in attrs.fields(Limits)} == set(RULES)


@pytest.mark.parametrize("provider", TABLES)
def test_every_figure_has_a_source_and_a_date(provider: str) -> None:
    """What has none is not in the table; the page tells the date."""
    for rule, figure in figures(TABLES[provider]):
        assert figure.source, rule
        assert figure.read == "2026-11-30"


def test_both_adapters_of_openai_have_one_table() -> None:
    """The page has one, too."""
    assert openai_chat.limits is openai_responses.limits


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda _: table(), text), encoding="utf-8")
