"""The prefix of a conversation: kept as it was, while what changed is told beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dsh_prompt.model.assembled import AssembledContext, AssembledSection
from dsh_prompt.model.tools import ToolSchema
from dsh_prompt.render.prompt import render_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from dsh_prompt.model.prompt_assembly import Kind, PromptAssembly

#: The name of the runtime context that tells what changed since the prefix was pinned.
CHANGES_CONTEXT = "conversation:changes"
CHANGES = (
    "Changes since the system prompt and the tools of this conversation were set. Where they "
    "differ from those, this counts."
)

#: What a section says, by its name, and whose it is.
Texts: TypeAlias = "dict[str, tuple[str, str]]"
#: Gives, for tools, the names that a provider knows them by; not for those it would refuse.
Names: TypeAlias = "Callable[[Iterable[ToolSchema]], Mapping[str, str]]"


@attrs.frozen
class Pin:
    """System text and tools of the step at which a conversation was pinned.

    *texts* maps the names of sections to their rendered text and owner, *tools* are the
    schemas that were sent, *owners* whose they are; *generation* is that of the host.
    """

    texts: Mapping[str, tuple[str, str]]
    tools: tuple[ToolSchema, ...]
    owners: Mapping[str, str]
    generation: int

    @classmethod
    def of(cls, assembly: PromptAssembly) -> Pin:
        """Pin what *assembly* tells; raises what rendering raises."""
        owners = {tool.name: _owner(assembly, "tool", tool.name) for tool in assembly.tools}
        return cls(_texts(assembly), tuple(assembly.tools), owners, assembly.generation or 0)

    def hold(self, assembly: PromptAssembly, names: Names) -> None:
        """Give *assembly* the pinned system text and tools; tell the differences in a context.

        A tool that went away is denied, one that came is not called yet. *names* are those that
        the model knows tools by.
        """
        now, before = _by_name(assembly.tools), _by_name(self.tools)
        notices = [
            *self._of_sections(_texts(assembly)),
            *self._of_tools(assembly, _Changed(before, now, names)),
        ]
        assembly.sections = [
            AssembledSection(name, text, literal=True, cacheable=True)
            for name, (text, _) in self.texts.items()
        ]
        assembly.tools = list(self.tools)
        for name in before.keys() - now.keys() - assembly.denied.keys():
            assembly.deny(name, f'the tool "{name}" of {self.owners[name]} went away')
        if notices:
            text = "\n\n".join([CHANGES, *notices])
            context = AssembledContext(CHANGES_CONTEXT, text, literal=True)
            assembly.contexts = [context, *assembly.contexts]

    def _of_sections(self, now: Texts) -> Iterator[str]:
        for name, (text, owner) in now.items():
            before = self.texts.get(name)
            if before is None and text:
                yield f'The system prompt has a new section "{name}", of {owner}:\n{text}'
            elif before is not None and before[0] != text:
                said = f"now says:\n{text}" if text else "now says nothing."
                yield f'The section "{name}" of the system prompt, of {owner}, {said}'
        for name, (text, owner) in self.texts.items():
            if name not in now and text:
                yield (
                    f'The section "{name}" of the system prompt, of {owner}, does not apply any '
                    f"more. It said:\n{text}"
                )

    def _of_tools(self, assembly: PromptAssembly, changed: _Changed) -> Iterator[str]:
        for name, tool in changed.came.items():
            about = f": {tool.description}" if tool.description else "."
            owner = _owner(assembly, "tool", tool.name)
            yield f'The tool "{name}" of {owner} will be there soon; not yet{about}'
        for name, tool in changed.altered.items():
            owner = _owner(assembly, "tool", tool.name)
            yield f'The tool "{name}" of {owner} has changed: {_sent(tool)}'
        for name, tool in changed.gone.items():
            yield f'The tool "{name}" of {self.owners[tool.name]} is gone: do not call it.'

    def to_dict(self) -> dict[str, Any]:
        """Give the pin as JSON; `from_dict` takes it back."""
        return {
            "sections": [[name, text, owner] for name, (text, owner) in self.texts.items()],
            "tools": [tool.to_dict() for tool in self.tools],
            "owners": dict(self.owners),
            "generation": self.generation,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Pin:
        """Take back what `to_dict` gave."""
        return cls(
            {name: (text, owner) for name, text, owner in data["sections"]},
            tuple(map(ToolSchema.from_dict, data["tools"])),
            dict(data["owners"]),
            data["generation"],
        )


class _Changed:
    """Tools that came, are others than *before*, or are gone, by the names that are sent."""

    def __init__(
        self, before: Mapping[str, ToolSchema], now: Mapping[str, ToolSchema], names: Names
    ) -> None:
        came = {name for name in now if name not in before}
        gone = {name for name in before if name not in now}
        altered = {n for n in now if n in before and _sent(now[n]) != _sent(before[n])}
        # Mostly there is nothing to name.
        known = names(before.values()) if gone or altered else {}
        coming = names(now.values()) if came else {}
        self.came = {coming[name]: now[name] for name in now if name in came and name in coming}
        self.altered = {known[n]: now[n] for n in now if n in altered and n in known}
        self.gone = {known[n]: before[n] for n in before if n in gone and n in known}


def _by_name(tools: Iterable[ToolSchema]) -> dict[str, ToolSchema]:
    """Give the *tools* by name; of two with one name the first, which is the one sent."""
    named: dict[str, ToolSchema] = {}
    for tool in tools:
        named.setdefault(tool.name, tool)
    return named


def _sent(tool: ToolSchema) -> str:
    sent = {"description": tool.description, "parameters": tool.parameters}
    return json.dumps(sent, ensure_ascii=False)


def _texts(assembly: PromptAssembly) -> Texts:
    rendered = render_sections(assembly)
    return {
        section.name: (text, _owner(assembly, "section", section.name))
        for section, text in zip(assembly.sections, rendered, strict=True)
    }


def _owner(assembly: PromptAssembly, kind: Kind, name: str) -> str:
    source = assembly.source_of(kind, name)
    return "the host" if source is None else source.owner
