"""What the hook makes of an assembly."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_plan_mode import PlanMode
from dsh_prompt_tool_search import ALWAYS, INDEX_SECTION, SEARCH_TOOL, ToolSearchPlugin
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt import PromptAssembly, RuntimeState, SystemPrompt, ToolSchema, hookimpl
from dsh_prompt.adapters import DEFERRED, Deferred
from dsh_prompt.testing import assert_deterministic, assert_stable_prefix, assert_unloads_clean

if TYPE_CHECKING:
    from collections.abc import Callable

HELD = {"fetch", "mcp__hub__merge", "mcp__hub__open", "mcp__hub__close"}
MERGE = RuntimeState(discovered_tools=["mcp__hub__merge"])


def index(assembly: PromptAssembly) -> str:
    (text,) = [one.text for one in assembly.sections if one.name == INDEX_SECTION]
    return text


def names(items: list[Any]) -> list[str]:
    return [item.name for item in items]


def test_unlisted_tools_are_held_back(host: Callable[..., SystemPrompt]) -> None:
    """They stay in the assembly, marked, behind the tool that finds them."""
    assembly = host().assemble()
    assert assembly[DEFERRED] == Deferred(HELD, SEARCH_TOOL)
    assert names(assembly.tools) == [SEARCH_TOOL, *sorted([*HELD, "read", "write"])]
    assert all(assembly.authorize(name) is None for name in [*HELD, SEARCH_TOOL, "read"])


@pytest.mark.parametrize("settings", [{"threshold": 6}, {"always": ["*"]}])
def test_nothing_happens_without_need(
    host: Callable[..., SystemPrompt], bare_host: SystemPrompt, settings: dict[str, Any]
) -> None:
    """Up to the threshold, or where all tools are listed, the model is told the same."""
    before = bare_host.assemble()
    after = host(**settings).assemble()
    assert after[DEFERRED] == Deferred((), SEARCH_TOOL)
    assert after.fingerprint() == before.fingerprint()
    assert after.tools == before.tools


def test_tools_of_this_projects_plugins_are_told() -> None:
    """Their guidance stays, with all of them loaded and many tools of others."""
    prompt = SystemPrompt()
    for name in ("todo", "skills", "memory", "subagents"):
        prompt.load_entry_points(only=[name])
    before = {section.name for section in prompt.assemble().sections}
    own = {tool.name for tool in prompt.assemble().tools}
    for number in range(40):
        prompt.tool({"name": f"mcp__hub__tool{number}"})
    prompt.load(ToolSearchPlugin, name="tool-search")
    assembly = prompt.assemble()
    assert own == set(ALWAYS)
    assert assembly[DEFERRED].names.isdisjoint(own)
    assert {section.name for section in assembly.sections} == {*before, INDEX_SECTION}


def test_a_discovered_tool_is_open(host: Callable[..., SystemPrompt]) -> None:
    """It is not marked any more, and neither list of tools nor index change by that."""
    prompt = host()
    before, after = prompt.assemble(), prompt.assemble(state=MERGE)
    assert after[DEFERRED] == Deferred(HELD - {"mcp__hub__merge"}, SEARCH_TOOL, {"mcp__hub__merge"})
    assert after.tools == before.tools
    assert index(after) == index(before)


@settings(max_examples=40, deadline=None)
@given(discovered=st.lists(st.sampled_from([*sorted(HELD), "read", "unknown", SEARCH_TOOL])))
def test_the_index_tells_nothing_of_discoveries(discovered: list[str]) -> None:
    """Whatever was discovered, the index and the tools are the same."""
    prompt = SystemPrompt()
    for name in HELD:
        prompt.tool({"name": name})
    prompt.load(ToolSearchPlugin, name="tool-search", config={"threshold": 1})
    before = prompt.assemble()
    after = prompt.assemble(state=RuntimeState(discovered_tools=discovered))
    assert index(after) == index(before)
    assert after.fingerprint() == before.fingerprint()
    assert after[DEFERRED].names == HELD - set(discovered)
    assert after[DEFERRED].opened == set(discovered) - {SEARCH_TOOL}


def test_guidance_follows_its_tools(host: Callable[..., SystemPrompt]) -> None:
    """Sections and contexts about held-back tools are out, and come with the tools."""
    prompt = host()
    held = prompt.assemble()
    assert "merging" not in names(held.sections)
    assert "open" not in names(held.contexts)
    assert "merging" in names(prompt.assemble(state=MERGE).sections)
    both = RuntimeState(discovered_tools=["mcp__hub__open"])
    assert "open" in names(prompt.assemble(state=both).contexts)


def test_the_index_stands_by_its_order(host: Callable[..., SystemPrompt]) -> None:
    """It is placed as a contributed section would be, and is part of the stable prefix."""
    assembly = host().assemble()
    assert names(assembly.sections)[-3:] == ["rules", INDEX_SECTION, "late"]
    assert assembly.sections[-2].cacheable


def test_a_section_of_its_name_stays(
    host: Callable[..., SystemPrompt], bare_host: SystemPrompt
) -> None:
    """Who contributes the index section says what it says."""
    bare_host.section(name=INDEX_SECTION, order=5, text="Ask for tools.")
    assert index(host().assemble()) == "Ask for tools."


def test_tools_that_others_add_are_seen(
    host: Callable[..., SystemPrompt], bare_host: SystemPrompt
) -> None:
    """A tool of the waterfall is held back too, whenever its plugin was loaded."""

    class Adder:
        @hookimpl(tryfirst=True)
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.tools.append(ToolSchema("late_tool", "", {}))

    prompt = host()
    bare_host.load(Adder(), name="adder")
    assembly = prompt.assemble()
    assert "late_tool" in assembly[DEFERRED].names
    assert "late_tool" in index(assembly)


def test_denials_stay(host: Callable[..., SystemPrompt], bare_host: SystemPrompt) -> None:
    """A tool that is denied is held back, and still denied when it was discovered."""
    bare_host.on_assemble(lambda assembly: assembly.deny("mcp__hub__merge", "not today"))
    prompt = host()
    assert prompt.assemble().authorize("mcp__hub__merge") == "not today"
    assert prompt.assemble(state=MERGE).authorize("mcp__hub__merge") == "not today"


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_plan_mode_is_inside(bare_host: SystemPrompt, first: bool, mode: str) -> None:
    """Of the tools that plan mode leaves, most are held back, and the search is there."""
    loads: list[tuple[Any, str, dict[str, Any]]] = [
        (ToolSearchPlugin, "tool-search", {"threshold": 1, "always": ["read"]}),
        (PlanMode, "plan-mode", {"mode": mode, "read_only": ["read", "mcp__hub__open"]}),
    ]
    for plugin, name, config in loads if first else reversed(loads):
        bare_host.load(plugin, name=name, config=config)
    assembly = bare_host.assemble(state=RuntimeState(permission_mode="plan"))
    assert assembly.authorize(SEARCH_TOOL) is None
    assert assembly.authorize("mcp__hub__open") is None
    assert assembly.authorize("write") is not None
    assert assembly[DEFERRED].names == (
        {"mcp__hub__open"} if mode == "narrow" else HELD | {"write"}
    )


def test_a_scope_has_its_own_settings(host: Callable[..., SystemPrompt]) -> None:
    """The plugin of a scope decides for that scope alone, and leaves no trace of deciding."""
    prompt = host()
    scope = prompt.create_scope("agent")
    config = {"threshold": 1, "always": ["mcp__*"]}
    prompt.load(ToolSearchPlugin, name="tool-search", config=config, scope=scope)
    inner, outer = prompt.assemble(scope=scope), prompt.assemble()
    assert inner[DEFERRED].names == {"fetch", "read", "write"}
    assert outer[DEFERRED].names == HELD
    for assembly in (inner, outer):
        assert names(assembly.tools).count(SEARCH_TOOL) == 1
        assert names(assembly.sections).count(INDEX_SECTION) == 1
        document = assembly.to_dict()
        assert (list(document["keys"]), document["left_out"]) == (["deferred-tools"], [])


def test_a_restricted_scope_has_what_it_may(host: Callable[..., SystemPrompt]) -> None:
    """Hidden tools are in no index and in no marks; with few left, all are told."""
    prompt = host()
    scope = prompt.create_scope("agent")
    scope.restrict(deny=["mcp__hub__merge"])
    assembly = prompt.assemble(scope=scope)
    assert assembly[DEFERRED].names == HELD - {"mcp__hub__merge"}
    assert "merge" not in index(assembly).splitlines()[-1]
    scope.restrict(allow=["read", "fetch"])
    assert prompt.assemble(scope=scope)[DEFERRED].names == frozenset()


def test_another_tool_of_the_name_switches_it_off(
    host: Callable[..., SystemPrompt], bare_host: SystemPrompt, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is held back, and a warning says why, once."""
    bare_host.tool({"name": SEARCH_TOOL, "description": "Another one."})
    prompt = host()
    with caplog.at_level(logging.WARNING):
        assembly = prompt.assemble()
        prompt.assemble()
    assert DEFERRED not in assembly
    assert [record.message for record in caplog.records] == [
        'no tool is held back: another one is named "tool_search"'
    ]


def test_a_new_assembly_of_a_listener_is_held_back(host: Callable[..., SystemPrompt]) -> None:
    """A listener may return an assembly of its own."""
    prompt = host()
    prompt.on_assemble(lambda assembly: PromptAssembly(tools=assembly.tools))
    assembly = prompt.assemble()
    assert assembly[DEFERRED].names == HELD
    assert names(assembly.sections) == [INDEX_SECTION]


def test_the_mark_survives_json(host: Callable[..., SystemPrompt]) -> None:
    """An assembly that was kept holds back the same tools."""
    assembly = host().assemble()
    kept = PromptAssembly.from_dict(assembly.to_dict(), [DEFERRED])
    assert kept[DEFERRED] == assembly[DEFERRED]


class Crowded(ToolSearchPlugin):
    """The plugin, in a host that has many tools by itself."""

    @hookimpl
    def contribute_tools(self) -> tuple[ToolSchema, ...]:
        """Give more than the threshold of these tests."""
        return tuple(ToolSchema(f"mcp__many__{number}", "One.", {}) for number in range(6))


def test_it_is_deterministic() -> None:
    """The same state gives the same bytes everywhere."""
    assert_deterministic(Crowded, config={"threshold": 3})


def test_the_prefix_is_stable(host: Callable[..., SystemPrompt]) -> None:
    """Discoveries change no byte of it, as long as no section requires a tool."""
    prompt = host(always=["read", "write", "mcp__hub__merge"])
    found = [RuntimeState(discovered_tools=sorted(HELD)[:count]) for count in range(5)]
    assert_stable_prefix(lambda state: prompt.assemble(state=state), found)


def test_it_unloads_clean(host: Callable[..., SystemPrompt]) -> None:
    """Nothing is left behind."""
    assert_unloads_clean(Crowded, config={"threshold": 3})
    prompt = host()
    prompt.unload("tool-search")
    assert DEFERRED not in prompt.assemble()
