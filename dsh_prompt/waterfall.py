"""The waterfall: an ordered chain of listeners through which each assembly passes."""

from __future__ import annotations

import inspect
import math
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Literal

from dsh_prompt.errors import (
    AsyncProviderError,
    InvalidContributionError,
    PluginConflictError,
    ProviderError,
    nearest,
)
from dsh_prompt.model.prompt_assembly import PromptAssembly, attribute, replace_assembly
from dsh_prompt.model.source import Source
from dsh_prompt.providers import VARIADIC, function_name, is_async_callable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Sequence

    from dsh_prompt.layers import Entry
    from dsh_prompt.model.context import AssembleContext

#: What an implementation may take, by name.
ARGUMENTS = ("assembly", "context", "call_next")


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
        "name",
        "picks",
        "plugin",
        "source",
        "style",
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
        self.picks = tuple(ARGUMENTS.index(argument) for argument in arguments)
        self.is_async = is_async_callable(function)
        self.style: Literal["plain", "around", "wrapper"] = (
            "wrapper" if wrapper else "around" if "call_next" in arguments else "plain"
        )
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

    def call(self, *arguments: Any) -> Any:
        """Call the implementation with those of *arguments* that it names."""
        return self.function(*[arguments[pick] for pick in self.picks])

    def failed(self, reason: str) -> ProviderError:
        """Give the error for a listener that raised, or broke the rules."""
        return ProviderError(
            f"{self.label} {reason}", kind="listener", name=self.name, plugin=self.plugin
        )

    def raised(self, error: Exception) -> ProviderError:
        """Give the error for a listener that raised *error*."""
        return self.failed(f"raised {type(error).__name__}: {error}")


def required_arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Name the arguments that *function* requires, in order.

    Raises `InvalidContributionError` for arguments that are no arguments of the hook.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise InvalidContributionError(f"{function!r} has no signature to read") from error
    required = [p for p in parameters if p.default is p.empty and p.kind not in VARIADIC]
    for parameter in required:
        if parameter.name not in ARGUMENTS or parameter.kind is parameter.KEYWORD_ONLY:
            raise InvalidContributionError(
                f"a waterfall listener takes assembly, context and call_next, but "
                f'{function_name(function)} requires "{parameter.name}"'
                f"{nearest(parameter.name, ARGUMENTS)}"
            )
    return tuple(parameter.name for parameter in required)


def order_listeners(entries: Iterable[Entry], block_start: int | None) -> tuple[Listener, ...]:
    """Put the listeners of a chain of layers in the order in which an assembly meets them.

    Wrappers stand outside, the last registered outermost; then ``tryfirst`` ones, the latest
    first, the others, and ``trylast`` ones; ``before`` and ``after`` move a listener within
    its group. Raises `PluginConflictError` for constraints that form a cycle.
    """
    ordered = in_registration_order(entries, block_start)
    groups: dict[int, list[Listener]] = {}
    for entry in ordered:
        groups.setdefault(_group(entry.value), []).append(entry.value)
    return tuple(
        listener
        for number in sorted(groups)
        for listener in _constrained(
            groups[number] if number > _LATEST_FIRST else groups[number][::-1]
        )
    )


def in_registration_order(entries: Iterable[Entry], block_start: int | None) -> list[Entry]:
    """Sort *entries* as registered; entry-point plugins form one block, sorted by name."""

    def place(entry: Entry) -> tuple[float, str, int]:
        if entry.in_block is None or block_start is None:
            return (entry.sequence, "", entry.sequence)
        return (block_start, entry.in_block, entry.sequence)

    return sorted(entries, key=place)


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
        names = " -> ".join(dict.fromkeys(str(listeners[i].plugin) for i in error.args[1]))
        raise PluginConflictError(
            f"before/after of waterfall listeners form a cycle: {names}; drop one of them"
        ) from None
    placed: list[int] = []
    waiting: list[int] = []
    for index, listener in enumerate(listeners):
        # One that comes after a later one waits for it, rather than pulling it forward.
        if listener.after and any(other > index for other in earlier[index] - set(placed)):
            waiting.append(index)
        else:
            _place(index, earlier, placed)
        for late in [i for i in waiting if earlier[i] <= set(placed)]:
            waiting.remove(late)
            _place(late, earlier, placed)
    for late in waiting:
        _place(late, earlier, placed)
    return [listeners[index] for index in placed]


def _earlier(listeners: list[Listener]) -> dict[int, set[int]]:
    """For each listener, by index, those that must stand before it."""
    named: dict[str | None, list[int]] = {}
    for index, listener in enumerate(listeners):
        named.setdefault(listener.plugin, []).append(index)
    earlier: dict[int, set[int]] = {index: set() for index in range(len(listeners))}
    for index, listener in enumerate(listeners):
        for name in listener.after:
            earlier[index].update(other for other in named.get(name, ()) if other != index)
        for name in listener.before:
            for other in named.get(name, ()):
                if other != index:
                    earlier[other].add(index)
    return earlier


def _place(index: int, earlier: dict[int, set[int]], placed: list[int]) -> None:
    if index in placed:
        return
    for other in sorted(earlier[index]):
        _place(other, earlier, placed)
    placed.append(index)


class Waterfall:
    """One pass of an assembly through the *listeners* of its chain.

    One coroutine serves both ways to assemble: where *synchronous* is true it is driven
    without an event loop, and meeting something async raises `AsyncProviderError`.
    *timeout* bounds each async implementation, in seconds.
    """

    __slots__ = ("context", "listeners", "synchronous", "timeout")

    def __init__(
        self,
        listeners: tuple[Listener, ...],
        context: AssembleContext,
        *,
        synchronous: bool,
        timeout: float | None,
    ) -> None:
        self.listeners = listeners
        self.context = context
        self.synchronous = synchronous
        self.timeout = timeout

    async def run(
        self, assembly: PromptAssembly, start: int = 0, waiting: Listener | None = None
    ) -> PromptAssembly:
        """Pass *assembly* through the listeners from *start* on, and give the result.

        *waiting* is the synchronous middleware, if any, that waits for it.
        """
        for index in range(start, len(self.listeners)):
            listener = self.listeners[index]
            if listener.style == "wrapper":
                return await self._wrap(index, assembly, waiting)
            if listener.is_async and (self.synchronous or waiting is not None):
                raise self._is_async(listener, waiting)
            if listener.style == "around":
                return await self._around(index, assembly, waiting)
            assembly = await self._plain(listener, assembly, waiting)
        return assembly

    async def _plain(
        self, listener: Listener, assembly: PromptAssembly, waiting: Listener | None
    ) -> PromptAssembly:
        try:
            result = listener.call(assembly, self.context, None)
            if result is not None and not isinstance(result, PromptAssembly):
                result = await self._awaited(listener, result, waiting)
        except AsyncProviderError:
            raise
        except Exception as error:
            raise listener.raised(error) from error
        if result is None:
            attribute(assembly, listener.source)
            return assembly
        return replace_assembly(assembly, _checked(listener, result), listener.source)

    async def _around(
        self, index: int, assembly: PromptAssembly, waiting: Listener | None
    ) -> PromptAssembly:
        listener = self.listeners[index]
        rest = Rest(self, index, assembly, waiting)
        call_next = rest.call_async if listener.is_async else rest.call
        try:
            result = listener.call(assembly, self.context, call_next)
            if result is not None and not isinstance(result, PromptAssembly):
                result = await self._awaited(listener, result, waiting, rest)
        except Exception as error:
            if error is rest.error or isinstance(error, AsyncProviderError):
                raise
            raise listener.raised(error) from error
        if result is None:
            raise listener.failed("returned None; end it with `return call_next()`")
        return replace_assembly(rest.result, _checked(listener, result), listener.source)

    async def _wrap(
        self, index: int, assembly: PromptAssembly, waiting: Listener | None
    ) -> PromptAssembly:
        listener = self.listeners[index]
        result = assembly
        passing: Exception | None = None
        try:
            wrapper: Generator[None, PromptAssembly, Any] = listener.call(assembly, self.context)
            next(wrapper)
            attribute(assembly, listener.source)
            try:
                result = await self.run(assembly, index + 1, waiting)
            except BaseException as error:  # noqa: BLE001 - the wrapper may want to see any
                passing = error if isinstance(error, Exception) else None
                wrapper.throw(error)
            else:
                wrapper.send(result)
        except StopIteration as stop:
            returned = stop.value
        except Exception as error:
            if error is passing:
                raise
            raise listener.raised(error) from error
        else:
            wrapper.close()
            raise listener.failed("yielded twice; a wrapper yields once")
        if returned is None:
            raise listener.failed("returned None; end it with `return result`")
        return replace_assembly(result, _checked(listener, returned), listener.source)

    async def _awaited(
        self,
        listener: Listener,
        result: Any,
        waiting: Listener | None,
        rest: Rest | None = None,
    ) -> Any:
        """Await what an implementation returned, if it is something to await."""
        if not inspect.isawaitable(result):
            return result
        if self.synchronous or waiting is not None:
            if inspect.iscoroutine(result):
                result.close()
            raise self._is_async(listener, waiting)
        if self.timeout is None:
            return await result
        return await self._within_timeout(result, rest)

    async def _within_timeout(self, result: Awaitable[Any], rest: Rest | None) -> Any:
        import anyio  # noqa: PLC0415 - only where something is async

        with anyio.move_on_after(self.timeout) as deadline:
            if rest is not None:
                rest.deadline = deadline
            return await result
        raise TimeoutError(f"took longer than hook_timeout ({self.timeout:g} s)")

    def _is_async(self, listener: Listener, waiting: Listener | None) -> AsyncProviderError:
        if waiting is not None:
            return AsyncProviderError(
                f"{listener.label} is async, and {waiting.label} waits for it in a plain def; "
                "make that one async def and `return await call_next()`"
            )
        return AsyncProviderError(f"{listener.label} is async; use assemble_async()")


class Rest:
    """The rest of the waterfall, as middleware calls it: at most once."""

    __slots__ = (
        "assembly",
        "called",
        "deadline",
        "error",
        "index",
        "result",
        "waiting",
        "waterfall",
    )

    def __init__(
        self, waterfall: Waterfall, index: int, assembly: PromptAssembly, waiting: Listener | None
    ) -> None:
        self.waterfall = waterfall
        self.index = index
        self.assembly = assembly
        self.waiting = waiting
        self.called = False
        # What the middleware got, or was given; what it returns takes the place of this.
        self.result = assembly
        # An error of the rest is not the middleware's own.
        self.error: Exception | None = None
        self.deadline: Any = None

    def call(self, assembly: PromptAssembly | None = None, /) -> PromptAssembly:
        """Run the rest without an event loop."""
        result: PromptAssembly = drive(self._run(assembly, self._listener))
        return result

    async def call_async(self, assembly: PromptAssembly | None = None, /) -> PromptAssembly:
        """Run the rest; its time does not count against the middleware's timeout."""
        if self.deadline is None:
            return await self._run(assembly, self.waiting)
        import anyio  # noqa: PLC0415 - only where something is async

        left = self.deadline.deadline - anyio.current_time()
        self.deadline.deadline = math.inf
        try:
            return await self._run(assembly, self.waiting)
        finally:
            self.deadline.deadline = anyio.current_time() + left

    @property
    def _listener(self) -> Listener:
        return self.waterfall.listeners[self.index]

    async def _run(
        self, assembly: PromptAssembly | None, waiting: Listener | None
    ) -> PromptAssembly:
        if self.called:
            raise RuntimeError("call_next() was called twice; the rest runs once")
        self.called = True
        source = self._listener.source
        attribute(self.assembly, source)
        if assembly is not None:
            if not isinstance(assembly, PromptAssembly):
                raise TypeError(f"call_next() takes a PromptAssembly, not {assembly!r}")
            self.result = replace_assembly(self.assembly, assembly, source)
        try:
            self.result = await self.waterfall.run(self.result, self.index + 1, waiting)
        except Exception as error:
            self.error = error
            raise
        return self.result


def _checked(listener: Listener, result: Any) -> PromptAssembly:
    if isinstance(result, PromptAssembly):
        return result
    raise listener.failed(f"returned {type(result).__name__} instead of a PromptAssembly")


def drive(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run to its end a coroutine that never has to wait."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    coroutine.close()
    raise AsyncProviderError("something async was awaited by a synchronous call")
