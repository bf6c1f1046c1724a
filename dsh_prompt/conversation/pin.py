"""The prefix of a conversation: kept as it was, while what changed is told beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dsh_prompt.model.assembled import AssembledContext, AssembledSection
from dsh_prompt.model.deferred import DEFERRED, DEFERRED_CODEC
from dsh_prompt.model.provenance import Provenance
from dsh_prompt.model.tools import ToolSchema
from dsh_prompt.render.prompt import render_sections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from dsh_prompt.model.deferred import Deferred
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source

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
    schemas that were sent, *owners* whose they are, *deferred* which of them are held back;
    *generation* is that of the host.
    """

    texts: Mapping[str, tuple[str, str]]
    tools: tuple[ToolSchema, ...]
    owners: Mapping[str, str]
    generation: int
    deferred: Deferred | None = None

    @classmethod
    def of(cls, assembly: PromptAssembly) -> Pin:
        """Pin what *assembly* tells; raises what rendering raises."""
        sources = (assembly._provenance or Provenance()).tool_sources(assembly.tools)
        owners = {
            tool.name: _owner(source) for tool, source in zip(assembly.tools, sources, strict=True)
        }
        generation, deferred = assembly.generation or 0, assembly.get(DEFERRED)
        return cls(_texts(assembly), tuple(assembly.tools), owners, generation, deferred)

    def hold(self, assembly: PromptAssembly, names: Names) -> None:
        """Give *assembly* the pinned system text and tools; tell the differences in a context.

        A tool that went away is denied, one that came is not called yet. *names* are those that
        the model knows tools by.
        """
        now, before = _by_name(assembly.tools), _by_name(self.tools)
        # What is held back, the model does not know yet.
        held = _held(self.deferred) | _held(assembly.get(DEFERRED))
        told = {name: tool for name, tool in now.items() if name not in held}
        known = {name: tool for name, tool in before.items() if name not in held}
        notices = [
            *self._of_sections(_texts(assembly)),
            *self._of_tools(assembly, _Changed(known, told, names)),
        ]
        assembly.sections = [
            AssembledSection(name, text, literal=True, cacheable=True)
            for name, (text, _) in self.texts.items()
        ]
        assembly.tools = [*self.tools, *self._hold_back(assembly, now)]
        for name in before.keys() - now.keys() - assembly.denied.keys():
            assembly.deny(name, f'the tool "{name}" of {self.owners[name]} went away')
        if notices:
            text = "\n\n".join([CHANGES, *notices])
            context = AssembledContext(CHANGES_CONTEXT, text, literal=True)
            assembly.contexts = [context, *assembly.contexts]

    def _hold_back(
        self, assembly: PromptAssembly, now: Mapping[str, ToolSchema]
    ) -> list[ToolSchema]:
        """Hold back what the pinned step did, whatever was opened since; give what came to it.

        Both are found and called by the tool that searches, and tell the model nothing new.
        """
        held = assembly.get(DEFERRED)
        if self.deferred is None:
            if held is not None:
                del assembly[DEFERRED]
            return []
        pinned = _by_name(self.tools)
        names = frozenset() if held is None else held.names - pinned.keys()
        assembly[DEFERRED] = attrs.evolve(self.deferred, names=self.deferred.names | names)
        return [tool for name, tool in now.items() if name in names]

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
            owner = _owner(assembly.source_of("tool", tool.name))
            yield f'The tool "{name}" of {owner} will be there soon; not yet{about}'
        for name, tool in changed.altered.items():
            owner = _owner(assembly.source_of("tool", tool.name))
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
            "deferred": None if self.deferred is None else DEFERRED_CODEC.encode(self.deferred),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Pin:
        """Take back what `to_dict` gave."""
        return cls(
            {name: (text, owner) for name, text, owner in data["sections"]},
            tuple(map(ToolSchema.from_dict, data["tools"])),
            dict(data["owners"]),
            data["generation"],
            None if data["deferred"] is None else DEFERRED_CODEC.decode(data["deferred"]),
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


def _held(deferred: Deferred | None) -> frozenset[str]:
    return frozenset() if deferred is None else deferred.names


def _sent(tool: ToolSchema) -> str:
    sent = {"description": tool.description, "parameters": tool.parameters}
    return json.dumps(sent, ensure_ascii=False)


def _texts(assembly: PromptAssembly) -> Texts:
    rendered = render_sections(assembly)
    return {
        section.name: (text, _owner(section.source))
        for section, text in zip(assembly.sections, rendered, strict=True)
    }


def _owner(source: Source | None) -> str:
    return "the host" if source is None else source.owner
