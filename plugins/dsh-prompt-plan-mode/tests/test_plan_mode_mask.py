"""What plan mode does when it masks: the prefix stays, tools are denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dsh_prompt_plan_mode import Config, PlanMode

from dsh_prompt import RuntimeState, Source, render_context_sections, render_prompt
from dsh_prompt.testing import (
    assert_context,
    assert_section,
    assert_stable_prefix,
    assert_tools,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import PromptAssembly, SystemPrompt


@pytest.fixture
def masked(host: Callable[..., SystemPrompt]) -> SystemPrompt:
    """Give a host that masks in plan mode."""
    return host(mode="mask")


def test_the_prefix_stays(masked: SystemPrompt, plan: RuntimeState) -> None:
    """System prompt and tools are byte for byte those of an agent outside of plan mode."""
    states = [RuntimeState(), plan, RuntimeState()]
    assert_stable_prefix(lambda state: masked.assemble(state=state), states)
    outside, inside = masked.assemble(state=states[0]), masked.assemble(state=plan)
    assert outside.tools == inside.tools
    assert outside.sections == inside.sections
    assert outside.fingerprint().contexts != inside.fingerprint().contexts


def test_the_prefix_is_that_without_the_plugin(bare_host: SystemPrompt, plan: RuntimeState) -> None:
    """Loading the plugin costs no cached byte either."""
    without = bare_host.assemble(state=plan).fingerprint()
    bare_host.load(PlanMode, name="plan-mode", config={"mode": "mask"})
    loaded = bare_host.assemble(state=plan).fingerprint()
    assert (without.prefix, without.system, without.tools) == (
        loaded.prefix,
        loaded.system,
        loaded.tools,
    )


def test_the_text_is_a_context(masked: SystemPrompt, plan: RuntimeState) -> None:
    """The text stands by its order among the runtime contexts."""
    parts = render_context_sections(masked.assemble(state=plan))
    assert parts == [
        ("git", "branch: main"),
        ("plan:policy", f"## Plan mode\n\n{Config().text}"),
        ("todos", "nothing to do"),
    ]


def test_the_text_belongs_to_the_plugin(masked: SystemPrompt, plan: RuntimeState) -> None:
    """The context names the plugin, and the waterfall, as where it came from."""
    context = assert_context(masked.assemble(state=plan), "plan:policy", Config().text)
    assert context.source == Source("plan-mode", how="waterfall")


def test_braces_are_plain_text(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Braces in the configured text reach the model as they are."""
    prompt = host(mode="mask", text="Answer as {{plan}}.")
    assert_context(prompt.assemble(state=plan), "plan:policy", "Answer as {{plan}}.")


def test_other_tools_are_denied(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Tools that are not read-only are denied with the configured reason."""
    assembly = host(mode="mask", reason="Finish the plan first.").assemble(state=plan)
    assert_tools(assembly, "edit", "read", "run", denied=["edit", "run"])
    assert assembly.authorize("edit") == "Finish the plan first."
    assert assembly.authorize("read") is None


def test_sections_of_denied_tools_stay(masked: SystemPrompt, plan: RuntimeState) -> None:
    """A section that requires a denied tool stays, as the tool does."""
    assert_section(masked.assemble(state=plan), "editing")


def test_an_earlier_reason_stays(masked: SystemPrompt, plan: RuntimeState) -> None:
    """A tool that another listener denied keeps that listener's reason."""

    def deny(assembly: PromptAssembly) -> None:
        assembly.deny("run", "The sandbox is down.")

    masked.on_assemble(deny)
    assembly = masked.assemble(state=plan)
    assert assembly.authorize("run") == "The sandbox is down."
    assert assembly.authorize("edit") == Config().reason


def test_a_contributed_context_stays(masked: SystemPrompt, plan: RuntimeState) -> None:
    """A context that somebody contributed under the same name takes the place of the text."""
    masked.context(name="plan:policy", order=50, text="Mine.")
    assert_context(masked.assemble(state=plan), "plan:policy", "Mine.")


def test_complete_section(masked: SystemPrompt, plan: RuntimeState) -> None:
    """The text reaches the model beside a complete section too."""
    masked.section(name="all", order=0, text="All there is.", complete=True)
    assembly = masked.assemble(state=plan)
    assert render_prompt(assembly) == "All there is."
    assert_context(assembly, "plan:policy", Config().text)


def test_suppressed_runtime_context(masked: SystemPrompt, plan: RuntimeState) -> None:
    """Where runtime contexts are suppressed there is no text, and tools are denied all the same."""
    masked.suppress_runtime_context()
    assembly = masked.assemble(state=plan)
    assert assembly.contexts == []
    assert_tools(assembly, "edit", "read", "run", denied=["edit", "run"])
