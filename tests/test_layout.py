"""``layout``: in which order the sections stand, and so how much of the prompt is stable."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt import AssembledSection, Config, ConfigError, PromptAssembly, SystemPrompt
from dsh_prompt.render.fingerprint import stable_count

Layout = Literal["order", "cache-first"]
LAYOUTS: tuple[Layout, ...] = ("order", "cache-first")


def host(layout: Layout) -> SystemPrompt:
    """Give a host without an identity."""
    return SystemPrompt(Config(layout=layout, include_harness_identity=False, persona="Be kind."))


def names(assembly: PromptAssembly) -> list[str]:
    """Give the names of the sections, without the persona's."""
    return [section.name for section in assembly.sections][1:]


def test_cacheable_sections_come_first_each_group_in_order() -> None:
    """Then a change leaves as much of the prompt as possible as it was."""
    orders: dict[str, list[str]] = {}
    for layout in LAYOUTS:
        prompt = host(layout)
        prompt.variable("cwd", "/src")
        prompt.variable("now", lambda: "noon")
        prompt.section(name="clock", order=1, text=lambda: "It is noon.")
        prompt.section(name="rules", order=2, text="Be precise.")
        prompt.section(name="time", order=3, text="It is {{now}}.")
        prompt.section(name="place", order=4, text="You are in {{cwd}}.")
        prompt.section(name="notes", order=5, text=lambda: "None.", cacheable=True)
        prompt.section(name="odd", order=6, text="None.", cacheable=False)
        assembly = prompt.assemble()
        orders[layout] = names(assembly)
        assert stable_count(assembly) == (1 if layout == "order" else 4)
    assert orders == {
        "order": ["clock", "rules", "time", "place", "notes", "odd"],
        "cache-first": ["rules", "place", "notes", "clock", "time", "odd"],
    }


def test_what_is_cacheable_is_decided_for_each_scope() -> None:
    """A variable that is constant here may not be there."""
    prompt = host("cache-first")
    prompt.variable("cwd", "/src")
    prompt.section(name="place", order=1, text="You are in {{cwd}}.")
    prompt.section(name="rules", order=2, text="Be precise.")
    scope = prompt.create_scope("agent")
    scope.variable("cwd", lambda: "/tmp")
    assert names(prompt.assemble()) == ["place", "rules"]
    assert names(prompt.assemble(scope=scope)) == ["rules", "place"]


def test_what_a_listener_adds_stays_where_it_put_it() -> None:
    """The layout is that of what was contributed."""
    prompt = host("cache-first")
    prompt.section(name="clock", order=1, text=lambda: "It is noon.")

    def add(assembly: PromptAssembly) -> None:
        assembly.sections.append(AssembledSection("late", "Stable.", cacheable=True))

    prompt.on_assemble(add)
    assert names(prompt.assemble()) == ["clock", "late"]


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=8))
def test_both_layouts_hold_the_same_sections(sections: list[tuple[int, bool]]) -> None:
    """The stable prefix of one is never shorter than that of the other."""
    assemblies = []
    for layout in LAYOUTS:
        prompt = host(layout)
        for number, (order, cacheable) in enumerate(sections):
            prompt.section(name=f"s{number}", order=order, text="x", cacheable=cacheable)
        assemblies.append(prompt.assemble())
    plain, first = assemblies
    stable = {section.name for section in plain.sections if section.cacheable}
    expected = [name for name in names(plain) if name in stable]
    expected += [name for name in names(plain) if name not in stable]
    assert names(first) == expected
    assert stable_count(first) == len(stable)
    assert first.generation == plain.generation


@pytest.mark.parametrize("layout", ["cache_first", "", None, 1])
def test_another_layout_is_refused(layout: object) -> None:
    """With the two that there are."""
    with pytest.raises(ConfigError, match="layout: expected 'order' or 'cache-first'"):
        Config(layout=layout)  # type: ignore[arg-type]
