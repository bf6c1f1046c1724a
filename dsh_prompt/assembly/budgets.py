"""Budgets applied to a finished assembly: what is too long is cut, left out, or an error."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

import attrs

from dsh_prompt.errors import BudgetError, InterpolationError
from dsh_prompt.model.assembled import (
    AssembledContext,
    AssembledSection,
    assembled_context,
    assembled_section,
    complaint,
)
from dsh_prompt.model.blocks import Blocks
from dsh_prompt.model.budget import Trimmed
from dsh_prompt.model.source import describe
from dsh_prompt.render.prompt import block_text, item_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt.assembly.trimming import Excess
    from dsh_prompt.model.blocks import Block
    from dsh_prompt.model.prompt_assembly import PromptAssembly

_TAKES = {"max_chars": "{} characters", "max_tokens": "about {} tokens", "max_items": "{} items"}


def apply_budgets(assembly: PromptAssembly) -> None:
    """Bring what *assembly* says within its budgets, and record what that took.

    What is no section or context, or cannot be rendered, is left as it is. Raises `BudgetError`
    for the first one, in order, that takes too much where that is to be an error.
    """
    trimmed: list[Trimmed] = []
    assembly._sections = _within("section", assembly._sections, assembly._variables, trimmed)
    assembly._contexts = _within("context", assembly._contexts, assembly._variables, trimmed)
    if trimmed:
        # A listener may have given an assembly that was finished before.
        by_name = {(one.kind, one.name): one for one in (*assembly._trimmed, *trimmed)}
        assembly._trimmed = tuple(by_name.values())


def _within(
    kind: Literal["section", "context"],
    held: Any,
    variables: Mapping[str, str | None],
    trimmed: list[Trimmed],
) -> Any:
    """Give *held* with every text within its budget; what was done to it is added to *trimmed*."""
    if isinstance(held, Blocks):
        if not any(map(_exceeds, held.blocks, held.texts, repeat(variables))):
            return held
        make: Any = assembled_section if kind == "section" else assembled_context
        held = list(map(make, held.blocks, held.texts))
    elif not any(isinstance(item, _LIMITED) and item.budget is not None for item in held):
        return held
    pairs = [_trim(kind, item, variables) for item in held]
    trimmed += [record for _, record in pairs if record is not None]
    return [item for item, _ in pairs if item is not None]


_LIMITED = (AssembledSection, AssembledContext)


def _exceeds(block: Block, text: str, variables: Mapping[str, str | None]) -> bool:
    if block.budget is None:
        return False
    from dsh_prompt.assembly.trimming import excess  # noqa: PLC0415 - only where there are budgets

    try:
        return excess(block_text(block, text, variables), block.budget) is not None
    except InterpolationError:  # raised again when it is rendered
        return False


def _trim(
    kind: Literal["section", "context"], item: Any, variables: Mapping[str, str | None]
) -> tuple[Any, Trimmed | None]:
    """Give *item* within its budget (None: dropped), and what that took, if anything."""
    if complaint(kind, item) is not None or item.budget is None:
        return item, None
    from dsh_prompt.assembly.trimming import excess, shortened  # noqa: PLC0415 - only where there are budgets

    try:
        text = item_text(kind, item, variables)
    except InterpolationError:  # raised again when it is rendered
        return item, None
    over = excess(text, item.budget)
    if over is None:
        return item, None
    if item.budget.overflow == "error":
        raise _error(kind, item, over)
    left = shortened(text, item.budget) if item.budget.overflow == "truncate" else ""
    if not left:
        return None, Trimmed(kind, item.name, "dropped", len(text), 0)
    # The listener that added it may add the same object again next time.
    shorter = attrs.evolve(item, text=left, literal=True)
    return shorter, Trimmed(kind, item.name, "truncated", len(text), len(left))


def _error(kind: str, item: AssembledSection | AssembledContext, over: Excess) -> BudgetError:
    source = item.source
    limit, allowed, taken = over
    return BudgetError(
        f'{describe(source)}: {kind} "{item.name}" takes {_TAKES[limit].format(taken)} and its '
        f"budget allows {allowed} ({limit}); make its text shorter, raise the limit, or let it "
        'be cut with overflow="truncate"',
        kind=kind,
        name=item.name,
        plugin=None if source is None else source.plugin,
        scope=None if source is None else source.scope,
        limit=limit,
        allowed=allowed,
        taken=taken,
    )
