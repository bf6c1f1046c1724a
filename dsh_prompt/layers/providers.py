"""Contributed callables: how they are called, and how their failures are told."""

from __future__ import annotations

import inspect
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from dsh_prompt.coroutines import ForeignCancellationError
from dsh_prompt.errors import AsyncProviderError, InvalidContributionError, ProviderError, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt.model.source import Source

_ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
Check: TypeAlias = "Callable[[Any], Any]"


class OverdueError(TimeoutError):
    """Raised where ``hook_timeout`` has passed, *seconds* after the call."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took longer than hook_timeout ({seconds:g} s)")


def failure_of(error: Exception) -> str:
    """Tell in a few words how contributed code failed with *error*."""
    if isinstance(error, OverdueError | ForeignCancellationError):
        return str(error)
    return f"raised {type(error).__name__}: {text_of(error)}"


class WrongTypeError(TypeError):
    """Raised by a check for what a provider must not return."""


class Provider:
    """A callable that gives a text, a variable, tools, or whether a block takes part.

    *what* is the kind as messages name it (``section``, ``variable``, ``when of section``,
    ...), *check* turns a result into the wanted type or raises `WrongTypeError`.
    """

    __slots__ = (
        "blocking",
        "check",
        "function",
        "is_async",
        "may_wait",
        "name",
        "right_types",
        "source",
        "wants_context",
        "what",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        what: str,
        name: str | None,
        check: Check,
        *,
        source: Source,
        blocking: bool = False,
    ) -> None:
        self.function = function
        self.what = what
        self.name = name
        self.check = check
        self.source = source
        self.blocking = blocking
        #: Types that need no *check*, whatever else it accepts.
        self.right_types = _RIGHT_TYPES.get(check, ())
        self.is_async, self.wants_context = shape_of(function, what, name)
        #: Whether calling it may take more than a call, under ``assemble_async``.
        self.may_wait = self.is_async or blocking

    @property
    def label(self) -> str:
        """The provider as messages name it: ``section "rules"``."""
        return _label(self.what, self.name)

    def call(self, context: Any) -> Any:
        """Call the function, with the context only if it asks for one."""
        return self.function(context) if self.wants_context else self.function()

    def failed(self, reason: str) -> ProviderError:
        """Give the error for a provider that raised, or returned the wrong type."""
        source = self.source
        return ProviderError(
            f"{self.label} of {source.owner} {reason}",
            kind=self.what,
            name=self.name,
            plugin=source.plugin,
            scope=source.scope,
        )

    def raised(self, error: Exception) -> ProviderError:
        """Give the error for a provider that raised *error*."""
        return self.failed(failure_of(error))

    def is_asynchronous(self) -> AsyncProviderError:
        """Give the error for an async provider met by a synchronous assembly."""
        return AsyncProviderError(
            f"{self.label} of {self.source.owner} is async; use assemble_async()"
        )


def _label(what: str, name: str | None) -> str:
    return what if name is None else f'{what} "{name}"'


def shape_of(function: Callable[..., Any], what: str, name: str | None) -> tuple[bool, bool]:
    """Tell whether *function* is async, and whether it requires a positional argument.

    Raises `InvalidContributionError` for one that requires more, and could never be called.
    """
    plain = function.__func__ if isinstance(function, MethodType) else function
    if type(plain) is FunctionType and not plain.__dict__:
        # By far the most: reading the code object is ten times faster.
        code = plain.__code__
        required = code.co_argcount - (plain is not function)
        if plain.__defaults__:
            required -= len(plain.__defaults__)
        if required <= 1 and not code.co_kwonlyargcount:
            return code.co_flags & _ASYNC != 0, required == 1
    return _inspected_shape(function, _label(what, name))


def _inspected_shape(function: Callable[..., Any], label: str) -> tuple[bool, bool]:
    is_async = is_async_callable(function)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a built-in that has no signature takes nothing
        return is_async, False
    required = [p for p in parameters if p.default is p.empty and p.kind not in VARIADIC]
    if len(required) > 1 or any(p.kind is p.KEYWORD_ONLY for p in required):
        names = ", ".join(p.name for p in required)
        raise InvalidContributionError(
            f"the provider of {label} requires ({names}); it is called with nothing, or with "
            "the AssembleContext"
        )
    return is_async, len(required) == 1


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def is_plain_function(function: object) -> TypeGuard[FunctionType]:
    """Tell whether *function* is what its code says: not wrapped, marked or decorated."""
    return type(function) is FunctionType and not function.__dict__


def is_async_callable(function: object) -> bool:
    """Tell whether calling *function* gives a coroutine."""
    if is_plain_function(function):
        return bool(function.__code__.co_flags & inspect.CO_COROUTINE)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method itself is wanted
    )


def function_name(function: object) -> str:
    """Name a callable that has no name of its own in the contract."""
    return getattr(function, "__qualname__", None) or type(function).__qualname__


def check_text(value: Any) -> str:
    """Accept a ``str``."""
    if isinstance(value, str):
        return value
    raise WrongTypeError(f"returned {type(value).__name__} instead of str")


def check_variable(value: Any) -> str | None:
    """Accept a ``str`` or None."""
    if value is None or isinstance(value, str):
        return value
    raise WrongTypeError(f"returned {type(value).__name__} instead of str or None")


_RIGHT_TYPES: dict[object, tuple[type, ...]] = {
    check_text: (str,),
    check_variable: (str, type(None)),
}
