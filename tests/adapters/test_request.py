"""What a request is, for every adapter."""

from __future__ import annotations

import copy
import json
import pickle
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from dsh_prompt import AssembledSection, PromptAssembly, UnknownVariableError, render_prompt
from dsh_prompt.adapters import openai_chat
from tests.adapters.cases import ADAPTERS, CASES, HISTORY, NOW, READ, WRITE, assembly, reply
from tests.adapters.rules import broken_rules

if TYPE_CHECKING:
    from dsh_prompt.adapters import Adapter

every_adapter = pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS)
#: Where one argument of each provider stands, and what it is.
SLOTS = {
    "openai_chat": "tools",
    "openai_responses": "instructions",
    "anthropic_messages": "system",
    "gemini_generate": "config",
    "deepseek_chat": "messages",
}


@every_adapter
def test_a_request_refuses_change_through_and_through(adapter: Adapter) -> None:
    """Yet it is made of real dicts and lists, which clients and `json` take."""
    request = CASES["after-a-call"](adapter)
    history = request[HISTORY[adapter.name]]
    assert isinstance(history, list)
    assert isinstance(history[0], dict)
    with pytest.raises(TypeError):
        history.append({})
    with pytest.raises(TypeError):
        history[0]["role"] = "other"
    with pytest.raises(TypeError):
        request["model"] = "other"  # type: ignore[index]
    assert json.loads(json.dumps(dict(request))) == request.to_dict() == request
    assert repr(request).startswith(f"<Request {adapter.name}: model")


@every_adapter
def test_a_request_can_be_copied_and_pickled(adapter: Adapter) -> None:
    """A process that resumes has it as it was."""
    request = CASES["a-name-mapped"](adapter)
    for again in (copy.deepcopy(request), pickle.loads(pickle.dumps(request))):
        assert again == request
        assert again.names == request.names


@every_adapter
def test_the_copy_is_plain(adapter: Adapter) -> None:
    """Who wants to change a request has a dict to change."""
    changed = CASES["after-a-call"](adapter).to_dict()
    changed[HISTORY[adapter.name]].append({})


@every_adapter
def test_messages_are_rendered_as_they_are_given(adapter: Adapter) -> None:
    """Those of a client as what they are as JSON; a later change does not reach the request."""
    message = {"role": "user", "content": [{"type": "text", "text": "Hi"}], "parts": [{"text": ""}]}
    request = adapter(assembly(), [message, message], model="m", cache=False)
    message["content"] = "changed"
    before = {**message, "content": [{"type": "text", "text": "Hi"}]}
    assert list(request[HISTORY[adapter.name]])[-2:] == [before, before]


@every_adapter
def test_the_assembly_is_not_changed(adapter: Adapter) -> None:
    """An adapter is a function of it, and gives the same twice."""
    made = assembly(READ, WRITE)
    before = made.to_dict()
    first = adapter(made, [adapter.user_message("Hi")], model="m")
    assert made.to_dict() == before
    assert adapter(made, [adapter.user_message("Hi")], model="m") == first


@every_adapter
def test_options_are_arguments_of_the_client(adapter: Adapter) -> None:
    """Also objects that are no JSON stay as they are."""
    timeout = object()
    request = adapter(assembly(), model="m", timeout=timeout, temperature=0.5)
    arguments = request["config"] if adapter.name == "gemini_generate" else request
    assert (arguments["timeout"], arguments["temperature"]) == (timeout, 0.5)


@every_adapter
def test_an_option_may_not_be_what_the_assembly_fills(adapter: Adapter) -> None:
    """It would silently replace the prompt."""
    slot = SLOTS[adapter.name] if adapter.name != "deepseek_chat" else "tools"
    with pytest.raises(TypeError, match=f"{adapter.name} fills {slot} itself"):
        adapter(assembly(), model="m", **cast("Any", {slot: []}))


@every_adapter
def test_rendering_errors_come_through(adapter: Adapter) -> None:
    """They name the section already."""
    bad = PromptAssembly([AssembledSection("a", "{{nobody}}")])
    with pytest.raises(UnknownVariableError, match="nobody"):
        adapter(bad, model="m")


def system_text(adapter: Adapter, request: Any) -> str:
    """Give the system prompt that is in *request*."""
    if adapter.name == "anthropic_messages":
        blocks = request["system"]
        return blocks if isinstance(blocks, str) else "".join(b["text"] for b in blocks)
    if adapter.name == "gemini_generate":
        return str(request["config"]["system_instruction"])
    if adapter.name == "openai_responses":
        return str(request["instructions"])
    return str(request["messages"][0]["content"])


@pytest.mark.parametrize("cache", [True, False])
@every_adapter
def test_the_system_prompt_is_the_rendered_one(adapter: Adapter, *, cache: bool) -> None:
    """Whether it is split for a cache or not."""
    made = assembly()
    request = adapter(made, model="m", cache=cache)
    assert system_text(adapter, request) == render_prompt(made)


@every_adapter
def test_a_denial_leaves_the_tools_as_they_are(adapter: Adapter) -> None:
    """To the byte: that is what denials are for."""
    open_mode, plan_mode = assembly(READ, WRITE), assembly(READ, WRITE)
    plan_mode.deny("write", "plan mode")
    one, two = adapter(open_mode, model="m").to_dict(), adapter(plan_mode, model="m").to_dict()
    for request in (one, two):
        request.pop("tool_choice", None)
        request.get("config", {}).pop("tool_config", None)
    assert json.dumps(one) == json.dumps(two)


@every_adapter
def test_a_choice_of_the_caller_is_kept(adapter: Adapter) -> None:
    """One tool that has to be called, for example."""
    made = assembly(READ, WRITE)
    made.deny("write", "plan mode")
    choice: Any = {"mine": True}
    key = "tool_config" if adapter.name == "gemini_generate" else "tool_choice"
    request = adapter(made, model="m", **{key: choice})
    assert request.get("config", request)[key] == choice


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses"])
def test_required_means_one_of_the_allowed_tools(name: str) -> None:
    """The caller's mode goes into the mask; where nothing is allowed, nothing is required."""
    made = assembly(READ, WRITE)
    made.deny("write", "plan mode")
    choice = ADAPTERS[name](made, model="m", tool_choice="required")["tool_choice"]
    assert choice.get("allowed_tools", choice)["mode"] == "required"
    made.deny("read", "plan mode")
    assert ADAPTERS[name](made, model="m", tool_choice="required")["tool_choice"] == "none"


def test_the_key_of_the_cache_is_that_of_the_prefix() -> None:
    """A new rest leaves it; a new tool, or a new first section, does not."""
    made = assembly(READ)
    key = openai_chat(made, model="m")["prompt_cache_key"]
    assert key == made.fingerprint().prefix
    assert len(key) == 64
    made.sections[2].text = "It is one."
    assert openai_chat(made, model="m")["prompt_cache_key"] == key
    assert openai_chat(assembly(READ, WRITE), model="m")["prompt_cache_key"] != key
    assert openai_chat(made, model="m", prompt_cache_key="mine")["prompt_cache_key"] == "mine"
    assert "prompt_cache_key" not in openai_chat(made, model="m", cache=False)


@every_adapter
def test_calls_come_back_by_the_tools_own_names(adapter: Adapter) -> None:
    """With what the assembly says of them."""
    made = assembly(READ, WRITE, NOW)
    made.deny("write", "plan mode")
    request = adapter(made, model="m")
    [sent] = [sent for sent, name in request.names.items() if name == "time.now"]
    assert request.original_name(sent) == "time.now"
    assert request.original_name("other") == "other"
    for name, own, refusal in (
        ("read", "read", None),
        (sent, "time.now", None),
        ("write", "write", "plan mode"),
        ("other", "other", 'tool "other" is not available in this assembly'),
    ):
        [call] = request.tool_calls(reply(adapter.name, name, {"path": "a"}))
        assert (call.name, call.sent_name, call.refusal) == (own, name, refusal)
        assert call.arguments == {"path": "a"}
        assert call.id


@every_adapter
def test_a_result_answers_by_the_name_that_was_sent(adapter: Adapter) -> None:
    """A mapped name stays the provider's in the history."""
    made = assembly(NOW)
    request = adapter(made, [adapter.user_message("Hi")], model="m")
    response = reply(adapter.name, next(iter(request.names)), {})
    results = [(call, "noon", False) for call in request.tool_calls(response)]
    history = [adapter.user_message("Hi"), *adapter.reply_messages(response)]
    text = json.dumps([*history, *adapter.result_messages(results)])
    assert '"time.now"' not in text or adapter.name == "gemini_generate"


@every_adapter
def test_a_denial_that_comes_after_the_request_counts(adapter: Adapter) -> None:
    """The safe side: the assembly is asked when the call is there."""
    made = assembly(READ)
    request = adapter(made, model="m")
    made.deny("read", "stopped")
    [call] = request.tool_calls(reply(adapter.name, "read", {"path": "a"}))
    assert call.refusal == "stopped"


@every_adapter
def test_without_an_assembly_nothing_is_authorized(adapter: Adapter) -> None:
    """As `tool_calls` of an adapter has none."""
    [call] = adapter.tool_calls(reply(adapter.name, "other", {}))
    assert (call.name, call.sent_name, call.refusal, call.arguments) == ("other", "other", None, {})


def as_object(value: Any) -> Any:
    """Give *value* with attributes for keys, as clients have it."""
    if isinstance(value, dict):
        kept = {"args", "input"} & set(value)
        return SimpleNamespace(
            **{k: v if k in kept else as_object(v) for k, v in value.items()},
        )
    return [as_object(item) for item in value] if isinstance(value, list) else value


@every_adapter
def test_a_response_may_be_an_object(adapter: Adapter) -> None:
    """Of any class that has the fields."""
    response = reply(adapter.name, "read", {"path": "a"})
    assert adapter.tool_calls(as_object(response)) == adapter.tool_calls(response)


@every_adapter
@pytest.mark.parametrize("response", [{}, None, object(), {"error": {}}, iter(())])
def test_what_is_no_response_is_refused(adapter: Adapter, response: object) -> None:
    """A stream, for example: no calls would mean that the model is done."""
    for read in (adapter.tool_calls, adapter.reply_messages):
        with pytest.raises(TypeError, match=r"is no response of .*: it has no .*stream"):
            read(response)


@every_adapter
@pytest.mark.parametrize("case", CASES)
def test_golden_requests_keep_the_providers_rules(adapter: Adapter, case: str) -> None:
    """What is written down in `rules`, beside what the library knows."""
    body = CASES[case](adapter).to_dict()
    if adapter.name == "gemini_generate":
        body = as_sent_by_google(body)
    assert broken_rules(adapter.name, body) == []


def as_sent_by_google(request: dict[str, Any]) -> dict[str, Any]:
    """Give the body that the client makes of *request*, as far as rules are about it."""
    config = request.get("config", {})
    body = {"contents": json.loads(_camel(json.dumps(request["contents"])))}
    for key, own in (("tools", "tools"), ("toolConfig", "tool_config")):
        if own in config:
            body[key] = json.loads(_camel(json.dumps(config[own])))
    return body


def _camel(text: str) -> str:
    for key in ("function_call", "function_response", "function_declarations"):
        head, _, tail = key.partition("_")
        text = text.replace(f'"{key}"', f'"{head}{tail.capitalize()}"')
    names = {
        "function_calling_config": "functionCallingConfig",
        "allowed_function_names": "allowedFunctionNames",
    }
    for key, name in names.items():
        text = text.replace(f'"{key}"', f'"{name}"')
    return text
