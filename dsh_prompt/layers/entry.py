"""One contribution in one layer, and what is unique about it there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from dsh_prompt.errors import DuplicateContributionError

if TYPE_CHECKING:
    from dsh_prompt.layers.layers import Layer
    from dsh_prompt.layers.plugin_block import Member
    from dsh_prompt.lifecycle.changes import Item
    from dsh_prompt.lifecycle.lifecycle import Lifetime
    from dsh_prompt.model.source import Source

#: What is unique in a layer: a kind, and a name, number or key.
Unique: TypeAlias = "tuple[str, object]"

#: Kinds whose entries have a name that is unique within a layer, and how errors call them.
NAMED = {
    "section": ("prompt section", "override"),
    "context": ("prompt context", "override"),
    "variable": ("prompt variable", "value"),
    "tool": ("tool", "variant"),
    "service": ("service", "value"),
}


class Entry:
    """One contribution of an *owner* in one layer: the owner's own, or the *layer* given.

    *kind* is ``section``, ``context``, ``variable``, ``tool``, ``tools`` (a provider),
    ``suppressor``, ``listener``, ``restriction``, ``service`` or ``change`` (a change
    listener); *value* what was contributed. What plans need of it they make when they need
    it. ``sequence`` is its place in the order of registration.
    """

    __slots__ = ("key", "kind", "layer", "name", "owner", "sequence", "value")

    #: The plugins that a listener stands before or after.
    mentions: tuple[str, ...] = ()

    def __init__(
        self, owner: Lifetime, kind: str, name: str, value: Any, layer: Layer | None = None
    ) -> None:
        self.owner = owner
        self.kind = kind
        self.name = name
        self.value: Any = value
        self.layer = owner._layer if layer is None else layer
        self.sequence: float = -1
        #: What is unique about the entry in its layer, as soon as it is in one.
        self.key: Unique = (kind, name)

    def empty(self) -> None:
        """Let go of what was contributed: whoever holds the entry does not hold that."""
        self.value = None

    @property
    def source(self) -> Source:
        """The label of the owner."""
        return self.owner._source

    @property
    def in_block(self) -> Member | None:
        """The entry-point plugin that it belongs to, if any."""
        return self.owner._in_block

    @property
    def item(self) -> Item:
        """The entry as change events list it."""
        return (self.kind, self.name, self.layer.scope)


def duplicate(entry: Entry, other: Entry) -> DuplicateContributionError:
    """Give the error for *entry*, whose place *other* has."""
    noun, variety = NAMED[entry.kind]
    if entry.layer.scope is None:
        where = f" (for a per-agent {variety}, register through that agent's scope instead)"
    else:
        where = " in this scope"
    return DuplicateContributionError(
        f'{noun} "{entry.name}" is already registered{where}; it belongs to {other.source.owner}',
        kind=entry.kind,
        name=entry.name,
        plugin=other.source.plugin,
    )
