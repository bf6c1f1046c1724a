"""Assemblies into text: the system prompt and the snapshot of runtime contexts."""

from __future__ import annotations

from itertools import compress, count, repeat
from operator import is_not
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from dsh_prompt.model.blocks import NOTHING_JOINED, Blocks
from dsh_prompt.render.template import interpolate, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dsh_prompt.model.assembled import AssembledContext, AssembledSection
    from dsh_prompt.model.blocks import Block
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source
    from dsh_prompt.model.tools import ToolSchema
    from dsh_prompt.render.template import Template

#: Sections or contexts as an assembly holds them.
Held: TypeAlias = "Blocks | list[AssembledSection] | list[AssembledContext]"

SNAPSHOT_HEADER = (
    "Current runtime context. This snapshot supersedes earlier runtime-context snapshots."
)


def render_prompt(assembly: PromptAssembly) -> str:
    """Give the system prompt: sections interpolated, empty ones dropped, a blank line between.

    Raises `InterpolationError` for the first bad reference.
    """
    return _joined(assembly._sections, render_sections(assembly), "")


def render_context_snapshot(assembly: PromptAssembly) -> str:
    """Give the user-role text with all runtime contexts, ``""`` where there is none.

    Raises `InterpolationError` for the first bad reference.
    """
    return _joined(assembly._contexts, render_contexts(assembly), SNAPSHOT_HEADER)


def render_context_sections(assembly: PromptAssembly) -> list[tuple[str, str]]:
    """Give the (name, text) parts of the snapshot, empty ones left out."""
    names = [context.name for context in assembly._facts("context")]
    texts = render_contexts(assembly)
    return [(name, text) for name, text in zip(names, texts, strict=True) if text]


def join_context_sections(parts: Iterable[tuple[str, str]]) -> str:
    """Join the (name, text) *parts* of a snapshot, under its header."""
    texts = [text for _, text in parts]
    return "\n\n".join([SNAPSHOT_HEADER, *texts]) if texts else ""


def render_sections(assembly: PromptAssembly) -> Sequence[str]:
    """Give the text of every section, in order, ``""`` for one that is empty."""
    return _render("section", assembly._sections, assembly._variables)


def render_contexts(assembly: PromptAssembly) -> Sequence[str]:
    """Give the text of every context, in order, ``""`` for one that is empty."""
    return _render("context", assembly._contexts, assembly._variables)


def tool_size(tool: ToolSchema) -> int:
    """Count the characters of what a provider is sent of *tool*, as compact JSON."""
    import json  # noqa: PLC0415 - only for logs and tables

    parameters = json.dumps(tool.parameters, ensure_ascii=False, separators=(",", ":"))
    return len(tool.name) + len(tool.description) + len(parameters)


def _joined(held: Held, texts: Sequence[str], header: str) -> str:
    """Join the *texts* that *held* was rendered to, under the *header* if there are any."""
    if not isinstance(held, Blocks):
        return _join(texts, header)
    last = held.memory.joined
    if last[0] is texts:
        return last[1]
    last = held.memory.joined = NOTHING_JOINED  # rather than two of them at once
    joined = _join(texts, header)
    held.memory.joined = (texts, joined)
    return joined


def _join(texts: Iterable[str], header: str) -> str:
    joined = "\n\n".join(filter(None, texts))
    return f"{header}\n\n{joined}" if header and joined else joined


def _render(
    kind: Literal["section", "context"], held: Held, variables: Mapping[str, str | None]
) -> Sequence[str]:
    if not isinstance(held, Blocks):
        return [_render_item(kind, item, variables) for item in held]
    memory, texts = held.memory, held.texts
    blocks, before, known, last = memory.rendering or _NEVER
    if known != variables or (blocks is not held.blocks and blocks != held.blocks):
        known = dict(variables)
        rendered = list(map(_render_block, held.blocks, texts, repeat(variables)))
    elif before == texts:
        return last
    else:
        rendered = list(last)
        for index in compress(count(), map(is_not, texts, before)):
            if texts[index] != before[index]:
                rendered[index] = _render_block(held.blocks[index], texts[index], variables)
    memory.rendering = (held.blocks, texts, known, rendered)
    return rendered


#: What was rendered last, blocks and texts, and with which variables: most comes back unchanged.
Rendering: TypeAlias = (
    "tuple[Sequence[Block] | None, Sequence[str], dict[str, str | None] | None, Sequence[str]]"
)
_NEVER: Rendering = (None, (), None, [])


def _render_block(block: Block, text: str, variables: Mapping[str, str | None]) -> str:
    template = block.template
    if template is None or template.text != text:
        if block.seen != text:
            # It may be another one each time: only what comes back is worth parsing.
            block.seen = text
            rendered: str | None = text
            if not block.literal:
                rendered, block.likely = interpolate(text, variables, block.likely)
            if rendered is not None:
                return rendered if block.title is None else _titled(block, rendered)
        template = _parsed(block, text)
    if not template.is_plain:
        text = _interpolated(block, template, variables, block.source)
    return text if block.title is None else _titled(block, text)


def block_text(block: Block, text: str, variables: Mapping[str, str | None]) -> str:
    """Give *text* of *block* as the model gets it, without the title.

    Raises `InterpolationError` for the first bad reference.
    """
    template = _parsed(block, text)
    return text if template.is_plain else _interpolated(block, template, variables, block.source)


def _titled(block: Block, text: str) -> str:
    return with_title(block.title or "", text, block.strategy)


def _parsed(block: Block, text: str) -> Template:
    """Give *text* as parsed; one that comes back unchanged is not parsed again."""
    template = block.template
    if template is None or template.text != text:
        template = block.template = parse(text, literal=block.literal)
    return template


def _interpolated(
    block: Block, template: Template, variables: Mapping[str, str | None], source: Source | None
) -> str:
    values = template.values(variables)
    last = block.rendered
    if last is not None and last[0] is template and last[1] == values:
        return last[2]
    text = template.render(values, variables, block.kind, block.name, source)
    block.rendered = (template, values, text)
    return text


def item_text(kind: str, item: Any, variables: Mapping[str, str | None]) -> str:
    """Give the text of *item*, which a listener may have edited, as `block_text` does."""
    block: Block | None = item._block
    if block is not None and (block.literal, block.name) == (item.literal, item.name):
        return _interpolated(block, _parsed(block, item.text), variables, item.source)
    template = parse(item.text, literal=item.literal)
    return template.render(template.values(variables), variables, kind, item.name, item.source)


def _render_item(kind: str, item: Any, variables: Mapping[str, str | None]) -> str:
    rendered = item_text(kind, item, variables)
    if item.title is None:
        return rendered
    return with_title(item.title, rendered, getattr(item, "strategy", "when_non_empty"))


def with_title(title: str, text: str, strategy: str) -> str:
    """Put ``## title`` over *text*; an empty text keeps it with ``strategy="always"`` only."""
    if text:
        return f"## {title}\n\n{text}"
    return f"## {title}" if strategy == "always" else ""
