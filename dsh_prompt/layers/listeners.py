"""Waterfall listeners, and the order in which an assembly meets them."""

from __future__ import annotations

import inspect
from graphlib import CycleError, TopologicalSorter
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR, isasyncgenfunction, isgeneratorfunction
from itertools import pairwise
from types import FunctionType
from typing import TYPE_CHECKING, Any, Literal

from dsh_prompt.errors import (
    InvalidContributionError,
    PluginConflictError,
    ProviderError,
    nearest,
)
from dsh_prompt.layers.entry import Entry
from dsh_prompt.layers.providers import (
    VARIADIC,
    failure_of,
    function_name,
    is_async_callable,
)
from dsh_prompt.model.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dsh_prompt.layers.layers import Layer, Layers
    from dsh_prompt.layers.plugin_block import PluginBlock
    from dsh_prompt.lifecycle.lifecycle import Lifetime

#: What an implementation may take, by name.
ARGUMENTS = ("assembly", "context", "call_next")


_NAMES = frozenset(ARGUMENTS)
_ASSEMBLY_AND_CONTEXT = (0, 1)
_GENERATOR = CO_GENERATOR | CO_ASYNC_GENERATOR


class Listener:
    """One implementation of ``system_prompt_assemble``.

    Its *style* is ``plain`` (changes or returns an assembly), ``around`` (calls
    ``call_next``) or ``wrapper`` (a generator around all the others).
    """

    __slots__ = (
        "after",
        "before",
        "function",
        "is_async",
        "is_plain",
        "name",
        "picks",
        "plugin",
        "source",
        "style",
        "takes_assembly_alone",
        "tryfirst",
        "trylast",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        arguments: Sequence[str],
        source: Source,
        *,
        wrapper: bool = False,
        tryfirst: bool = False,
        trylast: bool = False,
        before: tuple[str, ...] = (),
        after: tuple[str, ...] = (),
    ) -> None:
        self.function = function
        self.name = name
        self.picks = tuple(map(ARGUMENTS.index, arguments))
        #: By far the most do, and such a function is called without a detour.
        self.takes_assembly_alone = self.picks == (0,)
        self.is_async = is_async_callable(function)
        self.style: Literal["plain", "around", "wrapper"] = (
            "wrapper" if wrapper else "around" if "call_next" in arguments else "plain"
        )
        #: Whether it takes no more than a call, unless it returns something to await.
        self.is_plain = self.style == "plain" and not self.is_async
        self.tryfirst = tryfirst
        self.trylast = trylast
        self.before = before
        self.after = after
        self.plugin = source.plugin
        self.source = Source(
            source.plugin, source.distribution, source.version, source.scope, "waterfall"
        )

    @property
    def label(self) -> str:
        """The listener as messages name it."""
        return f"waterfall listener {self.name} of {self.source.owner}"

    def call(self, assembly: object, context: object, call_next: object = None) -> Any:
        """Call the implementation with those of the arguments that it names."""
        picks = self.picks
        if picks == _ASSEMBLY_AND_CONTEXT:
            return self.function(assembly, context)
        arguments = (assembly, context, call_next)
        return self.function(*[arguments[pick] for pick in picks])

    def failed(self, reason: str) -> ProviderError:
        """Give the error for a listener that raised, or broke the rules."""
        return ProviderError(
            f"{self.label} {reason}",
            kind="listener",
            name=self.name,
            plugin=self.plugin,
            scope=self.source.scope,
        )

    def raised(self, error: Exception) -> ProviderError:
        """Give the error for a listener that raised *error*."""
        return self.failed(failure_of(error))


class ListenerEntry(Entry):
    """The entry of a listener that is made already; others are made of plain entries."""

    __slots__ = ("mentions",)

    def __init__(self, owner: Lifetime, listener: Listener) -> None:
        super().__init__(owner, "listener", listener.name, listener)
        self.mentions = (*listener.before, *listener.after)


def listener_of(entry: Entry) -> Listener:
    """Give the listener of *entry*, which is made once for all plans."""
    value = entry.value
    if not isinstance(value, Listener):
        value = entry.value = Listener(value, entry.name, required_arguments(value), entry.source)
    return value


def required_arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Name the arguments that *function*, a listener without a plugin, requires, in order.

    Raises `InvalidContributionError` for what is no function, or requires others than the hook.
    """
    if type(function) is FunctionType and not function.__dict__:
        # Plain functions, by far the most: reading the code object is ten times faster.
        code = function.__code__
        names = code.co_varnames[: code.co_argcount - len(function.__defaults__ or ())]
        is_odd = code.co_flags & _GENERATOR or code.co_kwonlyargcount
        if not is_odd and _NAMES.issuperset(names):
            return names
    if not callable(function) or isgeneratorfunction(function) or isasyncgenfunction(function):
        raise InvalidContributionError(
            f"on_assemble() takes a function, not {function!r}; a generator is a wrapper, "
            "which needs a plugin and @hookimpl(wrapper=True)"
        )
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise InvalidContributionError(f"{function!r} has no signature to read") from error
    required = [p for p in parameters if p.default is p.empty and p.kind not in VARIADIC]
    for parameter in required:
        if parameter.name not in ARGUMENTS:
            raise InvalidContributionError(
                f"a waterfall listener takes assembly, context and call_next, but "
                f'{function_name(function)} requires "{parameter.name}"'
                f"{nearest(parameter.name, ARGUMENTS)}"
            )
        if parameter.kind is parameter.KEYWORD_ONLY:
            raise InvalidContributionError(
                f"a waterfall listener is called with positional arguments, but "
                f'"{parameter.name}" of {function_name(function)} is keyword-only'
            )
    return tuple(parameter.name for parameter in required)


def order_listeners(entries: Iterable[Entry], block: PluginBlock) -> tuple[Listener, ...]:
    """Put the listeners of a chain of layers in the order in which an assembly meets them.

    Wrappers stand outside, the last registered outermost; then ``tryfirst`` ones, the latest
    first, the others, and ``trylast`` ones; ``before`` and ``after`` move a listener within
    its group. Raises `PluginConflictError` for constraints that form a cycle.
    """
    groups: dict[int, list[Listener]] = {}
    for entry in sorted(entries, key=block.place):
        listener = listener_of(entry)
        groups.setdefault(_group(listener), []).append(listener)
    return tuple(
        listener
        for number in sorted(groups)
        for listener in _constrained(
            groups[number] if number > _LATEST_FIRST else groups[number][::-1]
        )
    )


# Groups by how far inside they stand; in those up to this one the latest comes first.
_LATEST_FIRST = 3


def _group(listener: Listener) -> int:
    if listener.style == "wrapper":
        return 0 if listener.tryfirst else 2 if listener.trylast else 1
    return 3 if listener.tryfirst else 5 if listener.trylast else 4


def _constrained(listeners: list[Listener]) -> list[Listener]:
    """Move the listeners that say ``before`` or ``after``, and no others."""
    if not any(listener.before or listener.after for listener in listeners):
        return listeners
    earlier = _earlier(listeners)
    try:
        TopologicalSorter(earlier).prepare()
    except CycleError as error:
        cycle = dict.fromkeys(listeners[i].plugin or "the host" for i in error.args[1])
        names = " -> ".join(cycle)
        raise PluginConflictError(
            f"before/after of waterfall listeners form a cycle: {names}; drop one of them"
        ) from None
    _keep_the_others_in_order(listeners, earlier)
    after = _after(listeners)
    placed: list[int] = []
    waiting: list[int] = []
    for index in range(len(listeners)):
        waiting.append(index)
        # One that comes after others waits for them, rather than pulling them forward.
        while ready := [i for i in waiting if after[i] <= {*placed}]:
            _place(ready[0], earlier, placed)
            waiting = [i for i in waiting if i not in placed]
    return [listeners[index] for index in placed]


def _after(listeners: list[Listener]) -> list[set[int]]:
    """For each listener, by index, those that it says it comes after."""
    return [
        {i for i, other in enumerate(listeners) if other.plugin in listener.after and i != index}
        for index, listener in enumerate(listeners)
    ]


def _earlier(listeners: list[Listener]) -> dict[int, set[int]]:
    """For each listener, by index, those that must stand before it, whoever says so."""
    earlier = dict(enumerate(_after(listeners)))
    for index, listener in enumerate(listeners):
        for other, target in enumerate(listeners):
            if target.plugin in listener.before and other != index:
                earlier[other].add(index)
    return earlier


def _keep_the_others_in_order(listeners: list[Listener], earlier: dict[int, set[int]]) -> None:
    """Let those that say nothing stay behind each other, as far as the constraints allow."""
    silent = [i for i, listener in enumerate(listeners) if not listener.before + listener.after]
    for first, second in pairwise(silent):
        earlier[second].add(first)
        try:
            TopologicalSorter(earlier).prepare()
        except CycleError:
            earlier[second].discard(first)


def _place(index: int, earlier: dict[int, set[int]], placed: list[int]) -> None:
    if index in placed:
        return
    for other in sorted(earlier[index]):
        _place(other, earlier, placed)
    placed.append(index)


def check_listener(layers: Layers, new: Entry) -> None:
    """Raise `PluginConflictError` where a *new* listener makes a cycle of before and after."""
    # Nearly always nobody says either.
    if new.mentions or layers.mentioned:
        check_orders(new.owner, (new,))


def check_orders(owner: Lifetime, new: Sequence[Entry] = ()) -> None:
    """Raise `PluginConflictError` where before and after form a cycle.

    Looked at are the chains that the layer of *owner* is part of, with *new* listeners in it,
    and without those that they replace; without *new* ones, the layer has another parent.
    """
    layers, layer = owner._layers, owner._layer
    said = {*layers.mentioned}
    for entry in new:
        said.update(entry.mentions)

    def matters(entry: Entry) -> bool:
        return bool(entry.mentions) or entry.source.plugin in said

    if not said or (new and not any(map(matters, new))):
        return
    ends = [
        leaf
        for leaf in _layers_beside(owner)
        if leaf is layer
        or (layer in layers.chain(leaf) and any(map(matters, leaf.all("listener"))))
    ]
    for leaf in ends:
        known = [entry for link in layers.chain(leaf) for entry in link.all("listener")]
        loading = owner._loading
        kept = [entry for entry in known if loading is None or not loading.gives_way(entry)]
        order_listeners([*kept, *new], layers.block)


def _layers_beside(owner: Lifetime) -> Iterable[Layer]:
    """Give each layer of the host that *owner* belongs to."""
    host = owner
    while host._owner is not None:
        host = host._owner
    return dict.fromkeys(lifetime._layer for lifetime in host._lifetimes())
