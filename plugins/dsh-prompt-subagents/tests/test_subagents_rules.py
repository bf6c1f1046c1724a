"""The rules for delegating, and the tool they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dsh_prompt_subagents
import pytest
from dsh_prompt_subagents import SUBAGENTS

from dsh_prompt import PluginLoadError, PromptError, SystemPrompt
from dsh_prompt.testing import assert_section, assert_tools

if TYPE_CHECKING:
    from dsh_prompt_subagents import SubAgents

    from dsh_prompt import PromptAssembly, Scope


def has_rules(assembly: PromptAssembly) -> bool:
    return "subagents:rules" in [section.name for section in assembly.sections]


def test_they_are_stable(prompt: SystemPrompt) -> None:
    """The rules name the tool, and are part of the stable prefix."""
    assembly = prompt.assemble()
    section = assert_section(
        assembly, "subagents:rules", contains="With the tool `delegate`", plugin="subagents"
    )
    assert (section.order, section.title, section.cacheable) == (100, "Child agents", True)
    assert_tools(assembly, "delegate", "read", "write")


def test_the_tool(prompt: SystemPrompt) -> None:
    """The tool asks for a name and a task, and does not pass for one that only reads."""
    tool = prompt.registry.get("delegate")
    assert tool is not None
    assert list(tool.parameters["properties"]) == ["name", "description", "task"]
    assert tool.parameters["required"] == ["name", "task"]
    assert tool.annotations == {"readOnlyHint": False}


def test_they_go_with_the_tool(prompt: SystemPrompt, subagents: SubAgents, main: Scope) -> None:
    """A child that cannot delegate is not told how."""
    able = subagents.spawn(main)
    unable = subagents.spawn(main, restrict={"deny": ["delegate"]})
    assert has_rules(prompt.assemble(scope=able.scope))
    assert not has_rules(prompt.assemble(scope=unable.scope))


def test_a_tool_of_the_loop(dsh_prompt_host: SystemPrompt) -> None:
    """A loop with its own tool has the rules for that, once it is there."""
    config = {"tool": "task", "tool_schema": False}
    dsh_prompt_host.load(dsh_prompt_subagents, config=config)
    assert not has_rules(dsh_prompt_host.assemble())
    dsh_prompt_host.tools(lambda: [{"name": "task"}])
    assembly = dsh_prompt_host.assemble()
    assert_section(assembly, "subagents:rules", contains="With the tool `task`")
    assert_tools(assembly, "task")


def test_a_tool_of_that_name_is_there(dsh_prompt_host: SystemPrompt) -> None:
    """Two tools of one name do not go together: the load fails, and says so."""
    dsh_prompt_host.tool({"name": "delegate"})
    with pytest.raises(PromptError, match="delegate"):
        dsh_prompt_host.load(dsh_prompt_subagents)
    assert dsh_prompt_host.get(SUBAGENTS) is None
    assert issubclass(PluginLoadError, PromptError)


def test_other_rules(dsh_prompt_host: SystemPrompt) -> None:
    """What the settings say replaces the rules; braces are plain text."""
    text = "Delegate {{everything}} and {tool}."
    dsh_prompt_host.load(dsh_prompt_subagents, config={"rules": text})
    assert_section(dsh_prompt_host.assemble(), "subagents:rules", text)
