"""What the layers hold together does not depend on how it got there."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt import SystemPrompt, ToolSchema
from tests.laws import strategies
from tests.laws.world import NAMED_KINDS, Item, World


def utf16(name: str) -> bytes:
    """Give the UTF-16 code units of *name* as bytes that sort like them."""
    return name.encode("utf-16-be", "surrogatepass")


@given(
    items=st.lists(strategies.items(NAMED_KINDS), unique_by=lambda item: item.key, max_size=12),
    data=st.data(),
)
def test_registration_order_does_not_matter(items: list[Item], data: st.DataObject) -> None:
    """The same contributions in any order make the same assemblies and fingerprints."""
    one, other = World(), World()
    one.add_all(items)
    other.add_all(data.draw(st.permutations(items)))
    assert one.view() == other.view()
    for mine, theirs in zip(one.scopes, other.scopes, strict=True):
        fingerprint = other.prompt.assemble(scope=theirs).fingerprint()
        assert one.prompt.assemble(scope=mine).fingerprint() == fingerprint


@given(items=st.lists(strategies.items(("section", "context")), max_size=12))
def test_blocks_are_sorted_by_order_and_then_by_name(items: list[Item]) -> None:
    """Sections and contexts stand in (order, UTF-16 name) order, each name once."""
    world = World()
    world.add_all(items)
    assembly = world.prompt.assemble(scope=world.child)
    for blocks in (assembly.sections, assembly.contexts):
        keys = [(block.order or 0, utf16(block.name)) for block in blocks]
        assert all(before < after for before, after in pairwise(keys))


@given(names=st.lists(strategies.utf16_names, unique_by=utf16, max_size=8))
def test_equal_orders_sort_by_utf16_name(names: list[str]) -> None:
    """Names sort by UTF-16 code units, lone surrogates and astral characters included."""
    prompt = SystemPrompt()
    for name in names:
        prompt.section(name=name, order=7, text="text")
    assembled = [section.name for section in prompt.assemble().sections if section.order == 7]
    assert assembled == sorted(names, key=utf16)


@given(names=st.lists(strategies.tool_names, unique=True, max_size=8))
def test_tools_sort_by_utf16_name(names: list[str]) -> None:
    """Without a tool order, tools sort by the UTF-16 code units of their names."""
    prompt = SystemPrompt()
    prompt.tools(lambda: [ToolSchema(name, "", {}) for name in names])
    assembled = [tool.name for tool in prompt.assemble().tools]
    assert assembled == sorted(names, key=utf16)
