"""The compiled plan of a chain of layers: everything about an assembly that does not change.

A plan is made once per change and read by every assembly until the next one: names merged
and sorted, static texts in place, listeners in order. It is never changed, so assemblies
read it without a lock.
"""

from __future__ import annotations

from itertools import count, takewhile
from operator import attrgetter, is_, itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_prompt.layers.entries import variable_of
from dsh_prompt.layers.listeners import order_listeners
from dsh_prompt.layers.providers import Provider
from dsh_prompt.layers.tool_order import order_tools, utf16_key
from dsh_prompt.layers.tool_registry import ToolRegistry, known_tools, visible_tools, withheld_tools
from dsh_prompt.model.blocks import Blocks, Memory
from dsh_prompt.model.tools import CheckedTools

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from dsh_prompt.layers.entries import BlockEntry
    from dsh_prompt.layers.entry import Entry
    from dsh_prompt.layers.layers import Layer
    from dsh_prompt.layers.listeners import Listener
    from dsh_prompt.layers.plugin_block import PluginBlock
    from dsh_prompt.model.source import Source
    from dsh_prompt.model.tools import ToolProviderResult, ToolSchema


_budget = attrgetter("budget")
_call = attrgetter("function", "wants_context", "right_types")
#: A provider with what calling it takes: looking that up takes as long as a call.
Call: TypeAlias = "tuple[Callable[..., Any], bool, Container[type], Provider]"


class BlocksPlan:
    """Sections or contexts, merged and sorted.

    ``texts`` holds the static ones and None where a provider gives it; ``providers`` and
    ``whens`` are called in order, each for the index beside it.
    """

    __slots__ = (
        "_arrange",
        "blocks",
        "complete",
        "has_budgets",
        "memory",
        "provider_indexes",
        "providers",
        "requires_tools",
        "texts",
        "when_indexes",
        "whens",
    )

    def __init__(
        self,
        entries: Iterable[BlockEntry],
        constants: Mapping[str, str | None],
        *,
        cacheable_first: bool = False,
    ) -> None:
        merged = sorted(entries, key=lambda entry: (entry.order, utf16_key(entry.name)))
        blocks = {entry: entry.block(constants) for entry in merged}
        if cacheable_first:
            merged.sort(key=lambda entry: not blocks[entry].cacheable)
        texts = [entry.text for entry in merged]
        whens = [(index, when) for index, entry in enumerate(merged) if (when := entry.when)]
        self.blocks = tuple(blocks[entry] for entry in merged)
        self.memory = Memory(self.blocks)
        self.texts = tuple(text if isinstance(text, str) else None for text in texts)
        self.providers = [text for text in texts if isinstance(text, Provider)]
        self.provider_indexes = [index for index, text in enumerate(self.texts) if text is None]
        self._arrange = _arrangement(self.texts)
        self.whens = [when for _, when in whens]
        self.when_indexes = [index for index, _ in whens]
        self.complete = [
            index for index, entry in enumerate(merged) if getattr(entry.value, "complete", False)
        ]
        self.requires_tools = any(block.requires_tools for block in self.blocks)
        self.has_budgets = any(map(_budget, self.blocks))

    def filled(self, results: list[Any]) -> Blocks:
        """Give all blocks, those with providers with their *results*."""
        texts: Any = results or self.texts
        if self._arrange is not None:
            texts = self._arrange((*self.texts, *results))
        return Blocks(self.blocks, texts, self.memory)

    def providers_without(self, left_out: AbstractSet[int]) -> tuple[list[Provider], list[int]]:
        """Give the providers, each with its index, of all but the blocks *left_out*."""
        pairs = zip(self.providers, self.provider_indexes, strict=True)
        kept = [(provider, index) for provider, index in pairs if index not in left_out]
        return [provider for provider, _ in kept], [index for _, index in kept]


def _arrangement(texts: Sequence[str | None]) -> itemgetter[tuple[Any, ...]] | None:
    """Give what picks all in order from *texts* with the results of providers behind them.

    None where all are of one sort, and in order already.
    """
    results = count(len(texts))
    picks = [next(results) if text is None else index for index, text in enumerate(texts)]
    is_mixed = len({text is None for text in texts}) > 1
    return itemgetter(*picks) if is_mixed else None


#: Schemas in their final order, the source of each, and who keeps back what is known besides.
Ordered: TypeAlias = "tuple[tuple[ToolSchema, ...], tuple[Source, ...], dict[str, Source]]"
#: Schemas with their sources, the names that are known, and who keeps those back that have no
#: schema.
Known: TypeAlias = "tuple[list[tuple[ToolSchema, Source]], list[str], dict[str, Source]]"


class ToolsPlan:
    """Tools that are known now, and providers that are asked in every assembly.

    ``steps`` holds, in order, a provider or what needs none.
    """

    __slots__ = ("_last", "order", "providers", "steps")

    def __init__(
        self, entries: Iterable[Entry], chain: list[Layer], order: Sequence[str] | None
    ) -> None:
        self.order = order
        self.steps: list[Known | Provider] = []
        for entry in entries:
            registry = entry.value.function
            if isinstance(registry, ToolRegistry) and registry.serves(chain[0]):
                # Taken now, so that tools are of one generation with all the rest.
                tools = [(tool.value, tool.source) for tool in visible_tools(chain)]
                self.steps.append((tools, known_tools(chain), withheld_tools(chain)))
            else:
                self.steps.append(entry.value)
        self.providers = [step for step in self.steps if isinstance(step, Provider)]
        # What the providers gave last time, and the order it came to.
        self._last: tuple[list[ToolProviderResult], Ordered] | None = None

    def ordered(self, results: list[ToolProviderResult]) -> Ordered:
        """Put the tools in order; *results* are the providers' answers.

        The same schema objects as last time are not sorted again. Raises
        `ReservedToolNameError` and `ToolOrderError`.
        """
        last = self._last
        # Nearly always even the results are the same objects.
        if last is not None and (all(map(is_, last[0], results)) or _same(last[0], results)):
            return last[1]
        tools, known, withheld = self._collect(results)
        pairs = order_tools(tools, known, self.order)
        schemas = tuple(tool for tool, _ in pairs)
        if all(tool.name for tool in schemas):
            schemas = CheckedTools(schemas)
        ordered = schemas, tuple(source for _, source in pairs), withheld
        self._last = (results, ordered)
        return ordered

    def _collect(self, results: list[ToolProviderResult]) -> Known:
        tools: list[tuple[ToolSchema, Source]] = []
        known: list[str] = []
        withheld: dict[str, Source] = {}
        answers = iter(results)
        for step in self.steps:
            if isinstance(step, Provider):
                result = next(answers)
                tools += [(schema, step.source) for schema in result.schemas]
                known += result.names
                withheld |= dict.fromkeys(result.known_names or (), step.source)
            else:
                tools += step[0]
                known += step[1]
                withheld |= step[2]
        return tools, known, withheld


def _same(before: list[ToolProviderResult], now: list[ToolProviderResult]) -> bool:
    """Tell whether the providers gave the very same schemas: equal ones may differ as JSON."""
    return all(
        old.known_names == new.known_names
        and len(old.schemas) == len(new.schemas)
        and all(map(is_, old.schemas, new.schemas))
        for old, new in zip(before, now, strict=True)
    )


class Plan:
    """What a chain of layers contributes, ready to be evaluated; see the module."""

    __slots__ = (
        "__weakref__",
        "ahead",
        "constants",
        "contexts",
        "generation",
        "has_budgets",
        "itself",
        "listeners",
        "provider_count",
        "requires_tools",
        "sections",
        "step_ends",
        "suppressed",
        "tools",
        "variable_names",
        "variable_providers",
        "variable_sources",
        "whens",
    )

    def __init__(
        self,
        chain: list[Layer],
        *,
        generation: int,
        layout: str,
        tool_order: Sequence[str] | None,
        block: PluginBlock,
    ) -> None:
        merged: dict[str, dict[str, Any]] = {"section": {}, "context": {}, "variable": {}}
        listed: dict[str, list[list[Entry]]] = {"listener": [], "tools": [], "suppressor": []}
        for layer in chain:
            for entries in listed.values():
                entries.append([])
            for entry in list(layer.entries.values()):
                if entry.kind in merged:
                    merged[entry.kind][entry.name] = entry
                elif entry.kind in listed:
                    listed[entry.kind][-1].append(entry)
        # Set by the layers, when it is outdated.
        self.itself: Plan | None = None
        self.generation = generation
        self.suppressed = any(listed["suppressor"])
        self._plan_variables(merged["variable"])
        self.sections = BlocksPlan(
            merged["section"].values(), self.constants, cacheable_first=layout == "cache-first"
        )
        contexts = () if self.suppressed else merged["context"].values()
        self.contexts = BlocksPlan(contexts, self.constants)
        self.requires_tools = self.sections.requires_tools or self.contexts.requires_tools
        self.has_budgets = self.sections.has_budgets or self.contexts.has_budgets
        # One step decides for both who takes part.
        self.whens = [*self.sections.whens, *self.contexts.whens]
        providers = [
            entry for entries in listed["tools"] for entry in sorted(entries, key=block.place)
        ]
        self.tools = ToolsPlan(providers, chain, tool_order)
        self._plan_ahead()
        listeners = [entry for entries in listed["listener"] for entry in entries]
        self.listeners: tuple[Listener, ...] = order_listeners(listeners, block)

    def variables(self, values: Iterable[str | None]) -> dict[str, str | None]:
        """Give all variables, those with providers with their *values*, which come first."""
        provided = dict(zip(self.variable_names, values))  # noqa: B905 - a keyword takes time
        return {**self.constants, **provided} if self.constants else provided

    def _plan_ahead(self) -> None:
        """Line up the providers of all steps, to be called in one go, which is faster.

        None are where what is called depends on what others gave; and nothing runs beside the
        steps before its own.
        """
        steps = (self.tools.providers, self.sections.providers, self.contexts.providers)
        providers = list(self.variable_providers)
        self.step_ends: list[int] = []
        for step in steps:
            self.step_ends.append(len(providers))
            providers += step
        self.provider_count = len(providers)
        if self.whens or len(self.sections.complete) > 1:
            providers = []
        ready = takewhile(lambda provider: not provider.may_wait, providers)
        self.ahead: tuple[Call, ...] = tuple((*_call(one), one) for one in ready)

    def _plan_variables(self, entries: dict[str, Entry]) -> None:
        self.constants: dict[str, str | None] = {}
        self.variable_providers: list[Provider] = []
        self.variable_sources: dict[str, Source] = {}
        for name, entry in entries.items():
            self.variable_sources[name] = entry.source
            value = variable_of(entry)
            if isinstance(value, Provider):
                self.variable_providers.append(value)
            else:
                self.constants[name] = value
        self.variable_names = [str(provider.name) for provider in self.variable_providers]
