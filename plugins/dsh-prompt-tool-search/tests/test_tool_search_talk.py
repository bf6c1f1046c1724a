"""Conversations in which the model searches: what is sent, and what may be called."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_tool_search import SEARCH_TOOL, TOOL_SEARCH
from tool_search_corpus import questions
from tool_search_talk import finished, prefix

from dsh_prompt import RuntimeState, SystemPrompt
from dsh_prompt.adapters import anthropic_messages, openai_chat
from dsh_prompt.conversation import Conversation

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt.adapters import Request

MERGE = RuntimeState(discovered_tools=["mcp__hub__merge"])
SAID = {"role": "assistant", "content": "Yes."}


def call_of(name: str) -> dict[str, object]:
    function = {"name": name, "arguments": "{}"}
    call = {"id": "1", "type": "function", "function": function}
    return {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}


@pytest.mark.parametrize("name", ["openai_chat", "anthropic_messages"])
def test_thirty_pinned_steps_have_one_prefix(name: str) -> None:
    """The model searches ten times, and each tool that it found runs."""
    talk = finished(name)
    assert talk.changes == 0
    assert talk.refused == []
    assert talk.ran == [answer for _, answer in questions()[0:30:3]]


def test_a_reference_keeps_the_prefix_unpinned() -> None:
    """With Anthropic a tool that the history opens stays deferred, so nothing changes."""
    talk = finished("anthropic_messages", pinned=False)
    assert (talk.changes, talk.refused) == (0, [])


def pinned(prompt: SystemPrompt) -> tuple[Conversation, Request]:
    """Give a conversation after its first step, and the request of that."""
    talk = Conversation(prompt, adapter="openai_chat")
    talk.say("Hello")
    request = talk.step(RuntimeState(), model="m")
    talk.commit({"choices": [{"message": SAID}]})
    return talk, request


def test_an_opened_tool_joins_at_a_new_pin(host: Callable[..., SystemPrompt]) -> None:
    """Before, it is called through the search; called directly, the refusal says so."""
    prompt = host()
    talk, first = pinned(prompt)
    request = talk.step(MERGE, model="m")
    assert prefix(request) == prefix(first)
    (call,) = talk.commit(call_of("mcp__hub__merge"))
    assert call.refusal == ('tool "mcp__hub__merge" is held back: "tool_search" opens and calls it')
    asked = {"call": {"name": "mcp__hub__merge", "arguments": {}}}
    assert prompt.require(TOOL_SEARCH).of(request.assembly).answer(asked)
    assert request.assembly.authorize("mcp__hub__merge") is None
    talk.add_results([(call, "no", True)])
    talk.repin()
    names = [tool["function"]["name"] for tool in talk.step(MERGE, model="m")["tools"]]
    assert names == [SEARCH_TOOL, "mcp__hub__merge", "read", "write"]


def test_guidance_of_an_opened_tool_is_told(host: Callable[..., SystemPrompt]) -> None:
    """Its section comes at the end, and joins the system prompt at a new pin."""
    talk, _ = pinned(host())
    request = talk.step(MERGE, model="m")
    assert "Merge." not in request["messages"][0]["content"]
    assert "Merge." in request["messages"][-1]["content"]


def test_tools_that_come_held_back_are_found(host: Callable[..., SystemPrompt]) -> None:
    """They are not announced one by one, but can be searched for and called at once."""
    prompt = host()
    talk, first = pinned(prompt)
    prompt.tool({"name": "mcp__new__paint", "description": "Paints a wall."})
    request = talk.step(RuntimeState(), model="m")
    assert prefix(request) == prefix(first)
    assert "will be there soon" not in json.dumps(request["messages"])
    (found,) = prompt.require(TOOL_SEARCH).of(request.assembly).search("paint")
    assert request.assembly.authorize(found.name) is None


def test_a_conversation_that_was_kept_holds_back(host: Callable[..., SystemPrompt]) -> None:
    """The pin knows which tools it holds back."""
    prompt = host()
    talk, first = pinned(prompt)
    kept = json.loads(json.dumps(talk.to_dict()))
    request = Conversation.from_dict(kept, prompt).step(MERGE, model="m")
    assert prefix(request) == prefix(first)


def test_adapters_tell_what_they_can(host: Callable[..., SystemPrompt]) -> None:
    """Anthropic's defers, the others leave out."""
    assembly = host().assemble(state=MERGE)
    deferred = [
        t["name"] for t in anthropic_messages(assembly, model="m")["tools"] if "defer_loading" in t
    ]
    assert deferred == ["fetch", "mcp__hub__close", "mcp__hub__open"]
    told = openai_chat(assembly, model="m")["tools"]
    assert [tool["function"]["name"] for tool in told] == [
        SEARCH_TOOL, "mcp__hub__merge", "read", "write"
    ]  # fmt: skip
