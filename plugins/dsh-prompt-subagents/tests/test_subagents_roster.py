"""What a parent's model is told about its children."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import dsh_prompt_subagents
import pytest
from dsh_prompt_subagents import SUBAGENTS

from dsh_prompt import InvalidContributionError, Priority, SystemPrompt, render_context_snapshot
from dsh_prompt.testing import assert_context, assert_stable_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt_subagents import SubAgents

    from dsh_prompt import PromptAssembly, Scope


def test_without_children(prompt: SystemPrompt, main: Scope) -> None:
    """An agent without children is told of none."""
    assert render_context_snapshot(prompt.assemble(scope=main)) == ""


def test_name_status_and_report(
    prompt: SystemPrompt, subagents: SubAgents, main: Scope, roster: Callable[..., list[str]]
) -> None:
    """Each child has its name, status, what it is for, and what was reported last."""
    first = subagents.spawn(main, name="tests", description="Runs the tests")
    second = subagents.spawn(main, name="\u00e9crivain")
    assert roster(main) == ["- tests (running): Runs the tests", "- \u00e9crivain (running)"]
    first.report("done", "3 failed,\n\n 120 passed")
    second.report("waiting", "for an answer")
    assert (first.status, first.result, first.has_ended) == ("done", "3 failed, 120 passed", True)
    assert roster(main) == [
        "- tests (done): Runs the tests",
        "  reported: 3 failed, 120 passed",
        "- \u00e9crivain (waiting)",
        "  reported: for an answer",
    ]
    second.report("failed")
    assert roster(main)[2:] == ["- \u00e9crivain (failed)"]
    assert_context(prompt.assemble(scope=main), "subagents", plugin="subagents")


def test_what_is_no_status(subagents: SubAgents, main: Scope) -> None:
    """A status that does not exist is refused, and the last one stays."""
    child = subagents.spawn(main)
    status: Any = "finished"
    with pytest.raises(InvalidContributionError, match=r'one of "running", "waiting".*finished'):
        child.report(status, "all")
    with pytest.raises(InvalidContributionError, match=r"result of .* must be a str, not NoneType"):
        child.report("done", None)  # type: ignore[arg-type]
    assert child.told == ("running", "")


def test_everybody_sees_their_own(
    subagents: SubAgents, main: Scope, roster: Callable[..., list[str]]
) -> None:
    """A child sees its children, and neither siblings nor itself; nor does the global agent."""
    one = subagents.spawn(main, name="one")
    two = subagents.spawn(main, name="two")
    subagents.spawn(one.scope, name="inner")
    assert roster(main) == ["- one (running)", "- two (running)"]
    assert roster(one.scope) == ["- inner (running)"]
    assert roster(two.scope) == []
    assert roster() == []


def test_more_than_are_shown(dsh_prompt_host: SystemPrompt) -> None:
    """Of too many, those at work come first, then the latest; all stand by age."""
    dsh_prompt_host.load(dsh_prompt_subagents, config={"max_shown": 3})
    subagents = dsh_prompt_host.require(SUBAGENTS)
    children = [subagents.spawn(name=f"c{number}") for number in range(6)]

    def shown() -> list[str]:
        return dsh_prompt_host.assemble().contexts[0].text.splitlines()

    assert shown() == ["- c3 (running)", "- c4 (running)", "- c5 (running)", "(3 more)"]
    for child in children[2:]:
        child.report("done")
    assert shown() == ["- c0 (running)", "- c1 (running)", "- c5 (done)", "(3 more)"]
    for child in children[3:]:
        child.close()
    assert shown() == ["- c0 (running)", "- c1 (running)", "- c2 (done)"]


def test_nothing_of_it_is_in_the_prefix(
    prompt: SystemPrompt, subagents: SubAgents, main: Scope
) -> None:
    """Children come, report and go without a change of their parent's prefix."""
    children = [subagents.spawn(main)]
    snapshots = []

    def step(do: Callable[[], object]) -> PromptAssembly:
        do()
        assembly = prompt.assemble(scope=main)
        snapshots.append(render_context_snapshot(assembly))
        return assembly

    steps: list[Callable[[], object]] = [
        lambda: children.append(subagents.spawn(main, persona="P", restrict={"deny": ["read"]})),
        lambda: children[0].report("done", "all"),
        children[0].close,
        lambda: children.pop().close(),
    ]
    assert_stable_prefix(step, steps)
    assert len(set(snapshots)) == len(steps)


def test_where_it_stands(prompt: SystemPrompt, subagents: SubAgents) -> None:
    """The roster is one of the contexts that go first where room is short."""
    subagents.spawn()
    assembly = prompt.assemble()
    assert assembly.contexts[0].order == 150
    assert assembly.contexts[0].title == "Your child agents"
    with prompt._layers.lock:
        (roster,) = [one.value for one in prompt._layers.root.holds("context")]
    assert (roster.budget.priority, roster.budget.overflow) == (Priority.REST, "truncate")
