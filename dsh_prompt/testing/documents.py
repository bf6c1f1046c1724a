"""A whole model input as one text, for people to read and to compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.render.prompt import render_context_snapshot, render_prompt
from dsh_prompt.testing.parts import tool_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt.model.prompt_assembly import PromptAssembly


def document(assembly: PromptAssembly) -> str:
    """Give system prompt, snapshot and tools, each under a line that says what it is."""
    return "\n".join(_lines(assembly))


def _lines(assembly: PromptAssembly) -> Iterator[str]:
    yield from _under("system prompt", render_prompt(assembly))
    yield from _under("context snapshot", render_context_snapshot(assembly))
    for tool in assembly.tools:
        reason = assembly.denied.get(tool.name)
        denied = "" if reason is None else f", denied: {reason}"
        yield from _under(f"tool {tool.name}{denied}", tool_text(tool))


def _under(heading: str, text: str) -> Iterator[str]:
    yield f"======== {heading} ========"
    yield text
    yield ""
