"""What the hook does to an assembly that has many tools."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from dsh_prompt import AssembledSection, ToolSchema
from dsh_prompt.adapters import DEFERRED
from dsh_prompt_tool_search.index import index_text
from dsh_prompt_tool_search.schema import SCHEMA, SEARCH_TOOL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from dsh_prompt import PromptAssembly
    from dsh_prompt_tool_search.config import Config

T = TypeVar("T")

#: The name of the section that names the tools.
INDEX_SECTION = "tool-search:index"


def searched_tools(assembly: PromptAssembly, config: Config) -> frozenset[str]:
    """Name the tools to be searched for; none where there are few tools, or all are listed."""
    names = {tool.name for tool in assembly.tools if isinstance(tool, ToolSchema)}
    if len(names) <= config.threshold:
        return frozenset()
    return frozenset(name for name in names if not _is_listed(name, config))


def opened_tools(discovered: Iterable[str], config: Config) -> frozenset[str]:
    """Name the *discovered* tools, without those that would not be held back anyway."""
    return frozenset(n for n in discovered if n != SEARCH_TOOL and not _is_listed(n, config))


def has_other_search(assembly: PromptAssembly) -> bool:
    """Tell whether somebody else's tool has the name of ours."""
    return any(getattr(tool, "name", None) == SEARCH_TOOL for tool in assembly.tools)


def hold_back(assembly: PromptAssembly, searched: frozenset[str], config: Config) -> None:
    """Hold back the *searched* tools of *assembly* that are not opened yet."""
    held = searched - assembly[DEFERRED].opened
    assembly[DEFERRED] = attrs.evolve(assembly[DEFERRED], names=held)
    assembly.tools = [SCHEMA, *assembly.tools]
    assembly.contexts = _without(assembly.contexts, held)
    assembly.sections = _without(assembly.sections, held)
    _place(assembly.sections, index_text(searched, config.index_chars), config.order)


def _is_listed(name: str, config: Config) -> bool:
    return any(fnmatchcase(name, glob) for glob in config.always)


def _without(items: list[T], held: Collection[str]) -> list[T]:
    """Leave out what is about a tool that is held back."""
    return [item for item in items if not _needs(item).intersection(held)]


def _needs(item: Any) -> frozenset[str]:
    return frozenset(getattr(item, "requires_tools", ()))


def _place(sections: list[AssembledSection], text: str, order: float) -> None:
    """Put the index where its order belongs; one that somebody contributed stays instead."""
    if any(getattr(section, "name", None) == INDEX_SECTION for section in sections):
        return
    section = AssembledSection(
        INDEX_SECTION,
        text,
        order=order,
        literal=True,
        cacheable=True,
        requires_tools=(SEARCH_TOOL,),
    )
    later = (place for place, other in enumerate(sections) if _follows(other, order, INDEX_SECTION))
    sections.insert(next(later, len(sections)), section)


def _follows(section: Any, order: float, name: str) -> bool:
    theirs = getattr(section, "order", None)
    return theirs is not None and (theirs, section.name) > (order, name)
