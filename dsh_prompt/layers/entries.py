"""Contributions made into entries of a layer: checked, and wrapped for the plans to come."""

from __future__ import annotations

from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar

from dsh_prompt.errors import InvalidContributionError
from dsh_prompt.layers.entry import Entry
from dsh_prompt.layers.providers import (
    Provider,
    WrongTypeError,
    check_text,
    check_variable,
    function_name,
    shape_of,
)
from dsh_prompt.layers.tool_registry import ToolRegistry
from dsh_prompt.model.blocks import Block
from dsh_prompt.model.contributions import PromptContext, PromptSection, check_ordinary
from dsh_prompt.model.tools import ToolProviderResult, ToolSchema, as_schema
from dsh_prompt.render.template import NAME, is_variable_name, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dsh_prompt.lifecycle.lifecycle import Lifetime
    from dsh_prompt.model.contributions import Text
    from dsh_prompt.model.source import Source
    from dsh_prompt.render.template import Template

T = TypeVar("T")

# An ordinary section or context says its name, order and text: else it is like any other.
_ORDINARY_FIELDS = 3
SECTION = PromptSection("", 0, "")
CONTEXT = PromptContext("", 0, "")


class BlockEntry(Entry):
    """The entry of a section or context, with what all plans share of it.

    Its *value* tells what an ordinary one leaves out, and is the same for all of these.
    """

    __slots__ = ("_template", "_text", "order")

    value: PromptSection | PromptContext

    def __init__(
        self,
        owner: Lifetime,
        kind: str,
        name: str,
        order: float,
        text: Text,
        value: PromptSection | PromptContext,
    ) -> None:
        # What the base does, without a call for it.
        self.owner = owner
        self.kind = kind
        self.name = name
        self.value = value
        self.layer = owner._layer
        self.sequence = -1
        self.key = (kind, name)
        self.order = order
        # A static text is parsed, and the provider of another made, once for all plans.
        self._text: Text | Provider = text
        self._template: Template | None = None
        if not isinstance(text, str):
            shape_of(text, kind, name)

    def empty(self) -> None:
        """Let go of what was contributed, providers included."""
        super().empty()
        self._text = ""
        self._template = None

    @property
    def text(self) -> str | Provider:
        """The text, or its provider."""
        text = self._text
        if not isinstance(text, str | Provider):
            text = self._text = Provider(
                text,
                self.kind,
                self.name,
                check_text,
                source=self.source,
                blocking=self.value.blocking,
            )
        return text

    @property
    def when(self) -> Provider | None:
        """The provider that tells whether the block takes part, if there is one."""
        when = self.value.when
        if when is None:
            return None
        return Provider(when, f"when of {self.kind}", self.name, bool, source=self.source)

    def block(self, constants: Mapping[str, str | None]) -> Block:
        """Make the block for a plan in which *constants* are the constant variables."""
        value = self.value
        if self._template is None and isinstance(self._text, str):
            self._template = parse(self._text, literal=value.literal)
        block = Block(
            "section" if self.kind == "section" else "context",
            self.name,
            self.order,
            title=value.title,
            literal=value.literal,
            cacheable=self._cacheable(constants),
            strategy=getattr(value, "strategy", "when_non_empty"),
            requires_tools=value.requires_tools,
            budget=value.budget,
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


def block_entry(
    owner: Lifetime,
    ordinary: PromptSection | PromptContext,
    given: object,
    fields: Mapping[str, Any],
) -> BlockEntry:
    """Make the entry of a section or context (*ordinary* is one): that *given*, or its *fields*."""
    cls = type(ordinary)
    kind = "section" if ordinary is SECTION else "context"
    if given is None:
        try:
            name, order, text = fields["name"], fields["order"], fields["text"]
        except KeyError:
            pass  # the class says what is missing
        else:
            if len(fields) == _ORDINARY_FIELDS:
                check_ordinary(kind, name, order, text)
                return BlockEntry(owner, kind, name, order, text, ordinary)
        given = cls(**fields)
    elif fields:
        raise TypeError(f"give a {cls.__name__} or its fields, not both")
    if not isinstance(given, cls):
        raise InvalidContributionError(f"expected a {cls.__name__}, not {type(given).__name__}")
    if given.when is not None:
        shape_of(given.when, f"when of {kind}", given.name)
    return BlockEntry(owner, kind, given.name, given.order, given.text, given)


def variable_entry(owner: Lifetime, name: str, value: object, *, blocking: bool) -> Entry:
    """Make the entry of a variable: a constant, or a provider."""
    if not is_variable_name(name):
        raise InvalidContributionError(
            f'invalid prompt variable name "{name}" (must match /^{NAME}$/)'
        )
    if callable(value):
        shape_of(value, "variable", name)
        if blocking:
            value = _variable_provider(value, name, owner._source, blocking=True)
    elif value is not None and not isinstance(value, str):
        raise InvalidContributionError(
            f'prompt variable "{name}" must be a str, or a callable that returns one, '
            f"not {type(value).__name__}"
        )
    return Entry(owner, "variable", name, value)


def variable_of(entry: Entry) -> Provider | str | None:
    """Give the constant of a variable, or its provider, which is made once for all plans."""
    value = entry.value
    if callable(value):
        value = entry.value = _variable_provider(value, entry.name, entry.source)
    constant_or_provider: Provider | str | None = value
    return constant_or_provider


def _variable_provider(
    function: Callable[..., Any], name: str, source: Source, *, blocking: bool = False
) -> Provider:
    return Provider(function, "variable", name, check_variable, source=source, blocking=blocking)


def tools_entries(owner: Lifetime, tools: Any, *, blocking: bool) -> list[Entry]:
    """Make the entries of a tool provider, or of schemas for the registry."""
    if isinstance(tools, ToolProviderResult):
        tools = partial(_constant, tools)
    if callable(tools):
        name = "registry" if isinstance(tools, ToolRegistry) else function_name(tools)
        provider = Provider(
            tools, "tool provider", name, ToolsCheck(), source=owner._source, blocking=blocking
        )
        return [Entry(owner, "tools", name, provider)]
    if isinstance(tools, str | ToolSchema | dict) or not hasattr(tools, "__iter__"):
        raise InvalidContributionError(
            f"tools() takes a provider or an iterable of schemas, not {type(tools).__name__}; "
            "tool() takes a single one"
        )
    return [Entry(owner, "tool", tool.name, tool) for tool in map(as_schema, tools)]


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
