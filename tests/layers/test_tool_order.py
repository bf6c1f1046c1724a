"""The order of tools: by name, or as configured."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    TOOL_ORDER_REST,
    Config,
    ConfigError,
    ReservedToolNameError,
    SystemPrompt,
    ToolOrderError,
    ToolProviderResult,
    ToolSchema,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dsh_prompt import PromptAssembly


def ordered(names: Sequence[str], order: Sequence[str] | None = None) -> list[str]:
    """Provide tools of these *names* in this order, and give the order that comes out."""
    prompt = SystemPrompt(Config(tool_order=None if order is None else tuple(order)))
    prompt.tools(lambda: [{"name": name} for name in names])
    return shown(prompt.assemble())


def shown(assembly: PromptAssembly) -> list[str]:
    """Give the names of the tools."""
    return [tool.name for tool in assembly.tools]


def test_the_marker_is_a_public_name() -> None:
    """It is what configurations contain."""
    assert TOOL_ORDER_REST == "<unlisted-tools>"


# By name


def test_tools_are_sorted_by_name() -> None:
    """Whatever order they were provided in."""
    assert ordered(["write", "bash", "read"]) == ["bash", "read", "write"]
    assert ordered([]) == []


def test_names_compare_by_utf16_code_units() -> None:
    """No locale, no case folding; beyond the basic plane before its last characters."""
    names = ["\uff5e", "\U0001f600", "é", "e\u0301", "z", "_", "Z", "a10", "a2", "\ud800"]
    expected = sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))
    assert ordered(names) == expected
    assert ordered(["\uff5e", "\U0001f600"]) == ["\U0001f600", "\uff5e"]


def test_equal_names_keep_the_order_they_came_in() -> None:
    """Sorting is stable, by name and as configured."""
    schemas = [ToolSchema("x", str(number), {}) for number in range(5)]
    for order in (None, ["x", TOOL_ORDER_REST], [TOOL_ORDER_REST, "x"], [TOOL_ORDER_REST]):
        config = Config(tool_order=None if order is None else tuple(order))
        prompt = SystemPrompt(config)
        prompt.tools(lambda: [ToolSchema("a", "", {}), *schemas])
        tools = [tool for tool in prompt.assemble().tools if tool.name == "x"]
        assert [tool.description for tool in tools] == list("01234")


def test_providers_of_entry_points_form_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Equal names come by the plugins' names, where the first was loaded, whenever the others."""
    for name in "yz":
        module = f"installed_{name}_for_tool_order"
        tools = f"[{{'name': 'x', 'description': {name!r}}}]"
        text = f"def contribute_tools():\n    return lambda: {tools}\n"
        (tmp_path / f"{module}.py").write_text(f"import dsh_prompt\n\n@dsh_prompt.hookimpl\n{text}")
        info = tmp_path / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[dsh_prompt]\n{name} = {module}\n")
    monkeypatch.syspath_prepend(tmp_path)
    prompt = SystemPrompt()
    prompt.tools(lambda: [ToolSchema("x", "a", {})])
    prompt.load("z")
    prompt.tools(lambda: [ToolSchema("x", "b", {})])
    prompt.load("y")
    assert [tool.description for tool in prompt.assemble().tools] == ["a", "y", "z", "b"]
    for name in "yz":
        prompt.unload(name, purge=True)


# As configured


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ([TOOL_ORDER_REST], "abcd"),
        (["c", TOOL_ORDER_REST], "cabd"),
        ([TOOL_ORDER_REST, "a"], "bcda"),
        (["d", TOOL_ORDER_REST, "b"], "dacb"),
        (["d", "c", "b", "a", TOOL_ORDER_REST], "dcba"),
    ],
)
def test_listed_tools_stand_in_place_and_the_others_at_the_marker(
    order: list[str], expected: str
) -> None:
    """Those that are not listed are sorted by name."""
    assert "".join(ordered("bdac", order)) == expected


@pytest.mark.parametrize(
    ("order", "match"),
    [
        (["a", "a", TOOL_ORDER_REST], 'toolOrder lists "a" more than once'),
        ([TOOL_ORDER_REST, TOOL_ORDER_REST], 'toolOrder lists "<unlisted-tools>" more than once'),
        (["a", "a"], 'toolOrder lists "a" more than once'),
        (["a"], 'toolOrder must contain the "<unlisted-tools>" rest entry'),
        ([], 'toolOrder must contain the "<unlisted-tools>" rest entry'),
    ],
)
def test_a_malformed_order_is_refused_when_the_config_is_built(
    order: list[str], match: str
) -> None:
    """In code and from a document; an empty order is not the same as none."""
    with pytest.raises(ToolOrderError, match=match):
        Config(tool_order=tuple(order))
    with pytest.raises(ToolOrderError, match=match):
        Config.from_dict({"tool_order": order})


@pytest.mark.parametrize("order", ["read", [5, TOOL_ORDER_REST], 5])
def test_an_order_is_a_list_of_strings(order: Any) -> None:
    """Anything else is a configuration error that names the key."""
    with pytest.raises(ConfigError, match="tool_order"):
        Config(tool_order=order)


# Known and unknown names


@pytest.mark.parametrize(
    ("order", "match"),
    [
        (["x", TOOL_ORDER_REST], '^toolOrder lists unregistered tool "x"; known tools: a, b$'),
        (
            ["y", "a", TOOL_ORDER_REST, "x"],
            '^toolOrder lists unregistered tools "y", "x"; known tools: a, b$',
        ),
    ],
)
def test_a_listed_name_that_nobody_knows_fails_the_assembly(order: list[str], match: str) -> None:
    """The error names the unknown ones, as listed, and the known ones, sorted."""
    with pytest.raises(ToolOrderError, match=match):
        ordered(["b", "a"], order)


def test_without_any_tool_nothing_is_known() -> None:
    """And the error says so."""
    with pytest.raises(ToolOrderError, match=r"known tools: \(none\)$"):
        ordered([], ["x", TOOL_ORDER_REST])


def test_a_known_tool_may_be_hidden_this_time() -> None:
    """Its place is simply empty."""
    prompt = SystemPrompt(Config(tool_order=("hidden", TOOL_ORDER_REST)))
    prompt.tools(lambda: ToolProviderResult([{"name": "shown"}], ["hidden", "shown"]))
    assert shown(prompt.assemble()) == ["shown"]


def test_known_names_of_all_providers_count() -> None:
    """The registry's, those of callables, of every layer that takes part."""
    prompt = SystemPrompt(Config(tool_order=("c", "b", "a", TOOL_ORDER_REST)))
    scope = prompt.create_scope("agent")
    prompt.tool({"name": "a"})
    scope.tool({"name": "b"})
    scope.tools(lambda: [{"name": "c"}])
    assert shown(prompt.assemble(scope=scope)) == ["c", "b", "a"]
    with pytest.raises(ToolOrderError, match=r'unregistered tools "c", "b"; known tools: a$'):
        prompt.assemble()


def test_known_names_replace_the_names_that_are_shown() -> None:
    """A provider that does not admit to a tool cannot have it listed."""
    prompt = SystemPrompt(Config(tool_order=("a", TOOL_ORDER_REST)))
    prompt.tools(lambda: ToolProviderResult([{"name": "a"}], []))
    with pytest.raises(ToolOrderError, match=r'"a"; known tools: \(none\)'):
        prompt.assemble()


def test_a_restricted_tool_is_known() -> None:
    """The registry's known names are those before any restriction."""
    prompt = SystemPrompt(Config(tool_order=("read", TOOL_ORDER_REST)))
    scope = prompt.create_scope("agent")
    prompt.tools([{"name": "read"}, {"name": "write"}])
    scope.restrict(deny=["read"])
    assert shown(prompt.assemble(scope=scope)) == ["write"]
    assert shown(prompt.assemble()) == ["read", "write"]


def test_an_unknown_name_is_found_at_every_assembly() -> None:
    """Until somebody registers it; other assemblies are not spoilt by it."""
    prompt = SystemPrompt(Config(tool_order=("late", TOOL_ORDER_REST)))
    prompt.tools(lambda: [{"name": "a"}])
    for _ in range(2):
        with pytest.raises(ToolOrderError):
            prompt.assemble()
    late = prompt.tool({"name": "late"})
    assert shown(prompt.assemble()) == ["late", "a"]
    late.dispose()
    with pytest.raises(ToolOrderError):
        prompt.assemble()


# The reserved name


@pytest.mark.parametrize("order", [None, ("missing", TOOL_ORDER_REST)])
@pytest.mark.parametrize("style", ["provider", "tool"])
def test_a_tool_named_like_the_marker_is_refused(style: str, order: tuple[str, ...] | None) -> None:
    """With an order or without, and before unknown names; the error names the owner."""

    class Plugin:
        @hookimpl
        def contribute_tools(self) -> Any:
            tools = [{"name": TOOL_ORDER_REST}]
            return tools if style == "tool" else lambda: tools

    prompt = SystemPrompt(Config(tool_order=order))
    prompt.load(Plugin(), name="odd")
    match = 'returned reserved tool name "<unlisted-tools>" .*it belongs to plugin "odd"'
    with pytest.raises(ReservedToolNameError, match=match):
        prompt.assemble()


def test_a_provider_may_know_the_marker() -> None:
    """Known names are not looked at for it."""
    prompt = SystemPrompt()
    prompt.tools(lambda: ToolProviderResult([], [TOOL_ORDER_REST]))
    assert shown(prompt.assemble()) == []


# Remembered orders


def test_a_provider_that_changes_its_mind_is_ordered_anew() -> None:
    """Other schemas, fewer of them, or the same in another order."""
    schemas = [ToolSchema(name, "", {}) for name in "ba"]
    prompt = SystemPrompt()
    prompt.tools(lambda: schemas)
    assert shown(prompt.assemble()) == ["a", "b"]
    schemas.append(ToolSchema("0", "", {}))
    assert shown(prompt.assemble()) == ["0", "a", "b"]
    schemas[:] = [ToolSchema("a", "new", {})]
    assert [tool.description for tool in prompt.assemble().tools] == ["new"]


def test_equal_schemas_that_differ_as_json_are_not_mistaken() -> None:
    """``1`` and ``1.0`` and ``True`` are equal to Python, and three texts to a model."""
    values: list[Any] = [1, 1.0, True, 1]
    prompt = SystemPrompt()
    prompt.tools(lambda: [ToolSchema("x", "", {"minimum": values[0]})])
    seen = []
    while values:
        seen.append(type(prompt.assemble().tools[0].parameters["minimum"]))
        values.pop(0)
    assert seen == [int, float, bool, int]


def test_changed_known_names_are_noticed() -> None:
    """Also when the schemas are the very same."""
    known = [["late"], []]
    schemas = [ToolSchema("a", "", {})]
    prompt = SystemPrompt(Config(tool_order=("late", TOOL_ORDER_REST)))
    prompt.tools(lambda: ToolProviderResult(schemas, known.pop(0)))
    assert shown(prompt.assemble()) == ["a"]
    with pytest.raises(ToolOrderError):
        prompt.assemble()


def test_names_are_compared_whatever_the_platform() -> None:
    """Sorting by code points would give another order on every machine of ours."""
    names = [chr(sys.maxunicode), "\ufffd"]
    assert sorted(names) == names[::-1]
    assert ordered(names) == names
