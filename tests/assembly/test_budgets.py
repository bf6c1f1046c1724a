"""Budgets: what they measure, what becomes of a text that takes more, and what is recorded."""

from __future__ import annotations

import json
import logging
import pickle
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    Budget,
    BudgetError,
    Config,
    ConfigError,
    InvalidContributionError,
    InvariantError,
    Priority,
    PromptAssembly,
    PromptContext,
    PromptSection,
    SystemPrompt,
    UndefinedVariableError,
    UnknownVariableError,
    hookimpl,
    render_context_snapshot,
    render_prompt,
)
from dsh_prompt.model.budget import Trimmed
from dsh_prompt.render.fingerprint import stable_count

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = "word " * 100
every_block = pytest.mark.parametrize("block", ["section", "context"])


def host() -> SystemPrompt:
    """Make a host without an identity, so that tests see their own sections."""
    return SystemPrompt(Config(include_harness_identity=False))


def add(prompt: SystemPrompt, block: str, text: Any, **options: Any) -> None:
    """Register a section or context called ``long``."""
    getattr(prompt, block)(name="long", order=1, text=text, **options)


def held(assembly: PromptAssembly, block: str) -> dict[str, Any]:
    """Give the sections or contexts, by name."""
    items: list[Any] = assembly.sections if block == "section" else list(assembly.contexts)
    return {item.name: item for item in items}


def everything(assembly: PromptAssembly) -> list[Any]:
    """Give sections and contexts."""
    return [*assembly.sections, *assembly.contexts]


def rendered(assembly: PromptAssembly, block: str) -> str:
    """Render the system prompt or the snapshot."""
    if block == "section":
        return render_prompt(assembly)
    return render_context_snapshot(assembly).partition("\n\n")[2]


# What is measured


@every_block
def test_a_text_that_fits_stays_as_it_was(block: str) -> None:
    """Also where its template alone would be longer: its references stay references."""
    prompt = host()
    prompt.variable("a_rather_long_name", "short")
    add(prompt, block, "{{a_rather_long_name}}", budget=Budget(max_chars=5, max_tokens=2))
    assembly = prompt.assemble()
    assert held(assembly, block)["long"].text == "{{a_rather_long_name}}"
    assert rendered(assembly, block) == "short"
    assert assembly.trimmed == ()


@every_block
def test_the_values_of_variables_count(block: str) -> None:
    """A short template with a long value takes what the model gets."""
    prompt = host()
    prompt.variable("v", lambda: LONG)
    add(prompt, block, "{{v}}", budget=Budget(max_chars=100))
    assembly = prompt.assemble()
    assert len(rendered(assembly, block)) <= 100
    assert rendered(assembly, block).startswith("word word")


@every_block
def test_the_title_does_not_count(block: str) -> None:
    """And it stays over a text that was cut."""
    prompt = host()
    add(prompt, block, "12345", title="A title", budget=Budget(max_chars=5))
    assert rendered(prompt.assemble(), block) == "## A title\n\n12345"
    prompt = host()
    add(prompt, block, LONG, title="A title", budget=Budget(max_chars=60))
    text = rendered(prompt.assemble(), block)
    assert text.startswith("## A title\n\nword")
    assert len(text.removeprefix("## A title\n\n")) <= 60


def test_braces_in_what_was_cut_are_text() -> None:
    """A value is not scanned again, though it now stands where a template stood."""
    prompt = host()
    prompt.variable("v", "{{nobody}} {{{{ }}" + LONG)
    add(prompt, "context", "{{v}}", budget=Budget(max_chars=80))
    assembly = prompt.assemble()
    assert assembly.contexts[0].literal
    assert "{{nobody}} {{{{ }}" in render_context_snapshot(assembly)


def test_a_literal_text_is_measured_as_it_is() -> None:
    """No reference in it has a value."""
    prompt = host()
    prompt.variable("v", LONG)
    add(prompt, "context", "{{v}}", literal=True, budget=Budget(max_chars=5))
    assert rendered(prompt.assemble(), "context") == "{{v}}"


@pytest.mark.parametrize(
    ("text", "error"), [("{{nobody}}", UnknownVariableError), ("{{none}}", UndefinedVariableError)]
)
def test_a_text_that_cannot_be_rendered_fails_when_it_is(text: str, error: type[Exception]) -> None:
    """Not before: the assembly has it as it was."""
    prompt = host()
    prompt.variable("none", None)
    add(prompt, "section", text + LONG, budget=Budget(max_chars=1, overflow="error"))
    assembly = prompt.assemble()
    assert held(assembly, "section")["long"].text == text + LONG
    with pytest.raises(error):
        render_prompt(assembly)


# Truncated


def test_the_beginning_stays_and_a_line_tells_what_is_missing() -> None:
    """Cut after a line, where that loses little."""
    prompt = host()
    add(prompt, "context", "first line\nsecond line\n" + LONG, budget=Budget(max_chars=62))
    assembly = prompt.assemble()
    assert rendered(assembly, "context") == (
        "first line\nsecond line\n[cut: 501 of 523 characters left out]"
    )


def test_no_more_items_than_allowed_stay_each_with_its_continuation() -> None:
    """What stands before the first item stays; deeper lists belong to their item."""
    text = "Open:\n\n- one\n  - inner\n* two\n+ three\n4. four\n5) five\n-no item\n6.no item\n"
    prompt = host()
    add(prompt, "context", text, budget=Budget(max_items=2))
    assert rendered(prompt.assemble(), "context") == (
        "Open:\n\n- one\n  - inner\n* two\n[cut: 3 of 5 items left out]"
    )


def test_limits_go_together() -> None:
    """The items that stay have to fit as well, and the note tells of all that is missing."""
    items = "".join(f"- item number {number}\n" for number in range(20))
    prompt = host()
    add(prompt, "context", items, budget=Budget(max_items=5, max_chars=90, max_tokens=1000))
    prompt.context(name="tokens", order=2, text=items, budget=Budget(max_items=5, max_tokens=22))
    assembly = prompt.assemble()
    both, tokens = (context.text for context in assembly.contexts)
    assert both == (
        "- item number 0\n- item number 1\n- item number 2\n[cut: 283 of 330 characters left out]"
    )
    assert tokens == both


@pytest.mark.parametrize("limit", ["max_chars", "max_tokens", "max_items"])
def test_a_limit_of_0_leaves_the_text_out(limit: str) -> None:
    """It allows nothing; a text that has nothing of the kind fits."""
    nothing: Any = {limit: 0}
    prompt = host()
    add(prompt, "context", "Open:\n- one", title="T", budget=Budget(**nothing))
    prompt.context(name="none", order=2, text="", budget=Budget(**nothing))
    assembly = prompt.assemble()
    assert [context.name for context in assembly.contexts] == ["none"]
    assert assembly.trimmed == (Trimmed("context", "long", "dropped", 11, 0),)
    assert render_context_snapshot(assembly) == ""


def test_without_room_for_the_note_the_text_is_cut_alone() -> None:
    """A little of the text is worth more than nothing."""
    prompt = host()
    add(prompt, "context", LONG, budget=Budget(max_chars=9))
    assert rendered(prompt.assemble(), "context") == "word word"


def test_a_frame_that_the_cut_leaves_open_is_closed() -> None:
    """What the host says next must not look like somebody else's words."""
    inner = "<memory>\n" + LONG + "\n</memory>\n"
    text = f'<x>\n</x>\n<workspace-instructions source="a b">\n{inner}</workspace-instructions>'
    prompt = host()
    add(prompt, "context", text, budget=Budget(max_chars=150))
    lines = rendered(prompt.assemble(), "context").split("\n")
    assert lines[:4] == ["<x>", "</x>", '<workspace-instructions source="a b">', "<memory>"]
    assert lines[-3:-1] == ["</memory>", "</workspace-instructions>"]
    assert lines[-1].startswith("[cut: ")


def test_a_tag_that_nobody_closes_stays_open() -> None:
    """It was open before the cut as well; and no more than eight frames are closed at all."""
    prompt = host()
    add(prompt, "context", "</a>\n<a>\n" + LONG, budget=Budget(max_chars=100))
    assert rendered(prompt.assemble(), "context").count("</a>") == 1
    deep = "<b>\n" * 10 + LONG + "\n</b>" * 10
    prompt.context(name="deep", order=2, text=deep, budget=Budget(max_chars=200))
    assert rendered(prompt.assemble(), "context").count("</b>") == 8


@pytest.mark.parametrize(
    "text",
    ["<a>\n" * 50_000 + "</b>\n" * 50_000 + "</a>", "\u0301" * 300_000, "\U0001f1e9" * 300_000],
    ids=["tags", "marks", "flags"],
)
def test_a_hostile_text_is_cut_as_any_other(text: str) -> None:
    """In a time that does not grow with its square, and not a character above the limit."""
    prompt = host()
    add(prompt, "context", text, budget=Budget(max_chars=1000))
    assembly = prompt.assemble()
    assert 0 < len(assembly.contexts[0].text) <= 1000


# Dropped, or an error


@every_block
def test_drop_leaves_the_whole_out(block: str) -> None:
    """Title and all; the others stay."""
    prompt = host()
    add(prompt, block, LONG, title="T", budget=Budget(max_chars=499, overflow="drop"))
    getattr(prompt, block)(name="other", order=2, text="Stays.")
    assembly = prompt.assemble()
    assert rendered(assembly, block) == "Stays."
    assert assembly.trimmed == (Trimmed(block, "long", "dropped", 500, 0),)  # type: ignore[arg-type]


class Verbose:
    """A plugin whose section is to fit, and does not."""

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        """Give the section."""
        budget = Budget(max_chars=10, max_tokens=5, overflow="error")
        return [PromptSection("verbose", 1, LONG, budget=budget)]


def test_an_error_names_the_text_its_owner_the_limit_and_the_way_out() -> None:
    """In words, and as attributes, also after pickling."""
    prompt = host()
    scope = prompt.create_scope("agent-1")
    prompt.load(Verbose(), name="verbose-plugin", scope=scope)
    with pytest.raises(BudgetError) as caught:
        prompt.assemble(scope=scope)
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == (
        'plugin "verbose-plugin" (in scope "agent-1"): section "verbose" takes 500 characters and '
        "its budget allows 10 (max_chars); make its text shorter, raise the limit, or let it be "
        'cut with overflow="truncate"'
    )
    facts = (error.kind, error.name, error.plugin, error.scope)
    assert facts == ("section", "verbose", "verbose-plugin", "agent-1")
    assert (error.limit, error.allowed, error.taken) == ("max_chars", 10, 500)


@pytest.mark.parametrize(
    ("limit", "said"), [("max_tokens", "about 125 tokens"), ("max_items", "2 items")]
)
def test_an_error_says_in_what_it_measures(limit: str, said: str) -> None:
    """Each limit has its own unit."""
    prompt = host()
    text = ("- a\n- b\n" + LONG)[:500]
    fields: dict[str, Any] = {limit: 1, "overflow": "error"}
    add(prompt, "context", text, budget=Budget(**fields))
    with pytest.raises(BudgetError, match=rf"takes {said} and its budget allows 1 \({limit}\)"):
        prompt.assemble()


def test_the_first_one_in_order_is_the_one_reported() -> None:
    """Sections before contexts, as they are assembled."""
    prompt = host()
    budget = Budget(max_chars=1, overflow="error")
    prompt.context(name="context", order=-5, text="long", budget=budget)
    prompt.section(name="second", order=2, text="long", budget=budget)
    prompt.section(name="first", order=1, text="long", budget=budget)
    with pytest.raises(BudgetError, match='section "first"'):
        prompt.assemble()


def test_a_plugin_that_exceeds_its_budget_again_and_again_is_quarantined() -> None:
    """It made the assemblies fail."""
    prompt = SystemPrompt(Config(quarantine_after=2))
    prompt.load(Verbose(), name="verbose-plugin")
    for _ in range(2):
        with pytest.raises(BudgetError):
            prompt.assemble()
    assert prompt.assemble().trimmed == ()


# Where it stands in the pipeline


def test_a_suppressed_context_has_no_budget_to_exceed() -> None:
    """Nor has what a complete section displaces, or what lacks its tools."""
    budget = Budget(max_chars=1, overflow="error")
    prompt = host()
    prompt.context(name="suppressed", order=1, text="long", budget=budget)
    prompt.suppress_runtime_context()
    prompt.section(name="displaced", order=1, text="long", budget=budget)
    prompt.section(PromptSection("all", 2, "All of it.", complete=True))
    assert render_prompt(prompt.assemble()) == "All of it."
    other = host()
    other.section(name="pruned", order=1, text="long", requires_tools=("x",), budget=budget)
    assert render_prompt(other.assemble()) == ""


def test_a_complete_section_has_no_budget() -> None:
    """It is the whole prompt, and has to be whole."""
    with pytest.raises(InvalidContributionError, match="complete, so it may not have a budget"):
        PromptSection("all", 1, "x", complete=True, budget=Budget())


def _edit(assembly: PromptAssembly) -> None:
    for item in everything(assembly):
        item.text += LONG


def _replace(assembly: PromptAssembly) -> PromptAssembly:
    sections = [attrs.evolve(one, text=one.text + LONG) for one in assembly.sections]
    contexts = [attrs.evolve(one, text=one.text + LONG) for one in assembly.contexts]
    return PromptAssembly(sections, contexts)


def _loosen(assembly: PromptAssembly) -> None:
    for item in everything(assembly):
        item.text += LONG
        item.budget = Budget(max_chars=70)


@every_block
@pytest.mark.parametrize(
    ("listener", "limit"),
    [(_edit, 60), (_replace, 60), (_loosen, 70)],
    ids=["edit", "replace", "loosen"],
)
def test_what_a_listener_makes_of_a_text_has_to_fit(
    block: str, listener: Callable[[PromptAssembly], Any], limit: int
) -> None:
    """The budget goes with the section or context, and a listener may give another."""
    prompt = host()
    add(prompt, block, "short", budget=Budget(max_chars=60))
    prompt.on_assemble(listener)
    assembly = prompt.assemble()
    text = held(assembly, block)["long"].text
    assert limit - 10 < len(text) <= limit
    assert "long" in [one.name for one in assembly.trimmed]


def test_what_a_listener_adds_may_have_a_budget_and_stays_the_listeners_own() -> None:
    """The object that it adds in each assembly is not changed: its template is needed again."""
    added = AssembledContext("added", "{{v}}", budget=Budget(max_chars=50))
    values = iter([LONG, "short"])
    prompt = host()
    prompt.variable("v", lambda: next(values))
    prompt.on_assemble(lambda assembly: assembly.contexts.append(added))
    first, second = prompt.assemble(), prompt.assemble()
    assert len(first.contexts[0].text) <= 50
    assert first.contexts[0].source == added.source
    assert rendered(second, "context") == "short"
    assert [len(one.trimmed) for one in (first, second)] == [1, 0]


def test_an_assembly_that_a_listener_kept_stays_recorded_as_trimmed() -> None:
    """Its texts fit now, and are still not whole."""
    kept: list[PromptAssembly] = []
    prompt = host()
    add(prompt, "context", LONG, budget=Budget(max_chars=60))
    prompt.on_assemble(lambda: kept[0] if kept else None)
    kept.append(prompt.assemble())
    again = prompt.assemble()
    assert again is kept[0]
    assert [one.name for one in again.trimmed] == ["long"]
    new = AssembledContext("new", LONG, budget=Budget(max_chars=60))
    prompt.on_assemble(lambda assembly: assembly.contexts.append(new))
    assert [one.name for one in prompt.assemble().trimmed] == ["long", "new"]


@pytest.mark.parametrize(
    "spoilt",
    [
        AssembledSection("x", 5, budget=Budget(max_chars=1)),  # type: ignore[arg-type]
        AssembledSection("x", "long", budget="short"),  # type: ignore[arg-type]
        "no section",
    ],
    ids=["text", "budget", "section"],
)
def test_what_is_not_well_formed_is_left_for_the_guard(spoilt: Any) -> None:
    """It names who put it there."""
    prompt = host()
    prompt.on_assemble(lambda assembly: assembly.sections.append(spoilt))
    with pytest.raises(InvariantError):
        prompt.assemble()


def test_assemblies_of_one_plan_do_not_spoil_each_other() -> None:
    """A text that is too long in one fits in the next, and is whole again."""
    texts = iter([LONG, "short {{v}}", LONG, "short {{v}}"])
    prompt = host()
    prompt.variable("v", "value")
    add(prompt, "context", lambda: next(texts), budget=Budget(max_chars=60))
    lengths = [len(rendered(prompt.assemble(), "context")) for _ in range(4)]
    assert lengths[1] == lengths[3] == len("short value")
    assert lengths[0] == lengths[2] > 50


@pytest.mark.anyio
async def test_an_asynchronous_assembly_keeps_to_budgets_too() -> None:
    """There is one pipeline."""

    async def text() -> str:
        return LONG

    prompt = host()
    add(prompt, "context", text, budget=Budget(max_tokens=20))
    assembly = await prompt.assemble_async()
    assert len(rendered(assembly, "context")) <= 80
    assert len(assembly.trimmed) == 1


def test_a_cut_section_keeps_what_else_it_is() -> None:
    """Order, source, place in the stable prefix: only its text is another."""
    prompt = host()
    add(prompt, "section", LONG, budget=Budget(max_chars=60, priority=Priority.TODOS))
    prompt.section(name="next", order=2, text="Next.")
    first, second = prompt.assemble(), prompt.assemble()
    section = held(first, "section")["long"]
    assert (section.order, section.cacheable) == (1, True)
    assert section.source == first.source_of("section", "next")
    assert section.budget == Budget(max_chars=60, priority=Priority.TODOS)
    assert first.fingerprint() == second.fingerprint()
    assert stable_count(first) == 3


# What is recorded


def trimmed_host() -> SystemPrompt:
    """Give a host of which one section is cut and one context left out."""
    prompt = host()
    add(prompt, "section", LONG, budget=Budget(max_chars=60, priority=Priority.MEMORY))
    add(prompt, "context", LONG, budget=Budget(max_tokens=10, overflow="drop"))
    return prompt


def test_the_assembly_tells_what_was_trimmed() -> None:
    """Kind and name, what became of it, and its sizes before and after."""
    assembly = trimmed_host().assemble()
    section, context = assembly.trimmed
    assert (section.kind, section.name, section.how) == ("section", "long", "truncated")
    assert (section.before, section.after) == (500, len(render_prompt(assembly)))
    assert context == Trimmed("context", "long", "dropped", 500, 0)
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        section.after = 5  # type: ignore[misc]


def test_what_was_trimmed_goes_through_json() -> None:
    """With the budgets of what is left."""
    assembly = trimmed_host().assemble()
    written = json.loads(json.dumps(assembly.to_dict()))
    restored = PromptAssembly.from_dict(written)
    assert restored == assembly
    assert restored.trimmed == assembly.trimmed
    assert restored.to_dict() == written
    assert held(restored, "section")["long"].budget.priority == Priority.MEMORY


def test_without_budgets_the_json_is_what_it_was() -> None:
    """No key is added for nothing."""
    prompt = host()
    add(prompt, "section", "short")
    document = prompt.assemble().to_dict()
    assert "trimmed" not in document
    assert not any("budget" in section for section in document["sections"])


@pytest.mark.parametrize(
    "record",
    [
        {"kind": "tool", "name": "x", "how": "dropped", "before": 1, "after": 0},
        {"kind": "context", "name": "x", "how": "eaten", "before": 1, "after": 0},
        {"kind": "context", "name": 5, "how": "dropped", "before": 1, "after": 0},
        {"kind": "context", "name": "x", "how": "dropped", "before": "1", "after": 0},
        {"kind": "context"},
    ],
)
def test_a_record_that_is_none_is_refused(record: dict[str, Any]) -> None:
    """As anything else that an assembly does not write."""
    document = {**host().assemble().to_dict(), "trimmed": [record]}
    with pytest.raises(ConfigError, match="not an assembly"):
        PromptAssembly.from_dict(document)


def test_the_log_line_names_what_was_trimmed(caplog: pytest.LogCaptureFixture) -> None:
    """With its sizes, and not its text; without any, the line is as always."""
    caplog.set_level(logging.DEBUG, "dsh_prompt.assembly")
    trimmed_host().assemble()
    assert " trimmed [section long=500->60, context long=500->0] fingerprint " in caplog.text
    assert "word" not in caplog.text
    caplog.clear()
    host().assemble()
    assert "tools [] fingerprint" in caplog.text


# The values


@pytest.mark.parametrize("limit", ["max_chars", "max_tokens", "max_items"])
@pytest.mark.parametrize("value", [-1, True, 1.5, "5"])
def test_a_limit_is_a_whole_number_or_none(limit: str, value: Any) -> None:
    """The error names the field."""
    with pytest.raises(InvalidContributionError, match=f"budget {limit} must be a whole number"):
        Budget(**{limit: value})


def test_overflow_and_priority_are_checked_as_well() -> None:
    """So that no typing error waits for the day on which a text is too long."""
    with pytest.raises(InvalidContributionError, match='overflow must be "truncate"'):
        Budget(overflow="cut")  # type: ignore[arg-type]
    with pytest.raises(InvalidContributionError, match="priority must be a whole number"):
        Budget(priority=1.5)  # type: ignore[arg-type]
    with pytest.raises(InvalidContributionError, match="budget must be a Budget"):
        PromptContext("x", 1, "x", budget=5)  # type: ignore[arg-type]
