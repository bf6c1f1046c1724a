"""Many threads at once, and any order of events."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

import dsh_prompt_subagents
import pytest
from dsh_prompt_subagents import SUBAGENTS, Child
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dsh_prompt import DisposedError, InvalidContributionError, SystemPrompt

if TYPE_CHECKING:
    from dsh_prompt_subagents import SubAgents

    from dsh_prompt import Scope

_THREADS = 8


def test_one_name_for_one_child(subagents: SubAgents, main: Scope) -> None:
    """Of threads that want the same name one gets it."""
    barrier = Barrier(_THREADS)

    def spawn(_: int) -> Child | None:
        barrier.wait()
        try:
            return subagents.spawn(main, name="one", persona="P", restrict={"allow": ["read"]})
        except InvalidContributionError:
            return None

    with ThreadPoolExecutor(_THREADS) as threads:
        found = [child for child in threads.map(spawn, range(_THREADS)) if child]
    assert subagents.children(main) == tuple(found)
    assert len(found) == 1


def test_spawn_report_and_close(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """Threads that spawn, report, assemble and close do not get into each other's way."""

    def work(number: int) -> set[str]:
        names = set()
        for _ in range(10):
            with subagents.spawn(main, restrict={"allow": ["read"]}) as child:
                names.add(child.name)
                child.report("done", str(number))
                (roster,) = prompt.assemble(scope=main).contexts
                assert f"- {child.name} (done)\n  reported: {number}" in roster.text
                tools = prompt.assemble(scope=child.scope).tools
                assert [tool.name for tool in tools] == ["read"]
        return names

    with ThreadPoolExecutor(_THREADS) as threads:
        found = set[str]().union(*threads.map(work, range(_THREADS)))
    assert found <= {f"child-{number}" for number in range(1, _THREADS + 1)}
    assert subagents.children(main) == ()


def test_unload_while_others_spawn(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """A spawn while the plugin is unloaded gives a closed child, or none."""
    barrier = Barrier(_THREADS)

    def spawn(number: int) -> list[Child]:
        found = []
        barrier.wait()
        if not number:
            prompt.unload("subagents")
            return []
        for _ in range(50):
            try:
                found.append(subagents.spawn(main, persona="P", restrict={"allow": ["read"]}))
            except DisposedError:
                break
        return found

    with ThreadPoolExecutor(_THREADS) as threads:
        found = [child for one in threads.map(spawn, range(_THREADS)) for child in one]
    assert not any(child.is_open for child in found)
    assert subagents.children(main) == ()
    assert [tool.name for tool in prompt.assemble(scope=main).tools] == ["read", "write"]
    for child in found:
        with pytest.raises(DisposedError):
            _ = child.scope


class Families(RuleBasedStateMachine):
    """Spawns and closes as they come: the roster is what was spawned and not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = SystemPrompt()
        self.prompt.load(dsh_prompt_subagents)
        self.subagents = self.prompt.require(SUBAGENTS)
        # Each open child with its parent, None for the global agent.
        self.model: dict[Child, Child | None] = {}

    @initialize()
    def begin(self) -> None:
        self.model.clear()

    @rule(data=st.data(), persona=st.none() | st.just("P"))
    def spawn(self, data: st.DataObject, persona: str | None) -> None:
        parent = data.draw(st.sampled_from([None, *self.model]))
        scope = None if parent is None else parent.scope
        self.model[self.subagents.spawn(scope, persona=persona)] = parent

    @precondition(lambda self: self.model)
    @rule(data=st.data(), by_scope=st.booleans())
    def close(self, data: st.DataObject, by_scope: bool) -> None:
        child = data.draw(st.sampled_from(list(self.model)))
        if by_scope:
            child.scope.dispose()
        else:
            child.close()
        gone = {child}
        for other, parent in self.model.items():  # parents come before their children
            if parent in gone:
                gone.add(other)
        for other in gone:
            assert not other.is_open
            del self.model[other]

    @invariant()
    def each_sees_its_own(self) -> None:
        for parent in (None, *self.model):
            own = [child for child, above in self.model.items() if above is parent]
            scope = None if parent is None else parent.scope
            assert list(self.subagents.children(scope)) == own
            texts = [one.text for one in self.prompt.assemble(scope=scope).contexts]
            assert texts == ["\n".join(f"- {one.name} (running)" for one in own)]
            assert len({one.name for one in own}) == len(own)

    def teardown(self) -> None:
        scopes = [child.scope for child in self.model]
        self.prompt.dispose()
        assert all(scope.is_gone for scope in scopes)


TestFamilies = Families.TestCase
TestFamilies.settings = settings(max_examples=10, stateful_step_count=10, deadline=None)
