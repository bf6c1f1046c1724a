"""The guard: what must be true of every finished assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn

from dsh_prompt.errors import InvariantError
from dsh_prompt.model.assembled import complaint
from dsh_prompt.model.blocks import Blocks
from dsh_prompt.model.provenance import Provenance
from dsh_prompt.model.source import describe
from dsh_prompt.model.tools import CheckedTools, ToolSchema
from dsh_prompt.render.template import is_variable_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.source import Source


_TEXT_OR_NONE = frozenset((str, type(None)))


def check_assembly(assembly: PromptAssembly) -> None:
    """Raise `InvariantError`, naming item and owner, unless *assembly* is well formed.

    Names of sections and contexts are non-empty and unique, texts are ``str``; tools have
    names; variables have valid names and ``str`` values or None; everything is of its
    declared type.
    """
    provenance = assembly._provenance or Provenance()
    sections, contexts = assembly._sections, assembly._contexts
    if not isinstance(sections, Blocks):
        _check_blocks("section", sections, provenance)
    elif sections.memory.has_nameless:
        _check_untouched("section", sections)
    if not isinstance(contexts, Blocks):
        _check_blocks("context", contexts, provenance)
    elif contexts.memory.has_nameless:
        _check_untouched("context", contexts)
    if not isinstance(assembly._tools, CheckedTools):
        _check_tools(assembly._tools, provenance)
    variables = assembly._variables
    is_known = variables.keys() <= provenance.registered.keys()
    if not is_known or not _TEXT_OR_NONE.issuperset(map(type, variables.values())):
        _check_variables(variables, provenance)


def _check_untouched(kind: str, held: Blocks) -> None:
    # Merged by name and evaluated by us: only an empty name is left to find.
    for block in held.blocks:
        if not block.name:
            _breach(f"assembled {kind} names must be non-empty", block.source)


def _check_blocks(
    kind: Literal["section", "context"], items: Sequence[Any], provenance: Provenance
) -> None:
    seen = set()
    for item in items:
        wrong = complaint(kind, item)
        if wrong is not None:
            owner = getattr(item, "source", None)
            _breach(wrong, provenance.culprit(kind, id(item)) or owner)
        if item.name in seen:
            wrong = f'assembled {kind} name "{item.name}" is duplicated'
            _breach(wrong, provenance.culprit(kind, item.name) or item.source)
        seen.add(item.name)


def _check_tools(tools: Sequence[Any], provenance: Provenance) -> None:
    for index, tool in enumerate(tools):
        if isinstance(tool, ToolSchema) and tool.name:
            continue
        source = list(provenance.tool_sources(tools))[index]
        if isinstance(tool, ToolSchema):
            _breach("assembled tool names must be non-empty", source)
        _breach(f"assembled tool of type {type(tool).__name__} must be a ToolSchema", source)


def _check_variables(variables: Mapping[str, Any], provenance: Provenance) -> None:
    for name, value in variables.items():
        if not is_variable_name(name):
            wrong = f'assembled variable name "{name}" is invalid'
        elif value is not None and not isinstance(value, str):
            wrong = f'assembled variable "{name}" must be a string or undefined'
        else:
            continue
        _breach(wrong, provenance.variable_sources.get(name))


def _breach(what: str, source: Source | None) -> NoReturn:
    plugin, scope = (None, None) if source is None else (source.plugin, source.scope)
    raise InvariantError(f"{what}; it came from {describe(source)}", plugin=plugin, scope=scope)
