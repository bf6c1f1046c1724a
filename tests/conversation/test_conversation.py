"""Conversations: a prefix that stays byte for byte, and a model that is told of every change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt import (
    Config,
    PromptContext,
    PromptSection,
    ProviderError,
    RuntimeState,
    SystemPrompt,
    hookimpl,
)
from dsh_prompt.conversation import Conversation, ConversationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt.adapters import Request


def answer(text: str = "ok") -> dict[str, Any]:
    """Give a response with a text, as OpenAI writes it."""
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def calling(name: str, call_id: str = "1") -> dict[str, Any]:
    """Give a response that calls a tool."""
    function = {"name": name, "arguments": "{}"}
    calls = [{"id": call_id, "type": "function", "function": function}]
    return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": calls}}]}


class Reading:
    """A plugin with a tool and a section about it."""

    description = "Read a file."
    text = "Use read."

    @hookimpl
    def contribute_tools(self) -> list[dict[str, Any]]:
        parameters = {"type": "object", "properties": {}}
        return [{"name": "read", "description": self.description, "parameters": parameters}]

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return [PromptSection(name="reading", order=10, text=self.text)]


def prefix(request: Request) -> tuple[Any, Any]:
    """Give what has to stay byte for byte: system message and tools."""
    return json.dumps(request["messages"][0]), json.dumps(request.get("tools"))


def snapshot(request: Request) -> str:
    """Give the last message, where it is a snapshot of runtime contexts."""
    content = request["messages"][-1]["content"]
    return content if str(content).startswith("Current runtime context") else ""


def host() -> SystemPrompt:
    return SystemPrompt(Config(persona="You help."))


def conversation(prompt: SystemPrompt, **options: Any) -> Conversation:
    made = Conversation(prompt, adapter="openai_chat", **options)
    made.say("hello")
    return made


def step(talk: Conversation, response: Mapping[str, Any] | None = None) -> Request:
    """Make a step and commit it."""
    request = talk.step(model="a-model")
    talk.commit(answer() if response is None else response)
    return request


def test_a_step_holds_system_prompt_history_and_snapshot() -> None:
    prompt = host()
    prompt.context(PromptContext(name="git", order=1, text="On main."))
    talk = conversation(prompt)
    request = talk.step(model="a-model", temperature=0)
    assert [message["role"] for message in request["messages"]] == ["system", "user", "user"]
    assert snapshot(request).endswith("On main.")
    assert (request["model"], request["temperature"]) == ("a-model", 0)
    talk.commit(answer("hi"))
    assert [message["content"] for message in talk.messages][::2] == ["hello", "hi"]


def test_a_snapshot_is_sent_when_it_is_another_one() -> None:
    prompt, branch = host(), ["main"]
    prompt.context(PromptContext(name="git", order=1, text=lambda: f"On {branch[0]}."))
    talk = conversation(prompt)
    assert snapshot(step(talk))
    assert not snapshot(step(talk))
    branch[0] = "work"
    assert snapshot(step(talk)).endswith("On work.")


def test_a_retry_sends_the_same_request() -> None:
    """Whatever has changed meanwhile: the step is still the same one."""
    prompt = host()
    talk = conversation(prompt)
    request = talk.step(model="a-model")
    prompt.load(Reading)
    assert talk.step(model="another") is request
    assert talk.pending is request
    talk.commit(answer())
    assert talk.pending is None


def test_a_discarded_step_leaves_nothing() -> None:
    prompt = host()
    prompt.context(PromptContext(name="git", order=1, text="On main."))
    talk = conversation(prompt)
    before = talk.messages
    first = talk.step(model="a-model")
    talk.discard()
    talk.discard()
    assert talk.messages == before
    assert talk.step(model="a-model").to_dict() == first.to_dict()


def test_a_step_that_fails_leaves_nothing() -> None:
    prompt = host()
    fails = [True, False]

    def text() -> str:
        if fails.pop(0):
            raise ValueError("no")
        return "On main."

    prompt.context(PromptContext(name="git", order=1, text=text))
    talk = conversation(prompt)
    with pytest.raises(ProviderError):
        talk.step(model="a-model")
    assert talk.pending is None
    assert snapshot(talk.step(model="a-model"))


def test_between_a_step_and_its_end_the_history_does_not_change() -> None:
    talk = conversation(host())
    talk.step(model="a-model")
    early = pytest.raises(ConversationError, match=r"commit\(\) or discard\(\) the step")
    with early:
        talk.say("more")
    with early:
        talk.repin()
    with early:
        talk.compacted("short")


def test_without_a_step_there_is_nothing_to_commit() -> None:
    with pytest.raises(ConversationError, match="no step to commit"):
        conversation(host()).commit(answer())


def test_a_response_that_is_none_leaves_the_step_open() -> None:
    talk = conversation(host())
    request = talk.step(model="a-model")
    with pytest.raises(TypeError):
        talk.commit({"error": "overloaded"})
    assert talk.step(model="a-model") is request


def test_calls_of_tools_come_back_with_the_commit() -> None:
    prompt = host()
    prompt.load(Reading)
    talk = conversation(prompt)
    talk.step(model="a-model")
    (call,) = talk.commit(calling("read"))
    assert (call.name, call.arguments, call.refusal) == ("read", {}, None)
    talk.add_results([(call, "the text", False)])
    assert talk.messages[-1] == {"role": "tool", "tool_call_id": "1", "content": "the text"}


def test_what_went_away_is_denied_and_told_while_the_prefix_stays() -> None:
    prompt = host()
    prompt.load(Reading)
    talk = conversation(prompt)
    first = step(talk)
    prompt.unload("Reading")
    second = talk.step(model="a-model")
    assert prefix(second) == prefix(first)
    told = snapshot(second)
    assert 'The section "reading" of the system prompt, of plugin "Reading", does not' in told
    assert 'The tool "read" of plugin "Reading" is gone: do not call it.' in told
    (call,) = talk.commit(calling("read"))
    assert call.refusal == 'the tool "read" of plugin "Reading" went away'


def test_what_came_is_told_and_waits_while_the_prefix_stays() -> None:
    prompt = host()
    talk = conversation(prompt)
    first = step(talk)
    prompt.load(Reading)
    second = talk.step(model="a-model")
    assert prefix(second) == prefix(first)
    told = snapshot(second)
    assert 'has a new section "reading", of plugin "Reading":\nUse read.' in told
    assert 'The tool "read" of plugin "Reading" will be there soon; not yet: Read a' in told
    (call,) = talk.commit(calling("read"))
    assert call.refusal == 'tool "read" is not available in this assembly'


def test_what_changed_is_told_while_the_prefix_stays() -> None:
    class Newer(Reading):
        description = "Read a text file."
        text = "Use read with care."

    prompt = host()
    prompt.load(Reading(), name="reading")
    talk = conversation(prompt)
    first = step(talk)
    prompt.unload("reading")
    prompt.load(Newer(), name="reading")
    second = step(talk)
    assert prefix(second) == prefix(first)
    told = snapshot(second)
    assert 'The section "reading" of the system prompt, of plugin "reading", now says' in told
    assert "Use read with care." in told
    assert 'The tool "read" of plugin "reading" has changed: {"description": "Read a text' in told


def test_what_is_as_it_was_again_is_told_no_more() -> None:
    prompt = host()
    prompt.load(Reading)
    talk = conversation(prompt)
    first = step(talk)
    prompt.unload("Reading")
    step(talk)
    prompt.load(Reading)
    third = talk.step(model="a-model")
    assert prefix(third) == prefix(first)
    assert snapshot(third) == (
        "Current runtime context: none. Earlier runtime-context snapshots no longer apply."
    )
    (call,) = talk.commit(calling("read"))
    assert call.refusal is None


def test_a_text_that_is_another_one_in_each_step_is_told() -> None:
    """A clock in the system prompt costs no cache, only the words of the notice."""
    prompt, steps = host(), iter("abc")
    prompt.section(PromptSection(name="clock", order=20, text=lambda: f"Step {next(steps)}."))
    talk = conversation(prompt)
    requests = [step(talk) for _ in range(3)]
    assert len({prefix(request) for request in requests}) == 1
    assert ["Step a." in str(request["messages"][0]) for request in requests] == [True] * 3
    assert "now says:\nStep c." in snapshot(requests[2])


def test_a_new_pin_takes_what_is_there_now() -> None:
    prompt = host()
    talk = conversation(prompt)
    step(talk)
    prompt.load(Reading)
    step(talk)
    talk.repin()
    third = talk.step(model="a-model")
    assert "Use read." in third["messages"][0]["content"]
    assert [tool["function"]["name"] for tool in third["tools"]] == ["read"]
    assert "no longer apply" in snapshot(third)
    (call,) = talk.commit(calling("read"))
    assert call.refusal is None


def test_a_compacted_history_is_its_summary_with_a_new_pin() -> None:
    prompt = host()
    prompt.context(PromptContext(name="git", order=1, text="On main."))
    talk = conversation(prompt)
    step(talk)
    prompt.load(Reading)
    talk.compacted("We said hello.")
    request = talk.step(model="a-model")
    assert [message["content"] for message in request["messages"][1:2]] == ["We said hello."]
    assert snapshot(request).endswith("On main.")
    assert "tools" in request


@pytest.mark.parametrize("how", ["unload", "quarantine"])
def test_an_urgent_change_is_not_only_told(how: str) -> None:
    prompt = host()
    prompt.load(Reading)
    talk = conversation(prompt)
    step(talk)
    if how == "unload":
        prompt.unload("Reading", urgent=True)
    else:
        prompt.quarantine("Reading", "it reads too much")
    second = step(talk)
    assert "Use read." not in second["messages"][0]["content"]
    assert "tools" not in second
    assert prefix(step(talk)) == prefix(second)


def test_an_urgent_change_of_another_scope_is_none() -> None:
    prompt = host()
    mine, other = prompt.create_scope("mine"), prompt.create_scope("other")
    prompt.load(Reading())
    prompt.load(Reading(), scope=other)
    talk = conversation(prompt, scope=mine)
    first = step(talk)
    prompt.unload("Reading", scope=other, urgent=True)
    assert prefix(step(talk)) == prefix(first)
    prompt.unload("Reading", urgent=True)
    assert prefix(step(talk)) != prefix(first)


def test_change_events_say_what_is_urgent() -> None:
    prompt, urgent = host(), list[bool]()
    prompt.on_change(lambda event: urgent.append(event.urgent))
    prompt.load(Reading())
    prompt.unload("Reading")
    prompt.load(Reading())
    prompt.unload("Reading", urgent=True)
    prompt.load(Reading())
    prompt.quarantine("Reading", "it hangs")
    assert urgent == [False, False, False, True, False, True]


def test_without_a_pin_each_assembly_is_sent_as_it_is() -> None:
    prompt = host()
    talk = conversation(prompt, pin="none")
    first = step(talk)
    prompt.load(Reading)
    second = step(talk)
    assert prefix(second) != prefix(first)
    assert not snapshot(second)


def test_typed_keys_and_denials_of_plugins_reach_the_request() -> None:
    prompt = host()
    prompt.load(Reading)
    prompt.on_assemble(lambda assembly: assembly.deny("read", "planning"))
    talk = conversation(prompt)
    talk.step(model="a-model")
    (call,) = talk.commit(calling("read"))
    assert call.refusal == "planning"


def test_the_state_decides_in_each_step() -> None:
    prompt = host()
    prompt.variable("mode", lambda context: context.state.permission_mode)
    prompt.context(PromptContext(name="mode", order=1, text="Mode: {{mode}}."))
    talk = conversation(prompt)
    for mode in ("default", "plan"):
        request = talk.step(RuntimeState(permission_mode=mode), model="a-model")
        assert snapshot(request).endswith(f"Mode: {mode}.")
        talk.commit(answer())


@pytest.mark.anyio
async def test_an_async_step_is_the_same() -> None:
    prompt = host()

    async def branch() -> str:
        return "On main."

    prompt.context(PromptContext(name="git", order=1, text=branch))
    talk = conversation(prompt)
    request = await talk.step_async(model="a-model")
    assert await talk.step_async(model="a-model") is request
    assert snapshot(request).endswith("On main.")


@pytest.mark.parametrize("pending", [False, True])
def test_a_conversation_is_resumed_as_it_was(*, pending: bool) -> None:
    """Nothing is lost, and nothing doubled; the prefix is still the same bytes."""
    prompt = host()
    prompt.load(Reading)
    prompt.context(PromptContext(name="git", order=1, text="On main."))
    talk = conversation(prompt)
    first = step(talk, calling("read"))
    talk.add_result(talk.calls[0], "done")
    prompt.unload("Reading")
    if pending:
        talk.step(model="a-model")
    kept = json.loads(json.dumps(talk.to_dict()))
    resumed = Conversation.from_dict(kept, prompt)
    assert resumed.to_dict() == kept
    mine, its = talk.step(model="a-model"), resumed.step(model="a-model")
    assert its.to_dict() == mine.to_dict()
    assert prefix(its) == prefix(first)
    assert resumed.commit(calling("read")) == talk.commit(calling("read"))
    assert resumed.messages == talk.messages


@pytest.mark.parametrize("elsewhere", [False, True])
def test_an_urgent_change_between_keeping_and_resuming_counts(*, elsewhere: bool) -> None:
    """Also in another host, which may have begun with the plugin that had to go."""
    prompt = host()
    prompt.load(Reading)
    talk = conversation(prompt)
    step(talk)
    if elsewhere:
        prompt = host()
        prompt.load(Reading)
    prompt.unload("Reading", urgent=True)
    resumed = Conversation.from_dict(talk.to_dict(), prompt)
    first = step(resumed)
    assert "tools" not in first
    prompt.load(Reading)
    again = Conversation.from_dict(resumed.to_dict(), prompt)
    assert prefix(step(again)) == prefix(first)


def test_a_message_that_is_an_object_of_a_client_is_kept_as_json() -> None:
    class Message:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return {"role": "user", "content": "hello"}

    talk = Conversation(host(), adapter="openai_chat", messages=[Message()])
    talk.add(Message())
    assert json.loads(json.dumps(talk.to_dict()))["messages"] == [Message().model_dump()] * 2


def test_calls_are_kept_until_something_follows_them() -> None:
    prompt = host()
    prompt.load(Reading)
    talk = conversation(prompt)
    step(talk, calling("read"))
    resumed = Conversation.from_dict(json.loads(json.dumps(talk.to_dict())), prompt)
    [call] = resumed.calls
    assert (call, call.name) == (talk.calls[0], "read")
    resumed.add_results([(call, "the text", False)])
    talk.compacted("It was read.")
    assert resumed.calls == talk.calls == ()


def test_a_pin_is_one_of_two() -> None:
    with pytest.raises(ValueError, match='pin must be "prefix" or "none", not "all"'):
        Conversation(host(), adapter="openai_chat", pin="all")  # type: ignore[arg-type]


def test_an_urgent_change_counts_in_another_process_as_well() -> None:
    """Also one that came after the last step, and in a host that has never seen the plugin."""
    prompt = host()
    prompt.load(Reading)
    talk = conversation(prompt)
    step(talk)
    prompt.unload("Reading", urgent=True)
    resumed = Conversation.from_dict(json.loads(json.dumps(talk.to_dict())), host())
    assert "Use read." not in str(resumed.step(model="a-model")["messages"][0])


def test_an_urgent_change_counts_though_the_scope_moves_on() -> None:
    prompt = host()
    first, second = prompt.create_scope("first"), prompt.create_scope("second")
    mine = prompt.create_scope("mine", parent=first)
    prompt.load(Reading, scope=first)
    talk = conversation(prompt, scope=mine)
    step(talk)
    prompt.unload("Reading", scope=first, urgent=True)
    mine.rebind(second)
    assert "Use read." not in str(talk.step(model="a-model")["messages"][0])


def test_a_discarded_step_pins_nothing() -> None:
    prompt = host()
    talk = conversation(prompt)
    talk.step(model="a-model")
    talk.discard()
    prompt.load(Reading)
    assert "Use read." in str(talk.step(model="a-model")["messages"][0])


def test_a_tool_that_was_left_out_is_refused() -> None:
    prompt = host()
    prompt.tool({"name": "bad", "description": "", "parameters": {"type": "string"}})
    talk = conversation(prompt)
    request = talk.step(model="a-model", on_invalid="skip")
    assert "tools" not in request
    (call,) = talk.commit(calling("bad"))
    assert call.refusal == 'tool "bad" was left out of this request'


def test_the_history_cannot_be_changed_from_outside() -> None:
    talk = conversation(host())
    with pytest.raises(TypeError):
        talk.messages[0]["content"] = "another"


@pytest.mark.parametrize("response", [{"choices": []}, {"choices": [{"message": None}]}])
def test_what_holds_no_message_is_no_response(response: dict[str, Any]) -> None:
    talk = conversation(host())
    talk.step(model="a-model")
    with pytest.raises(TypeError):
        talk.commit(response)


def test_an_empty_list_of_calls_is_not_sent_back() -> None:
    talk = conversation(host())
    talk.step(model="a-model")
    message = {"role": "assistant", "content": "hi", "tool_calls": []}
    assert talk.commit({"choices": [{"message": message}]}) == []
    assert talk.messages[-1] == {"role": "assistant", "content": "hi"}


def test_a_notice_uses_the_name_that_the_model_knows() -> None:
    """A name that has to be mapped is told as it is sent."""
    prompt = host()
    talk = conversation(prompt)
    old = prompt.tool({"name": "files.read"})
    request = step(talk)
    [sent] = [tool["function"]["name"] for tool in request["tools"]]
    old.dispose()
    prompt.tool({"name": "files.write", "description": "Writes."})
    told = snapshot(step(talk))
    assert f'The tool "{sent}" of the host is gone' in told
    assert "files.read" not in told
    talk.repin()
    [coming] = [tool["function"]["name"] for tool in step(talk)["tools"]]
    assert f'The tool "{coming}" of the host will be there soon; not yet: Writes.' in told


def test_a_tool_that_could_not_be_sent_is_not_announced() -> None:
    prompt = host()
    talk = conversation(prompt)
    talk.step(model="a-model", on_invalid="skip")
    talk.commit(answer())
    prompt.tool({"name": "bad", "parameters": {"type": "object", "oneOf": [{}]}})
    prompt.tool({"name": "good"})
    request = talk.step(model="a-model", on_invalid="skip")
    assert '"good"' in snapshot(request)
    assert '"bad"' not in snapshot(request)


def test_of_two_tools_of_one_name_the_first_counts() -> None:
    """It is the one that was sent; the second changes nothing."""
    prompt = host()
    talk = conversation(prompt)
    first = {"name": "read", "description": "One."}
    prompt.tool(first)
    second = prompt.tools(lambda: [{"name": "read", "description": "Two."}])
    talk.step(model="a-model", on_invalid="skip")
    talk.commit(answer())
    second.dispose()
    request = talk.step(model="a-model", on_invalid="skip")
    assert "read" not in snapshot(request)


def test_half_a_surrogate_pair_does_not_block_the_history() -> None:
    """Neither that of a tool nor that of a model."""
    prompt = host()
    prompt.tool({"name": "read"})
    talk = conversation(prompt)
    talk.step(model="a-model")
    [call] = talk.commit(calling("read"))
    talk.add_result(call, "cut \ud83d here \U0001f600")
    step(talk, answer("so \udc00"))
    talk.say("on")
    contents = [message.get("content") for message in talk.step(model="a-model")["messages"]]
    assert "cut \ufffd here \U0001f600" in contents
    assert "so \ufffd" in contents


def test_results_join_the_history_together_and_in_order() -> None:
    prompt = host()
    prompt.tool({"name": "read"})
    talk = conversation(prompt)
    talk.step(model="a-model")
    response = calling("read")
    message = response["choices"][0]["message"]
    message["tool_calls"] += calling("read", "2")["choices"][0]["message"]["tool_calls"]
    one, two = talk.commit(response)
    before = talk.messages
    talk.add_result(two, "second")
    assert talk.messages == before
    assert talk.calls == (one,)
    with pytest.raises(ConversationError, match='the call of "read" is none that waits'):
        talk.add_result(two, "again")
    talk.add_result(one, "first")
    assert [message["content"] for message in talk.messages[-2:]] == ["first", "second"]
    assert not talk.calls


def test_a_call_is_judged_by_what_is_there_when_it_runs() -> None:
    prompt = host()
    registration = prompt.tool({"name": "read"})
    talk = conversation(prompt)
    talk.step(model="a-model")
    [call] = talk.commit(calling("read"))
    assert talk.authorize(call) is None
    resumed = Conversation.from_dict(talk.to_dict(), prompt)
    registration.dispose()
    gone = 'tool "read" is not available in this assembly'
    assert talk.authorize(call) == gone
    assert resumed.authorize(resumed.calls[0]) == gone


def test_nothing_comes_between_a_call_and_its_result() -> None:
    """Neither a message of the user nor a step: every provider would refuse that."""
    prompt = host()
    prompt.tool({"name": "read"})
    talk = conversation(prompt)
    talk.step(model="a-model")
    [call] = talk.commit(calling("read"))
    for action in (lambda: talk.say("wait"), lambda: talk.step(model="a-model")):
        with pytest.raises(ConversationError, match='add the results of "read" before you'):
            action()
    talk.add_result(call, "given up", is_error=True)
    talk.say("wait")
    assert talk.step(model="a-model")["messages"][-1]["content"] == "wait"


def test_messages_of_your_own_answer_calls_too() -> None:
    prompt = host()
    prompt.tool({"name": "read"})
    talk = conversation(prompt)
    talk.step(model="a-model")
    talk.commit(calling("read"))
    talk.add({"role": "tool", "tool_call_id": "1", "content": "read"})
    assert not talk.calls
    talk.step(model="a-model")


@pytest.mark.parametrize("output", [None, b"bytes", {"a": 1}])
def test_the_output_of_a_tool_is_a_text(output: Any) -> None:
    """Whatever else it is, it is told at once, and not by a provider."""
    prompt = host()
    prompt.tool({"name": "read"})
    talk = conversation(prompt)
    talk.step(model="a-model")
    [call] = talk.commit(calling("read"))
    with pytest.raises(TypeError, match='the output of the tool "read" must be a str, not'):
        talk.add_result(call, output)
    with pytest.raises(TypeError, match='the output of the tool "read" must be a str, not'):
        talk.add_results([(call, output, False)])
    assert talk.calls == (call,)


def test_a_compaction_without_a_summary_leaves_nothing() -> None:
    """The runtime state may have the summary, which would be read twice otherwise."""
    talk = conversation(host())
    step(talk)
    talk.compacted()
    assert not talk.messages
