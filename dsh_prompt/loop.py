"""A reference loop: step, call, run tools, commit, and again. An example that works."""

from __future__ import annotations

import inspect
from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from threading import Event

    from dsh_prompt.adapters.calls import ToolCall
    from dsh_prompt.adapters.request import Request
    from dsh_prompt.conversation.conversation import Conversation
    from dsh_prompt.model.state import RuntimeState

    State: TypeAlias = RuntimeState | Callable[[], RuntimeState | None] | None


class TooManyStepsError(RuntimeError):
    """Raised where the model goes on calling tools beyond the limit; *response* is the last."""

    def __init__(self, limit: int, response: object) -> None:
        super().__init__(f"the model still calls tools after {limit} steps")
        self.response = response


def run(
    conversation: Conversation,
    call: Callable[[Request], Any],
    tool: Callable[[str, Mapping[str, Any]], str],
    *,
    model: str,
    text: str | None = None,
    state: State = None,
    limit: int = 50,
    cancel: Event | None = None,
    **options: Any,
) -> Any:
    """Let the model work until it calls no more tools, and give its last response.

    *text* is what the user says first. *call* sends a request, for example ``lambda request:
    client.messages.create(**request)``. *tool* runs the tool of a name with its arguments and
    gives its output, a text; what it raises is told to the model. *state* is the runtime state, or
    gives it for each step and before each tool, which runs if nothing denies it by then. Raises
    what *call* raises, or `TypeError` for what is no response, with the step discarded, and
    `TooManyStepsError` after *limit* steps. A set *cancel* raises `AssemblyCancelledError` at
    the next step. A conversation that was interrupted goes on where it was: with its pending
    step, or the calls that have no results.
    """
    _answer(conversation, tool, state)
    if text is not None:
        conversation.say(text)
    response = None
    for _ in range(limit):
        request = conversation.step(_now(state), model=model, cancel=cancel, **options)
        try:
            response = call(request)
            calls = conversation.commit(response)
        except BaseException:
            conversation.discard()
            raise
        if not calls:
            return response
        _answer(conversation, tool, state)
    raise TooManyStepsError(limit, response)


async def run_async(
    conversation: Conversation,
    call: Callable[[Request], Awaitable[Any]],
    tool: Callable[[str, Mapping[str, Any]], Awaitable[str]],
    *,
    model: str,
    text: str | None = None,
    state: State = None,
    limit: int = 50,
    cancel: Event | None = None,
    **options: Any,
) -> Any:
    """Let the model work as `run` does, with an async *call* and *tool*.

    A cancelled task discards the step that is under way; a tool that it was in runs again next
    time, those that had finished do not.
    """
    await _answer_async(conversation, tool, state)
    if text is not None:
        conversation.say(text)
    response = None
    for _ in range(limit):
        request = await conversation.step_async(_now(state), model=model, cancel=cancel, **options)
        try:
            response = await call(request)
            calls = conversation.commit(response)
        except BaseException:
            conversation.discard()
            raise
        if not calls:
            return response
        await _answer_async(conversation, tool, state)
    raise TooManyStepsError(limit, response)


def _now(state: State) -> RuntimeState | None:
    return state() if callable(state) else state


def _answer(
    conversation: Conversation, tool: Callable[[str, Mapping[str, Any]], str], state: State
) -> None:
    for call in conversation.calls:
        output, is_error = _unfit(call), True
        if output is None:
            output = conversation.authorize(call, _now(state))
        if output is None:
            output, is_error = _run(call, tool)
        conversation.add_result(call, output, is_error=is_error)


async def _answer_async(
    conversation: Conversation,
    tool: Callable[[str, Mapping[str, Any]], Awaitable[str]],
    state: State,
) -> None:
    for call in conversation.calls:
        output, is_error = _unfit(call), True
        if output is None:
            output = await conversation.authorize_async(call, _now(state))
        if output is None:
            output, is_error = await _run_async(call, tool)
        conversation.add_result(call, output, is_error=is_error)


def _unfit(call: ToolCall) -> str | None:
    """Say why *call* cannot run, whatever is there now."""
    return call.refusal or call.error


def _run(call: ToolCall, tool: Callable[[str, Mapping[str, Any]], str]) -> tuple[str, bool]:
    try:
        output: object = tool(call.name, deepcopy(_arguments(call)))
    except Exception as error:  # noqa: BLE001 - the model can do something about it
        return f"{type(error).__name__}: {error}", True
    if inspect.iscoroutine(output):
        output.close()
        raise TypeError("the tool is async: use run_async()")
    # What is no text, the conversation refuses.
    return cast("str", output), False


async def _run_async(
    call: ToolCall, tool: Callable[[str, Mapping[str, Any]], Awaitable[str]]
) -> tuple[str, bool]:
    try:
        return await tool(call.name, deepcopy(_arguments(call))), False
    except Exception as error:  # noqa: BLE001 - the model can do something about it
        return f"{type(error).__name__}: {error}", True


def _arguments(call: ToolCall) -> dict[str, Any]:
    # A call whose arguments are a text has an error, and does not get here.
    return {} if isinstance(call.arguments, str) else call.arguments
