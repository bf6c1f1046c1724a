"""The waterfall: a chain of listeners through which each assembly passes."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any

from dsh_prompt.coroutines import discard, drive, outcome
from dsh_prompt.errors import AsyncProviderError
from dsh_prompt.layers.providers import OverdueError
from dsh_prompt.model.prompt_assembly import PromptAssembly, attribute, replace_assembly

if TYPE_CHECKING:
    from collections.abc import Awaitable, Generator, Sequence

    from dsh_prompt.assembly.evaluation import Run
    from dsh_prompt.layers.listeners import Listener
    from dsh_prompt.model.context import AssembleContext


def pass_plainly(
    listeners: Sequence[Listener],
    assembly: PromptAssembly,
    context: AssembleContext,
    denied: dict[str, str],
    start: int = 0,
) -> tuple[PromptAssembly, int, Any]:
    """Pass *assembly* through the plain functions from listener *start* on.

    Gives the assembly, the index of the listener that needs more than a call, and what it has
    returned already, if it was called. What is *denied* is added there.
    """
    for index in range(start, len(listeners)):
        listener = listeners[index]
        if not listener.is_plain:
            return assembly, index, None
        try:
            if listener.takes_assembly_alone:
                result = listener.function(assembly)
            else:
                result = listener.call(assembly, context)
        except Exception as error:
            raise listener.raised(error) from error
        if result is None:
            if assembly._touched:
                attribute(assembly, listener.source)
            if assembly._denied:
                denied.update(assembly._denied)
        elif inspect.isawaitable(result):
            return assembly, index, result
        else:
            assembly = _passed(listener, assembly, result, denied)
    return assembly, len(listeners), None


def _passed(
    listener: Listener, assembly: PromptAssembly, result: Any, denied: dict[str, str]
) -> PromptAssembly:
    """Give what the rest goes on with after *listener* returned *result*."""
    if result is None:
        attribute(assembly, listener.source)
    else:
        assembly = replace_assembly(assembly, _checked(listener, result), listener.source)
    if assembly._denied:
        denied.update(assembly._denied)
    return assembly


class Waterfall:
    """One pass of an assembly through the *listeners* of its chain.

    One coroutine serves both ways to assemble: in a synchronous *run* it is driven without
    an event loop, and meeting something async raises `AsyncProviderError`. The timeout of the
    run bounds each async implementation, in seconds.
    """

    __slots__ = ("context", "denied", "listeners", "synchronous", "timeout")

    def __init__(self, listeners: tuple[Listener, ...], run: Run, denied: dict[str, str]) -> None:
        self.listeners = listeners
        self.context = run.context
        self.synchronous = run.synchronous
        self.timeout = run.timeout
        # The denials made so far, for where an error takes their assembly away.
        self.denied = denied

    async def pass_through(
        self, assembly: PromptAssembly, index: int, result: Any
    ) -> PromptAssembly:
        """Go on where `pass_plainly` stopped; no denial is lost on the way."""
        assembly = await self.run(assembly, index, result=result)
        if self.denied:
            assembly._denied = {**self.denied, **(assembly._denied or {})}
        return assembly

    async def run(
        self,
        assembly: PromptAssembly,
        start: int,
        waiting: Listener | None = None,
        *,
        result: Any = None,
    ) -> PromptAssembly:
        """Pass *assembly* through the listeners from *start* on, and give the result.

        *waiting* is the synchronous middleware, if any, that waits for it; *result* is what the
        first listener has returned already, if it was called.
        """
        while True:
            if result is None:
                assembly, start, result = pass_plainly(
                    self.listeners, assembly, self.context, self.denied, start
                )
            if start == len(self.listeners):
                return assembly
            listener = self.listeners[start]
            if listener.style == "wrapper":
                return await self._wrap(start, assembly, waiting)
            if listener.is_async and (self.synchronous or waiting is not None):
                raise self._is_async(listener, waiting)
            if listener.style == "around":
                return await self._around(start, assembly, waiting)
            awaited = await self._result(listener, assembly, result, waiting)
            assembly = _passed(listener, assembly, awaited, self.denied)
            start, result = start + 1, None

    async def _result(
        self, listener: Listener, assembly: PromptAssembly, result: Any, waiting: Listener | None
    ) -> Any:
        """Await what *listener* returns, or has returned, if anything here can."""
        try:
            if result is None:
                result = listener.call(assembly, self.context)
            if not inspect.isawaitable(result):
                return result
            refusal = self._refusal(listener, result, waiting)
            if refusal is None:
                return await self._awaited(result)
        except Exception as error:
            raise listener.raised(error) from error
        raise refusal

    async def _around(
        self, index: int, assembly: PromptAssembly, waiting: Listener | None
    ) -> PromptAssembly:
        listener = self.listeners[index]
        rest = Rest(self, index, assembly, waiting)
        refusal = None
        try:
            result = listener.call(assembly, self.context, rest)
            if inspect.isawaitable(result):
                rest.is_async = True
                refusal = self._refusal(listener, result, waiting)
                result = None if refusal else await self._awaited(result, rest)
        except Exception as error:
            if error is rest.error:
                raise
            raise listener.raised(error) from error
        finally:
            rest.is_over = True
        if refusal is not None:
            raise refusal
        if result is None:
            raise listener.failed(f"returned None; end it with `{rest.cure}`")
        if inspect.isawaitable(result):
            discard(result)
            raise listener.failed(f"returned what nobody awaited; end it with `{rest.cure}`")
        return replace_assembly(
            rest.result, _checked(listener, result), listener.source, held=rest.touched
        )

    async def _wrap(
        self, index: int, assembly: PromptAssembly, waiting: Listener | None
    ) -> PromptAssembly:
        listener = self.listeners[index]
        wrapper = _started(listener, assembly, self.context)
        touched = attribute(assembly, listener.source)
        result = assembly
        passing: BaseException | None = None
        try:
            try:
                result = await self.run(assembly, index + 1, waiting)
            except BaseException as error:  # noqa: BLE001 - the wrapper may want to see any
                passing = error
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
        return replace_assembly(result, _checked(listener, returned), listener.source, held=touched)

    def _refusal(
        self, listener: Listener, result: Any, waiting: Listener | None
    ) -> AsyncProviderError | None:
        """Give the error for an awaitable *result* that nothing here can await."""
        if not self.synchronous and waiting is None:
            return None
        discard(result)
        return self._is_async(listener, waiting)

    async def _awaited(self, result: Awaitable[Any], rest: Rest | None = None) -> Any:
        if self.timeout is None:
            return await outcome(result)
        return await self._within(self.timeout, result, rest)

    async def _within(self, seconds: float, result: Awaitable[Any], rest: Rest | None) -> Any:
        import anyio  # noqa: PLC0415 - only where something is async

        with anyio.move_on_after(seconds) as deadline:
            if rest is not None:
                rest.deadline = deadline
            result = await outcome(result)
        if deadline.cancel_called:  # also where it was caught and something returned
            raise OverdueError(seconds)
        return result

    def _is_async(self, listener: Listener, waiting: Listener | None) -> AsyncProviderError:
        if waiting is not None:
            return AsyncProviderError(
                f"{listener.label} is async, and {waiting.label} waits for it in a plain def; "
                "make that one async def, `return await call_next()`, and use assemble_async()"
            )
        return AsyncProviderError(f"{listener.label} is async; use assemble_async()")


class Rest:
    """The rest of the waterfall, as middleware calls it (``call_next``): at most once."""

    __slots__ = (
        "assembly",
        "called",
        "deadline",
        "error",
        "index",
        "is_async",
        "is_over",
        "result",
        "touched",
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
        # Also true of a plain function once it has returned something to await.
        self.is_async = self._listener.is_async
        # What the middleware got, or was given; what it returns takes the place of this.
        self.result = assembly
        # Whether it looked at the assembly before the rest: it may still hold the lists.
        self.touched = False
        # An error of the rest is not the middleware's own.
        self.error: Exception | None = None
        # Whether the middleware has ended: what it kept must not touch a finished assembly.
        self.is_over = False
        self.deadline: Any = None

    @property
    def cure(self) -> str:
        """How the middleware should end."""
        return "return await call_next()" if self.is_async else "return call_next()"

    def __call__(self, assembly: PromptAssembly | None = None, /) -> Any:
        """Run the rest; for async middleware, give what is to be awaited."""
        if self.is_async:
            return self.call_async(assembly)
        return drive(self._run(assembly, self._listener))

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
        if self.is_over:
            raise RuntimeError("call_next() was called after its middleware had ended")
        self.called = True
        source = self._listener.source
        self.touched = attribute(self.assembly, source)
        if assembly is not None:
            if not isinstance(assembly, PromptAssembly):
                raise TypeError(f"call_next() takes a PromptAssembly, not {assembly!r}")
            self.result = replace_assembly(self.assembly, assembly, source)
            self.touched = True
        try:
            self.result = await self.waterfall.run(self.result, self.index + 1, waiting)
        except Exception as error:
            self.error = error
            raise
        return self.result


def _started(
    listener: Listener, assembly: PromptAssembly, context: AssembleContext
) -> Generator[None, PromptAssembly, Any]:
    """Run a wrapper up to its ``yield``."""
    try:
        wrapper: Generator[None, PromptAssembly, Any] = listener.call(assembly, context)
        next(wrapper)
    except StopIteration:
        raise listener.failed("did not yield; a wrapper yields once") from None
    except Exception as error:
        raise listener.raised(error) from error
    return wrapper


def _checked(listener: Listener, result: Any) -> PromptAssembly:
    if isinstance(result, PromptAssembly):
        return result
    raise listener.failed(f"returned {type(result).__name__} instead of a PromptAssembly")
