"""Interpolation: what is a reference, what is prose, what is a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    InterpolationError,
    MalformedReferenceError,
    PromptAssembly,
    Source,
    SystemPrompt,
    UndefinedVariableError,
    UnknownVariableError,
    hookimpl,
    render_context_snapshot,
    render_prompt,
)
from dsh_prompt.render.template import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import DisposableContext


def rendered(text: str, **variables: str | None) -> str:
    """Render a section of this *text*."""
    return render_prompt(PromptAssembly([AssembledSection("s", text)], variables=variables))


def render_of(kind: str, text: str, *, literal: bool = False) -> Callable[[], str]:
    """Give what renders a section or context "x" of plugin "owner", of this *text*."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            register: Callable[..., object] = ctx.section if kind == "section" else ctx.context
            register(name="x", order=1, text=text, literal=literal)
            ctx.variable("empty", lambda: None)
            ctx.variable("b", "B")
            ctx.variable("a", "A")

    prompt = SystemPrompt()
    prompt.load(Plugin(), name="owner")
    assembly = prompt.assemble()
    render = render_prompt if kind == "section" else render_context_snapshot
    return lambda: render(assembly)


# References


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{x}}", "X"),
        ("a {{x}} b {{y}} c", "a X b Y c"),
        ("{{x}}{{y}}{{x}}", "XYX"),
        ("{{long_name_2}}", "L"),
        ("no reference", "no reference"),
        ("\n{{x}}\n\n", "\nX\n\n"),
        ("", ""),
    ],
)
def test_a_reference_is_replaced_by_its_value(text: str, expected: str) -> None:
    """Wherever it stands, and as often as it does."""
    assert rendered(text, x="X", y="Y", long_name_2="L") == expected


@pytest.mark.parametrize("value", ["{{y}}", "{{", "}}", "{{{{y}}}}", "{{ bad }}", "\\1", "{x}"])
def test_a_value_is_never_scanned_again(value: str) -> None:
    """It is text, whatever it looks like, also together with what stands beside it."""
    assert rendered("<{{x}}>", x=value, y="Y") == f"<{value}>"
    assert rendered("{{x}}y}}", x="{{", y="Y") == "{{y}}"


@pytest.mark.parametrize(
    "text",
    ["{", "}", "{x}", "}}", "a }} b", "{{x}} }}", "{{x}}}", "{{", "a {{ b", "{{{", "{{{{", "{{x}"],
)
def test_other_braces_are_prose(text: str) -> None:
    """A ``{{`` with no ``}}`` after it, and everything that opens nothing."""
    assert rendered(text, x="X") == text.replace("{{x}}", "X")


def test_prose_braces_may_stand_after_references() -> None:
    """Only what comes later decides."""
    assert rendered("}} {{x}} {{ open", x="X") == "}} X {{ open"


# The escape


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{{{x}}}}", "{{x}}"),
        ("{{{{ anything at all }}}}", "{{ anything at all }}"),
        ("{{{{}}}}", "{{}}"),
        ("{{{{a}}}} {{x}} {{{{b}}}}", "{{a}} X {{b}}"),
        ("{{{{a{{x}}b}}}}", "{{a{{x}}b}}"),
        ("{{{{a\nb}}}}", "{{a\nb}}"),
        ("{{{{a}}}}}", "{{a}}}"),
        ("{{{{a}b}}c}}}}", "{{a}b}}c}}"),
        ("{{{{{a}}}}", "{{{a}}"),
        ("{{x}}{{{{x}}}}{{x}}", "X{{x}}X"),
    ],
)
def test_four_braces_escape_two(text: str, expected: str) -> None:
    """Up to the next four; what stands between is not looked at."""
    assert rendered(text, x="X") == expected


def test_an_escape_that_is_not_closed_follows_the_other_rules() -> None:
    """Prose without ``}}``, an error with one."""
    assert rendered("{{{{ a") == "{{{{ a"
    with pytest.raises(MalformedReferenceError, match="complete simple"):
        rendered("{{{{x}}", x="X")


# Mistakes


NAMES_MATCH = "variable names match /^[a-z][a-z0-9_]*$/"
WHOLE_GROUPS = "references are complete simple {{name}} groups"
MALFORMED = "malformed prompt variable reference"


@pytest.mark.parametrize("kind", ["section", "context"])
@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "{{a}} {{constructor}}",
            UnknownVariableError,
            'unknown prompt variable "{{constructor}}" in %s; registered variables: a, b, empty',
        ),
        (
            "{{empty}}",
            UndefinedVariableError,
            'prompt variable "{{empty}}" has no value for this assembly (%s)',
        ),
        ("{{ a }}", MalformedReferenceError, f'{MALFORMED} "{{{{ a }}}}" in %s ({NAMES_MATCH})'),
        (
            "{{{a}}}",
            MalformedReferenceError,
            f'{MALFORMED} at "{{{{{{a}}}}}}…" in %s ({WHOLE_GROUPS})',
        ),
    ],
)
def test_a_mistake_names_the_place_and_its_owner(
    kind: str, text: str, error: type[InterpolationError], message: str
) -> None:
    """With the words that are fixed, whole, after the owner."""
    render = render_of(kind, text)
    with pytest.raises(error) as caught:
        render()
    assert str(caught.value) == 'plugin "owner": ' + message % f'{kind} "x"'
    assert (caught.value.kind, caught.value.name) == (kind, "x")
    assert isinstance(caught.value, InterpolationError)


@pytest.mark.parametrize(
    "text", ["{{ a }}", "{{}}", "{{A}}", "{{1a}}", "{{a-b}}", "{{a\n}}", "{{é}}", "{{ a, b }}"]
)
def test_a_whole_group_with_another_name_is_malformed(text: str) -> None:
    """It is quoted whole, with the rule for names."""
    with pytest.raises(MalformedReferenceError) as caught:
        rendered(f"before {text} after", a="A")
    assert str(caught.value) == f'{MALFORMED} "{text}" in section "s" ({NAMES_MATCH})'


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("{{{a}}}", "{{{a}}}"),
        ("{{a{b}}", "{{a{b}}"),
        ("{{a}b}}", "{{a}b}}"),
        ("{{{{a}}", "{{{{a}}"),
        ("{{ open {and}, much later, }}", "{{ open {and}, m"),
        ("{{ {{a}} }}", "{{ {{a}} }}"),
    ],
)
def test_what_opens_no_whole_group_is_malformed(text: str, excerpt: str) -> None:
    """An excerpt is quoted, with the rule for groups; it may go on for long before the end."""
    with pytest.raises(MalformedReferenceError) as caught:
        rendered(f"before {text}", a="A")
    assert str(caught.value) == f'{MALFORMED} at "{excerpt}…" in section "s" ({WHOLE_GROUPS})'


@pytest.mark.parametrize(
    ("start", "excerpt"),
    [
        ("{{{45678901234567", "{{{4567890123456"),
        ("{{{456789012345\U0001f600", "{{{456789012345"),
        ("{{{45678901234\U0001f600", "{{{45678901234\U0001f600"),
        ("{{{4567\ud83d", "{{{4567 }}"),
    ],
)
def test_the_excerpt_has_sixteen_utf16_units(start: str, excerpt: str) -> None:
    """Half a surrogate pair at its end, or alone, is left out."""
    with pytest.raises(MalformedReferenceError) as caught:
        rendered(f"{start} }}}}")
    assert f'at "{excerpt}…" in section' in str(caught.value)


def test_without_any_variable_the_error_says_so() -> None:
    """Nothing is registered then."""
    with pytest.raises(UnknownVariableError, match=r"registered variables: \(none\)$"):
        rendered("{{x}}")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("{{missing}} {{empty}} {{ }}", UnknownVariableError),
        ("{{empty}} {{missing}} {{ }}", UndefinedVariableError),
        ("{{ }} {{missing}} {{empty}}", MalformedReferenceError),
        ("{{x}} {{ }} {{missing}}", MalformedReferenceError),
    ],
)
def test_the_first_bad_reference_is_reported(text: str, error: type[InterpolationError]) -> None:
    """In the order of the text."""
    with pytest.raises(error):
        rendered(text, x="X", empty=None)


def test_the_first_bad_section_is_reported() -> None:
    """In the order of the sections."""
    sections = [AssembledSection("a", "{{ }}"), AssembledSection("b", "{{missing}}")]
    with pytest.raises(MalformedReferenceError, match='section "a"'):
        render_prompt(PromptAssembly(sections))


def test_a_text_without_an_owner_is_reported_without_one() -> None:
    """As in an assembly that was made by hand."""
    with pytest.raises(UnknownVariableError, match=r'^unknown prompt variable "{{x}}" in sec'):
        rendered("{{x}}")


def test_a_listener_that_added_the_text_is_its_owner() -> None:
    """The source of the section is what is named."""
    prompt = SystemPrompt()
    source = Source("somebody", "some-dist", "1.0", "agent")
    section = AssembledSection("x", "{{missing}}", source=source)
    prompt.on_assemble(lambda assembly: assembly.sections.append(section))
    match = r'^plugin "somebody" \(some-dist 1.0, in scope "agent"\): unknown prompt variable'
    with pytest.raises(UnknownVariableError, match=match):
        render_prompt(prompt.assemble())


def test_a_value_that_is_no_text_is_an_error_of_its_own() -> None:
    """An assembly made by hand has no guard."""
    value: Any = 5
    with pytest.raises(InterpolationError, match=r'"{{x}}" must be a str, not int'):
        rendered("{{x}}", x=value)


def test_a_mistake_is_found_when_it_is_rendered() -> None:
    """Assembling does not interpolate: a listener may still provide what is missing."""
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text="{{x}}")
    assembly = prompt.assemble()
    with pytest.raises(UnknownVariableError):
        render_prompt(assembly)
    assembly.variables["x"] = "X"
    assert render_prompt(assembly).endswith("X")


# literal


@pytest.mark.parametrize("kind", ["section", "context"])
@pytest.mark.parametrize("text", ["{{a}}", "{{ a }}", "{{missing}}", "{{{{a}}}}", "{{{", "}}"])
def test_a_literal_text_is_left_as_it_is(kind: str, text: str) -> None:
    """All of its braces are text."""
    assert render_of(kind, text, literal=True)().endswith(f"\n\n{text}")


def test_a_listener_may_make_a_text_literal_or_not() -> None:
    """The field of the assembled section or context is what counts."""
    prompt = SystemPrompt()
    prompt.variable("a", "A")
    prompt.section(name="x", order=1, text="{{a}}", literal=True)
    prompt.context(name="x", order=1, text="{{a}}")

    def swap(assembly: PromptAssembly) -> None:
        assembly.sections[-1].literal = False
        assembly.contexts[-1].literal = True

    prompt.on_assemble(swap)
    for _ in range(2):
        assembly = prompt.assemble()
        assert render_prompt(assembly).endswith("\n\nA")
        assert render_context_snapshot(assembly).endswith("\n\n{{a}}")


# Remembered templates


def test_rendering_depends_on_nothing_that_was_rendered_before() -> None:
    """Whatever is remembered, each text and each value counts."""
    texts, values = ["{{x}}!", "{{x}}?", "{{{{x}}}}", "{{x}}!"], ["1", "2", "1", "1"]
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text=lambda: texts[0])
    prompt.variable("x", lambda: values[0])
    shown = []
    while texts:
        shown.append(render_prompt(prompt.assemble()).rpartition("\n")[2])
        texts.pop(0)
        values.pop(0)
    assert shown == ["1!", "2?", "{{x}}", "1!"]


def test_two_assemblies_of_one_host_render_apart() -> None:
    """An edit, or other variables, of one do not show in the other."""
    prompt = SystemPrompt()
    prompt.section(name="x", order=1, text="{{x}}")
    prompt.context(name="x", order=1, text="{{x}}")
    prompt.variable("x", "value")
    one, two = prompt.assemble(), prompt.assemble()
    one.sections[-1].text = "edited {{x}}"
    one.variables["x"] = "other"
    for _ in range(2):
        assert render_prompt(one).endswith("\n\nedited other")
        assert render_prompt(two).endswith("\n\nvalue")
        assert render_context_snapshot(one).endswith("\n\nother")
        assert render_context_snapshot(two).endswith("\n\nvalue")


def test_a_context_made_by_hand_is_interpolated_too() -> None:
    """As sections are."""
    assembly = PromptAssembly(contexts=[AssembledContext("c", "{{x}}")], variables={"x": "X"})
    assert render_context_snapshot(assembly).endswith("\n\nX")


@pytest.mark.parametrize("text", ["{{" * 200_000, "{{a}}" * 50_000 + "{{{{" * 100_000])
def test_unclosed_braces_are_looked_through_once(text: str) -> None:
    """However many there are: a quadratic search would not end in this test's patience."""
    assert len(parse(text).names) == text.count("{{a}}")
