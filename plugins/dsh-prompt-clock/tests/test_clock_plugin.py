"""What is asked of any plugin: it goes without a trace, and says the same everywhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import dsh_prompt_clock
from dsh_prompt_clock import NOW

from dsh_prompt import AssembleContext, PromptAssembly, SystemPrompt
from dsh_prompt.testing import assert_deterministic, assert_stable_prefix, assert_unloads_clean

if TYPE_CHECKING:
    from dsh_prompt.typing import ContributesContexts

_contexts: ContributesContexts = dsh_prompt_clock


def test_unload() -> None:
    """After it is unloaded nothing of it is left."""
    assert_unloads_clean(dsh_prompt_clock, config={"zone": "local"})


def test_deterministic() -> None:
    """At one moment it says the same in every process, whatever zone that is set to."""
    assert_deterministic(dsh_prompt_clock, config={"zone": "Asia/Tokyo", "resolution": "minute"})


def test_the_prefix_stays(dsh_prompt_host: SystemPrompt) -> None:
    """Minutes and years show in the runtime context, and cost no cached byte."""
    dsh_prompt_host.load(dsh_prompt_clock, config={"resolution": "minute"})
    texts = []

    def step(days: float) -> PromptAssembly:
        context = AssembleContext()
        context[NOW] = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=days)
        assembly = dsh_prompt_host.assemble(context)
        texts.append(assembly.contexts[0].text)
        return assembly

    assert_stable_prefix(step, [0, 0.001, 1, 366])
    assert len(set(texts)) == len(texts)
