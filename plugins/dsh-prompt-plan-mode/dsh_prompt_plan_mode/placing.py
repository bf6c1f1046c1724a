"""Where the plan text goes: the host does not sort what the waterfall adds."""

from __future__ import annotations

from typing import TypeVar

from dsh_prompt import AssembledContext, AssembledSection

T = TypeVar("T", AssembledSection, AssembledContext)


def place(items: list[T], item: T) -> None:
    """Insert *item* by order and name, as the host sorts what is contributed.

    One of that name which the waterfall put there is replaced; a contributed one stays, and
    *item* is left out.
    """
    for present in [other for other in items if getattr(other, "name", None) == item.name]:
        if present.source is not None and present.source.how == "contributed":
            return
        items.remove(present)
    items.insert(_index(items, item), item)


def _index(items: list[T], item: T) -> int:
    """Give the place before the first that sorts later, else after the last that has an order."""
    index = len(items)
    for position, other in enumerate(items):
        order = getattr(other, "order", None)
        if order is None:
            continue
        if (order, _utf16(other.name)) > (item.order, _utf16(item.name)):
            return position
        index = position + 1
    return index


def _utf16(name: str) -> bytes:
    # Big-endian bytes compare as code units do.
    return name.encode("utf-16-be", "surrogatepass")
