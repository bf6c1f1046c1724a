"""The product of one run: what the model is about to be told, still open to change."""

from __future__ import annotations

from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dsh_prompt.model.assembled import (
    AssembledContext,
    AssembledSection,
    assembled_context,
    assembled_section,
)
from dsh_prompt.model.blocks import Blocks
from dsh_prompt.model.deferred import DEFERRED
from dsh_prompt.model.keys import Key, Keyed
from dsh_prompt.model.provenance import Provenance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from dsh_prompt.model.budget import Trimmed
    from dsh_prompt.model.source import Source
    from dsh_prompt.model.tools import ToolSchema
    from dsh_prompt.render.fingerprint import Fingerprint

Kind: TypeAlias = Literal["section", "context", "tool", "variable"]


class PromptAssembly(Keyed):
    """One assembled model input: sections, contexts, tools and variables.

    *sections*, *contexts* and *tools* are lists and *variables* is a dict; all four may be
    edited or assigned, by waterfall listeners and by whoever gets the result. Texts are not
    interpolated yet: `render_prompt` and `render_context_snapshot` do that. ``generation``
    is the number of the host state that it was made from (None: made by hand).
    """

    __slots__ = (
        "_contexts",
        "_denied",
        "_encoded",
        "_left_out",
        "_provenance",
        "_sections",
        "_tools",
        "_touched",
        "_trimmed",
        "_variables",
        "generation",
    )

    def __init__(
        self,
        sections: Iterable[AssembledSection] = (),
        contexts: Iterable[AssembledContext] = (),
        tools: Iterable[ToolSchema] = (),
        variables: Mapping[str, str | None] | None = None,
    ) -> None:
        self._values = None
        self._sections: list[AssembledSection] | Blocks = list(sections)
        self._contexts: list[AssembledContext] | Blocks = list(contexts)
        self._tools: list[ToolSchema] | tuple[ToolSchema, ...] = list(tools)
        self._variables: dict[str, str | None] = dict(variables or {})
        self._denied: dict[str, str] | None = None
        self._provenance: Provenance | None = None
        # Whether somebody holds, or may have edited, one of the four since the last look.
        self._touched = True
        # What `from_dict` found and cannot decode without the key, and what was left out.
        self._encoded: Mapping[str, Any] = {}
        self._left_out: tuple[str, ...] = ()
        self._trimmed: tuple[Trimmed, ...] = ()
        self.generation: int | None = None

    @classmethod
    def _assembled(
        cls,
        sections: Blocks,
        contexts: Blocks,
        tools: tuple[ToolSchema, ...],
        variables: dict[str, str | None],
        provenance: Provenance,
        generation: int,
    ) -> PromptAssembly:
        """Make an assembly of evaluated parts, which become objects only when looked at."""
        assembly = cls.__new__(cls)  # faster than filling in what is replaced at once
        assembly._values = None
        assembly._denied = None
        assembly._encoded = {}
        assembly._left_out = ()
        assembly._trimmed = ()
        assembly._sections = sections
        assembly._contexts = contexts
        assembly._tools = tools
        assembly._variables = variables
        assembly._provenance = provenance
        assembly._touched = False
        assembly.generation = generation
        return assembly

    @property
    def sections(self) -> list[AssembledSection]:
        """The sections of the system prompt, in order."""
        self._touched = True
        sections = self._sections
        if isinstance(sections, Blocks):
            sections = list(map(assembled_section, sections.blocks, sections.texts))
            self._sections = sections
        return sections

    @sections.setter
    def sections(self, sections: Iterable[AssembledSection]) -> None:
        self._touched = True
        self._sections = list(sections)

    @property
    def contexts(self) -> list[AssembledContext]:
        """The runtime contexts, in order."""
        self._touched = True
        contexts = self._contexts
        if isinstance(contexts, Blocks):
            contexts = list(map(assembled_context, contexts.blocks, contexts.texts))
            self._contexts = contexts
        return contexts

    @contexts.setter
    def contexts(self, contexts: Iterable[AssembledContext]) -> None:
        self._touched = True
        self._contexts = list(contexts)

    @property
    def tools(self) -> list[ToolSchema]:
        """The tool schemas, in order."""
        self._touched = True
        tools = self._tools
        if isinstance(tools, tuple):
            tools = self._tools = list(tools)
        return tools

    @tools.setter
    def tools(self, tools: Iterable[ToolSchema]) -> None:
        self._touched = True
        self._tools = list(tools)

    @property
    def variables(self) -> dict[str, str | None]:
        """The values that ``{{name}}`` stands for; None: registered, without a value."""
        self._touched = True
        return self._variables

    @variables.setter
    def variables(self, variables: Mapping[str, str | None]) -> None:
        self._touched = True
        self._variables = dict(variables)

    @property
    def trimmed(self) -> tuple[Trimmed, ...]:
        """What took more than its budget, and was cut or left out, in order."""
        return self._trimmed

    @property
    def denied(self) -> Mapping[str, str]:
        """The masked tools: name to reason."""
        return MappingProxyType(self._denied or {})

    def deny(self, name: str, reason: str) -> None:
        """Mask the tool *name*: it stays in the list, and calls to it are refused.

        The list, and with it the prompt cache, stays byte for byte; adapters tell providers
        that can express it. A name that is in no list may be denied too, and a second reason
        takes the place of the first.
        """
        if not isinstance(name, str) or not isinstance(reason, str) or not reason:
            raise TypeError(f"deny() takes a tool name and a reason, not {name!r}, {reason!r}")
        if self._denied is None:
            self._denied = {}
        self._denied[name] = reason

    def authorize(self, name: str) -> str | None:
        """Give the reason to refuse a call of the tool *name*, or None where it may run.

        Where tools can be held back, the one that finds them may run, also if it is not listed.
        """
        if self._denied is not None and name in self._denied:
            return self._denied[name]
        if any(tool.name == name for tool in self._tools):
            return None
        deferred = self.get(DEFERRED)
        if deferred is not None and name == deferred.search:
            return None
        return f'tool "{name}" is not available in this assembly'

    def source_of(self, kind: Kind, name: str) -> Source | None:
        """Tell where the *kind* (section, context, tool, variable) *name* came from.

        None means that nobody said so (an assembly made by hand). Raises `KeyError` for
        a name that is not in the assembly.
        """
        provenance = self._provenance or Provenance()
        if kind == "section" or kind == "context":  # noqa: PLR1714 - narrows the type
            return _first((i.source for i in self._facts(kind) if i.name == name), kind, name)
        if kind == "tool":
            sources = provenance.tool_sources(self._tools)
            named = (s for tool, s in zip(self._tools, sources, strict=True) if tool.name == name)
            return _first(named, kind, name)
        if kind == "variable":
            sources = (provenance.variable_sources.get(n) for n in self._variables if n == name)
            return _first(sources, kind, name)
        raise ValueError(f"kind must be section, context, tool or variable, not {kind!r}")

    def fingerprint(self) -> Fingerprint:
        """Give digests of the rendered bytes, equal on every machine and Python version.

        Raises what rendering raises.
        """
        from dsh_prompt.render.fingerprint import fingerprint  # noqa: PLC0415 - hashes on demand

        return fingerprint(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the assembly as JSON with a stable key order; `from_dict` takes it back.

        Values of typed keys are encoded by their codec; keys without one are listed under
        ``left_out``.
        """
        from dsh_prompt.model.documents import assembly_to_dict  # noqa: PLC0415 - on demand

        return assembly_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], keys: Iterable[Key[Any]] = ()) -> PromptAssembly:
        """Build an assembly from what `to_dict` gave.

        Values of typed keys are decoded for the given *keys*, by name; others are kept as
        they are for the next `to_dict`. Raises `ConfigError` for another shape.
        """
        from dsh_prompt.model.documents import assembly_from_dict  # noqa: PLC0415 - on demand

        return assembly_from_dict(data, keys)

    def _facts(self, kind: Literal["section", "context"]) -> Iterable[Any]:
        """Give what knows name and source of each section or context."""
        held = self._sections if kind == "section" else self._contexts
        return held.blocks if isinstance(held, Blocks) else held

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PromptAssembly):
            return NotImplemented
        return self is other or _content(self) == _content(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        def names(kind: Literal["section", "context"]) -> str:
            return ", ".join(str(item.name) for item in self._facts(kind))

        return (
            f"<PromptAssembly sections=[{names('section')}] contexts=[{names('context')}] "
            f"tools=[{', '.join(str(tool.name) for tool in self._tools)}] "
            f"generation={self.generation}>"
        )


_content = attrgetter("sections", "contexts", "tools", "variables", "denied")


def _first(sources: Iterable[Source | None], kind: str, name: str) -> Source | None:
    for source in sources:
        return source
    raise KeyError(f'no {kind} "{name}" in this assembly')


def attribute(assembly: PromptAssembly, source: Source) -> bool:
    """Credit *source*, a waterfall listener, with what it added since the last call.

    Gives whether it looked at the assembly at all.
    """
    if not assembly._touched:
        return False
    assembly._touched = False
    provenance = assembly._provenance
    if provenance is None:
        provenance = assembly._provenance = Provenance()
    if type(assembly._sections) is list:
        provenance.attribute_blocks("section", assembly._sections, source)
    if type(assembly._contexts) is list:
        provenance.attribute_blocks("context", assembly._contexts, source)
    if type(assembly._tools) is list:
        provenance.attribute_tools(assembly._tools, source)
    provenance.attribute_variables(assembly._variables, source)
    return True


def replace_assembly(
    previous: PromptAssembly, assembly: PromptAssembly, source: Source, *, held: bool = False
) -> PromptAssembly:
    """Let *assembly*, which *source* gave, take the place of *previous*.

    Denials made so far carry over; what both hold keeps its source. *held* tells that the
    listener may have edited lists that it got hold of before.
    """
    if assembly is not previous:
        if previous._denied:
            assembly._denied = {**previous._denied, **(assembly._denied or {})}
        if previous._provenance is not None:
            if assembly._provenance is None:
                assembly._provenance = previous._provenance.copy()
            else:
                assembly._provenance.follow(previous._provenance)
        assembly.generation = previous.generation
    if held or assembly is not previous:
        assembly._touched = True
    attribute(assembly, source)
    return assembly
