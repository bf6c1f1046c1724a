"""What one load of a plugin made: remembered by weak references, so that it may go."""

from __future__ import annotations

import gc
import typing
from types import MappingProxyType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any
from weakref import ref

import attrs

from dsh_prompt.layers.entry import Entry
from dsh_prompt.lifecycle.registration import Cleanup
from dsh_prompt.testing.places import code_place, holder_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dsh_prompt.lifecycle.lifecycle import Lifetime
    from dsh_prompt.plugins.context import PluginContext


@attrs.frozen
class Remembered:
    """An object that should go with its plugin, *what* it is, and *where* it was made."""

    what: str
    where: str
    reference: ref[Any]


def remember(context: PluginContext, *, modules: bool = False) -> list[Remembered]:
    """Remember the plugin of *context*: what it is, and what it has registered by now."""
    found: dict[int, Remembered] = {}
    for what, thing in _made_by(context, modules=modules):
        try:
            found.setdefault(id(thing), Remembered(what, code_place(thing), ref(thing)))
        except TypeError:  # there are no weak references to strings, tuples and the like
            continue
    return list(found.values())


def _made_by(context: PluginContext, *, modules: bool) -> Iterator[tuple[str, object]]:
    plugin = context._candidate.plugin
    if not isinstance(plugin, ModuleType):
        yield "the plugin object", plugin
    if not isinstance(context.config, MappingProxyType):
        yield "its configuration", context.config
    yield "its ctx", context
    for lifetime in context._lifetimes():
        for entry in lifetime._entries():
            for function in _provided(entry):
                yield f'{name_of(function)}, given for {entry.kind} "{entry.name}",', function
    if modules:
        for name, module in context.own_modules.loaded().items():
            yield f"module {name}", module


def _provided(entry: Entry) -> Iterator[object]:
    """Give the functions in an entry, and the objects whose methods they are."""
    value = entry.value
    if entry.kind == "service":
        yield value
    for attribute in ("function", "text", "when"):
        function = getattr(value, attribute, None)
        if isinstance(function, MethodType):
            yield function.__self__
        elif callable(function):
            yield function


def survivors(loads: Sequence[Iterable[Remembered]], *, but_the_last: bool) -> list[str]:
    """Tell what is left of *loads* that are over, in words.

    What all of them have in common belongs to the plugin, not to a load. With *but_the_last*
    somebody may still hold what the last one made, as the owner of the plugin object does.
    """
    for forget in getattr(typing, "_cleanups", ()):  # it keeps what type hints were made of
        forget()
    gc.collect()
    counts: dict[int, int] = {}
    alive: list[list[tuple[Remembered, Any]]] = []
    for load in loads:
        here = [(one, thing) for one in load if (thing := one.reference()) is not None]
        for _, thing in here:
            counts[id(thing)] = counts.get(id(thing), 0) + 1
        alive.append(here)
    suspects = alive[:-1] if but_the_last else alive
    left: dict[tuple[str, str], Any] = {}
    for one, thing in (pair for here in suspects for pair in here):
        if counts[id(thing)] < len(loads) or len(loads) == 1:
            left.setdefault((one.what, one.where), thing)
    del alive, suspects
    return [
        f"{what} is still alive{where}: it is held by {holder_of(thing)}"
        for (what, where), thing in left.items()
    ]


def describe_owned(owned: Entry | Cleanup | Lifetime) -> str:
    """Name something that a context owns, and where its code is."""
    if isinstance(owned, Entry):
        functions = [*_provided(owned)]
        where = code_place(functions[0]) if functions else ""
        kind = "change listener" if owned.kind == "change" else owned.kind
        return f'{kind} "{owned.name}" of {owned.source.owner} is still registered{where}'
    if isinstance(owned, Cleanup):
        return f"callback {name_of(owned.run)} is still to come{code_place(owned.run)}"
    return f"{owned._label} still exists"
