"""Assertions about sections, contexts, tools and the prefix, and what they say."""

from __future__ import annotations

import anyio
import pytest

import dsh_prompt.testing
from dsh_prompt import PromptAssembly, SystemPrompt, ToolSchema, hookimpl
from dsh_prompt.testing import (
    FakeModel,
    assert_context,
    assert_section,
    assert_stable_prefix,
    assert_tools,
)


class Rules:
    """A plugin with a section."""

    @hookimpl
    def activate(self, ctx: dsh_prompt.DisposableContext) -> None:
        ctx.section(name="rules", order=10, title="Rules", text="Be {{tone}}.\nBe brief.")
        ctx.variable("tone", "precise")


@pytest.fixture
def host() -> SystemPrompt:
    """Give a host with a plugin, a context and two tools."""
    prompt = SystemPrompt()
    prompt.load(Rules, name="rules")
    prompt.context(name="clock", order=1, title="Clock", text="It is noon.")
    prompt.tool(ToolSchema("read", "Reads.", {"type": "object"}))
    prompt.tool(ToolSchema("write", "Writes.", {"type": "object"}))
    return prompt


def test_a_section_is_given_back(host: SystemPrompt) -> None:
    """Its text is compared as the model reads it, without the title."""
    assembly = host.assemble()
    section = assert_section(
        assembly, "rules", "Be precise.\nBe brief.", contains=["precise", "brief"], plugin="rules"
    )
    assert section is assembly.sections[-1]
    assert assert_section(assembly, "rules", contains="Be").order == 10


def test_a_missing_section_is_told_with_the_nearest(host: SystemPrompt) -> None:
    """And with all that there are."""
    with pytest.raises(AssertionError) as caught:
        assert_section(host.assemble(), "rule")
    assert str(caught.value) == (
        'there is no section "rule"; did you mean "rules"?; there are "harness:identity", '
        '"deployment:persona", "rules"'
    )


def test_another_text_is_told_with_a_diff(host: SystemPrompt) -> None:
    """The expected line comes first."""
    with pytest.raises(AssertionError) as caught:
        assert_section(host.assemble(), "rules", "Be kind.\nBe brief.")
    assert str(caught.value).splitlines() == [
        'section "rules" of plugin "rules" has another text:',
        "    @@ -1,2 +1,2 @@",
        "    -Be kind.",
        "    +Be precise.",
        "     Be brief.",
    ]


def test_a_missing_part_and_another_owner_are_told(host: SystemPrompt) -> None:
    """With the text that there is."""
    with pytest.raises(AssertionError, match=r'does not contain "kind"; it is:\n    Be precise'):
        assert_section(host.assemble(), "rules", contains="kind")
    with pytest.raises(AssertionError, match='of plugin "rules" should belong to plugin "git"'):
        assert_section(host.assemble(), "rules", plugin="git")


def test_contexts_in_the_same_way(host: SystemPrompt) -> None:
    """A context is looked for among contexts."""
    assembly = host.assemble()
    assert assert_context(assembly, "clock", "It is noon.") is assembly.contexts[0]
    with pytest.raises(AssertionError, match='there is no context "rules"; there are "clock"'):
        assert_context(assembly, "rules")


def test_tools_in_order_and_denials(host: SystemPrompt) -> None:
    """Exactly these, and exactly those denied."""
    assembly = host.assemble()
    assert_tools(assembly, "read", "write")
    assembly.deny("write", "not now")
    assert_tools(assembly, "read", "write", denied=["write"])
    assert_tools(PromptAssembly())


def test_other_tools_are_told(host: SystemPrompt) -> None:
    """With a diff, the nearest name, and the reasons of denials."""
    assembly = host.assemble()
    with pytest.raises(AssertionError) as caught:
        assert_tools(assembly, "reed", "write")
    assert "    -reed\n    +read\n     write" in str(caught.value)
    assert 'no tool "reed"; did you mean "read"?' in str(caught.value)
    with pytest.raises(AssertionError, match="the tools are other ones"):
        assert_tools(assembly, "write", "read")
    assembly.deny("read", "not now")
    with pytest.raises(AssertionError, match='expected none, there are "read"\n    read: not now'):
        assert_tools(assembly, "read", "write")


def test_a_stable_prefix(host: SystemPrompt) -> None:
    """What comes behind the prefix may change."""
    steps = iter(range(100))
    host.section(name="step", order=20, text=lambda: f"Step {next(steps)}.")
    assert_stable_prefix(lambda _: host.assemble(), 3)
    assert_stable_prefix(lambda name: host.assemble(scope=host.create_scope(name)), ["a", "b"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            lambda host: host.section(name="more", order=5, text="More."),
            'section "more" of the host is new:\n    More.',
        ),
        (
            lambda host: host.unload("rules"),
            'section "rules" of plugin "rules" is gone',
        ),
        (
            lambda host: host.tool(ToolSchema("run", "Runs.", {})),
            'tool "run" of the host is new:',
        ),
        (
            lambda host: host.on_assemble(lambda assembly: assembly.sections.reverse()),
            "the order has changed, it is now: tool read, tool write, section rules",
        ),
    ],
)
def test_a_prefix_that_changes_is_told(host: SystemPrompt, change: object, told: str) -> None:
    """With the step, and the owner of what has changed."""

    def step(number: int) -> PromptAssembly:
        if number == 2:
            change(host)  # type: ignore[operator]
        return host.assemble()

    with pytest.raises(AssertionError) as caught:
        assert_stable_prefix(step, 3)
    assert "the stable prefix of step 2 is not that of step 0:" in str(caught.value)
    assert told in str(caught.value)


def test_a_prefix_needs_two_assemblies(host: SystemPrompt) -> None:
    """One step says nothing, and a step gives an assembly."""
    with pytest.raises(ValueError, match="two steps or more, not 1"):
        assert_stable_prefix(lambda _: host.assemble(), 1)
    with pytest.raises(TypeError, match="step_fn must return a PromptAssembly, not str"):
        assert_stable_prefix(lambda _: "text", 2)  # type: ignore[arg-type,return-value]


# The fake model


def test_the_model_records_what_it_was_sent(host: SystemPrompt) -> None:
    """System prompt, snapshot, tools and messages, as they were then."""
    model = FakeModel(["Hello.", {"call": "read"}])
    messages = [{"role": "user", "content": "Hi"}]
    assembly = host.assemble()
    assert model(assembly, messages) == "Hello."
    messages[0]["content"] = "changed"
    assembly.tools.clear()
    request = model.last
    assert request.system.endswith("## Rules\n\nBe precise.\nBe brief.")
    assert request.snapshot.endswith("## Clock\n\nIt is noon.")
    assert [tool.name for tool in request.tools] == ["read", "write"]
    assert request.messages == ({"role": "user", "content": "Hi"},)
    assert request.fingerprint == host.assemble().fingerprint()
    assert model(host.assemble()) == {"call": "read"}
    assert model(host.assemble()) == ""
    assert len(model.requests) == 3


def test_the_model_can_be_awaited(host: SystemPrompt) -> None:
    """For agent loops that await theirs."""
    model = FakeModel(["Hello."])
    assert anyio.run(model.acall, host.assemble(), ["Hi"]) == "Hello."
    assert model.last.messages == ("Hi",)


def test_a_model_that_was_not_called() -> None:
    """Has no last request."""
    with pytest.raises(LookupError, match="the model was not called yet"):
        _ = FakeModel().last


def test_a_reply_that_is_not_in_a_list() -> None:
    """Is refused, with the way to write it."""
    with pytest.raises(TypeError, match=r"replies must be a list: FakeModel\(\['Hello'\]\)"):
        FakeModel("Hello")


# The public names


def test_the_public_names_are_there() -> None:
    """Each can be imported, and no other can."""
    for name in dsh_prompt.testing.__all__:
        assert getattr(dsh_prompt.testing, name).__doc__
    assert dir(dsh_prompt.testing) == sorted(dsh_prompt.testing.__all__)
    with pytest.raises(AttributeError, match="no attribute 'assert_nothing'"):
        _ = dsh_prompt.testing.assert_nothing
