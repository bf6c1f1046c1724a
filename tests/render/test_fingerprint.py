"""Fingerprints: which bytes each digest covers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    Config,
    Fingerprint,
    InterpolationError,
    PromptAssembly,
    SystemPrompt,
    ToolSchema,
    render_context_snapshot,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = {"prefix", "system", "tools", "contexts", "all"}


def example() -> PromptAssembly:
    """Make an assembly with a stable section, one that is not, a tool, a context, a variable."""
    return PromptAssembly(
        [
            AssembledSection("stable", "Stable {{stable}}.", cacheable=True),
            AssembledSection("changing", "Changing {{x}}."),
            AssembledSection("behind", "Behind.", cacheable=True),
        ],
        [AssembledContext("state", "State {{state}}.")],
        [ToolSchema("read", "Reads.", {"type": "object", "required": ["path"]})],
        {"stable": "s", "x": "x", "state": "t", "unused": "u"},
    )


def set_title(assembly: PromptAssembly) -> None:
    """Give the first section a heading."""
    assembly.sections[0].title = "Title"


def evolve(**changes: Any) -> Callable[[PromptAssembly], None]:
    """Make an edit of the tool."""

    def edit(assembly: PromptAssembly) -> None:
        assembly.tools[0] = assembly.tools[0].evolve(**changes)

    return edit


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (lambda a: a.variables.update(stable="other"), {"prefix", "system", "all"}),
        (set_title, {"prefix", "system", "all"}),
        (lambda a: a.variables.update(x="other"), {"system", "all"}),
        (lambda a: setattr(a.sections[2], "text", "Other."), {"system", "all"}),
        (lambda a: a.sections.pop(), {"system", "all"}),
        (lambda a: a.variables.update(state="other"), {"contexts", "all"}),
        (lambda a: a.contexts.clear(), {"contexts", "all"}),
        (evolve(name="other"), {"prefix", "tools", "all"}),
        (evolve(description="Other."), {"prefix", "tools", "all"}),
        (evolve(parameters={"type": "object"}), {"prefix", "tools", "all"}),
        (lambda a: a.tools.append(a.tools[0]), {"prefix", "tools", "all"}),
        (lambda a: a.tools.clear(), {"prefix", "tools", "all"}),
        (lambda a: setattr(a.sections[1], "cacheable", True), {"prefix"}),
        (lambda a: setattr(a.sections[0], "cacheable", False), {"prefix"}),
        (evolve(annotations={"readOnlyHint": True}), set()),
        (lambda a: a.deny("read", "reason"), set()),
        (lambda a: a.variables.update(unused="other", new=None), set()),
        (lambda a: setattr(a.sections[0], "name", "renamed"), set()),
        (lambda a: setattr(a.contexts[0], "order", 5), set()),
        (lambda a: a.sections.append(AssembledSection("empty", "")), set()),
        (lambda a: setattr(a, "generation", 99), set()),
    ],
)
def test_each_digest_covers_its_part(
    edit: Callable[[PromptAssembly], object], changed: set[str]
) -> None:
    """It changes with the bytes that it covers, and with nothing else."""
    before, assembly = example().fingerprint(), example()
    edit(assembly)
    after = assembly.fingerprint()
    assert {name for name in NAMES if getattr(before, name) != getattr(after, name)} == changed


def test_a_fingerprint_is_five_hex_digests() -> None:
    """And a value: equal assemblies have equal ones."""
    fingerprint = example().fingerprint()
    assert isinstance(fingerprint, Fingerprint)
    assert set(attrs.asdict(fingerprint)) == NAMES
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in attrs.astuple(fingerprint))
    assert fingerprint == example().fingerprint()
    assert hash(fingerprint) == hash(example().fingerprint())


def test_the_prefix_ends_before_the_first_section_that_is_not_cacheable() -> None:
    """What comes after that is not stable, whatever it says itself."""
    assembly = example()
    assembly.sections.insert(0, AssembledSection("first", "First."))
    only_tools = PromptAssembly(tools=assembly.tools).fingerprint()
    assert assembly.fingerprint().prefix == only_tools.prefix


def test_the_prefix_of_a_wholly_stable_assembly_is_all_of_it() -> None:
    """Adding a section behind it changes the prefix then."""
    assembly = PromptAssembly([AssembledSection("a", "A", cacheable=True)])
    before = assembly.fingerprint().prefix
    assembly.sections.append(AssembledSection("b", "B", cacheable=True))
    assert assembly.fingerprint().prefix != before
    longer = assembly.fingerprint().prefix
    assembly.sections.append(AssembledSection("c", "C"))
    assert assembly.fingerprint().prefix == longer


def test_bytes_of_different_parts_are_not_confused() -> None:
    """Where one part ends and the next begins is part of the digest."""
    one = PromptAssembly([AssembledSection("a", "A\n\nB", cacheable=True)])
    two = PromptAssembly(
        [AssembledSection("a", "A", cacheable=True), AssembledSection("b", "B", cacheable=True)]
    )
    assert one.fingerprint() == two.fingerprint()
    three = PromptAssembly((), [AssembledContext("a", "A\n\nB")])
    assert three.fingerprint().all != one.fingerprint().all


def test_the_order_of_keys_in_parameters_counts() -> None:
    """A provider sends them in that order, and caches what it was sent."""
    one = PromptAssembly(tools=[ToolSchema("x", "", {"a": 1, "b": 2})])
    two = PromptAssembly(tools=[ToolSchema("x", "", {"b": 2, "a": 1})])
    assert one.tools == two.tools
    assert one.fingerprint().tools != two.fingerprint().tools


def test_equal_digests_mean_equal_texts() -> None:
    """However the texts came about."""
    prompt = SystemPrompt(Config(persona="Hello {{x}}.", include_harness_identity=False))
    prompt.variable("x", "there")
    prompt.context(name="x", order=1, text=lambda: "{{x}}")
    by_hand = PromptAssembly(
        [AssembledSection("any", "Hello there.", cacheable=True)], [AssembledContext("c", "there")]
    )
    assembly = prompt.assemble()
    assert render_prompt(assembly) == render_prompt(by_hand)
    assert render_context_snapshot(assembly) == render_context_snapshot(by_hand)
    assert assembly.fingerprint() == by_hand.fingerprint()


def test_texts_of_any_characters_have_fingerprints() -> None:
    """Lone surrogates too, as they come out of file names."""
    texts = ["é", "\U0001f600", "\ud83d", "\x00", "\u2028"]
    digests = {sections_of(text).fingerprint().system for text in texts}
    assert len(digests) == len(texts)


def sections_of(text: str) -> PromptAssembly:
    """Make an assembly of one section."""
    return PromptAssembly([AssembledSection("x", text)])


def test_the_digests_are_known() -> None:
    """They are the same on every machine and Python version: a change of the bytes shows here."""
    digests = attrs.asdict(example().fingerprint())
    assert {name: digest[:16] for name, digest in digests.items()} == {
        "prefix": "4500c7b1796466b4",
        "system": "ff289fa313dd7f2e",
        "tools": "1fd3c79c12b90775",
        "contexts": "d506052be3569d18",
        "all": "468bb5444c8b68de",
    }


def test_what_cannot_be_rendered_has_no_fingerprint() -> None:
    """It raises what rendering raises."""
    for assembly in (
        sections_of("{{missing}}"),
        PromptAssembly((), [AssembledContext("x", "{{missing}}")]),
    ):
        with pytest.raises(InterpolationError):
            assembly.fingerprint()


# What is cacheable


@pytest.mark.parametrize(
    ("fields", "cacheable"),
    [
        ({"text": "static"}, True),
        ({"text": ""}, True),
        ({"text": "{{constant}}"}, True),
        ({"text": "{{{{called}}}}"}, True),
        ({"text": "{{called}}", "literal": True}, True),
        ({"text": "{{ literal }}", "literal": True}, True),
        ({"text": "{{constant}} {{called}}"}, False),
        ({"text": "{{missing}}"}, False),
        ({"text": "{{ malformed }}"}, False),
        ({"text": lambda: "called"}, False),
        ({"text": lambda: "called", "literal": True}, False),
        ({"text": lambda: "called", "cacheable": True}, True),
        ({"text": "{{called}}", "cacheable": True}, True),
        ({"text": "static", "cacheable": False}, False),
    ],
)
def test_a_section_is_cacheable_by_what_it_is_made_of(
    fields: dict[str, Any], *, cacheable: bool
) -> None:
    """A text that references only constants; an explicit value wins."""
    prompt = SystemPrompt()
    prompt.variable("constant", "value")
    prompt.variable("called", lambda: "value")
    prompt.section(name="x", order=1, **fields)
    assert prompt.assemble().sections[-1].cacheable is cacheable


def test_a_section_is_cacheable_by_the_variables_of_the_scope_that_looks() -> None:
    """A scope may shadow a constant by a provider, and the other way round."""
    prompt = SystemPrompt()
    scope, sibling = prompt.create_scope("agent"), prompt.create_scope("sibling")
    prompt.section(name="x", order=1, text="{{x}}")
    prompt.section(name="y", order=2, text="{{y}}")
    prompt.variable("x", "constant")
    prompt.variable("y", lambda: "called")
    scope.variable("x", lambda: "called")
    scope.variable("y", "constant")
    for _ in range(2):
        views = [
            [section.cacheable for section in prompt.assemble(scope=s).sections[2:]]
            for s in (None, scope, sibling)
        ]
        assert views == [[True, False], [False, True], [True, False]]


def test_a_section_stops_being_cacheable_when_its_variable_changes_hands() -> None:
    """Each change of the host is taken into account."""
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text="{{x}}")
    constant = prompt.variable("x", "constant")
    assert prompt.assemble().sections[-1].cacheable
    constant.dispose()
    assert not prompt.assemble().sections[-1].cacheable
    called = prompt.variable("x", lambda: "called")
    assert not prompt.assemble().sections[-1].cacheable
    called.dispose()
    prompt.variable("x", "constant")
    assert prompt.assemble().sections[-1].cacheable
