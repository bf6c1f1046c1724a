"""Assemblies into text: the system prompt and the snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    Config,
    PromptAssembly,
    SystemPrompt,
    UnknownVariableError,
    join_context_sections,
    render_context_sections,
    render_context_snapshot,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import Registration

HEADER = "Current runtime context. This snapshot supersedes earlier runtime-context snapshots."


def sections(*texts: str) -> PromptAssembly:
    """Make an assembly with these sections."""
    return PromptAssembly([AssembledSection(str(n), text) for n, text in enumerate(texts)])


def contexts(*texts: str) -> PromptAssembly:
    """Make an assembly with these contexts."""
    return PromptAssembly((), [AssembledContext(str(n), text) for n, text in enumerate(texts)])


# The system prompt


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), ""),
        (("",), ""),
        (("one",), "one"),
        (("one", "two"), "one\n\ntwo"),
        (("one", "", "two", ""), "one\n\ntwo"),
        ((" one\n", "\ntwo "), " one\n\n\n\ntwo "),
        (("one", " ", "two"), "one\n\n \n\ntwo"),
    ],
)
def test_sections_are_joined_by_a_blank_line(texts: tuple[str, ...], expected: str) -> None:
    """Empty ones are dropped, and nothing is trimmed."""
    assert render_prompt(sections(*texts)) == expected


def test_a_section_that_is_empty_once_interpolated_is_dropped() -> None:
    """Its only content may be a variable without anything in it."""
    assembly = sections("one", "{{nothing}}", "two")
    assembly.variables["nothing"] = ""
    assert render_prompt(assembly) == "one\n\ntwo"


def test_contexts_are_no_part_of_the_system_prompt() -> None:
    """Nor are sections a part of the snapshot."""
    assembly = PromptAssembly([AssembledSection("s", "S")], [AssembledContext("c", "C")])
    assert render_prompt(assembly) == "S"
    assert render_context_snapshot(assembly) == f"{HEADER}\n\nC"


def test_sections_are_rendered_in_the_order_of_the_list() -> None:
    """Whatever their ``order`` says: that was for sorting what was contributed."""
    listed = [AssembledSection("b", "B", order=2), AssembledSection("a", "A", order=1)]
    assert render_prompt(PromptAssembly(listed)) == "B\n\nA"


def test_rendering_changes_nothing() -> None:
    """The assembly can be edited and rendered again."""
    assembly = SystemPrompt().assemble()
    before = assembly.to_dict()
    assert render_prompt(assembly) == render_prompt(assembly)
    assert assembly.to_dict() == before
    assembly.sections.append(AssembledSection("x", "X"))
    assert render_prompt(assembly).endswith("\n\nX")


# Titles


REGISTER: dict[str, Callable[..., Registration]] = {
    "section": SystemPrompt.section,
    "context": SystemPrompt.context,
}
every_kind = pytest.mark.parametrize("kind", REGISTER)


def block_of(kind: str, **fields: Any) -> str:
    """Render a host's section or context with these *fields*, and give its part."""
    prompt = SystemPrompt()
    REGISTER[kind](prompt, name="x", order=1, **fields)
    assembly = prompt.assemble()
    whole = render_prompt(assembly) if kind == "section" else render_context_snapshot(assembly)
    return whole.partition("\n\n")[2]


@every_kind
@pytest.mark.parametrize(
    "text", ["text", "{{{{x}}}}", lambda: "text"], ids=["text", "escape", "provider"]
)
def test_a_title_stands_above_the_text(kind: str, text: Any) -> None:
    """As a heading, with a blank line between."""
    shown = "text" if callable(text) else text.replace("{{{{x}}}}", "{{x}}")
    assert block_of(kind, text=text, title="The Title") == f"## The Title\n\n{shown}"


@every_kind
def test_a_title_goes_with_an_empty_text(kind: str) -> None:
    """There is nothing to stand above."""
    assert block_of(kind, text="", title="Title") == ""
    assert block_of(kind, text=lambda: "", title="Title") == ""


def test_a_strategy_may_keep_the_heading() -> None:
    """``always`` shows that there is nothing."""
    assert block_of("section", text="", title="Title", strategy="always") == "## Title"
    assert block_of("section", text="text", title="Title", strategy="always") == "## Title\n\ntext"


def test_a_strategy_without_a_title_keeps_nothing() -> None:
    """An empty section without a heading is dropped."""
    assert block_of("section", text="", strategy="always") == ""


def test_a_title_is_not_interpolated() -> None:
    """It is a constant."""
    assert block_of("section", text="text", title="{{x}} {{ }}") == "## {{x}} {{ }}\n\ntext"


@every_kind
def test_a_listener_may_set_a_title_and_take_it_away(kind: str) -> None:
    """The field of the assembled section or context is what counts."""
    prompt = SystemPrompt()
    REGISTER[kind](prompt, name="a", order=1, text="A", title="Title")
    REGISTER[kind](prompt, name="b", order=2, text="B")

    def swap(assembly: PromptAssembly) -> None:
        items: list[Any] = [*(assembly.sections if kind == "section" else assembly.contexts)]
        items[-2].title, items[-1].title = None, "Other"

    prompt.on_assemble(swap)
    assembly = prompt.assemble()
    whole = render_prompt(assembly) if kind == "section" else render_context_snapshot(assembly)
    assert whole.endswith("\n\nA\n\n## Other\n\nB")


def test_a_listener_keeps_the_strategy_of_what_it_edits() -> None:
    """Emptying a section that always shows its heading leaves the heading."""
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text="text", title="Title", strategy="always")

    def empty(assembly: PromptAssembly) -> None:
        assembly.sections[-1].text = ""

    prompt.on_assemble(empty)
    assert render_prompt(prompt.assemble()).endswith("\n\n## Title")


# The snapshot


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), ""),
        (("", ""), ""),
        (("one",), f"{HEADER}\n\none"),
        (("one", "", " two\n"), f"{HEADER}\n\none\n\n two\n"),
    ],
)
def test_a_snapshot_has_a_header_and_the_contexts(texts: tuple[str, ...], expected: str) -> None:
    """Joined by blank lines; nothing at all where there is none."""
    assert render_context_snapshot(contexts(*texts)) == expected


def test_the_parts_of_a_snapshot_have_names() -> None:
    """Those that render empty are no parts."""
    assembly = contexts("one", "{{x}}", "three {{x}}")
    assembly.variables["x"] = ""
    assert render_context_sections(assembly) == [("0", "one"), ("2", "three ")]


def test_the_parts_join_to_the_snapshot() -> None:
    """So that both agree."""
    assembly = contexts("one", "", "two")
    parts = render_context_sections(assembly)
    assert join_context_sections(parts) == render_context_snapshot(assembly)
    assert join_context_sections(iter(parts)) == render_context_snapshot(assembly)
    assert join_context_sections([]) == ""


def test_a_mistake_in_a_context_concerns_the_snapshot_alone() -> None:
    """The system prompt can still be rendered."""
    assembly = contexts("{{missing}}")
    assert render_prompt(assembly) == ""
    for render in (render_context_snapshot, render_context_sections):
        with pytest.raises(UnknownVariableError, match='context "0"'):
            render(assembly)


def test_a_text_of_a_type_of_its_own_is_rendered_alike_every_time() -> None:
    """What the type does when it replaces has no part in it: markup that escapes, for example."""

    class Escaping(str):
        __slots__ = ()

        def replace(self, old: str, new: str, count: Any = -1) -> str:
            return str.replace(self, old, new.upper(), count)

    prompt = SystemPrompt(Config(include_harness_identity=False))
    numbers = iter(range(3))
    prompt.variable("command", "a && b")
    text = lambda: Escaping(f"step {next(numbers)}: {{{{command}}}}")  # noqa: E731
    prompt.section(name="a", order=1, text=text)
    rendered = [render_prompt(prompt.assemble()) for _ in range(3)]
    assert rendered == [f"step {number}: a && b" for number in range(3)]
