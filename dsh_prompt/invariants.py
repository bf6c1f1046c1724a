"""The guard: what must be true of every finished assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from dsh_prompt.errors import InvariantError
from dsh_prompt.model.blocks import Blocks
from dsh_prompt.model.prompt_assembly import AssembledContext, AssembledSection, Provenance
from dsh_prompt.model.source import describe
from dsh_prompt.model.tools import ToolSchema
from dsh_prompt.render.template import is_variable_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source


def check_assembly(assembly: PromptAssembly) -> None:
    """Raise `InvariantError`, naming item and owner, unless *assembly* is well formed.

    Names of sections and contexts are non-empty and unique, texts are ``str``; tools have
    names; variables have valid names and ``str`` values or None; everything is of its
    declared type.
    """
    provenance = assembly._provenance or Provenance()
    for kind, held in (("section", assembly._sections), ("context", assembly._contexts)):
        if isinstance(held, Blocks):
            _check_untouched(kind, held)
        else:
            _check_blocks(kind, held, provenance)
    _check_tools(assembly._tools, provenance)
    _check_variables(assembly._variables, provenance)


def _check_untouched(kind: str, held: Blocks) -> None:
    # Merged by name and evaluated by us: only an empty name is left to find.
    for block in held.blocks:
        if not block.name:
            _breach(f"assembled {kind} names must be non-empty", block.source)


def _check_blocks(kind: str, items: Sequence[Any], provenance: Provenance) -> None:
    cls = AssembledSection if kind == "section" else AssembledContext
    seen: dict[str, Source | None] = {}
    for item in items:
        culprit = provenance.faults.get(id(item), (item, getattr(item, "source", None)))[1]
        if not isinstance(item, cls):
            _breach(f"assembled {kind} {item!r} must be an {cls.__name__}", culprit)
        if not isinstance(item.name, str) or not item.name:
            _breach(f"assembled {kind} names must be non-empty", culprit)
        if item.name in seen:
            _breach(
                f'assembled {kind} name "{item.name}" is duplicated',
                _newcomer(seen[item.name], item.source),
            )
        seen[item.name] = item.source
        if not isinstance(item.text, str):
            _breach(f'assembled {kind} "{item.name}" text must be a string', culprit)


def _newcomer(first: Source | None, second: Source | None) -> Source | None:
    """Of two that share a name, give the one that the waterfall brought."""
    return first if first is not None and first.how == "waterfall" else second


def _check_tools(tools: Sequence[Any], provenance: Provenance) -> None:
    for tool in tools:
        if isinstance(tool, ToolSchema) and tool.name:
            continue
        source = provenance.tool_index().get(id(tool), (tool, None))[1]
        if isinstance(tool, ToolSchema):
            _breach("assembled tool names must be non-empty", source)
        _breach(f"assembled tool {tool!r} must be a ToolSchema", source)


def _check_variables(variables: Mapping[str, Any], provenance: Provenance) -> None:
    for name, value in variables.items():
        source = provenance.variable_sources.get(name)
        if not is_variable_name(name):
            _breach(f'assembled variable name "{name}" is invalid', source)
        if value is not None and not isinstance(value, str):
            _breach(f'assembled variable "{name}" must be a string or undefined', source)


def _breach(what: str, source: Source | None) -> NoReturn:
    raise InvariantError(f"{what}; it came from {describe(source)}")
