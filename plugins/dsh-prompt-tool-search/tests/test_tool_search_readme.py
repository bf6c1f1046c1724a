"""The README tells the truth."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from dsh_prompt_plan_mode import PlanMode
from dsh_prompt_tool_search import SEARCH_TOOL, Config, ToolSearchPlugin
from tool_search_measure import BLOCK, PAGE, measured, recall

from dsh_prompt import RuntimeState, SystemPrompt, hookimpl
from dsh_prompt.conversation import Conversation
from dsh_prompt.loop import run
from dsh_prompt.testing import Readme

if TYPE_CHECKING:
    from collections.abc import Callable

README = Readme(PAGE)


def test_code_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The code, run as one program, prints the output that is shown."""
    README.run()
    assert capsys.readouterr().out == "".join(README.blocks("text"))


DANGER = '{"call": {"name": "hub_danger", "arguments": {}}}'


@pytest.fixture
def agent_class() -> Any:
    """Give the class of the agent that is shown."""
    code = next(block for block in README.blocks("python") if "class Agent" in block)
    names: dict[str, Any] = {"RuntimeState": RuntimeState}
    exec(code.partition("def reply")[0], names)
    return names["Agent"]


class Danger:
    """A plugin with a tool that comes and goes."""

    @hookimpl
    def contribute_tools(self) -> list[dict[str, str]]:
        return [{"name": "hub_danger"}]


@pytest.fixture
def dangerous(dsh_prompt_host: SystemPrompt) -> SystemPrompt:
    """Give a host with tools that are held back, and plan mode."""
    for number in range(5):
        dsh_prompt_host.tool({"name": f"hub_tool{number}"})
    dsh_prompt_host.load(Danger(), name="danger")
    dsh_prompt_host.load(ToolSearchPlugin, name="tool-search", config={"threshold": 3})
    dsh_prompt_host.load(PlanMode, name="plan-mode", config={"mode": "mask"})
    return dsh_prompt_host


def asking(arguments: str) -> dict[str, Any]:
    function = {"name": SEARCH_TOOL, "arguments": arguments}
    call = {"id": "1", "type": "function", "function": function}
    return {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [call]}}]}


SAID: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}


def begin_plan(_: SystemPrompt, agent: Any) -> None:
    agent.state = lambda: RuntimeState(permission_mode="plan")


def unload(prompt: SystemPrompt, _: Any) -> None:
    prompt.unload("danger")


def nothing(*_: Any) -> None:
    pass


@pytest.mark.parametrize(
    ("happens", "runs"), [(begin_plan, []), (unload, []), (nothing, ["hub_danger"])]
)
def test_the_loop_asks_again_before_it_runs(
    agent_class: Any,
    dangerous: SystemPrompt,
    happens: Callable[[SystemPrompt, Any], None],
    runs: list[str],
) -> None:
    """What was denied or went away while the model replied does not run, by the search either."""
    ran: list[str] = []
    talk = Conversation(dangerous, adapter="openai_chat")

    def run_tool(name: str, _: object) -> str:
        ran.append(name)
        return "It ran."

    agent = agent_class(dangerous, talk, run_tool)
    replies = [asking(DANGER), SAID]

    def client(_: object) -> dict[str, Any]:
        if len(replies) == 2:
            happens(dangerous, agent)
        return replies.pop(0)

    run(talk, client, agent.tool, model="m", text="Go.", state=lambda: agent.state())  # noqa: PLW0108 - it changes
    assert ran == runs


def test_the_loop_goes_on_after_a_restart(agent_class: Any, dangerous: SystemPrompt) -> None:
    """A search that had no result yet is answered by a new agent."""
    talk = Conversation(dangerous, adapter="openai_chat")
    talk.say("Go.")
    talk.step(model="m")
    talk.commit(asking('{"query": "hub_tool3"}'))
    again = Conversation.from_dict(json.loads(json.dumps(talk.to_dict())), dangerous)
    agent = agent_class(dangerous, again, lambda *_: "It ran.")
    run(again, lambda _: SAID, agent.tool, model="m", state=agent.state)
    (result,) = [message for message in again.messages if message["role"] == "tool"]
    assert '"hub_tool3"' in result["content"]
    assert "hub_tool3" in agent.discovered


def test_settings_are_taken() -> None:
    """The settings shown are valid, and all that there are."""
    prompt = SystemPrompt(README.config())
    prompt.load(ToolSearchPlugin, name="tool-search")
    shown = README.settings("tool-search")
    assert set(shown) == {field.name for field in attrs.fields(Config)}


def test_tables_are_current() -> None:
    """The README has the tables that the measuring gives."""
    found = BLOCK.search(README.text)
    assert found is not None
    assert found.group() == measured()


def test_nine_of_ten_questions_find_their_tool() -> None:
    """Of the hundred questions, ninety or more find the tool among the first five."""
    assert recall(5) >= 90
