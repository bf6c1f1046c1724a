"""Sections and contexts between evaluation and rendering, as long as nobody edits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dsh_prompt.model.budget import Budget
    from dsh_prompt.model.contributions import Strategy
    from dsh_prompt.model.source import Source
    from dsh_prompt.render.prompt import Rendering
    from dsh_prompt.render.template import Reference, Template


class Block:
    """All of a section or context but its text: shared by the assemblies of one plan."""

    __slots__ = (
        "budget",
        "cacheable",
        "kind",
        "likely",
        "literal",
        "name",
        "order",
        "rendered",
        "requires_tools",
        "seen",
        "source",
        "strategy",
        "template",
        "title",
    )

    def __init__(
        self,
        kind: Literal["section", "context"],
        name: str,
        order: float,
        *,
        title: str | None,
        literal: bool,
        cacheable: bool,
        strategy: Strategy,
        requires_tools: tuple[str, ...],
        budget: Budget | None,
        source: Source,
    ) -> None:
        self.kind = kind
        self.name = name
        self.order = order
        self.title = title
        self.literal = literal
        self.cacheable = cacheable
        self.strategy: Strategy = strategy
        self.requires_tools = requires_tools
        self.budget = budget
        self.source = source
        # The last text, its reference if it had just one, the last text that came back, as parsed,
        # and what that was rendered to with which values. Gone with the plan, so that nothing of
        # an unloaded plugin stays.
        self.seen: str | None = None
        self.likely: Reference | None = None
        self.template: Template | None = None
        self.rendered: tuple[Template, list[str | None], str] | None = None

    # Shared by design: a copied assembly refers to the same one.
    def __deepcopy__(self, memo: object) -> Block:
        return self


NOTHING_JOINED: tuple[Sequence[str], str] = ((), "")


class Memory:
    """What the assemblies of one plan remember of its blocks; replaced whole, never changed.

    It goes with the plan, so that nothing of an unloaded plugin stays.
    """

    __slots__ = ("has_nameless", "joined", "rendering")

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        self.has_nameless = not all(block.name for block in blocks)
        self.rendering: Rendering | None = None
        # The texts that were joined last, and what they came to.
        self.joined = NOTHING_JOINED

    # Shared by design, as blocks are.
    def __deepcopy__(self, memo: object) -> Memory:
        return self


class Blocks:
    """Sections or contexts of which nobody has asked for the objects yet."""

    __slots__ = ("blocks", "memory", "texts")

    def __init__(self, blocks: Sequence[Block], texts: Sequence[str], memory: Memory) -> None:
        self.blocks = blocks
        self.texts = texts
        self.memory = memory
