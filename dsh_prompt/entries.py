"""Contributions made into entries of a layer: checked, and wrapped for the plans to come."""

from __future__ import annotations

from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

from dsh_prompt.errors import InvalidContributionError
from dsh_prompt.layers import Entry
from dsh_prompt.model.blocks import Block
from dsh_prompt.model.contributions import PromptContext, PromptSection
from dsh_prompt.model.tools import ToolProviderResult, ToolSchema, as_schema
from dsh_prompt.providers import (
    Provider,
    WrongTypeError,
    check_text,
    check_variable,
    function_name,
)
from dsh_prompt.render.template import NAME, is_variable_name, parse
from dsh_prompt.tool_registry import ToolRegistry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dsh_prompt.layers import Layer
    from dsh_prompt.lifecycle import Lifetime
    from dsh_prompt.model.source import Source
    from dsh_prompt.render.template import Template

T = TypeVar("T")


class BlockEntry(Entry):
    """The entry of a section or context, with what all plans share of it."""

    __slots__ = ("_template", "text", "when")

    value: PromptSection | PromptContext

    def __init__(
        self,
        value: PromptSection | PromptContext,
        layer: Layer,
        source: Source,
        in_block: str | None = None,
    ) -> None:
        kind = "section" if isinstance(value, PromptSection) else "context"
        super().__init__(kind, value.name, value, layer, source, in_block)
        # A static text is parsed once, for all plans.
        self._template: Template | None = None
        self.text = value.text if isinstance(value.text, str) else self._text_provider(value.text)
        self.when = None if value.when is None else self._when_provider(value.when)

    def empty(self) -> None:
        """Let go of what was contributed, providers included."""
        super().empty()
        self.text = ""
        self.when = self._template = None

    def _text_provider(self, function: Callable[..., Any]) -> Provider:
        blocking = self.value.blocking
        return Provider(
            function, self.kind, self.name, check_text, source=self.source, blocking=blocking
        )

    def _when_provider(self, function: Callable[..., Any]) -> Provider:
        return Provider(function, f"when of {self.kind}", self.name, bool, source=self.source)

    def block(self, constants: Mapping[str, str | None]) -> Block:
        """Make the block for a plan in which *constants* are the constant variables."""
        value = self.value
        if self._template is None and isinstance(self.text, str):
            self._template = parse(self.text, literal=value.literal)
        block = Block(
            "section" if self.kind == "section" else "context",
            value.name,
            value.order,
            title=value.title,
            literal=value.literal,
            cacheable=self._cacheable(constants),
            strategy=getattr(value, "strategy", "when_non_empty"),
            requires_tools=value.requires_tools,
            source=self.source,
        )
        block.template = self._template
        return block

    def _cacheable(self, constants: Mapping[str, str | None]) -> bool:
        """Tell it: an explicit value wins; else static texts of constant variables are."""
        value, template = self.value, self._template
        if not isinstance(value, PromptSection):
            return False
        if value.cacheable is not None:
            return value.cacheable
        if template is None or template.malformed is not None:
            return False
        return all(constants.get(name) is not None for name in template.names)


def entry_of(owner: Lifetime, kind: str, name: str, value: object) -> Entry:
    """Make an entry of *owner* from what is checked already."""
    return Entry(kind, name, value, owner._layer, owner._source, owner._in_block)


def block_entry(
    owner: Lifetime, cls: type[Any], given: object, fields: Mapping[str, Any]
) -> BlockEntry:
    """Make the entry of a section or context (*cls*): the one *given*, or its *fields*."""
    if given is None:
        given = cls(**fields)
    elif fields:
        raise TypeError(f"give a {cls.__name__} or its fields, not both")
    if not isinstance(given, PromptSection | PromptContext) or not isinstance(given, cls):
        raise InvalidContributionError(f"expected a {cls.__name__}, not {type(given).__name__}")
    return BlockEntry(given, owner._layer, owner._source, owner._in_block)


def variable_entry(owner: Lifetime, name: str, value: object, *, blocking: bool) -> Entry:
    """Make the entry of a variable: a constant, or a provider."""
    if not is_variable_name(name):
        raise InvalidContributionError(
            f'invalid prompt variable name "{name}" (must match /^{NAME}$/)'
        )
    if callable(value):
        value = Provider(
            value, "variable", name, check_variable, source=owner._source, blocking=blocking
        )
    elif value is not None and not isinstance(value, str):
        raise InvalidContributionError(
            f'prompt variable "{name}" must be a str, or a callable that returns one, '
            f"not {type(value).__name__}"
        )
    return entry_of(owner, "variable", name, value)


def tools_entries(owner: Lifetime, tools: Any, *, blocking: bool) -> list[Entry]:
    """Make the entries of a tool provider, or of schemas for the registry."""
    if isinstance(tools, ToolProviderResult):
        tools = partial(_constant, tools)
    if callable(tools):
        name = "registry" if isinstance(tools, ToolRegistry) else function_name(tools)
        provider = Provider(
            tools, "tool provider", name, ToolsCheck(), source=owner._source, blocking=blocking
        )
        return [entry_of(owner, "tools", name, provider)]
    if isinstance(tools, str | ToolSchema | dict) or not hasattr(tools, "__iter__"):
        raise InvalidContributionError(
            f"tools() takes a provider or an iterable of schemas, not {type(tools).__name__}; "
            "tool() takes a single one"
        )
    return [entry_of(owner, "tool", tool.name, tool) for tool in map(as_schema, tools)]


class ToolsCheck:
    """Accepts what a tool provider may return; the same schemas are not looked at twice."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last: ToolProviderResult | None = None

    def __call__(self, value: Any) -> ToolProviderResult:
        """Give the *value* of a provider as a result; raises `WrongTypeError`."""
        last = self._last
        if last is not None and type(value) in (list, tuple):
            schemas = last.schemas
            if len(value) == len(schemas) and all(map(is_, value, schemas)):
                return last
        result = _check_tools(value)
        if result is not value:
            self._last = result
        return result


def _check_tools(value: Any) -> ToolProviderResult:
    if isinstance(value, ToolProviderResult):
        return value
    if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
        raise WrongTypeError(f"returned {type(value).__name__} instead of tool schemas")
    schemas = list(value)  # a generator may raise, which is its own failure
    try:
        return ToolProviderResult(schemas)
    except InvalidContributionError as error:
        raise WrongTypeError(f"returned something that is no tool: {error}") from error


def _constant(value: T) -> T:
    return value
