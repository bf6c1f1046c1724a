"""A reference loop: step, call, run tools, commit, and again. An example that works."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from threading import Event

    from dsh_prompt.adapters.calls import ToolCall, ToolResult
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
    gives its output; what it raises is told to the model. *state* is the runtime state, or
    gives it for each step. Raises what *call* raises, or `TypeError` for what is no response,
    with the step discarded, and `TooManyStepsError` after *limit* steps. A set *cancel* raises
    `AssemblyCancelledError` at the next step. A conversation that was interrupted goes on where
    it was: with its pending step, or the calls that have no results.
    """
    _answer(conversation, tool)
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
        _answer(conversation, tool)
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
    time.
    """
    await _answer_async(conversation, tool)
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
        await _answer_async(conversation, tool)
    raise TooManyStepsError(limit, response)


def _now(state: State) -> RuntimeState | None:
    return state() if callable(state) else state


def _answer(conversation: Conversation, tool: Callable[[str, Mapping[str, Any]], str]) -> None:
    conversation.add_results([_run(call, tool) for call in conversation.calls])


async def _answer_async(
    conversation: Conversation, tool: Callable[[str, Mapping[str, Any]], Awaitable[str]]
) -> None:
    results = [await _run_async(call, tool) for call in conversation.calls]
    conversation.add_results(results)


def _run(call: ToolCall, tool: Callable[[str, Mapping[str, Any]], str]) -> ToolResult:
    arguments = call.arguments
    if (problem := call.refusal or call.error) or isinstance(arguments, str):
        return call, problem or str(arguments), True
    try:
        return call, tool(call.name, deepcopy(arguments)), False
    except Exception as error:  # noqa: BLE001 - the model can do something about it
        return call, f"{type(error).__name__}: {error}", True


async def _run_async(
    call: ToolCall, tool: Callable[[str, Mapping[str, Any]], Awaitable[str]]
) -> ToolResult:
    arguments = call.arguments
    if (problem := call.refusal or call.error) or isinstance(arguments, str):
        return call, problem or str(arguments), True
    try:
        return call, await tool(call.name, deepcopy(arguments)), False
    except Exception as error:  # noqa: BLE001 - the model can do something about it
        return call, f"{type(error).__name__}: {error}", True
