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

    __slots__ = (
        "_changes",
        "_last",
        "_tool_index",
        "_tool_lists",
        "_tools",
        "_variable_sources",
        "_variables",
        "contributed",
        "faults",
        "registered",
        "withheld",
    )

    def __init__(
        self,
        tools: Sequence[ToolSchema] = (),
        tool_sources: Sequence[Source] = (),
        variables: Mapping[str, str | None] = {},
        variable_sources: Mapping[str, Source] = {},
        registered: Mapping[str, Source] = {},
        withheld: Mapping[str, Source] = {},
    ) -> None:
        #: The tools before the waterfall; for each name that is known, but not among them, who
        #: keeps it back.
        self.contributed = tools
        self.withheld = withheld
        # The lists that listeners left, each with the listener.
        self._tool_lists: tuple[tuple[list[ToolSchema], Source], ...] = ()
        self._tools = tools, tool_sources
        self._tool_index: dict[int, tuple[ToolSchema, list[Source]]] | None = None
        #: The registered variables, whose names were checked then.
        self.registered = registered
        # The variables as they were then, and after each change whoever made it.
        self._variables: Mapping[str, str | None] = dict(variables)
        self._last = self._variables
        self._variable_sources = variable_sources
        self._changes: list[tuple[Mapping[str, str | None], Source]] = []
        #: By kind, who spoilt a section or context (by its identity), or doubled a name (by
        #: the name); the guard will ask.
        self.faults: dict[str, dict[object, tuple[object, Source]]] = {}

    @property
    def _index(self) -> dict[int, tuple[ToolSchema, list[Source]]]:
        """The sources of each schema object: one that several plugins give has several."""
        if self._tool_index is None:
            self._tool_index = {}
            for tool, source in zip(*self._tools, strict=True):
                self._tool_index.setdefault(id(tool), (tool, []))[1].append(source)
            self._tools = (), ()
        return self._tool_index

    def tool_sources(self, tools: Iterable[ToolSchema]) -> Iterator[Source | None]:
        """Give the source of each of *tools*, in order."""
        seen: dict[int, int] = {}
        for tool in tools:
            occurrence = seen[id(tool)] = seen.get(id(tool), -1) + 1
            _, sources = self._index.get(id(tool), (tool, []))
            yield sources[min(occurrence, len(sources) - 1)] if sources else None

    def attribute_tools(self, tools: list[ToolSchema], source: Source) -> None:
        """Record *source* for the *tools* that nobody owns yet, and that it left this list."""
        index = self._index
        for tool in tools:
            index.setdefault(id(tool), (tool, [source]))
        if not self._tool_lists or self._tool_lists[-1][0] != tools:
            self._tool_lists = (*self._tool_lists, (list(tools), source))

    def remover(self, name: str) -> Source | None:
        """Give the listener that took the contributed tool *name* out of the list last."""
        culprit, was_there = None, True
        for tools, source in self._tool_lists:
            is_there = any(getattr(tool, "name", None) == name for tool in tools)
            if was_there and not is_there:
                culprit = source
            was_there = is_there
        return culprit

    def follow(self, previous: Provenance) -> None:
        """Go on with what *previous* knows of the tools that were there before."""
        self.contributed, self.withheld = previous.contributed, previous.withheld
        self._tool_lists = previous._tool_lists

    def attribute_variables(self, variables: Mapping[str, str | None], source: Source) -> None:
        """Record *source* for the *variables* that changed since the last call."""
        if variables != self._last:
            self._last = dict(variables)
            self._changes.append((self._last, source))

    @property
    def variable_sources(self) -> Mapping[str, Source]:
        """The source of each variable; most assemblies are never asked."""
        sources = dict(self._variable_sources)
        before = self._variables
        for after, source in self._changes:
            for name, value in after.items():
                if name not in before or before[name] != value:
                    sources[name] = source
            before = after
        self._variables, self._variable_sources, self._changes = before, sources, []
        return sources

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
        tools, sources = [tool for tool, _ in pairs], [source for _, source in pairs]
        variable_sources = self.variable_sources
        copied = Provenance(tools, sources, self._variables, variable_sources, self.registered)
        copied.faults = dict(self.faults)
        copied.follow(self)
        return copied
