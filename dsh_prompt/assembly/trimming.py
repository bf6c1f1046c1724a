"""Texts measured by a budget, and shortened to it: their beginning, and a line on the rest."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from dsh_prompt.assembly.tokens import approximate_tokens
from dsh_prompt.cutting import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dsh_prompt.model.budget import Budget

_ITEM: Final = re.compile(r"^(?:[-*+]|[0-9]{1,9}[.)])[ \t]", re.MULTILINE)
#: A tag in a line of its own, as around the text of somebody else.
_TAG: Final = re.compile(r"^<(/?)([a-z][a-z0-9_-]*)(?:[ \t][^<>\n]*)?>[ \t]*$", re.MULTILINE)
#: Deeper frames than this, one in the other, are not closed.
_DEEPEST: Final = 8


class Excess(NamedTuple):
    """The limit that a text exceeds: a field of `Budget`, what that allows, what the text takes."""

    limit: str
    allowed: int
    taken: int


def _count_items(text: str) -> int:
    return len(_ITEM.findall(text))


_MEASURES: Final[Mapping[str, Callable[[str], int]]] = {
    "max_chars": len,
    "max_tokens": approximate_tokens,
    "max_items": _count_items,
}


def excess(text: str, budget: Budget) -> Excess | None:
    """Tell the first limit of *budget* that *text* exceeds, or None where it fits."""
    for limit, measure in _MEASURES.items():
        allowed: int | None = getattr(budget, limit)
        if allowed is not None and (taken := measure(text)) > allowed:
            return Excess(limit, allowed, taken)
    return None


def shortened(text: str, budget: Budget) -> str:
    """Give of *text*, which exceeds *budget*, as much of the beginning as fits.

    It ends with a line that tells how much is missing, if there is room for that. A frame of tags
    that the cut would leave open is closed. ``""`` where nothing fits, or a limit is 0.
    """
    piece = _Piece(text)
    end = len(text)
    starts = [item.start() for item in _ITEM.finditer(text)]
    if budget.max_items is not None and len(starts) > budget.max_items:
        if not budget.max_items:
            return ""
        end = starts[budget.max_items]
        missing = f"{len(starts) - budget.max_items} of {len(starts)} items"
        by_items = piece.up_to(end, f"[cut: {missing} left out]")
        if excess(by_items, budget) is None:
            return by_items
    longest = _longest(piece.told, end, budget)
    return (_longest(piece.untold, end, budget) or "") if longest is None else longest


def _longest(beginning: Callable[[int], str], end: int, budget: Budget) -> str | None:
    """Give the longest *beginning* up to *end* that fits, None where not even the empty one does.

    Looks at no more than about twice of what fits, however long the text is.
    """

    def exceeds(size: int) -> bool:
        return excess(beginning(size), budget) is not None

    most = 1
    while most < end and not exceeds(most):
        most *= 2
    first = bisect_left(range(min(most, end) + 1), True, key=exceeds)
    return beginning(first - 1) if first else None


class _Piece:
    """The beginnings of a text, each made whole: its frames closed, its loss told."""

    __slots__ = ("_closings", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        #: Where the last closing tag of each name stands.
        self._closings = {
            tag[2]: tag.start() for tag in (_TAG.finditer(text) if "</" in text else ()) if tag[1]
        }

    def told(self, size: int) -> str:
        """Give the first *size* characters, or fewer, and the line on what is missing."""
        kept = cut(self._text, size).rstrip("\r\n")
        missing, total = len(self._text) - len(kept), len(self._text)
        return self._finished(kept, f"[cut: {missing} of {total} characters left out]")

    def untold(self, size: int) -> str:
        """Give the first *size* characters, or fewer, alone."""
        return self._finished(cut(self._text, size).rstrip("\r\n"))

    def up_to(self, end: int, note: str) -> str:
        """Give what stands before the index *end*, where a line begins, and the line *note*."""
        return self._finished(self._text[:end].rstrip("\r\n"), note)

    def _finished(self, kept: str, *notes: str) -> str:
        closings = [f"</{name}>" for name in reversed(self._open(kept))]
        return "\n".join([*([kept] if kept else []), *closings, *notes])

    def _open(self, kept: str) -> list[str]:
        """List the frames that *kept* leaves open and the rest of the text closes."""
        opened: list[str] = []
        for tag in _TAG.finditer(kept) if self._closings else ():
            if not tag[1] and len(opened) < _DEEPEST:
                opened.append(tag[2])
            elif tag[1] and tag[2] in opened:
                del opened[len(opened) - 1 - opened[::-1].index(tag[2]) :]
        return [name for name in opened if self._closings.get(name, -1) >= len(kept)]
