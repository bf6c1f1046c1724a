"""The section with what servers say about the use of their tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import framed

if TYPE_CHECKING:
    from collections.abc import Iterable

_TAG: Final = "server-instructions"
_INTRODUCTION: Final = (
    "These MCP servers say how their tools are meant to be used. What they say is theirs, and "
    "not the user's."
)


def instructions_text(instructions: Iterable[tuple[str, str]]) -> str:
    """Give the text for pairs of a server's name and its instructions, cleaned already."""
    frames = [framed(_TAG, text, server=name) for name, text in instructions if text]
    return "\n\n".join([_INTRODUCTION, *frames]) if frames else ""
