"""What an assembly holds: sections, contexts and tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import attrs

from dsh_prompt.errors import nearest, quoted
from dsh_prompt.model.assembled import AssembledContext, AssembledSection
from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.model.source import describe
from dsh_prompt.render.prompt import render_contexts, render_sections
from dsh_prompt.testing.parts import diff

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T", AssembledSection, AssembledContext)


def assert_section(
    assembly: PromptAssembly,
    name: str,
    text: str | None = None,
    *,
    contains: str | Iterable[str] | None = None,
    plugin: str | None = None,
) -> AssembledSection:
    """Give the section *name*, which the assembly must hold.

    *text* is all that the model reads of it, variables filled in, without the title;
    *contains* is one part of that, or several; *plugin* is the name of the plugin that owns
    it.
    """
    __tracebackhide__ = True
    section = _find("section", assembly.sections, name)
    bare = attrs.evolve(section, title=None)
    [rendered] = render_sections(PromptAssembly([bare], variables=assembly.variables))
    _check("section", section, rendered, text, contains, plugin)
    return section


def assert_context(
    assembly: PromptAssembly,
    name: str,
    text: str | None = None,
    *,
    contains: str | Iterable[str] | None = None,
    plugin: str | None = None,
) -> AssembledContext:
    """Give the runtime context *name*, which the assembly must hold; else as `assert_section`."""
    __tracebackhide__ = True
    context = _find("context", assembly.contexts, name)
    bare = attrs.evolve(context, title=None)
    [rendered] = render_contexts(PromptAssembly((), [bare], variables=assembly.variables))
    _check("context", context, rendered, text, contains, plugin)
    return context


def assert_tools(assembly: PromptAssembly, *names: str, denied: Iterable[str] = ()) -> None:
    """Check that the tools are exactly *names*, in this order, and *denied* exactly those denied.

    A denied tool is still in the list.
    """
    __tracebackhide__ = True
    there = [tool.name for tool in assembly.tools]
    if there != list(names):
        raise AssertionError(
            f"the tools are other ones:\n{_lines_of_names(names, there)}{_guesses(there, names)}"
        )
    refused, expected = sorted(assembly.denied), sorted(denied)
    if refused != expected:
        reasons = "".join(
            f"\n    {name}: {reason}" for name, reason in sorted(assembly.denied.items())
        )
        raise AssertionError(
            f"other tools are denied: expected {quoted(expected) or 'none'}, there are "
            f"{quoted(refused) or 'none'}{reasons}"
        )


def _find(kind: str, items: Sequence[T], name: str) -> T:
    for item in items:
        if item.name == name:
            return item
    names = [item.name for item in items]
    raise AssertionError(
        f'there is no {kind} "{name}"{nearest(name, names)}; there are {quoted(names) or "none"}'
    )


def _check(
    kind: str,
    item: AssembledSection | AssembledContext,
    rendered: str,
    text: str | None,
    contains: str | Iterable[str] | None,
    plugin: str | None,
) -> None:
    label = f'{kind} "{item.name}" of {describe(item.source)}'
    owner = None if item.source is None else item.source.plugin
    if plugin is not None and owner != plugin:
        raise AssertionError(f'{label} should belong to plugin "{plugin}"')
    if text is not None and rendered != text:
        raise AssertionError(f"{label} has another text:\n{diff(text, rendered)}")
    wanted = [contains] if isinstance(contains, str) else list(contains or ())
    missing = [part for part in wanted if part not in rendered]
    if missing:
        lines = "\n".join(f"    {line}" for line in rendered.splitlines())
        raise AssertionError(f"{label} does not contain {quoted(missing)}; it is:\n{lines}")


def _lines_of_names(expected: Iterable[str], there: Iterable[str]) -> str:
    return diff("\n".join(expected), "\n".join(there))


def _guesses(there: Sequence[str], names: Iterable[str]) -> str:
    hints = [f'\nno tool "{name}"{nearest(name, there)}' for name in names if name not in there]
    return "".join(hints)
