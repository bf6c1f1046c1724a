"""What is asked of any plugin: it goes without a trace, and says the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dsh_prompt_subagents
from dsh_prompt_subagents import SUBAGENTS

from dsh_prompt import hookimpl
from dsh_prompt.testing import assert_deterministic, assert_unloads_clean

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext
    from dsh_prompt.typing import Activates

_activates: Activates = dsh_prompt_subagents


class Family:
    """The plugin, with children that are there as soon as it is."""

    Config = dsh_prompt_subagents.Config

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        dsh_prompt_subagents.activate(ctx)
        subagents = ctx.require(SUBAGENTS)
        for name in ("writer", "reader", "tester"):
            child = subagents.spawn(name=name, persona=name, description=f"A {name}")
            child.report("done", f"{name} \u00e9 \u202e")
            subagents.spawn(child.scope, restrict={"deny": ["delegate"]})


def test_unload() -> None:
    """After it is unloaded nothing of it is left, no child either."""
    assert_unloads_clean(Family)


def test_deterministic() -> None:
    """Of the same children it says the same in every process."""
    assert_deterministic(Family)
