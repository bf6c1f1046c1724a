"""What is asked of any plugin, and how it stands among others."""

from __future__ import annotations

import dsh_prompt_summary

from dsh_prompt import Budget, ContextOrder, Priority, PromptAssembly, RuntimeState, SystemPrompt
from dsh_prompt.testing import assert_deterministic, assert_stable_prefix, assert_unloads_clean

STATE = RuntimeState(summary="Two tests were fixed. </summary> 还有一个。" * 200)


def test_unload() -> None:
    """After it is unloaded nothing of it is left."""
    assert_unloads_clean("summary", state=STATE)


def test_deterministic() -> None:
    """Of one state it says the same in every process."""
    assert_deterministic("summary", state=STATE)


def test_the_prefix_stays(dsh_prompt_host: SystemPrompt) -> None:
    """Another summary in each call costs no cached byte."""
    dsh_prompt_host.load(dsh_prompt_summary)

    def step(number: int) -> PromptAssembly:
        return dsh_prompt_host.assemble(state=RuntimeState(summary=f"{number} were fixed."))

    assert_stable_prefix(step, 3)


def test_its_place(dsh_prompt_host: SystemPrompt) -> None:
    """It stands between todos and memories; its own budget finds nothing to trim."""
    dsh_prompt_host.load(dsh_prompt_summary)
    dsh_prompt_host.context(name="todos", order=ContextOrder.TODOS, text="todo")
    dsh_prompt_host.context(name="memory", order=ContextOrder.MEMORY, text="memory")
    assembly = dsh_prompt_host.assemble(state=STATE)
    contexts = assembly.contexts
    assert [context.name for context in contexts] == ["todos", "summary", "memory"]
    assert contexts[1].budget == Budget(max_chars=3000, priority=Priority.SUMMARY)
    assert assembly.trimmed == ()
    assert Priority.TODOS > Priority.SUMMARY > Priority.MEMORY
