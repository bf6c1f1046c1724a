"""Interpolation of any text agrees with a reference written from the rules alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings

from dsh_prompt import (
    AssembledContext,
    AssembledSection,
    InterpolationError,
    MalformedReferenceError,
    PromptAssembly,
    SystemPrompt,
    UndefinedVariableError,
    UnknownVariableError,
    render_context_sections,
    render_prompt,
)
from tests.laws import strategies

if TYPE_CHECKING:
    from collections.abc import Callable

NAME = re.compile(r"[a-z][a-z0-9_]*")
GROUP = re.compile(r"\{\{([^{}]*)\}\}")
Values = dict[str, str | None]


class WrongReferenceError(Exception):
    """Raised by the reference, with the expected error and the text that must be in it."""


def interpret(text: str, values: Values) -> str:
    """Interpolate *text* by the rules: escapes, groups, malformed references, prose."""
    start = text.find("{{")
    if start < 0:
        return text
    rendered, end = _reference(text, start, values)
    return text[:start] + rendered + interpret(text[end:], values)


def _reference(text: str, start: int, values: Values) -> tuple[str, int]:
    """Give what the braces at *start* render as, and where the text goes on."""
    escape_end = text.find("}}}}", start + 4) if text.startswith("{{{{", start) else -1
    if escape_end >= 0:
        return "{{" + text[start + 4 : escape_end] + "}}", escape_end + 4
    group = GROUP.match(text, start)
    if group:
        return _value(group[1], values), group.end()
    if "}}" in text[start + 2 :]:
        units = text[start:].encode("utf-16-le")[:32].decode("utf-16-le", "ignore")
        raise WrongReferenceError(MalformedReferenceError, f'reference at "{units}…" in ')
    return "{{", start + 2


def _value(name: str, values: Values) -> str:
    reference = "{{" + name + "}}"
    if not NAME.fullmatch(name):
        raise WrongReferenceError(MalformedReferenceError, f'reference "{reference}" in ')
    if name not in values:
        raise WrongReferenceError(UnknownVariableError, f'unknown prompt variable "{reference}"')
    value = values[name]
    if value is None:
        raise WrongReferenceError(UndefinedVariableError, f'"{reference}" has no value')
    return value


def _render_section(text: str, values: Values, *, literal: bool = False) -> str:
    section = AssembledSection("s", text, literal=literal)
    assembly = PromptAssembly(sections=[section], contexts=[], tools=[], variables=values)
    return render_prompt(assembly)


def _render_context(text: str, values: Values, *, literal: bool = False) -> str:
    context = AssembledContext("s", text, literal=literal)
    assembly = PromptAssembly(sections=[], contexts=[context], tools=[], variables=values)
    return "".join(part for _, part in render_context_sections(assembly))


RENDER = {"section": _render_section, "context": _render_context}


@pytest.mark.parametrize("kind", RENDER)
@given(text=strategies.any_texts, values=strategies.variables)
@settings(max_examples=300)
@example(text="{{{{a}}}}", values={})
@example(text="{{{{{a}}}}}", values={"a": "}}"})
@example(text="{{{{a}} b}}}}", values={"a": "{{a}}"})
@example(text="{{{{a}}", values={"a": "A"})
@example(text="{{a}}}", values={"a": "A"})
@example(text="{{}", values={})
@example(text="{{ 34567890123\U0001f600\U0001f600}}{{", values={})
@example(text="{{{34567890123456}}}", values={})
@example(text="{{{4567890123456\U0001f600}}}", values={})
@example(text="{{a\n}}", values={"a": "A"})
def test_interpolation_follows_the_rules(kind: str, text: str, values: Values) -> None:
    """Any text renders as the rules say or raises the interpolation error that they name."""
    render: Callable[[str, Values], str] = RENDER[kind]
    try:
        expected = interpret(text, values)
    except WrongReferenceError as wrong:
        error, needle = wrong.args
        with pytest.raises(InterpolationError) as caught:
            render(text, values)
        assert type(caught.value) is error
        assert needle in str(caught.value)
        assert f'{kind} "s"' in str(caught.value)
    else:
        assert render(text, values) == expected


@given(text=strategies.any_texts, values=strategies.variables)
def test_values_are_never_scanned(text: str, values: Values) -> None:
    """A value goes in as it is, whatever it looks like."""
    assert _render_section("<{{v}}>", {**values, "v": text}) == f"<{text}>"


@pytest.mark.parametrize("kind", RENDER)
@given(text=strategies.any_texts, values=strategies.variables)
def test_literal_texts_are_left_alone(kind: str, text: str, values: Values) -> None:
    """A literal text renders as itself, braces and all."""
    assert RENDER[kind](text, values, literal=True) == text


@given(text=strategies.any_texts)
def test_literal_sections_reach_the_prompt_as_they_are(text: str) -> None:
    """A literal section, of a constant or of a provider, renders as itself."""
    for given_text in (text, lambda: text):
        prompt = SystemPrompt()
        prompt.section(name="harness:only", order=0, text=given_text, complete=True, literal=True)
        assert render_prompt(prompt.assemble()) == text


def _fits_an_escape(text: str) -> bool:
    return f"{text}}}}}}}}}".find("}}}}") == len(text)


@pytest.mark.parametrize("kind", RENDER)
@given(text=strategies.any_texts.filter(_fits_an_escape), values=strategies.variables)
def test_an_escape_carries_its_text(kind: str, text: str, values: Values) -> None:
    """Four braces around a text render as two, whatever the text and its surroundings."""
    escaped = "{{{{" + text + "}}}}"
    carried = "{{" + text + "}}"
    assert RENDER[kind](f"a {escaped} b {escaped}", values) == f"a {carried} b {carried}"
