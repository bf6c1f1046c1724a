"""What plugins contribute: sections and contexts, and the orders of the first party."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from enum import IntEnum
from math import isfinite
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import attrs

from dsh_prompt.errors import InvalidContributionError
from dsh_prompt.model.budget import Budget

if TYPE_CHECKING:
    from dsh_prompt.model.context import AssembleContext

#: Name of the section that holds the deployment's persona; a scope replaces it by name.
PERSONA_SECTION = "deployment:persona"
#: Name of the section with which the harness introduces itself.
IDENTITY_SECTION = "harness:identity"

T = TypeVar("T")
#: A provider of T: plain or async, with the assemble context or without.
ProviderOf: TypeAlias = (
    Callable[[], T | Awaitable[T]] | Callable[["AssembleContext"], T | Awaitable[T]]
)
Text: TypeAlias = str | ProviderOf[str]
When: TypeAlias = ProviderOf[object]
Strategy: TypeAlias = Literal["when_non_empty", "always"]
WHEN_NON_EMPTY: Strategy = "when_non_empty"


class SectionOrder(IntEnum):
    """Orders of first-party sections.

    Negative ones stand before the persona, 10 to 90 are rules and environment, 100 to 199
    tool guidance. Neighbours stand at least 10 apart, so that others fit between them. Any
    finite number is a valid order for everybody else.
    """

    IDENTITY = -1000
    PERSONA = 0
    RULES = 10
    ENVIRONMENT = 30
    PLAN_MODE = 50
    TOOL_GUIDANCE = 100


class ContextOrder(IntEnum):
    """Orders of first-party runtime contexts; any finite number is valid for everybody else."""

    ENVIRONMENT = 10
    REPOSITORY = 20
    PERMISSIONS = 100
    TODOS = 110
    SUMMARY = 120
    MEMORY = 130
    SKILLS = 140
    SUBAGENTS = 150


def check_ordinary(kind: str, name: object, order: object, text: object) -> None:
    """Check what every section and context says; raises `InvalidContributionError`."""
    if not (
        isfinite(order)
        if isinstance(order, float)
        else isinstance(order, int) and not isinstance(order, bool)
    ):
        raise InvalidContributionError(
            f'prompt {kind} "{name}" order must be a finite number, not {order!r}'
        )
    if not isinstance(name, str):
        raise InvalidContributionError(f"prompt {kind} name must be a str, not {name!r}")
    if not isinstance(text, str) and not callable(text):
        raise InvalidContributionError(
            f'prompt {kind} "{name}" text must be a str or a callable that returns one, '
            f"not {type(text).__name__}"
        )


def _check(kind: str, block: PromptSection | PromptContext) -> None:
    check_ordinary(kind, block.name, block.order, block.text)
    if block.when is not None and not callable(block.when):
        raise InvalidContributionError(
            f'prompt {kind} "{block.name}" when must be a callable, not {block.when!r}'
        )
    if block.title is not None and not isinstance(block.title, str):
        raise InvalidContributionError(
            f'prompt {kind} "{block.name}" title must be a str, not {block.title!r}'
        )
    if block.budget is not None and not isinstance(block.budget, Budget):
        raise InvalidContributionError(
            f'prompt {kind} "{block.name}" budget must be a Budget, not {block.budget!r}'
        )


def as_tool_names(names: Iterable[str]) -> tuple[str, ...]:
    """Give *names* as a tuple; a lone ``str`` is a mistake, not five tools."""
    if not names:
        return ()
    if isinstance(names, str):
        raise InvalidContributionError(
            f"requires_tools must be a list of tool names, not the str {names!r}"
        )
    listed = tuple(names) if hasattr(names, "__iter__") else None
    if listed is None or not all(isinstance(name, str) for name in listed):
        raise InvalidContributionError(
            f"requires_tools must be a list of tool names, not {names!r}"
        )
    return listed


@attrs.frozen(eq=False)
class PromptSection:
    """A named, ordered block of the system prompt.

    *order* is a finite number, lower stands first; *text* a ``str``, or a callable that
    returns one (plain or ``async``, with or without the `AssembleContext`), called once per
    assembly. ``complete=True`` makes it the whole system prompt. ``literal=True`` keeps
    braces as they are. *cacheable* tells whether it belongs to the stable prefix (None: a
    ``str`` that references constant variables only). *title* renders a ``## title`` heading,
    which ``strategy="always"`` keeps over an empty text. *when* leaves the section out if
    false, *requires_tools* if one of those tools is not in the final tool list; *budget*
    bounds what its text may take. ``blocking=True`` runs the provider in a worker thread
    under ``assemble_async``.

    Raises `InvalidContributionError` for anything that could never be assembled.
    """

    name: str
    order: float
    text: Text
    complete: bool = attrs.field(default=False, kw_only=True)
    literal: bool = attrs.field(default=False, kw_only=True)
    cacheable: bool | None = attrs.field(default=None, kw_only=True)
    title: str | None = attrs.field(default=None, kw_only=True)
    strategy: Strategy = attrs.field(default=WHEN_NON_EMPTY, kw_only=True)
    when: When | None = attrs.field(default=None, kw_only=True)
    requires_tools: tuple[str, ...] = attrs.field(default=(), converter=as_tool_names, kw_only=True)
    budget: Budget | None = attrs.field(default=None, kw_only=True)
    blocking: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _check("section", self)
        if self.strategy not in ("when_non_empty", "always"):
            raise InvalidContributionError(
                f'prompt section "{self.name}" strategy must be "when_non_empty" or "always", '
                f"not {self.strategy!r}"
            )
        if self.complete and (self.requires_tools or self.budget is not None):
            what = "requires_tools" if self.requires_tools else "a budget"
            raise InvalidContributionError(
                f'prompt section "{self.name}" is complete, so it may not have {what}'
            )


@attrs.frozen(eq=False)
class PromptContext:
    """A named, ordered block of changing state, sent in the user-role snapshot.

    The fields mean what they mean for a `PromptSection`.
    """

    name: str
    order: float
    text: Text
    literal: bool = attrs.field(default=False, kw_only=True)
    title: str | None = attrs.field(default=None, kw_only=True)
    when: When | None = attrs.field(default=None, kw_only=True)
    requires_tools: tuple[str, ...] = attrs.field(default=(), converter=as_tool_names, kw_only=True)
    budget: Budget | None = attrs.field(default=None, kw_only=True)
    blocking: bool = attrs.field(default=False, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _check("context", self)
