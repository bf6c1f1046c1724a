"""Tools that are held back, in conversations that are pinned: found, called, changed and gone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_plan_mode import PlanMode
from dsh_prompt_tool_search import INDEX_SECTION, SEARCH_TOOL, TOOL_SEARCH, ToolSearchPlugin

from dsh_prompt import PromptSection, RuntimeState, SystemPrompt, hookimpl
from dsh_prompt.adapters import FoundTools
from dsh_prompt.conversation import Conversation
from tests.adapters.rules import broken_rules

if TYPE_CHECKING:
    from dsh_prompt.adapters import Request

both = pytest.mark.parametrize("adapter", ["openai_chat", "anthropic_messages"])
MERGING = RuntimeState(discovered_tools=["hub_merge"])
PAINTING = RuntimeState(discovered_tools=["hub_paint"])


class Merging:
    """A plugin with a tool that can be merged in several ways."""

    def __init__(self, description: str = "Merges a branch.") -> None:
        self.description = description

    @hookimpl
    def contribute_tools(self) -> list[dict[str, Any]]:
        return [{"name": "hub_merge", "description": self.description}]

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        text = "Ask before you merge."
        return [PromptSection(name="merging", order=10, text=text, requires_tools=["hub_merge"])]


class Two:
    """A plugin with two tools."""

    @hookimpl
    def contribute_tools(self) -> list[dict[str, Any]]:
        return [{"name": "two_one"}, {"name": "two_two"}]


def host(tools: int = 5, **settings: Any) -> SystemPrompt:
    """Give a host with some tools, of which one is listed; it holds back more than five."""
    prompt = SystemPrompt()
    prompt.tool({"name": "read", "description": "Reads a file."})
    for number in range(tools):
        prompt.tool({"name": f"hub_tool{number}", "description": f"Tool number {number}."})
    prompt.load(Merging(), name="merging")
    config = {"threshold": 5, "always": ["read", "write"], **settings}
    prompt.load(ToolSearchPlugin, name="tool-search", config=config)
    return prompt


def reply(adapter: str, *calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Give a response that calls tools, or says something."""
    if adapter == "anthropic_messages":
        used = [
            {"type": "tool_use", "id": f"toolu_{place}", "name": name, "input": arguments}
            for place, (name, arguments) in enumerate(calls)
        ]
        return {"content": [{"type": "text", "text": "Well."}, *used]}
    made = [
        {
            "id": f"call_{place}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for place, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": "Well.", **({"tool_calls": made} if made else {})}
    return {"choices": [{"message": message}]}


class Talk:
    """A conversation whose model searches, and what the search gives."""

    def __init__(self, prompt: SystemPrompt, adapter: str) -> None:
        self.prompt, self.adapter = prompt, adapter
        self.talk = Conversation(prompt, adapter=adapter)
        self.talk.say("Hello")
        self.first = self.step()

    def step(self, state: RuntimeState | None = None) -> Request:
        request = self.talk.step(state, model="m", cache=False)
        assert broken_rules(self.adapter, request.to_dict()) == []
        return request

    def finish(self, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
        return self.talk.commit(reply(self.adapter, *calls))

    def answer(self, arguments: dict[str, Any], request: Request) -> Any:
        return self.prompt.require(TOOL_SEARCH).of(request.assembly).answer(arguments)

    def search(self, query: str, request: Request) -> FoundTools:
        (call,) = self.finish((SEARCH_TOOL, {"query": query, "limit": 1}))
        assert call.refusal is None
        found = self.answer(call.arguments, request)
        assert isinstance(found, FoundTools)
        self.talk.add_result(call, found)
        return found


def prefix(request: Request) -> str:
    """Give what the model reads before the history."""
    system = request.get("system") or request["messages"][0]
    return json.dumps([[t for t in request["tools"] if not t.get("defer_loading")], system])


def listed(request: Request) -> list[str]:
    named = [tool.get("function", tool) for tool in request["tools"]]
    return [tool["name"] for tool in named if not tool.get("defer_loading")]


def told(request: Request) -> str:
    content = request["messages"][-1]["content"]
    text = content if isinstance(content, str) else content[-1].get("text", "")
    return text if text.startswith("Current runtime context") else ""


# What comes


@both
def test_a_found_tool_that_came_can_be_called(adapter: str) -> None:
    """Through the search, until it is listed after a new pin; the reference to it stays."""
    prompt = host()
    talk = Talk(prompt, adapter)
    talk.finish()
    prompt.tool({"name": "hub_paint", "description": "Paints a wall."})
    request = talk.step()
    assert [tool.name for tool in talk.search("paint", request).schemas] == ["hub_paint"]
    before = talk.talk.messages[-1]
    for _ in range(2):
        request = talk.step(PAINTING)
        assert prefix(request) == prefix(talk.first)
        assert before in request["messages"]
        assert request.assembly.authorize("hub_paint") is None
        asked = {"call": {"name": "hub_paint", "arguments": {}}}
        assert talk.answer(asked, request).name == "hub_paint"
        talk.finish()
    talk.talk.compacted("Walls.")
    assert "hub_paint" in listed(talk.step(PAINTING))


@both
def test_a_listed_tool_that_came_is_told(adapter: str) -> None:
    """It is in no index, but the search calls it until it joins the list."""
    prompt = host()
    talk = Talk(prompt, adapter)
    talk.finish()
    prompt.tool({"name": "write", "description": "Writes a file."})
    request = talk.step()
    assert prefix(request) == prefix(talk.first)
    assert request.assembly.authorize("write") is None
    assert (
        'The tool "write" of the host is new; not in your list yet, "tool_search" finds and '
        "calls it: Writes a file."
    ) in told(request)


@both
def test_finding_a_listed_tool_changes_nothing(adapter: str) -> None:
    """There is nothing to open: the model gets the text."""
    talk = Talk(host(), adapter)
    found = talk.search("read a file", talk.first)
    assert '"read"' in found
    assert found.schemas == ()
    request = talk.step(RuntimeState(discovered_tools=["read"]))
    assert prefix(request) == prefix(talk.first)
    assert "Reads a file." in json.dumps(request["messages"])


@both
def test_finding_a_tool_again_changes_nothing(adapter: str) -> None:
    """A tool that was found before the pin is listed in that, and stays so."""
    prompt = host()
    talk = Talk(prompt, adapter)
    talk.finish()
    talk.talk.compacted("The branch is to be merged.")
    first = talk.step(MERGING)
    assert "hub_merge" in listed(first)
    talk.search("merge", first)
    assert prefix(talk.step(MERGING)) == prefix(first)


# With fewer tools


@both
def test_the_search_works_below_the_threshold(adapter: str) -> None:
    """What the pin holds back is found and called, and the index still counts."""
    prompt = host(3)
    prompt.load(Two(), name="two")
    talk = Talk(prompt, adapter)
    talk.finish()
    prompt.unload("two")
    prompt.unload("merging")
    request = talk.step()
    assert prefix(request) == prefix(talk.first)
    assert 'Of the tools that "tool_search" finds, gone are: hub_merge, two_one, two_two.' in told(
        request
    )
    assert INDEX_SECTION not in told(request)
    assert f'"{SEARCH_TOOL}" of' not in told(request)
    (call,) = talk.finish((SEARCH_TOOL, {"query": "number 2", "limit": 1}))
    assert call.refusal is None
    assert talk.talk.authorize(call) is None
    found = talk.answer(call.arguments, request)
    assert [tool.name for tool in found.schemas] == ["hub_tool2"]
    assert request.assembly.authorize("hub_tool2") is None
    assert request.assembly.authorize("two_one") == 'the tool "two_one" of plugin "two" went away'


@both
def test_a_tool_that_comes_below_the_threshold_is_told(adapter: str) -> None:
    """No index names it, so it is told by itself, and can be called."""
    prompt = host(3)
    prompt.load(Two(), name="two")
    talk = Talk(prompt, adapter)
    talk.finish()
    prompt.unload("two")
    prompt.unload("merging")
    prompt.tool({"name": "hub_paint", "description": "Paints a wall."})
    request = talk.step()
    assert 'The tool "hub_paint" of the host is new;' in told(request)
    assert request.assembly.authorize("hub_paint") is None


@both
def test_the_index_counts_after_a_restart(adapter: str) -> None:
    """The pin keeps what its sections are about."""
    prompt = host(3)
    prompt.load(Two(), name="two")
    talk = Talk(prompt, adapter)
    talk.finish()
    prompt.unload("two")
    prompt.unload("merging")
    expected = told(talk.step())
    talk.talk.discard()
    kept = json.loads(json.dumps(talk.talk.to_dict()))
    again = Conversation.from_dict(kept, prompt)
    assert told(again.step(model="m", cache=False)) == expected


@both
@pytest.mark.parametrize("mode", ["narrow", "mask"])
def test_plan_mode_leaves_the_search(adapter: str, mode: str) -> None:
    """Read-only tools are found and called, the others are neither."""
    prompt = SystemPrompt()
    for number in range(4):
        reads = {"readOnlyHint": True}
        prompt.tool({"name": f"get{number}", "description": "Gets it.", "annotations": reads})
        prompt.tool({"name": f"set{number}", "description": "Sets it."})
    prompt.load(ToolSearchPlugin, name="tool-search", config={"threshold": 5})
    prompt.load(PlanMode, name="plan-mode", config={"mode": mode})
    talk = Talk(prompt, adapter)
    talk.finish()
    plan = RuntimeState(permission_mode="plan")
    request = talk.step(plan)
    assert prefix(request) == prefix(talk.first)
    (call,) = talk.finish((SEARCH_TOOL, {"query": "gets or sets it"}))
    assert call.refusal is None
    assert talk.talk.authorize(call, plan) is None
    found = talk.answer(call.arguments, request)
    assert [tool.name for tool in found.schemas] == ["get0", "get1", "get2", "get3"]
    assert request.assembly.authorize("get2") is None
    assert request.assembly.authorize("set2") is not None


def test_a_denied_search_stays_denied() -> None:
    """Below the threshold too: whoever denies it has a reason."""
    prompt = host(3)
    prompt.load(Two(), name="two")
    talk = Talk(prompt, "openai_chat")
    talk.finish()
    prompt.unload("two")
    prompt.unload("merging")
    prompt.on_assemble(lambda assembly: assembly.deny(SEARCH_TOOL, "not today"))
    talk.step()
    (call,) = talk.finish((SEARCH_TOOL, {"query": "tool"}))
    assert call.refusal == "not today"


def test_the_search_goes_with_its_plugin() -> None:
    """Without it, nobody could follow a call."""
    prompt = host()
    talk = Talk(prompt, "openai_chat")
    talk.finish()
    prompt.unload("tool-search")
    request = talk.step()
    assert prefix(request) == prefix(talk.first)
    assert f'The tool "{SEARCH_TOOL}" of plugin "tool-search" is gone' in told(request)
    (call,) = talk.finish((SEARCH_TOOL, {"query": "merge"}))
    assert call.refusal == f'the tool "{SEARCH_TOOL}" of plugin "tool-search" went away'


# What changes and goes


@both
def test_changes_of_a_found_tool_are_told(adapter: str) -> None:
    """That it says something else, and that it is gone."""
    prompt = host()
    talk = Talk(prompt, adapter)
    talk.search("merge", talk.first)
    talk.step(MERGING)
    talk.finish()
    prompt.unload("merging")
    prompt.load(Merging("Squashes a branch."), name="merging")
    request = talk.step(MERGING)
    assert prefix(request) == prefix(talk.first)
    assert (
        'The tool "hub_merge" of plugin "merging" has changed: {"description": "Squashes'
        in told(request)
    )
    talk.finish()
    prompt.unload("merging")
    request = talk.step(MERGING)
    assert 'The tool "hub_merge" of plugin "merging" is gone: do not call it.' in told(request)


@both
def test_changes_of_tools_that_were_not_found_are_not_told(adapter: str) -> None:
    """The model does not know them: the index alone changes, if one goes away."""
    prompt = host()
    talk = Talk(prompt, adapter)
    talk.finish()
    prompt.unload("merging")
    prompt.load(Merging("Squashes a branch."), name="merging")
    assert told(talk.step()) == ""
    talk.finish()
    prompt.unload("merging")
    prompt.tool({"name": "hub_paint"})
    request = talk.step()
    assert "hub_merge" not in told(request)
    assert f'The section "{INDEX_SECTION}"' in told(request)


@both
def test_a_found_tool_that_came_and_went_is_told(adapter: str) -> None:
    """The model knows it, though no pin does; after a new pin nothing is said of it."""
    prompt = host()
    talk = Talk(prompt, adapter)
    talk.finish()
    prompt.load(Two(), name="two")
    talk.search("two_one", talk.step())
    prompt.unload("two")
    found = RuntimeState(discovered_tools=["two_one"])
    request = talk.step(found)
    assert 'The tool "two_one" is gone: do not call it.' in told(request)
    talk.finish()
    talk.talk.compacted("Nothing.")
    assert told(talk.step(found)).startswith("Current runtime context: none.")
    talk.finish()
    assert told(talk.step(found)) == ""


@both
def test_a_pin_without_search_stays_so_above_the_threshold(adapter: str) -> None:
    """What came and what changed is told; the search is not, before it can be called."""
    prompt = host(3)
    talk = Talk(prompt, adapter)
    assert "Ask before you merge." in json.dumps(talk.first.to_dict())
    talk.finish()
    prompt.unload("merging")
    prompt.load(Merging("Squashes a branch."), name="merging")
    prompt.tool({"name": "hub_paint", "description": "Paints a wall."})
    request = talk.step()
    assert prefix(request) == prefix(talk.first)
    assert 'The tool "hub_merge" of plugin "merging" has changed' in told(request)
    assert 'The tool "hub_paint" of the host will be there soon' in told(request)
    assert SEARCH_TOOL not in told(request)
    # Its section is held back with the tool, in an assembly that is not pinned.
    assert "does not apply" not in told(request)
    talk.finish()
    talk.talk.repin()
    assert listed(talk.step()) == [SEARCH_TOOL, "read"]


@both
def test_references_survive_a_kill_between_two_results(adapter: str) -> None:
    """A result that is kept is the same after a restart: with the schemas that were found."""
    histories = []
    for restarts in (False, True):
        prompt = host()
        talk = Talk(prompt, adapter)
        search, _ = talk.finish((SEARCH_TOOL, {"query": "merge", "limit": 1}), ("read", {}))
        conversation = talk.talk
        conversation.add_result(search, talk.answer(search.arguments, talk.first))
        if restarts:
            kept = json.loads(json.dumps(conversation.to_dict()))
            conversation = Conversation.from_dict(kept, prompt)
        conversation.add_result(conversation.calls[0], "text")
        histories.append(conversation.messages)
    assert histories[0] == histories[1]
