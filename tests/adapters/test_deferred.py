"""Tools that are held back: who defers them, who leaves them out, and how they are opened."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from dsh_prompt import PromptAssembly, ToolSchema
from dsh_prompt.adapters import (
    DEFERRED,
    Deferred,
    Figure,
    FoundTools,
    PreflightError,
    ToolCall,
    anthropic_messages,
    openai_chat,
)
from dsh_prompt.conversation import Conversation
from tests.adapters.cases import ADAPTERS, READ, WRITE, assembly, reply
from tests.adapters.rules import broken_rules, marks

FIND = ToolSchema("find", "Finds tools.", {})
ODD = ToolSchema("a/b", "Has a name that is mapped.", {})
HELLO = {"role": "user", "content": "Hello"}
CALL = ToolCall("find", {}, "toolu_1")
ASKED = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "toolu_1", "name": "find", "input": {}}],
}


def holding(
    *held: str,
    tools: tuple[ToolSchema, ...] = (FIND, READ, WRITE),
    opened: tuple[str, ...] = (),
) -> PromptAssembly:
    made = assembly(*tools)
    made[DEFERRED] = Deferred(held, "find", opened)
    return made


def found(*tools: ToolSchema, is_error: bool = False) -> list[Any]:
    output = FoundTools("The text.", tools)
    return [HELLO, ASKED, *anthropic_messages.result_messages([(CALL, output, is_error)])]


def content(history: list[Any]) -> Any:
    return history[-1]["content"][0]["content"]


def body(made: PromptAssembly, history: list[Any]) -> dict[str, Any]:
    sent = anthropic_messages(made, history, model="m").to_dict()
    assert broken_rules("anthropic_messages", sent) == []
    return sent


def deferred(sent: dict[str, Any]) -> list[str]:
    return [tool["name"] for tool in sent["tools"] if tool.get("defer_loading")]


@pytest.mark.parametrize("name", [name for name in ADAPTERS if name != "anthropic_messages"])
def test_others_leave_them_out(name: str) -> None:
    """The request is that of the other tools; a call is refused with the way to open it."""
    adapter = ADAPTERS[name]
    request = adapter(holding("write"), model="m")
    open_ones = adapter(assembly(FIND, READ), model="m").to_dict()
    assert request.to_dict() | {"prompt_cache_key": ""} == open_ones | {"prompt_cache_key": ""}
    (call,) = request.tool_calls(reply(name, "write", {}))
    assert call.refusal == 'tool "write" is held back: "find" opens and calls it'


@pytest.mark.parametrize("name", ADAPTERS)
def test_denied_tools_stay_denied(name: str) -> None:
    """That a tool is held back hides no reason to refuse it."""
    made = holding("write")
    made.deny("write", "plan mode")
    (call,) = ADAPTERS[name](made, model="m").tool_calls(reply(name, "write", {}))
    assert call.refusal == "plan mode"


def test_what_is_left_out_is_not_checked() -> None:
    """Neither its schema nor the number of such tools makes a request invalid."""
    bad = ToolSchema("bad", "", {"type": "array"})
    limits = attrs.evolve(openai_chat.limits, max_tools=Figure(2, "a test"))
    adapter = attrs.evolve(openai_chat, limits=limits)
    request = adapter(holding("bad", "write", tools=(FIND, READ, WRITE, bad)), model="m")
    assert list(request.names) == ["find", "read"]
    with pytest.raises(PreflightError):
        adapter(holding("write", tools=(FIND, READ, WRITE, bad)), model="m")


def test_anthropic_defers_them() -> None:
    """All are sent, in their order; the mark for the cache is at the last open tool."""
    sent = body(holding("write"), [HELLO])
    assert [tool["name"] for tool in sent["tools"]] == ["find", "read", "write"]
    assert deferred(sent) == ["write"]
    assert marks(sent)[0] == "tools[1]"
    request = anthropic_messages(holding("write"), model="m")
    (call,) = request.tool_calls(reply("anthropic_messages", "write", {}))
    assert call.refusal is None


def test_a_search_opens_by_references() -> None:
    """The result of a search refers to the tools, and the prefix stays, marked or not."""
    history = found(WRITE)
    assert content(history) == [{"type": "tool_reference", "tool_name": "write"}]
    before, after = body(holding("write"), [HELLO]), body(holding(opened=("write",)), history)
    assert after["tools"] == before["tools"]
    assert after["system"] == before["system"]
    assert body(holding("write"), history)["tools"] == before["tools"]


def test_a_tool_that_is_opened_otherwise_is_told() -> None:
    """Without a reference in the history it would not be there."""
    assert deferred(body(holding(opened=("write",)), [HELLO])) == []


@pytest.mark.parametrize("held", [(), ("write",)])
def test_a_tool_that_never_was_held_back_is_not_deferred(held: tuple[str, ...]) -> None:
    """A reference to it changes no tool, and goes; without others, the result says where it is."""
    history = found(READ)
    sent = body(holding(*held), history)
    assert sent["tools"] == body(holding(*held), [HELLO])["tools"]
    text = "The tools that were found are in your list of tools: read."
    assert content(sent["messages"])[0]["text"] == text
    mixed = body(holding("write"), found(READ, WRITE))
    assert [block["tool_name"] for block in content(mixed["messages"])] == ["write"]


def test_references_without_a_search_are_text() -> None:
    """When nothing holds tools back any more, all are listed as any other."""
    sent = body(assembly(FIND, READ, WRITE), found(WRITE))
    assert deferred(sent) == []
    assert "in your list of tools: write." in json.dumps(sent["messages"])


@pytest.mark.parametrize("name", ["openai_chat", "openai_responses"])
def test_what_is_held_back_does_not_change_the_key(name: str) -> None:
    """Requests that start alike have the same key; those that do not, another one."""
    other = ToolSchema("other", "Came later.", {})
    adapter = ADAPTERS[name]

    def key(made: PromptAssembly) -> str:
        return str(adapter(made, model="m")["prompt_cache_key"])

    held = key(holding("write"))
    assert held == key(holding("write", "other", tools=(FIND, READ, WRITE, other)))
    assert held == key(assembly(FIND, READ)) == assembly(FIND, READ).fingerprint().prefix
    assert held != key(holding("other", tools=(FIND, READ, WRITE, other)))


def test_references_to_tools_that_are_gone_go_too() -> None:
    """A request that has them would be refused; those to other tools stay."""
    history = found(WRITE, READ)
    both = content(history)
    gone = body(holding("read", tools=(FIND, READ)), history)
    assert content(gone["messages"]) == both[1:]
    none = body(holding(tools=(FIND,)), history)
    text = "The tools that were found are not there any more."
    assert content(none["messages"]) == [{"type": "text", "text": text}]
    assert none["messages"][:2] == history[:2]
    assert content(history) == both


def test_not_all_tools_are_deferred() -> None:
    """A request without any open tool would be refused: then all are told."""
    assert deferred(body(holding("read", "write", tools=(READ, WRITE)), [HELLO])) == []
    assert deferred(body(holding(tools=(READ, WRITE)), found(READ, WRITE))) == []


@pytest.mark.parametrize(
    "history",
    [found(), found(ODD), found(READ, ODD), found(WRITE, is_error=True)],
    ids=["nothing", "mapped", "one-mapped", "error"],
)
def test_what_no_reference_can_say_is_text(history: list[Any]) -> None:
    """A search without result, a name that is mapped, and an error."""
    assert content(history) == "The text."


def test_older_models_get_text_and_no_deferred_tools() -> None:
    """An adapter that does not defer leaves them out, as the others do."""
    older = attrs.evolve(anthropic_messages, defers=False)
    assert older.result_messages([(CALL, FoundTools("The text.", [WRITE]), False)]) == [
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "The text."}],
        }
    ]
    sent = older(holding("write"), found(WRITE), model="m").to_dict()
    assert broken_rules("anthropic_messages", sent) == []
    assert [tool["name"] for tool in sent["tools"]] == ["find", "read"]


def test_odd_histories_are_sent_as_they_are() -> None:
    """What only looks like references is not touched."""
    odd: list[Any] = [
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]},
        {"role": "user", "content": [{"type": "text", "text": "tool_reference"}]},
    ]
    sent = anthropic_messages(holding("write"), odd, model="m", cache=False)
    assert sent.to_dict()["messages"] == odd


def test_found_tools_come_through_a_conversation(
    dsh_prompt_host: Any,
) -> None:
    """What is added to a conversation is what the adapter makes of it."""
    talk = Conversation(dsh_prompt_host, adapter="anthropic_messages")
    talk.add_results([(CALL, FoundTools("The text.", [WRITE]), False)])
    assert content(list(talk.messages)) == [{"type": "tool_reference", "tool_name": "write"}]


def test_the_tool_that_finds_may_run_unlisted() -> None:
    """With few tools it is not listed, but a call of it, from a list of before, is answered."""
    made = holding(tools=(READ,))
    assert made.authorize("find") is None
    assert made.authorize("other") is not None
    (call,) = openai_chat(made, model="m").tool_calls(reply("openai_chat", "find", {}))
    assert call.refusal == 'tool "find" was left out of this request'
    made.deny("find", "not today")
    assert made.authorize("find") == "not today"


def test_the_key_is_json() -> None:
    """An assembly that was kept holds back the same tools, in a stable order."""
    made = holding("write", "read", "a", "b", opened=("e", "d"))
    document = json.loads(json.dumps(made.to_dict()))
    assert document["keys"]["deferred-tools"] == {
        "names": ["a", "b", "read", "write"],
        "search": "find",
        "opened": ["d", "e"],
    }
    assert PromptAssembly.from_dict(document, [DEFERRED])[DEFERRED] == made[DEFERRED]
