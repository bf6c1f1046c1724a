"""The order of tools: by name, or as configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.errors import ReservedToolNameError, ToolOrderError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dsh_prompt.model.source import Source
    from dsh_prompt.model.tools import ToolSchema

#: Stands in ``tool_order`` for all tools that are not listed.
TOOL_ORDER_REST = "<unlisted-tools>"


def utf16_key(name: str) -> bytes:
    """Sort key of *name* by UTF-16 code units, as the original and JavaScript compare."""
    return name.encode("utf-16-be", "surrogatepass")


def check_tool_order(order: Sequence[str]) -> None:
    """Raise `ToolOrderError` for a doubled name, or where the rest marker is missing."""
    seen = set()
    for name in order:
        if name in seen:
            raise ToolOrderError(f'toolOrder lists "{name}" more than once', path="tool_order")
        seen.add(name)
    if TOOL_ORDER_REST not in seen:
        raise ToolOrderError(
            f'toolOrder must contain the "{TOOL_ORDER_REST}" rest entry '
            "(where unlisted tools are inserted)",
            path="tool_order",
        )


def order_tools(
    tools: Iterable[tuple[ToolSchema, Source]],
    known: Iterable[str],
    order: Sequence[str] | None,
) -> list[tuple[ToolSchema, Source]]:
    """Put (schema, source) pairs in order; equal names keep the order they came in.

    *known* are the names that *order* may list. Raises `ReservedToolNameError` for a tool
    named like the rest marker, `ToolOrderError` for listed names that nobody knows.
    """
    tools = list(tools)
    for tool, source in tools:
        if tool.name == TOOL_ORDER_REST:
            raise ReservedToolNameError(
                f'tool provider returned reserved tool name "{TOOL_ORDER_REST}" '
                f"(reserved for toolOrder's rest entry); it belongs to {source.owner}"
            )
    by_name = sorted(tools, key=lambda pair: utf16_key(pair[0].name))
    if order is None:
        return by_name
    _check_known(order, set(known))
    places = {name: place for place, name in enumerate(order)}
    rest = places[TOOL_ORDER_REST]
    return sorted(by_name, key=lambda pair: places.get(pair[0].name, rest))


def _check_known(order: Sequence[str], known: set[str]) -> None:
    unknown = [name for name in order if name != TOOL_ORDER_REST and name not in known]
    if unknown:
        names = ", ".join(sorted(known, key=utf16_key)) or "(none)"
        raise ToolOrderError(
            f"toolOrder lists unregistered tool{'s' if len(unknown) > 1 else ''} "
            f"{quoted(unknown)}; known tools: {names}",
            path="tool_order",
        )
