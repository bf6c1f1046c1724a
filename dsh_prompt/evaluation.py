"""One step of an assembly: its providers called, in order or side by side."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from dsh_prompt.errors import AssemblyCancelledError, PromptError, ProviderError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from dsh_prompt.model.context import AssembleContext
    from dsh_prompt.providers import Provider


class Run:
    """How one assembly runs: its context, without an event loop or in one, its timeout."""

    __slots__ = ("context", "synchronous", "timeout")

    def __init__(
        self, context: AssembleContext, *, synchronous: bool, timeout: float | None
    ) -> None:
        self.context = context
        self.synchronous = synchronous
        self.timeout = timeout

    def check_cancelled(self) -> None:
        """Raise `AssemblyCancelledError` where the context's cancel event is set."""
        cancel = self.context.cancel
        if cancel is not None and cancel.is_set():
            raise AssemblyCancelledError("the assembly was cancelled by its context's cancel event")


async def evaluate(providers: Sequence[Provider], run: Run) -> list[Any]:
    """Call every provider once and give the results, in order.

    Synchronous ones are called one after the other, async and blocking ones run side by
    side. The first failure in order is raised, as `ProviderError`.
    """
    context = run.context
    results: list[Any] = []
    for provider in providers:
        if context.cancel is not None:
            run.check_cancelled()
        if provider.is_async or (provider.blocking and not run.synchronous):
            if run.synchronous:
                raise provider.is_asynchronous()
            return await Concurrently(providers, results, run).finish()
        value = call(provider, context)
        if type(value) is not str:
            if inspect.isawaitable(value):
                if run.synchronous:
                    discard(value)
                    raise provider.is_asynchronous()
                return await Concurrently(providers, results, run).finish(value)
            value = checked(provider, value)
        results.append(value)
    if context.cancel is not None:
        run.check_cancelled()
    return results


def call(provider: Provider, context: AssembleContext) -> Any:
    """Call *provider*; what it raises becomes a `ProviderError`."""
    try:
        if provider.wants_context:
            return provider.function(context)
        return provider.function()
    except Exception as error:
        raise provider.raised(error) from error


def checked(provider: Provider, value: Any) -> Any:
    """Give *value* as the type that the provider owes, or raise `ProviderError`."""
    try:
        return provider.check(value)
    except Exception as error:
        raise provider.failed(str(error)) from error


def discard(awaitable: Any) -> None:
    """Close a coroutine that nobody will await, so that nothing warns about it."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()


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
                pending = first if index == self.start else None
                work = self._begin(index, pending)
                if self.failures:
                    discard(work)
                    break
                if work is not None:
                    group.start_soon(self._await, index, work)
        if self.failures:
            raise self.failures[min(self.failures)]
        self.run.check_cancelled()
        return self.results

    def _begin(self, index: int, pending: Awaitable[Any] | None) -> Awaitable[Any] | None:
        """Call the provider at *index*; give what is left to await, if anything."""
        provider, context = self.providers[index], self.run.context
        try:
            self.run.check_cancelled()
            if pending is not None:
                return pending
            if provider.blocking and not provider.is_async:
                return self._in_thread(provider)
            value = call(provider, context)
            if inspect.isawaitable(value):
                return value
            self.results[index] = checked(provider, value)
        except PromptError as error:
            discard(pending)
            self.failures[index] = error
        return None

    async def _in_thread(self, provider: Provider) -> Any:
        function = partial(call, provider, self.run.context)
        return await self.anyio.to_thread.run_sync(function, abandon_on_cancel=True)

    async def _await(self, index: int, work: Awaitable[Any]) -> None:
        provider = self.providers[index]
        if self.failures and min(self.failures) < index:
            discard(work)
            return
        with self.anyio.CancelScope() as scope:
            self.scopes[index] = scope
            try:
                self.results[index] = checked(provider, await self._limited(provider, work))
            except Exception as error:  # noqa: BLE001 - it is raised when its turn comes
                self._failed(index, error)

    async def _limited(self, provider: Provider, work: Awaitable[Any]) -> Any:
        timeout = self.run.timeout
        if timeout is None:
            return await work
        with self.anyio.move_on_after(timeout):
            return await work
        raise provider.failed(f"took longer than hook_timeout ({timeout:g} s)")

    def _failed(self, index: int, error: Exception) -> None:
        if not isinstance(error, ProviderError):
            failure = self.providers[index].raised(error)
            failure.__cause__ = error
            error = failure
        self.failures[index] = error
        for later, scope in self.scopes.items():
            if later > index:
                scope.cancel()
