"""What goes together: an owner, what it owns, and what depends on any of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.lifecycle.state import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dsh_prompt.layers.entry import Entry
    from dsh_prompt.lifecycle.disposal import Disposal
    from dsh_prompt.lifecycle.lifecycle import Lifetime


def leaving(roots: Iterable[Lifetime]) -> list[Lifetime]:
    """List *roots*, all that they own, and all that depends on any of it, each once."""
    found: dict[Lifetime, None] = {}
    ahead = list(roots)
    while ahead:
        for lifetime in ahead.pop(0)._lifetimes():
            if lifetime not in found and not lifetime.is_gone:
                found[lifetime] = None
                ahead += lifetime._dependants()
    return list(found)


def entries_of(lifetimes: Iterable[Lifetime]) -> list[Entry]:
    """List what *lifetimes* registered, in the order of registration."""
    entries = [entry for lifetime in lifetimes for entry in lifetime._entries()]
    entries.sort(key=lambda entry: entry.sequence)
    return entries


def leave(lifetimes: Sequence[Lifetime], disposal: Disposal) -> None:
    """Take *lifetimes*, whose entries are withdrawn, from their owners and records, for good."""
    gone = set(lifetimes)
    for lifetime in lifetimes:
        lifetime._state = State.DISPOSING
        lifetime._ending = disposal
        lifetime._detach()
        owner = lifetime._owner
        if owner is not None and owner not in gone and owner._owned is not None:
            owner._owned.pop(lifetime, None)
