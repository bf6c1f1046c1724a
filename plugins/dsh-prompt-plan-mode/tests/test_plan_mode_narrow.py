"""What plan mode does when it narrows text and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from dsh_prompt_plan_mode import Config

from dsh_prompt import AssembledSection, RuntimeState, Source, render_prompt
from dsh_prompt.testing import assert_section, assert_stable_prefix, assert_tools

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import PromptAssembly, SystemPrompt


def names(assembly: PromptAssembly) -> list[str]:
    return [section.name for section in assembly.sections]


def test_narrow_is_the_default(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Without settings the plan text goes in and all but the read-only tools go out."""
    assembly = host().assemble(state=plan)
    assert Config().text in render_prompt(assembly)
    assert_tools(assembly, "read")


def test_what_is_out_is_refused(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """An agent loop gets a reason against a tool that went out, and none against the others."""
    assembly = host().assemble(state=plan)
    assert assembly.authorize("edit")
    assert assembly.authorize("read") is None
    assert not assembly.denied


def test_sections_of_tools_that_went_out(
    host: Callable[..., SystemPrompt], plan: RuntimeState
) -> None:
    """A section that requires a tool goes out together with the tool."""
    prompt = host()
    assert "editing" in names(prompt.assemble())
    assert "editing" not in names(prompt.assemble(state=plan))


def test_the_text_stands_by_its_order(
    host: Callable[..., SystemPrompt], plan: RuntimeState
) -> None:
    """The section stands between those of a lower and those of a higher order."""
    assembly = host().assemble(state=plan)
    assert names(assembly) == [
        "harness:identity",
        "deployment:persona",
        "rules",
        "plan:policy",
        "guidance",
    ]


@pytest.mark.parametrize(
    ("order", "place"), [(-2000, 0), (0, 2), (9.5, 2), (10, 2), (10.5, 3), (100, 4), (1e9, 4)]
)
def test_configured_order(
    host: Callable[..., SystemPrompt], plan: RuntimeState, order: float, place: int
) -> None:
    """The configured order decides about the place, and among equals the name does."""
    assembly = host(order=order).assemble(state=plan)
    assert names(assembly).index("plan:policy") == place


def test_same_order_by_utf16_name(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Among sections of one order the place is that which the host would have given."""
    prompt = host(order=10)
    for name in ("plan", "plan:policy!", "plan:policx", "\N{GRINNING FACE}", "\uffee", "Z"):
        prompt.section(name=name, order=10, text=name)
    placed = names(prompt.assemble(state=plan))
    prompt.unload("plan-mode")
    prompt.section(name="plan:policy", order=10, text="contributed")
    assert placed == [name for name in names(prompt.assemble()) if name != "editing"]


def test_sections_without_an_order(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """What a listener put at an end, without an order, stays at its end."""
    prompt = host(order=500)

    def frame(assembly: PromptAssembly) -> None:
        assembly.sections.insert(0, AssembledSection("first", "First."))
        assembly.sections.append(AssembledSection("last", "Last."))

    prompt.on_assemble(frame)
    placed = names(prompt.assemble(state=plan))
    assert (placed[0], *placed[-3:]) == ("first", "guidance", "plan:policy", "last")


def test_no_section_has_an_order(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Where a listener left no section with an order, the text comes last."""
    prompt = host()

    def replace(assembly: PromptAssembly) -> None:
        assembly.sections = [AssembledSection("only", "Only this.")]

    prompt.on_assemble(replace)
    assert names(prompt.assemble(state=plan)) == ["only", "plan:policy"]


def test_braces_are_plain_text(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Braces in the configured text reach the model as they are."""
    text = "Answer as {{plan}}, {{ not a name }} or {{{{so}}}}."
    assert_section(host(text=text).assemble(state=plan), "plan:policy", text)


def test_the_text_belongs_to_the_plugin(
    host: Callable[..., SystemPrompt], plan: RuntimeState
) -> None:
    """The section names the plugin, and the waterfall, as where it came from."""
    section = assert_section(host().assemble(state=plan), "plan:policy", Config().text)
    assert section.source == Source("plan-mode", how="waterfall")


def test_tools_keep_their_owner(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """A tool that stays is still the contributor's."""
    assembly = host().assemble(state=plan)
    assert assembly.source_of("tool", "read") == Source()


def test_the_prefix_reaches_past_the_text(
    host: Callable[..., SystemPrompt], plan: RuntimeState
) -> None:
    """The text is as stable as its settings, so the stable prefix goes on behind it."""
    prompt = host()
    assert_stable_prefix(lambda _: prompt.assemble(state=plan), 3)
    before = prompt.assemble(state=plan).fingerprint()
    prompt.section(name="more", order=200, text="More guidance.")
    assert prompt.assemble(state=plan).fingerprint().prefix != before.prefix


def test_one_name_in_two_schemas(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Of two tools with one name neither stays, unless both are read-only."""
    prompt = host()
    prompt.tools(
        lambda: [
            {"name": "run", "annotations": {"readOnlyHint": True}},
            {"name": "read", "annotations": {"readOnlyHint": True}},
        ]
    )
    assert_tools(prompt.assemble(state=plan), "read", "read")


def test_a_contributed_text_stays(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """A section that somebody contributed under the same name takes the place of the text."""
    prompt = host()
    prompt.section(name="plan:policy", order=5, text="Plan {{what}}.")
    prompt.variable("what", "the migration")
    assembly = prompt.assemble(state=plan)
    assert_section(assembly, "plan:policy", "Plan the migration.")
    assert_tools(assembly, "read")


def test_complete_section(host: Callable[..., SystemPrompt], plan: RuntimeState) -> None:
    """Where a complete section is the whole prompt, the tools still go out."""
    prompt = host()
    prompt.section(name="all", order=0, text="All there is.", complete=True)
    assembly = prompt.assemble(state=plan)
    assert render_prompt(assembly) == "All there is."
    assert_tools(assembly, "read")
