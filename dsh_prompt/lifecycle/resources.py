"""What a context owns beside contributions: callbacks, context managers and tasks."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from dsh_prompt.errors import AsyncProviderError, InvalidContributionError
from dsh_prompt.layers.providers import is_async_callable
from dsh_prompt.lifecycle.lifecycle import Lifetime
from dsh_prompt.lifecycle.registration import Cleanup

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from typing import ParamSpec

    P = ParamSpec("P")

T = TypeVar("T")


class ResourceOwner(Lifetime):
    """Owns resources for as long as it lives, as `contextlib.AsyncExitStack` does."""

    __slots__ = ()

    def callback(
        self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
    ) -> Callable[P, T]:
        """Call *function* with the arguments at disposal, as `contextlib.ExitStack` does."""
        if not callable(function) or is_async_callable(function):
            raise InvalidContributionError(
                f"callback() takes a plain function, not {function!r}; an async cleanup belongs "
                "into enter_async_context()"
            )
        self._own(Cleanup(partial(function, *args, **kwargs)))
        return function

    def enter_context(self, manager: AbstractContextManager[T], /) -> T:
        """Enter *manager*, leave it at disposal, and give what it gives."""
        self._check_active()
        stack = ExitStack()
        value = stack.enter_context(manager)
        try:
            self._own(Cleanup(stack.close))
        except BaseException:  # disposed meanwhile
            stack.close()
            raise
        return value

    async def enter_async_context(self, manager: AbstractAsyncContextManager[T], /) -> T:
        """Enter *manager* in a task of its own, leave it there at disposal, give its value."""
        from dsh_prompt.lifecycle.held import HeldContext  # noqa: PLC0415 - imports anyio

        self._check_active()
        held = HeldContext(manager)
        value: T = await held.enter()
        try:
            self._own(Cleanup(held.leave, is_async=True))
        except BaseException:
            await held.leave()
            raise
        return value

    def start_task(self, function: Callable[..., Awaitable[Any]], /, *args: Any) -> None:
        """Run the async *function* in a task that is cancelled, and awaited, at disposal.

        It needs a running event loop: a plugin calls this in an async ``activate``. One that
        fails is logged with its owner, and stops nothing else. Raises `AsyncProviderError`
        without a loop, and while a synchronous operation loads the plugin.
        """
        from dsh_prompt.lifecycle.held import HeldTask  # noqa: PLC0415 - imports anyio

        if not is_async_callable(function):
            raise InvalidContributionError(
                f"start_task() takes an async function, not {function!r}"
            )
        self._check_active()
        loading = self._loading
        if loading is not None and loading.entries is not None and loading.twin is not None:
            raise AsyncProviderError(
                f"{self._label} starts a task, which needs an event loop; use {loading.twin}"
            )
        task = HeldTask(partial(function, *args), self._label)
        cleanup = Cleanup(task.stop, is_async=True)
        self._own(cleanup)
        try:
            task.start(lambda: self._disown(cleanup))
        except BaseException:
            self._disown(cleanup)
            raise
