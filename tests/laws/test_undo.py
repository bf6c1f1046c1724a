"""Every registration has an undo that is exact, whoever calls for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt import PromptError
from tests.laws import strategies
from tests.laws.world import KINDS, SCOPED_KINDS, Item, RefusedError, Told, World

PLACES = [(kind, layer) for kind in KINDS for layer in range(kind in SCOPED_KINDS, 3)]
TOOL = Item("tool", 0, "present")


@given(
    base=st.lists(strategies.items(), max_size=8),
    extra=st.lists(strategies.items(), min_size=1, max_size=8),
    data=st.data(),
)
def test_dispose_undoes_exactly(base: list[Item], extra: list[Item], data: st.DataObject) -> None:
    """Whatever is registered and disposed, in any order, leaves what was there before."""
    world = World()
    world.add_all(base)
    before = world.view()
    undos = world.add_all(extra)
    for undo in data.draw(st.permutations(undos)):
        undo()
    assert world.view() == before


@given(base=st.lists(strategies.items(), max_size=8), again=st.integers(0, 7))
def test_a_second_disposal_does_nothing(base: list[Item], again: int) -> None:
    """A registration that is gone stays gone, and its undo spares a namesake."""
    world = World()
    registered = [world.layers[0].section(name="twice", order=1, text="first")]
    world.add_all(base)
    registered[0].dispose()
    world.prompt.section(name="twice", order=again, text="second")
    before = world.view()
    registered[0].dispose()
    registered[0]()
    assert world.view() == before


@pytest.mark.parametrize(("kind", "layer"), PLACES)
def test_a_failing_change_listener_rolls_back(kind: str, layer: int) -> None:
    """What a change listener refuses is gone, and those told of it are told of that too."""
    world = World()
    world.add(TOOL)
    early, refusing, late = Told(), Told(), Told()
    for listener in (early, refusing, late):
        world.prompt.on_change(listener)
    before, refusing.failing = world.view(), True
    with pytest.raises(RefusedError):
        world.add(Item(kind, layer, TOOL.name if kind == "restrict" else "new"))
    assert world.view() == before
    assert [event.kind for event in early.events][1:] == ["withdrawn"]
    assert early.events[1].removed == early.events[0].added
    assert late.events == []


@given(base=st.lists(strategies.items(), max_size=8), refused=strategies.items())
def test_a_rolled_back_change_leaves_any_state_as_it_was(base: list[Item], refused: Item) -> None:
    """A refused registration leaves any state untouched and can be made again later."""
    world, refusing = World(), Told()
    world.add_all([*base, TOOL._replace(name=refused.name)])
    world.prompt.on_change(refusing)
    before, refusing.failing = world.view(), True
    with pytest.raises((RefusedError, PromptError)):
        world.add(refused)
    assert world.view() == before
    refusing.failing = False
    for undo in world.add_all([refused]):
        undo()
    assert world.view() == before


@pytest.mark.parametrize(("kind", "layer"), PLACES)
def test_each_change_is_one_event(kind: str, layer: int) -> None:
    """Registering and undoing are one event each, which list the same things."""
    world, told = World(), Told()
    world.add(TOOL)
    world.prompt.on_change(told)
    world.add(Item(kind, layer, TOOL.name if kind == "restrict" else "new"))()
    came, went = told.events
    assert (came.added, came.removed) == (went.removed, went.added)
    assert came.removed == ()
    assert came.generation < went.generation
