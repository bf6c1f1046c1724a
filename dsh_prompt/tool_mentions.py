"""Texts that name a tool which the model does not get: it would call what is not there."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Literal

import attrs

from dsh_prompt.model.provenance import Provenance
from dsh_prompt.render.prompt import render_contexts, render_sections

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source


@attrs.frozen
class HiddenToolMention:
    """A section or context that names a tool which its assembly hides.

    *source* is the owner of the text, *hidden_by* who hid the tool (None: not known).
    """

    kind: Literal["section", "context"]
    name: str
    source: Source | None
    tool: str
    hidden_by: Source | None

    @property
    def way_out(self) -> str:
        """What the owner of the text can add, so that it goes where the tool goes."""
        return requiring([self.tool])


def requiring(tools: Iterable[str]) -> str:
    """Write the argument that lets a section or context go where one of *tools* goes."""
    listed = [json.dumps(tool, ensure_ascii=False) for tool in tools]
    return f"requires_tools=({', '.join(listed)}{',' if len(listed) == 1 else ''})"


def hidden_tools(assembly: PromptAssembly) -> dict[str, Source | None]:
    """Give the tools that are known but not in the list of *assembly*, each with who hid it.

    That is the owner of a restriction, a provider that knows the name and did not give the tool,
    or a listener that took it out. A denied tool is in the list, and so not hidden. Only an
    assembly that a host has just made knows them: none comes through JSON.
    """
    provenance = assembly._provenance or Provenance()
    present = {tool.name for tool in assembly._tools}
    hidden: dict[str, Source | None] = {
        name: source for name, source in provenance.withheld.items() if name not in present
    }
    for tool in provenance.contributed:
        if tool.name not in present:
            hidden[tool.name] = provenance.remover(tool.name)
    return hidden


def hidden_tool_mentions(assembly: PromptAssembly) -> list[HiddenToolMention]:
    """List the texts of *assembly* that name a hidden tool, in order, and by tool within a text.

    The name has to stand alone: ``read`` is not named by ``read_file``, ``read-only`` or
    ``os.read``. A text that was added by the listener which took the tool out may name it. Raises
    `InterpolationError` where a text cannot be rendered.
    """
    hidden = hidden_tools(assembly)
    names = re.compile(_any_of(filter(None, hidden)))
    rendered = {"section": render_sections(assembly), "context": render_contexts(assembly)}
    return [
        HiddenToolMention(kind, item.name, item.source, tool, hidden[tool])
        for kind in _KINDS
        for item, text in zip(assembly._facts(kind), rendered[kind], strict=True)
        for tool in sorted(set(names.findall(text)))
        if not _knows(item.source, hidden[tool])
    ]


def _knows(owner: Source | None, hider: Source | None) -> bool:
    """Tell whether one listener hid the tool and added the text."""
    return owner is not None and owner == hider and owner.how == "waterfall"


_KINDS: tuple[Literal["section", "context"], ...] = ("section", "context")


def _any_of(names: Iterable[str]) -> str:
    """Give a pattern for any of *names* where it is no part of a longer one."""
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    choices = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return rf"(?<![\w-])(?<!\w\.)(?:{choices})(?![\w-])(?!\.\w)"
