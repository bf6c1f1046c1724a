"""Who put what into an assembly, where the parts cannot say so themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dsh_prompt.model.assembled import AssembledContext, AssembledSection, complaint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from dsh_prompt.model.source import Source
    from dsh_prompt.model.tools import ToolSchema


class Provenance:
    """Where the tools and variables of an assembly came from, and who spoilt a section.

    Sections and contexts carry their source themselves; tools are shared values and
    variables plain strings, so theirs is kept here.
    """

    __slots__ = ("_tool_index", "_tools", "faults", "variable_sources", "variables")

    def __init__(
        self,
        tools: Iterable[tuple[ToolSchema, Source]] = (),
        variables: Mapping[str, str | None] | None = None,
        variable_sources: Mapping[str, Source] | None = None,
    ) -> None:
        self._tools = tools
        self._tool_index: dict[int, tuple[ToolSchema, list[Source]]] | None = None
        #: The variables as they were when they were last attributed.
        self.variables: Mapping[str, str | None] = variables or {}
        self.variable_sources: Mapping[str, Source] = variable_sources or {}
        #: By kind, who spoilt a section or context (by its identity), or doubled a name (by
        #: the name); the guard will ask.
        self.faults: dict[str, dict[object, tuple[object, Source]]] = {}

    @property
    def _index(self) -> dict[int, tuple[ToolSchema, list[Source]]]:
        """The sources of each schema object: one that several plugins give has several."""
        if self._tool_index is None:
            self._tool_index = {}
            for tool, source in self._tools:
                self._tool_index.setdefault(id(tool), (tool, []))[1].append(source)
            self._tools = ()
        return self._tool_index

    def tool_sources(self, tools: Iterable[ToolSchema]) -> Iterator[Source | None]:
        """Give the source of each of *tools*, in order."""
        seen: dict[int, int] = {}
        for tool in tools:
            occurrence = seen[id(tool)] = seen.get(id(tool), -1) + 1
            _, sources = self._index.get(id(tool), (tool, []))
            yield sources[min(occurrence, len(sources) - 1)] if sources else None

    def attribute_tools(self, tools: Iterable[ToolSchema], source: Source) -> None:
        """Record *source* for the *tools* that nobody owns yet."""
        index = self._index
        for tool in tools:
            index.setdefault(id(tool), (tool, [source]))

    def attribute_variables(self, variables: Mapping[str, str | None], source: Source) -> None:
        """Record *source* for the *variables* that changed since the last call."""
        before = self.variables
        if variables == before:
            return
        changed = {
            name: source
            for name, value in variables.items()
            if name not in before or before[name] != value
        }
        self.variable_sources = {**self.variable_sources, **changed}
        self.variables = dict(variables)

    def attribute_blocks(
        self, kind: Literal["section", "context"], items: Sequence[Any], source: Source
    ) -> None:
        """Make *source* the source of what has none, and the culprit of what is now spoilt."""
        known = self.faults.get(kind, {})
        names: set[str] = set()
        now: dict[object, tuple[object, Source]] = {}
        for item in items:
            if isinstance(item, AssembledSection | AssembledContext) and item.source is None:
                item.source = source
            if complaint(kind, item) is not None:
                now[id(item)] = known.get(id(item), (item, source))
            elif item.name in names:
                now[item.name] = known.get(item.name, (item, source))
            else:
                names.add(item.name)
        self.faults[kind] = now

    def culprit(self, kind: str, key: object) -> Source | None:
        """Give who spoilt a section or context, by its identity or its doubled name."""
        fault = self.faults.get(kind, {}).get(key)
        return None if fault is None else fault[1]

    def copy(self) -> Provenance:
        """Give a copy that goes its own way."""
        pairs = [(tool, source) for tool, sources in self._index.values() for source in sources]
        copied = Provenance(pairs, self.variables, self.variable_sources)
        copied.faults = dict(self.faults)
        return copied
