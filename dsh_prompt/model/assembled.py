"""Sections and contexts as listeners see and change them, and what must be true of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

import attrs

from dsh_prompt.model.budget import Budget
from dsh_prompt.model.contributions import WHEN_NON_EMPTY, Strategy, as_tool_names
from dsh_prompt.model.source import Source

if TYPE_CHECKING:
    from dsh_prompt.model.blocks import Block


@attrs.define
class AssembledSection:
    """A section of an assembly. Listeners may change every field.

    *text* is not interpolated yet; the other fields mean what they mean for a
    `PromptSection`. *source* tells where it came from.
    """

    name: str
    text: str
    order: float | None = attrs.field(default=None, kw_only=True)
    title: str | None = attrs.field(default=None, kw_only=True)
    literal: bool = attrs.field(default=False, kw_only=True)
    cacheable: bool = attrs.field(default=False, kw_only=True)
    requires_tools: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=as_tool_names)
    budget: Budget | None = attrs.field(default=None, kw_only=True)
    source: Source | None = attrs.field(default=None, kw_only=True)
    strategy: Strategy = attrs.field(default=WHEN_NON_EMPTY, kw_only=True)
    _block: Block | None = attrs.field(default=None, init=False, repr=False, eq=False)


@attrs.define
class AssembledContext:
    """A runtime context of an assembly. Listeners may change every field."""

    name: str
    text: str
    order: float | None = attrs.field(default=None, kw_only=True)
    title: str | None = attrs.field(default=None, kw_only=True)
    literal: bool = attrs.field(default=False, kw_only=True)
    requires_tools: tuple[str, ...] = attrs.field(default=(), kw_only=True, converter=as_tool_names)
    budget: Budget | None = attrs.field(default=None, kw_only=True)
    source: Source | None = attrs.field(default=None, kw_only=True)
    _block: Block | None = attrs.field(default=None, init=False, repr=False, eq=False)


def assembled_section(block: Block, text: str) -> AssembledSection:
    """Make the object for a section that was evaluated."""
    section = AssembledSection(
        block.name,
        text,
        order=block.order,
        title=block.title,
        literal=block.literal,
        cacheable=block.cacheable,
        requires_tools=block.requires_tools,
        budget=block.budget,
        source=block.source,
        strategy=block.strategy,
    )
    section._block = block
    return section


def assembled_context(block: Block, text: str) -> AssembledContext:
    """Make the object for a context that was evaluated."""
    context = AssembledContext(
        block.name,
        text,
        order=block.order,
        title=block.title,
        literal=block.literal,
        requires_tools=block.requires_tools,
        budget=block.budget,
        source=block.source,
    )
    context._block = block
    return context


# Field, its types, and how the guard calls them; a boolean is no number here.
_CONTEXT_FIELDS: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("text", (str,), "a string"),
    ("order", (int, float, type(None)), "a number or None"),
    ("title", (str, type(None)), "a string or None"),
    ("literal", (bool,), "a boolean"),
    ("source", (Source, type(None)), "a Source or None"),
    ("requires_tools", (tuple,), "a tuple of tool names"),
    ("budget", (Budget, type(None)), "a Budget or None"),
)
_SECTION_FIELDS = (
    *_CONTEXT_FIELDS,
    ("cacheable", (bool,), "a boolean"),
    ("strategy", (str,), "a string"),
)


def complaint(kind: Literal["section", "context"], item: Any) -> str | None:
    """Tell what is wrong with *item* as a section or context of an assembly, if anything is."""
    cls = AssembledSection if kind == "section" else AssembledContext
    if not isinstance(item, cls):
        return f"assembled {kind} of type {type(item).__name__} must be an {cls.__name__}"
    if not isinstance(item.name, str) or not item.name:
        return f"assembled {kind} names must be non-empty"
    for field, types, noun in _SECTION_FIELDS if kind == "section" else _CONTEXT_FIELDS:
        value = getattr(item, field)
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            return f'assembled {kind} "{item.name}" {field} must be {noun}'
    if isinstance(item.order, float) and not math.isfinite(item.order):
        return f'assembled {kind} "{item.name}" order must be finite'
    if isinstance(item, AssembledSection) and item.strategy not in get_args(Strategy):
        return f'assembled section "{item.name}" strategy must be one of {get_args(Strategy)}'
    return None
