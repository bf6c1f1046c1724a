"""The block of entry-point plugins: they stand together, in an order of their own."""

from __future__ import annotations

from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.layers.entry import Entry


class Member:
    """One plugin of the block; *requires* are those of its members that stand before it."""

    __slots__ = ("name", "number", "rank", "requires")

    def __init__(self, name: str, number: int, requires: Iterable[Member]) -> None:
        self.name = name
        self.number = number
        self.requires = tuple(requires)
        self.rank = 0

    def __lt__(self, other: Member) -> bool:
        return (self.name, self.number) < (other.name, other.number)


class PluginBlock:
    """Where the block stands in the order of registration, and how its members stand in it.

    It stands where the first of them was loaded, as long as it has any; inside they are
    sorted by what they require, and then by name.
    """

    __slots__ = ("_is_ranked", "_members", "_start")

    def __init__(self) -> None:
        self._members: dict[Member, None] = {}
        self._start = 0
        self._is_ranked = True

    def join(self, member: Member) -> None:
        """Take *member* in; the first one sets the place of the block."""
        if not self._members:
            self._start = member.number
        self._members[member] = None
        self._is_ranked = False

    def leave(self, member: Member) -> None:
        """Let *member* go."""
        del self._members[member]

    def place(self, entry: Entry) -> tuple[float, int, float]:
        """Give the sort key of *entry* in the order of registration."""
        member = entry.in_block
        if member is None:
            return (entry.sequence, 0, entry.sequence)
        if not self._is_ranked:
            self._rank()
        return (self._start, member.rank, entry.sequence)

    def _rank(self) -> None:
        known = self._members
        sorter = TopologicalSorter(
            {member: [one for one in member.requires if one in known] for member in known}
        )
        sorter.prepare()
        ready: list[Member] = []
        rank = 0
        while sorter.is_active():
            for member in sorter.get_ready():
                heappush(ready, member)
            first = heappop(ready)
            first.rank = rank = rank + 1
            sorter.done(first)
        self._is_ranked = True
