"""Calls as models make them: also those that are not right."""

from __future__ import annotations

from typing import Any

import pytest

from dsh_prompt.adapters import (
    ToolCall,
    anthropic_messages,
    deepseek_chat,
    gemini_generate,
    openai_chat,
    openai_responses,
)
from dsh_prompt.adapters.calls import called
from tests.adapters.cases import reply

Json = dict[str, Any]


def chat(arguments: object) -> Json:
    """Give a response whose call has these *arguments*, as text."""
    response = reply("openai_chat", "read", {})
    call = response["choices"][0]["message"]["tool_calls"][0]
    call["function"]["arguments"] = arguments
    return response


@pytest.mark.parametrize(
    ("text", "arguments"),
    [('{"a": [1]}', {"a": [1]}), ("{}", {}), ("", {}), (None, {}), (' {"a": null} ', {"a": None})],
)
def test_arguments_are_an_object(text: str | None, arguments: Json) -> None:
    """Nothing at all is one without fields."""
    assert openai_chat.tool_calls(chat(text)) == [ToolCall("read", arguments, "call_1")]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"a": ', "the arguments are not JSON: Expecting value"),
        ('{"a": NaN}', "the arguments are not JSON: NaN is not JSON"),
        ("[1]", "the arguments are not a JSON object"),
        ("null", "the arguments are not a JSON object"),
        ("[" * 100_000, "the arguments are not JSON: "),
    ],
)
def test_arguments_that_are_none_keep_their_text(text: str, error: str) -> None:
    """So that a loop can tell the model what is wrong."""
    [call] = openai_chat.tool_calls(chat(text))
    assert call.arguments == text
    assert call.error is not None
    assert call.error.startswith(error)


def test_a_reply_without_calls_has_none() -> None:
    """Whatever it says instead."""
    message = {"role": "assistant", "content": "Hi", "tool_calls": None}
    assert openai_chat.tool_calls({"choices": [{"message": message}]}) == []
    output = [{"type": "message", "role": "assistant", "content": []}]
    assert openai_responses.tool_calls({"output": output}) == []
    assert anthropic_messages.tool_calls({"content": [{"type": "text", "text": "Hi"}]}) == []
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    assert gemini_generate.tool_calls(blocked) == []
    assert gemini_generate.reply_messages(blocked) == []


def test_calls_of_what_the_provider_runs_are_left_alone() -> None:
    """They are no tools of the assembly."""
    server = {"type": "server_tool_use", "id": "1", "name": "web_search", "input": {}}
    assert anthropic_messages.tool_calls({"content": [server]}) == []
    search = {"type": "web_search_call", "id": "1", "status": "completed"}
    assert openai_responses.tool_calls({"output": [search]}) == []
    custom = {"id": "1", "type": "custom", "custom": {"name": "code", "input": "x"}}
    message = {"role": "assistant", "tool_calls": [custom]}
    assert openai_chat.tool_calls({"choices": [{"message": message}]}) == []


def test_several_calls_keep_their_order() -> None:
    """And the results go back one by one, or together, as the provider wants them."""
    calls = [ToolCall("a", {}, "1"), ToolCall("b", {}, "2")]
    results = [(calls[0], "one", False), (calls[1], "two", True)]
    chat_results = openai_chat.result_messages(results)
    assert [message["tool_call_id"] for message in chat_results] == ["1", "2"]
    items = openai_responses.result_messages(results)
    assert [item["call_id"] for item in items] == ["1", "2"]
    [message] = anthropic_messages.result_messages(results)
    assert [block.get("is_error") for block in message["content"]] == [None, True]
    [content] = gemini_generate.result_messages(results)
    assert [part["function_response"]["response"] for part in content["parts"]] == [
        {"output": "one"},
        {"error": "two"},
    ]


def test_no_results_add_nothing() -> None:
    """A message has to have content."""
    for adapter in (openai_chat, openai_responses, anthropic_messages, gemini_generate):
        assert adapter.result_messages([]) == []


def test_a_reply_goes_back_without_what_is_only_for_reading() -> None:
    """OpenAI's message has fields that other servers do not know."""
    message: Json = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "annotations": [],
        "audio": None,
    }
    response = {"choices": [{"message": message}]}
    assert openai_chat.reply_messages(response) == [{"role": "assistant", "content": ""}]


def test_deepseeks_reasoning_goes_back() -> None:
    """Or the next request is refused."""
    [message] = deepseek_chat.reply_messages(reply("deepseek_chat", "read", {}))
    assert message["reasoning_content"] == "I have to look."


def test_blank_text_does_not_go_back_to_anthropic() -> None:
    """A history with such a block could never be sent again."""
    use = {"type": "tool_use", "id": "1", "name": "read", "input": {}}
    content = [{"type": "text", "text": " \n"}, use]
    [message] = anthropic_messages.reply_messages({"content": content})
    assert message == {"role": "assistant", "content": [use]}
    assert anthropic_messages.reply_messages({"content": []}) == []


def test_the_chunks_of_geminis_stream_are_one_response() -> None:
    """Its client does not put them together."""
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "I look."}]}}]},
        reply("gemini_generate", "read", {"path": "a"}),
        {"candidates": [{"finishReason": "STOP", "content": {"parts": None}}]},
        {"usageMetadata": {"totalTokenCount": 3}},
    ]
    [call] = gemini_generate.tool_calls(chunks)
    assert (call.name, call.arguments, call.id) == ("read", {"path": "a"}, "call_1")
    [content] = gemini_generate.reply_messages(chunks)
    assert content["role"] == "model"
    assert [set(part) for part in content["parts"]] == [
        {"text"},
        {"functionCall", "thoughtSignature"},
    ]


def test_a_call_of_gemini_may_have_no_id() -> None:
    """Then its result has none either."""
    part = {"function_call": {"name": "now", "args": None}}
    [call] = gemini_generate.tool_calls({"candidates": [{"content": {"parts": [part]}}]})
    assert call == ToolCall("now", {}, "")
    [content] = gemini_generate.result_messages([(call, "noon", False)])
    assert content["parts"] == [
        {"function_response": {"name": "now", "response": {"output": "noon"}}}
    ]


class Model:
    """An object as clients have them: fields, and a way to give them as JSON."""

    def __init__(self, **fields: Any) -> None:
        vars(self).update(fields)

    def model_dump(self, *, mode: str, exclude_unset: bool) -> Json:
        """Give the fields, and those of models in them."""
        assert (mode, exclude_unset) == ("json", True)
        return {key: self._dumped(value) for key, value in vars(self).items()}

    def _dumped(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._dumped(item) for item in value]
        if isinstance(value, bytes):
            return value.decode()
        return vars(value) if isinstance(value, Model) else value


def test_an_object_goes_back_as_json_without_what_its_client_added() -> None:
    """However deep it stands; what the model said stays, whatever it is called."""
    text = Model(type="output_text", text="Hi", parsed={"a": 1})
    call = Model(type="function_call", arguments='{"parsed": 1}', parsed_arguments={"parsed": 1})
    response = Model(output=[Model(type="message", content=[text], raw=b"x"), call])
    assert openai_responses.reply_messages(response) == [
        {"type": "message", "content": [{"type": "output_text", "text": "Hi"}], "raw": "x"},
        {"type": "function_call", "arguments": '{"parsed": 1}'},
    ]
    block = {"type": "tool_use", "id": "1", "name": "read", "input": {"parsed": 1}}
    [message] = anthropic_messages.reply_messages({"content": [block]})
    assert message["content"] == [block]


@pytest.mark.parametrize("arguments", [{"x": ["\ud83d"]}, '{"x": ["\\ud83d"]}'])
def test_half_a_surrogate_pair_in_arguments_is_replaced(arguments: Any) -> None:
    """A tool could not send it on."""
    assert called("read", arguments, "1").arguments == {"x": ["\ufffd"]}


def test_arguments_of_any_depth_are_told() -> None:
    deep = '{"x":' * 5000 + "1" + "}" * 5000
    assert called("read", deep, "1").error
