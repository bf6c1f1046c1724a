"""The reference loop: it steps, calls, runs tools and commits, until the model is done."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import AssemblyCancelledError, RuntimeState, SystemPrompt, hookimpl
from dsh_prompt.conversation import Conversation
from dsh_prompt.loop import TooManyStepsError, run, run_async

from .test_conversation import answer, calling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt import AssembleContext, PromptAssembly
    from dsh_prompt.adapters import Request


def agent(*tools: str) -> Conversation:
    """Give a conversation of a host with *tools*."""
    prompt = SystemPrompt()
    for name in tools:
        prompt.tool({"name": name, "description": "", "parameters": {"type": "object"}})
    return Conversation(prompt, adapter="openai_chat")


class Model:
    """Replies what it is given to, and keeps what it was sent."""

    def __init__(self, *responses: Any) -> None:
        self.responses = list(responses)
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Any:
        self.requests.append(request)
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response

    async def acall(self, request: Request) -> Any:
        await anyio.lowlevel.checkpoint()
        return self(request)


def tool(name: str, arguments: Mapping[str, Any]) -> str:
    if name == "fail":
        raise ValueError("no such file")
    return f"{name} done"


async def async_tool(name: str, arguments: Mapping[str, Any]) -> str:
    await anyio.lowlevel.checkpoint()
    return tool(name, arguments)


def outputs(talk: Conversation) -> list[str]:
    return [message["content"] for message in talk.messages if message["role"] == "tool"]


def test_it_runs_tools_until_the_model_calls_none() -> None:
    talk, model = agent("read", "fail"), Model(calling("read"), calling("fail"), answer("done"))
    response = run(talk, model, tool, model="a-model", text="go")
    assert response == answer("done")
    assert outputs(talk) == ["read done", "ValueError: no such file"]
    assert len(model.requests) == 3
    assert talk.pending is None


@pytest.mark.anyio
async def test_its_async_twin_does_the_same() -> None:
    talk, model = agent("read", "fail"), Model(calling("read"), calling("fail"), answer("done"))
    response = await run_async(talk, model.acall, async_tool, model="a-model", text="go")
    assert response == answer("done")
    assert outputs(talk) == ["read done", "ValueError: no such file"]


def test_a_refused_call_is_not_run() -> None:
    talk = agent("read")
    run(talk, Model(calling("write"), answer()), tool, model="a-model", text="go")
    assert outputs(talk) == ['tool "write" is not available in this assembly']


def test_arguments_that_are_not_json_are_told_to_the_model() -> None:
    talk, broken = agent("read"), calling("read")
    broken["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] = "{"
    run(talk, Model(broken, answer()), tool, model="a-model", text="go")
    assert outputs(talk)[0].startswith("the arguments are not JSON")


def test_a_call_that_fails_discards_its_step() -> None:
    talk = agent("read")
    with pytest.raises(ConnectionError):
        run(talk, Model(ConnectionError("down")), tool, model="a-model", text="go")
    assert talk.pending is None
    assert run(talk, Model(answer("up")), tool, model="a-model") == answer("up")


def test_what_is_no_response_discards_its_step() -> None:
    talk = agent("read")
    with pytest.raises(TypeError, match="no response"):
        run(talk, Model({"error": "overloaded"}), tool, model="a-model", text="go")
    assert run(talk, Model(answer("up")), tool, model="a-model", text="again") == answer("up")


def test_the_state_may_be_asked_for_in_each_step() -> None:
    talk, modes = agent("read"), ["default"]
    seen: list[str] = []
    talk._prompt.on_assemble(lambda context: seen.append(context.state.permission_mode))

    def switch(name: str, arguments: Mapping[str, Any]) -> str:
        modes.append("plan")
        return "switched"

    run(
        talk,
        Model(calling("read"), answer()),
        switch,
        model="a-model",
        text="go",
        state=lambda: RuntimeState(permission_mode=modes[-1]),
    )
    # For each step, and before the tool.
    assert seen == ["default", "default", "plan"]


class Planning:
    """A plugin that denies all but reading in plan mode."""

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly, context: AssembleContext) -> None:
        if context.state is not None and context.state.permission_mode == "plan":
            assembly.deny("write", "plan mode")


def reply_of(*names: str) -> dict[str, Any]:
    """Give a response with several calls."""
    response = calling(names[0])
    calls = [
        calling(name, str(n))["choices"][0]["message"]["tool_calls"][0]
        for n, name in enumerate(names)
    ]
    response["choices"][0]["message"]["tool_calls"] = calls
    return response


def test_a_tool_is_refused_that_went_away_while_the_model_replied() -> None:
    """What counts is what is there when a tool would run, not when the model was asked."""
    talk = agent("read")
    registration = talk._prompt.tool({"name": "write"})

    def call(request: Request) -> Any:
        if not talk.messages[1:]:
            registration.dispose()
            return calling("write")
        return answer()

    run(talk, call, tool, model="a-model", text="go")
    assert outputs(talk) == ['tool "write" is not available in this assembly']


def test_a_tool_is_refused_that_the_one_before_it_had_denied() -> None:
    """The state is asked before each tool: plan mode, once on, holds for the rest of a reply."""
    talk, modes = agent("write", "plan"), ["default"]
    talk._prompt.load(Planning, name="planning")

    def switch(name: str, arguments: Mapping[str, Any]) -> str:
        modes.append("plan")
        return f"{name} done"

    run(
        talk,
        Model(reply_of("write", "plan", "write"), answer()),
        switch,
        model="a-model",
        text="go",
        state=lambda: RuntimeState(permission_mode=modes[-1]),
    )
    # The first call of "write" switched as well.
    assert outputs(talk) == ["write done", "plan done", "plan mode"]


def test_a_tool_is_refused_that_something_denies_by_then() -> None:
    """Whatever it denies by: nothing has changed but what a listener looks at."""
    talk, denied = agent("read"), set[str]()

    def deny(assembly: PromptAssembly) -> None:
        for name in denied:
            assembly.deny(name, "not now")

    talk._prompt.on_assemble(deny)

    def call(request: Request) -> Any:
        if not talk.messages[1:]:
            denied.add("read")
            return calling("read")
        return answer()

    run(talk, call, tool, model="a-model", text="go")
    assert outputs(talk) == ["not now"]


@pytest.mark.anyio
async def test_the_async_loop_judges_calls_when_they_run_too() -> None:
    talk = agent("read")
    registration = talk._prompt.tool({"name": "write"})

    async def call(request: Request) -> Any:
        await anyio.lowlevel.checkpoint()
        if not talk.messages[1:]:
            registration.dispose()
            return calling("write")
        return answer()

    await run_async(talk, call, async_tool, model="a-model", text="go")
    assert outputs(talk) == ['tool "write" is not available in this assembly']


def test_a_tool_that_had_finished_does_not_run_again_after_an_interruption() -> None:
    """Also where the conversation is kept and resumed between."""
    talk, ran = agent("read", "write", "stop"), []

    def interrupted(name: str, arguments: Mapping[str, Any]) -> str:
        ran.append(name)
        if name == "stop" and len(ran) == 2:
            raise KeyboardInterrupt
        return f"{name} done"

    first = Model(reply_of("read", "stop", "write"))
    with pytest.raises(KeyboardInterrupt):
        run(talk, first, interrupted, model="a-model", text="go")
    assert [call.name for call in talk.calls] == ["stop", "write"]
    kept = json.loads(json.dumps(talk.to_dict()))
    resumed = Conversation.from_dict(kept, talk._prompt)
    run(resumed, Model(answer()), interrupted, model="a-model")
    assert ran == ["read", "stop", "stop", "write"]
    assert outputs(resumed) == ["read done", "stop done", "write done"]


def test_a_model_that_never_ends_is_stopped() -> None:
    talk = agent("read")
    with pytest.raises(TooManyStepsError, match="after 3 steps") as caught:
        run(talk, Model(*[calling("read")] * 3), tool, model="a-model", text="go", limit=3)
    assert caught.value.response == calling("read")


def test_a_set_event_cancels_the_next_step() -> None:
    talk, cancel = agent("read"), threading.Event()
    talk._prompt.variable("late", lambda: "value")

    def stop(name: str, arguments: Mapping[str, Any]) -> str:
        cancel.set()
        return "stopped"

    with pytest.raises(AssemblyCancelledError):
        run(talk, Model(calling("read")), stop, model="a-model", text="go", cancel=cancel)
    assert outputs(talk) == ["stopped"]


@pytest.mark.anyio
async def test_a_cancelled_task_discards_the_step_under_way() -> None:
    talk = agent("read")

    async def never(request: Request) -> Any:
        await anyio.sleep_forever()

    with anyio.move_on_after(0.05):
        await run_async(talk, never, async_tool, model="a-model", text="go")
    assert talk.pending is None


@pytest.mark.anyio
async def test_a_cancelled_tool_runs_again() -> None:
    """Or the call would have no result, which no provider takes."""
    talk, model = agent("read"), Model(calling("read"), answer("done"))

    async def never(name: str, arguments: Mapping[str, Any]) -> str:
        await anyio.sleep_forever()
        return ""

    with anyio.move_on_after(0.05):
        await run_async(talk, model.acall, never, model="a-model", text="go")
    assert outputs(talk) == []
    await run_async(talk, model.acall, async_tool, model="a-model", text="and?")
    assert [message["role"] for message in talk.messages][1:] == [
        "assistant",
        "tool",
        "user",
        "assistant",
    ]


def test_a_resumed_conversation_goes_on_with_its_pending_step() -> None:
    talk = agent("read")
    talk.say("go")
    request = talk.step(model="a-model")
    resumed = Conversation.from_dict(talk.to_dict(), talk._prompt)
    model = Model(answer("done"))
    run(resumed, model, tool, model="a-model")
    assert [sent.to_dict() for sent in model.requests] == [request.to_dict()]


def test_an_async_tool_belongs_into_the_async_loop() -> None:
    talk = agent("read")
    wrong: Any = async_tool
    with pytest.raises(TypeError, match=r"the tool is async: use run_async\(\)"):
        run(talk, Model(calling("read")), wrong, model="a-model", text="go")
    run(talk, Model(answer()), tool, model="a-model")
    assert outputs(talk) == ["read done"]
