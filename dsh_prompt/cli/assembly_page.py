"""An assembly for people: what is in it, whose it is, how large; then the texts themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dsh_prompt.cli.pages import Page
from dsh_prompt.errors import quoted
from dsh_prompt.model.deferred import DEFERRED
from dsh_prompt.render.fingerprint import stable_count
from dsh_prompt.render.prompt import (
    join_context_sections,
    render_context_sections,
    render_prompt,
    render_sections,
    tool_size,
)

if TYPE_CHECKING:
    from collections.abc import Sized

    from dsh_prompt.cli.output import Destination
    from dsh_prompt.cli.pages import Cell
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source
    from dsh_prompt.model.tools import ToolSchema


def assembly_page(assembly: PromptAssembly, destination: Destination) -> str:
    """Lay out the whole model input: tables, then system prompt, snapshot and tools."""
    page = Page(destination)
    _sections_table(page, assembly)
    _contexts_table(page, assembly)
    _tools_table(page, assembly)
    _trimmed_table(page, assembly)
    page.text(f"Fingerprint of tools and stable prefix: {assembly.fingerprint().prefix}")
    _system_prompt(page, assembly)
    page.rule("Context snapshot")
    page.text(join_context_sections(render_context_sections(assembly)) or "(empty)")
    page.rule("Tools")
    page.text("\n\n".join(map(_tool_text, assembly.tools)) or "(none)")
    return str(page)


def _sections_table(page: Page, assembly: PromptAssembly) -> None:
    texts = render_sections(assembly)
    stable = stable_count(assembly)
    page.heading(
        f"System prompt: {_count(texts, 'section')}, {_characters(render_prompt(assembly))}, "
        f"{_count(texts[:stable], 'section')} in the stable prefix"
    )
    rows = [
        (
            section.name,
            owner(section.source),
            _order(section.order),
            len(text),
            _yes(index < stable),
        )
        for index, (section, text) in enumerate(zip(assembly.sections, texts, strict=True))
    ]
    page.table(("Section", "Owner", "Order", "Chars", "Prefix"), rows)
    if notice := _out_of_reach(assembly):
        page.text(notice)


def _system_prompt(page: Page, assembly: PromptAssembly) -> None:
    """Print the prompt, with a line where the stable prefix ends and more follows."""
    texts = render_sections(assembly)
    stable = stable_count(assembly)
    prefix, rest = ("\n\n".join(filter(None, part)) for part in (texts[:stable], texts[stable:]))
    page.rule("System prompt")
    if prefix or not rest:
        page.text(prefix or "(empty)")
    if rest:
        page.rule("End of the stable prefix; what follows can change")
        page.text(rest)


def _out_of_reach(assembly: PromptAssembly) -> str | None:
    """Tell of stable sections after one that can change: no cached prefix reaches them."""
    sections = assembly.sections[stable_count(assembly) :]
    after = [section for section in sections if section.cacheable]
    if not after:
        return None
    first = sections[0]
    text = (
        f'section "{first.name}" (of {owner(first.source)}) can change, and stable ones stand '
        f"after it, where no cached prefix reaches: {quoted(section.name for section in after)}"
    )
    if any(one.source is None or one.source.how == "waterfall" for one in (first, *after)):
        return text
    return f'{text}; layout = "cache-first" puts them before it'


def _contexts_table(page: Page, assembly: PromptAssembly) -> None:
    parts = render_context_sections(assembly)
    snapshot = join_context_sections(parts)
    page.heading(
        f"Context snapshot: {_count(assembly.contexts, 'context')}, {_characters(snapshot)}"
    )
    texts = dict(parts)
    rows = [
        (
            context.name,
            owner(context.source),
            _order(context.order),
            len(texts.get(context.name, "")),
            _yes(False),
        )
        for context in assembly.contexts
    ]
    page.table(("Context", "Owner", "Order", "Chars", "Prefix"), rows)


def _tools_table(page: Page, assembly: PromptAssembly) -> None:
    sizes = [tool_size(tool) for tool in assembly.tools]
    page.heading(f"Tools: {_count(sizes, 'tool')}, {_count_of(sum(sizes), 'character')}")
    denied, held = assembly.denied, _held_back(assembly)
    columns = ("Tool", "Owner", "Order", "Chars", "Prefix")
    rows: list[tuple[Cell, ...]] = [
        (
            tool.name,
            owner(assembly.source_of("tool", tool.name)),
            place,
            size,
            _yes(tool.name not in held),
            *([_yes(tool.name in held)] if held else []),
            *([denied.get(tool.name, "")] if denied else []),
        )
        for place, (tool, size) in enumerate(zip(assembly.tools, sizes, strict=True), 1)
    ]
    more = [name for name, there in (("Held back", held), ("Denied", denied)) if there]
    page.table((*columns, *more), rows)


def _held_back(assembly: PromptAssembly) -> frozenset[str]:
    """Name the tools that the model is not told about until it finds them."""
    deferred = assembly.get(DEFERRED)
    return frozenset() if deferred is None else deferred.names


def _trimmed_table(page: Page, assembly: PromptAssembly) -> None:
    """Tell what took more than its budget; most assemblies have nothing of the kind."""
    trimmed = assembly.trimmed
    if trimmed:
        page.heading(f"Over budget: {_count(trimmed, 'text')}")
        rows = [(one.kind, one.name, one.how, one.before, one.after) for one in trimmed]
        page.table(("Kind", "Name", "Result", "Before", "After"), rows)


def owner(source: Source | None) -> str:
    """Name the owner of a part in as few words as a table has room for."""
    if source is None:
        return "unknown"
    name = source.plugin or source.scope or "the host"
    if source.plugin is not None:
        name += f" ({source.distribution} {source.version})" if source.distribution else ""
        name += f" in {source.scope}" if source.scope is not None else ""
    return f"{name}, waterfall" if source.how == "waterfall" else name


def _tool_text(tool: ToolSchema) -> str:
    parameters = json.dumps(tool.parameters, ensure_ascii=False, indent=2)
    return f"{tool.name}: {tool.description}\n{parameters}"


def _order(order: float | None) -> str | float:
    return "" if order is None else order


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _count(items: Sized, noun: str) -> str:
    return _count_of(len(items), noun)


def _characters(text: str) -> str:
    return _count_of(len(text), "character")


def _count_of(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
