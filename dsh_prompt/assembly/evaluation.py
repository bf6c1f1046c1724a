"""One step of an assembly: its providers called, in order or side by side."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from dsh_prompt.assembly.running import NOBODY, RunningAssembly
from dsh_prompt.coroutines import discard, outcome
from dsh_prompt.errors import AssemblyCancelledError, PromptError
from dsh_prompt.layers.providers import OverdueError, WrongTypeError
from dsh_prompt.model.tools import ToolProviderResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Sequence

    from dsh_prompt.assembly.plan import Call
    from dsh_prompt.layers.providers import Provider
    from dsh_prompt.model.context import AssembleContext


class Run(RunningAssembly):
    """How one assembly runs: its context, without an event loop or in one, its timeout."""

    __slots__ = ("_ahead", "_next", "context", "synchronous", "timeout")

    def __init__(
        self,
        assemblies: set[RunningAssembly],
        context: AssembleContext,
        synchronous: bool,
        timeout: float | None,
    ) -> None:
        # What the base does, without a call for it.
        self._all = assemblies
        self.ended = None
        self.waits_for = NOBODY
        self.context = context
        self.synchronous = synchronous
        self.timeout = timeout
        # The values of providers that were called ahead of their steps, as far as no step has
        # taken them, and what the next provider did: raised, or returned to be looked at.
        self._ahead: list[Any] = []
        self._next: tuple[Exception | None, Any] | None = None

    def check_cancelled(self) -> None:
        """Raise `AssemblyCancelledError` where the context's cancel event is set."""
        cancel = self.context.cancel
        if cancel is not None and cancel.is_set():
            raise AssemblyCancelledError("the assembly was cancelled by its context's cancel event")

    def call_ahead(self, calls: Iterable[Call]) -> list[Any]:
        """Call the providers of several steps, up to one that needs more than a call.

        Gives the values, which the steps take where there are too few; what stopped it is
        dealt with by the step that it is of.
        """
        context = self.context
        values = self._ahead
        append = values.append
        for function, wants_context, right_types, provider in calls:
            try:
                value = function(context) if wants_context else function()
            except Exception as error:  # noqa: BLE001 - raised by its own step
                self._next = (error, None)
                break
            if type(value) not in right_types:
                if type(value) not in _COLLECTIONS:
                    self._next = (None, value)
                    break
                try:
                    # To look at these does not use them up: their own step may look again.
                    value = provider.check(value)
                except Exception:  # noqa: BLE001 - raised by its own step
                    self._next = (None, value)
                    break
            append(value)
        return values

    def take(self, count: int) -> list[Any]:
        """Take the values of a step with *count* providers: of all, or of the first of them."""
        taken, self._ahead = self._ahead[:count], self._ahead[count:]
        return taken

    def call(self, provider: Provider) -> Any:
        """Call *provider*, or give what it did when it was called ahead."""
        if self._next is not None:
            (error, value), self._next = self._next, None
            if error is not None:
                raise error
            return value
        return provider.call(self.context)


_COLLECTIONS = (list, tuple, ToolProviderResult)


async def evaluate(providers: Sequence[Provider], run: Run) -> list[Any]:
    """Call every provider once and give the results, in order.

    Synchronous ones are called one after the other, async and blocking ones run side by
    side. The first failure in order is raised, as `ProviderError`.
    """
    results = run.take(len(providers))
    cancel = run.context.cancel
    for provider in providers[len(results) :] if results else providers:
        if cancel is not None:
            run.check_cancelled()
        if provider.may_wait and (provider.is_async or not run.synchronous):
            if run.synchronous:
                raise provider.is_asynchronous()
            return await Concurrently(providers, results, run).finish()
        try:
            value = run.call(provider)
        except Exception as error:
            raise provider.raised(error) from error
        if type(value) not in provider.right_types:
            if inspect.isawaitable(value):
                if run.synchronous:
                    discard(value)
                    raise provider.is_asynchronous()
                return await Concurrently(providers, results, run).finish(value)
            value = checked(provider, value)
        results.append(value)
    if cancel is not None:
        run.check_cancelled()
    return results


def checked(provider: Provider, value: Any) -> Any:
    """Give *value* as the type that the provider owes, or raise `ProviderError`."""
    try:
        return provider.check(value)
    except WrongTypeError as error:
        raise provider.failed(str(error)) from error
    except Exception as error:
        raise provider.raised(error) from error


class Concurrently:
    """The rest of a step, once something in it is async or blocking.

    Results keep the order of the providers; a failure cancels only what comes after it.
    """

    def __init__(self, providers: Sequence[Provider], results: list[Any], run: Run) -> None:
        import anyio  # noqa: PLC0415 - only where something is async

        self.anyio = anyio
        self.providers = providers
        self.run = run
        self.start = len(results)
        self.results: list[Any] = [*results, *[None] * (len(providers) - len(results))]
        self.failures: dict[int, PromptError] = {}
        self.scopes: dict[int, Any] = {}

    async def finish(self, first: Awaitable[Any] | None = None) -> list[Any]:
        """Evaluate the remaining providers; *first* is what the next one returned already."""
        async with self.anyio.create_task_group() as group:
            for index in range(self.start, len(self.providers)):
                work = self._begin(index, first if index == self.start else None)
                if self.failures:
                    break
                if work is not None:
                    group.start_soon(self._await, index, work)
        if self.failures:
            raise self.failures[min(self.failures)]
        self.run.check_cancelled()
        return self.results

    def _begin(self, index: int, pending: Awaitable[Any] | None) -> Awaitable[Any] | None:
        """Call the provider at *index*; give what is left to await, if anything."""
        provider = self.providers[index]
        try:
            self.run.check_cancelled()
        except PromptError as error:
            discard(pending)
            self.failures[index] = error
            return None
        if pending is not None:
            return pending
        if provider.blocking and not provider.is_async:
            return self._in_thread(provider)
        try:
            value = provider.call(self.run.context)
        except Exception as error:  # noqa: BLE001 - it is raised when its turn comes
            self._failed(index, error)
            return None
        if inspect.isawaitable(value):
            return value
        self._finished(index, value)
        return None

    async def _in_thread(self, provider: Provider) -> Any:
        # In a list, since a function that returns something to await is refused by trio.
        run_sync = self.anyio.to_thread.run_sync
        (value,) = await run_sync(lambda: [provider.call(self.run.context)], abandon_on_cancel=True)
        return await value if inspect.isawaitable(value) else value

    async def _await(self, index: int, work: Awaitable[Any]) -> None:
        if self.failures and min(self.failures) < index:
            discard(work)
            return
        with self.anyio.CancelScope() as scope:
            self.scopes[index] = scope
            try:
                value = await self._within_timeout(work)
            except Exception as error:  # noqa: BLE001 - it is raised when its turn comes
                self._failed(index, error)
            else:
                self._finished(index, value)

    async def _within_timeout(self, work: Awaitable[Any]) -> Any:
        timeout = self.run.timeout
        if timeout is None:
            return await outcome(work)
        value = None
        with self.anyio.move_on_after(timeout) as deadline:
            value = await outcome(work)
        if deadline.cancel_called:  # also where it was caught and something returned
            raise OverdueError(timeout)
        return value

    def _finished(self, index: int, value: Any) -> None:
        try:
            self.results[index] = checked(self.providers[index], value)
        except PromptError as failure:
            self._fail(index, failure)

    def _failed(self, index: int, error: Exception) -> None:
        failure = self.providers[index].raised(error)
        failure.__cause__ = error
        self._fail(index, failure)

    def _fail(self, index: int, failure: PromptError) -> None:
        self.failures[index] = failure
        for later, scope in self.scopes.items():
            if later > index:
                scope.cancel()
