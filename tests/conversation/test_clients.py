"""The reference loop with the providers' own clients: ten steps, and a prefix that stays.

The server checks each body by the rules of the provider's documentation. Its model follows a
script, and calls what it should not, too.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from dsh_prompt_plan_mode import PlanMode
from dsh_prompt_plan_mode.config import REASON, TEXT

from dsh_prompt import Config, PromptContext, PromptSection, RuntimeState, SystemPrompt, hookimpl
from dsh_prompt.conversation import Conversation
from dsh_prompt.loop import run, run_async
from tests.adapters.cases import ADAPTERS, HISTORY
from tests.adapters.replies import ARGUMENTS, SAID
from tests.adapters.server import Server, running
from tests.adapters.test_clients import anthropic_client, google_client, openai_client, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dsh_prompt.adapters import Request

#: What the model calls in each of its ten replies.
SCRIPT = ["read", "write", "note", "write", "read", "note", "note", "write", "read", None]
PLAN, UNLOAD = (4, 5), 7
#: What comes of it: in plan mode nothing is written, and there are no notes after the unload.
GONE = 'the tool "note" of plugin "notes" went away'
RESULTS = ["read", "write", "note", REASON, "read", "note", GONE, "write", "read"]

METHODS = {
    "openai_chat": "chat.completions.create",
    "openai_responses": "responses.create",
    "anthropic_messages": "messages.create",
    "gemini_generate": "models.generate_content",
    "deepseek_chat": "chat.completions.create",
}


def schema(name: str, *, reads: bool) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    annotations = {"readOnlyHint": reads}
    return {"name": name, "parameters": parameters, "annotations": annotations}


class Notes:
    """A plugin that is unloaded in the middle."""

    @hookimpl
    def contribute_tools(self) -> list[dict[str, Any]]:
        return [schema("note", reads=True)]

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return [PromptSection(name="notes", order=20, text="Note what you learn.")]


class Agent:
    """A conversation of ten steps, and what happens around it."""

    def __init__(self, adapter: str) -> None:
        self.prompt = SystemPrompt(Config(persona="You help."))
        self.prompt.tool(schema("read", reads=True))
        self.prompt.tool(schema("write", reads=False))
        self.prompt.context(PromptContext(name="branch", order=10, text="On main."))
        self.prompt.load(Notes, name="notes")
        self.prompt.load(PlanMode, name="plan-mode", config={"mode": "mask"})
        self.talk = Conversation(self.prompt, adapter=adapter)
        self.ran: list[str] = []
        self._steps = 0

    def state(self) -> RuntimeState:
        """Give the state of the next step, and of the tool that it calls."""
        if not self.talk.calls:
            self._steps += 1
            if self._steps == UNLOAD:
                self.prompt.unload("notes")
        return RuntimeState(permission_mode="plan" if self._steps in PLAN else "default")

    def tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        assert arguments == ARGUMENTS
        self.ran.append(name)
        return f"{name} is done"

    async def async_tool(self, name: str, arguments: Mapping[str, Any]) -> str:
        return self.tool(name, arguments)


def client(server: Server, name: str, *, is_async: bool) -> Any:
    """Give the client of the provider, in the one way or the other."""
    if name == "gemini_generate":
        made = google_client(server)
        return made.aio if is_async else made
    kind = "Async" if is_async else ""
    if name == "anthropic_messages":
        return anthropic_client(server, f"{kind}Anthropic")
    return openai_client(server, name, f"{kind}OpenAI")


def sync_loop(agent: Agent, server: Server) -> Any:
    name = agent.talk.adapter.name
    with client(server, name, is_async=False) as opened:
        send = attrgetter(METHODS[name])(opened)

        def call(request: Request) -> Any:
            return send(**request)

        return run(agent.talk, call, agent.tool, model="model-1", text="Go.", state=agent.state)


def async_loop(agent: Agent, server: Server) -> Any:
    name = agent.talk.adapter.name

    async def main() -> Any:
        async with client(server, name, is_async=True) as opened:
            send = attrgetter(METHODS[name])(opened)

            async def call(request: Request) -> Any:
                return await send(**request)

            return await run_async(
                agent.talk, call, agent.async_tool, model="model-1", text="Go.", state=agent.state
            )

    return asyncio.run(main())


@attrs.frozen
class Done:
    """A loop that was run: its agent, the last response, and the bodies that arrived."""

    agent: Agent
    response: Any
    bodies: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name of the adapter."""
        return self.agent.talk.adapter.name

    def prefixes(self) -> Iterator[str]:
        """Give what the provider reads before the history, of each body."""
        slots = {
            "anthropic_messages": "system",
            "openai_responses": "instructions",
            "gemini_generate": "systemInstruction",
        }
        for body in self.bodies:
            system = body[slots[self.name]] if self.name in slots else body["messages"][0]
            yield json.dumps([body["tools"], system])

    def ends(self) -> list[str]:
        """Give the last message of each body, as a text."""
        return [json.dumps(body[HISTORY[self.name]][-1]) for body in self.bodies]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Give a server that runs."""
    with running() as made:
        yield made


@pytest.fixture(
    scope="module",
    params=itertools.product(ADAPTERS, [sync_loop, async_loop]),
    ids=lambda case: f"{case[0]}-{case[1].__name__}",
)
def done(request: pytest.FixtureRequest, server: Server) -> Done:
    """Give a loop that was run, for each provider, in both ways."""
    adapter, loop = request.param
    server.bodies.clear()
    server.script[:] = SCRIPT
    agent = Agent(adapter)
    response = loop(agent, server)
    assert {provider for provider, _ in server.bodies} == {adapter}
    return Done(agent, response, [body for _, body in server.bodies])


def test_ten_steps_have_one_prefix(done: Done) -> None:
    """Whatever the mode is, and though a plugin goes in the middle."""
    assert said(done.name, done.response) == SAID
    assert len(done.bodies) == len(SCRIPT)
    assert len(set(done.prefixes())) == 1
    assert len({body.get("prompt_cache_key") for body in done.bodies}) == 1


def test_what_must_not_run_is_refused(done: Done) -> None:
    """The denied tool, and the vanished one; the model gets the reasons as results."""
    assert done.agent.ran == [tool for tool in RESULTS if tool not in (REASON, GONE)]
    told = json.dumps(done.agent.talk.messages)
    assert told.count(json.dumps(REASON)) == told.count(json.dumps(GONE)) == 1


def test_the_model_is_told_when_something_changes(done: Done) -> None:
    """In the step after the change, in the last message, and in no other step."""
    ends = done.ends()
    plan, gone = TEXT.split("\n")[0], 'The tool \\"note\\" of plugin \\"notes\\" is gone'
    assert [number for number, end in enumerate(ends, 1) if plan in end] == [PLAN[0]]
    assert [number for number, end in enumerate(ends, 1) if gone in end] == [UNLOAD]
    assert "runtime context" in ends[PLAN[1]]
    assert plan not in ends[PLAN[1]]


def test_the_mask_follows_where_the_provider_has_one(done: Done) -> None:
    """Of the tools that are sent, those that may be called."""
    every = {"read", "write", "note"}
    expected = [every] * 3 + [every - {"write"}] * 2 + [every] + [every - {"note"}] * 4
    masked = done.name in ("openai_chat", "openai_responses", "gemini_generate")
    sent = [allowed(done.name, body) for body in done.bodies]
    assert sent == (expected if masked else [every] * 10)


def allowed(name: str, body: Mapping[str, Any]) -> set[str]:
    """Give the tools that the model may call, as the body says it."""
    tools = body["tools"]
    if name == "gemini_generate":
        names = body.get("toolConfig", {}).get("functionCallingConfig", {})
        if names:
            return set(names["allowedFunctionNames"])
        return {tool["name"] for tool in tools[0]["functionDeclarations"]}
    choice = body.get("tool_choice")
    if choice is not None:
        tools = choice.get("allowed_tools", choice)["tools"]
    return {(tool.get("function") or tool)["name"] for tool in tools}
