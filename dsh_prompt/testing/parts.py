"""An assembly taken apart, as the model gets it: who owns each piece, and what has changed."""

from __future__ import annotations

import json
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.model.source import describe
from dsh_prompt.render.fingerprint import stable_count
from dsh_prompt.render.prompt import render_contexts, render_sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source
    from dsh_prompt.model.tools import ToolSchema


@attrs.frozen
class Part:
    """A tool, section or context: its rendered *text*, and the *owner* as messages name it."""

    kind: str
    name: str
    owner: str
    text: str
    plugin: str | None = None

    @property
    def label(self) -> str:
        """The part as messages name it."""
        return f'{self.kind} "{self.name}" of {self.owner}'


def all_parts(assembly: PromptAssembly) -> list[Part]:
    """Give all that the model gets, in order; raises what rendering raises."""
    contexts = zip(assembly.contexts, render_contexts(assembly), strict=True)
    return [
        *_tools(assembly),
        *_sections(assembly),
        *(_part("context", one.name, one.source, text) for one, text in contexts if text),
    ]


def prefix_parts(assembly: PromptAssembly) -> list[Part]:
    """Give what the stable prefix consists of, in order; raises what rendering raises."""
    return [*_tools(assembly), *_sections(assembly, stable_count(assembly))]


def _tools(assembly: PromptAssembly) -> Iterator[Part]:
    for tool in assembly.tools:
        yield _part("tool", tool.name, assembly.source_of("tool", tool.name), tool_text(tool))


def _sections(assembly: PromptAssembly, count: int | None = None) -> Iterator[Part]:
    texts = render_sections(assembly)
    for section, text in zip(assembly.sections[:count], texts[:count], strict=True):
        if text:
            yield _part("section", section.name, section.source, text)


def _part(kind: str, name: str, source: Source | None, text: str) -> Part:
    return Part(kind, name, describe(source), text, None if source is None else source.plugin)


def tool_text(tool: ToolSchema) -> str:
    """Give what a provider is sent of *tool*, for people to read."""
    sent: dict[str, Any] = {"description": tool.description, "parameters": tool.parameters}
    return json.dumps(sent, ensure_ascii=False, indent=2)


def changes(before: Sequence[Part], after: Sequence[Part]) -> list[str]:
    """Tell what is other in *after*: what is gone, new, or changed (with a diff), or the order."""
    old, new = _by_place(before), _by_place(after)
    told = [f"{part.label} is gone" for place, part in old.items() if place not in new]
    for place, part in new.items():
        if place not in old:
            told.append(f"{part.label} is new:\n{_indented(part.text.splitlines())}")
        elif old[place].text != part.text:
            told.append(f"{part.label} has changed:\n{diff(old[place].text, part.text)}")
    if not told and list(old) != list(new):
        names = ", ".join(f"{kind} {name}" for kind, name, _ in new)
        told.append(f"the order has changed, it is now: {names}")
    return told


def _by_place(parts: Iterable[Part]) -> dict[tuple[str, str, int], Part]:
    """Map each part by kind, name and how many of that name stand before it."""
    places: dict[tuple[str, str, int], Part] = {}
    for part in parts:
        count = 0
        while (part.kind, part.name, count) in places:
            count += 1
        places[part.kind, part.name, count] = part
    return places


def diff(before: str, after: str) -> str:
    """Give the lines that differ, indented, with those around them."""
    lines = list(unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2))[2:]
    return _indented(lines or [f"- {before!r}", f"+ {after!r}"])


def _indented(lines: Iterable[str]) -> str:
    return "\n".join(f"    {line}".rstrip() for line in lines)
