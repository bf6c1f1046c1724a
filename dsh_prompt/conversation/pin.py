"""The prefix of a conversation: kept as it was, while what changed is told beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from dsh_prompt.conversation.held import Held, needs_of
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

    *texts* maps the names of sections to their rendered text and owner, *needs* to the tools that
    they require; *tools* are the schemas that were sent, *owners* whose they are, *deferred* which
    of them are held back; *generation* is that of the host.
    """

    texts: Mapping[str, tuple[str, str]]
    tools: tuple[ToolSchema, ...]
    owners: Mapping[str, str]
    generation: int
    deferred: Deferred | None = None
    needs: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, assembly: PromptAssembly) -> Pin:
        """Pin what *assembly* tells; raises what rendering raises."""
        sources = (assembly._provenance or Provenance()).tool_sources(assembly.tools)
        owners = {
            tool.name: _owner(source) for tool, source in zip(assembly.tools, sources, strict=True)
        }
        deferred = assembly.get(DEFERRED)
        if deferred is not None and deferred.search not in owners:
            deferred = None  # what the model cannot search for, cannot be held back
        generation, needs = assembly.generation or 0, needs_of(assembly)
        return cls(_texts(assembly), tuple(assembly.tools), owners, generation, deferred, needs)

    def hold(self, assembly: PromptAssembly, names: Names) -> None:
        """Give *assembly* the pinned system text and tools; tell the differences in a context.

        A tool that went away is denied, one that came is not called yet, or through the search
        for tools, if the pin has one. *names* are those that the model knows tools by.
        """
        held = Held(
            _by_name(self.tools), _by_name(assembly.tools), self.deferred, assembly.get(DEFERRED)
        )
        notices = [
            *self._of_sections(_texts(assembly), needs_of(assembly), held),
            *self._of_tools(assembly, _Changed(held.known(), held.told(), names), held),
        ]
        assembly.sections = [
            AssembledSection(name, text, literal=True, cacheable=True)
            for name, (text, _) in self.texts.items()
        ]
        assembly.tools = [*self.tools, *held.came]
        for name in held.before.keys() - held.now.keys() - assembly.denied.keys():
            if name != held.search:
                assembly.deny(name, f'the tool "{name}" of {self.owners[name]} went away')
        if (deferred := held.deferred()) is not None:
            assembly[DEFERRED] = deferred
        elif DEFERRED in assembly:
            del assembly[DEFERRED]
        if notices:
            text = "\n\n".join([CHANGES, *notices])
            context = AssembledContext(CHANGES_CONTEXT, text, literal=True)
            assembly.contexts = [context, *assembly.contexts]

    def _of_sections(
        self, now: Texts, needs: Mapping[str, tuple[str, ...]], held: Held
    ) -> Iterator[str]:
        for name, (text, owner) in now.items():
            before = self.texts.get(name)
            if before is None and text and not held.hides(needs.get(name, ())):
                yield f'The system prompt has a new section "{name}", of {owner}:\n{text}'
            elif before is not None and before[0] != text:
                said = f"now says:\n{text}" if text else "now says nothing."
                yield f'The section "{name}" of the system prompt, of {owner}, {said}'
        for name, (text, owner) in self.texts.items():
            if name not in now and text and not held.keeps(self.needs.get(name, ())):
                yield (
                    f'The section "{name}" of the system prompt, of {owner}, does not apply any '
                    f"more. It said:\n{text}"
                )

    def _of_tools(self, assembly: PromptAssembly, changed: _Changed, held: Held) -> Iterator[str]:
        soon = "will be there soon; not yet"
        if held.search is not None:
            soon = f'is new; not in your list yet, "{held.search}" finds and calls it'
        for name, tool in changed.came.items():
            about = f": {tool.description}" if tool.description else "."
            owner = _owner(assembly.source_of("tool", tool.name))
            yield f'The tool "{name}" of {owner} {soon}{about}'
        for name, tool in changed.altered.items():
            owner = _owner(assembly.source_of("tool", tool.name))
            yield f'The tool "{name}" of {owner} has changed: {_sent(tool)}'
        for name, tool in changed.gone.items():
            of = f" of {self.owners[tool.name]}" if tool.name in self.owners else ""
            yield f'The tool "{name}"{of} is gone: do not call it.'
        if held.lost:
            yield f'Of the tools that "{held.search}" finds, gone are: {", ".join(held.lost)}.'

    def to_dict(self) -> dict[str, Any]:
        """Give the pin as JSON; `from_dict` takes it back."""
        return {
            "sections": [[name, text, owner] for name, (text, owner) in self.texts.items()],
            "tools": [tool.to_dict() for tool in self.tools],
            "owners": dict(self.owners),
            "generation": self.generation,
            "deferred": None if self.deferred is None else DEFERRED_CODEC.encode(self.deferred),
            "needs": {name: list(needs) for name, needs in self.needs.items()},
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
            {name: tuple(needs) for name, needs in data.get("needs", {}).items()},
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
        section.name: (text, _owner(section.source))
        for section, text in zip(assembly.sections, rendered, strict=True)
    }


def _owner(source: Source | None) -> str:
    return "the host" if source is None else source.owner
