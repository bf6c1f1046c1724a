"""A conversation of thirty steps with five hundred tools, and what a cache holds of each."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
from dsh_prompt_tool_search import SEARCH_TOOL, TOOL_SEARCH, ToolRequest, ToolSearchPlugin
from tool_search_corpus import questions, tools

from dsh_prompt import RuntimeState, SystemPrompt
from dsh_prompt.adapters import adapter
from dsh_prompt.adapters.references import referenced
from dsh_prompt.conversation import Conversation

if TYPE_CHECKING:
    from dsh_prompt.adapters import Adapter, Request, ToolCall

STEPS = 30
MODEL = "a-model"


def host(*, searching: bool) -> SystemPrompt:
    """Give a host with the tools of the corpus, and some prompt."""
    prompt = SystemPrompt()
    prompt.section(name="rules", order=10, text="Be precise. " * 100)
    prompt.tools(tools)
    if searching:
        prompt.load(ToolSearchPlugin, name="tool-search")
    return prompt


def without_count(name: str) -> Adapter:
    """Give an adapter that does not mind how many tools there are."""
    built_in: Any = adapter(name)
    changed: Adapter = attrs.evolve(built_in, limits=attrs.evolve(built_in.limits, max_tools=None))
    return changed


def prefix(request: Request) -> tuple[bytes, bytes]:
    """Give what the provider reads before the history: tools that are not deferred, and system."""
    body: dict[str, Any] = dict(request)
    sent = body.get("tools") or body["config"]["tools"][0]["function_declarations"]
    read = [tool for tool in sent if not tool.get("defer_loading")]
    gemini = body.get("config", {})
    texts = [body.get("system"), body.get("instructions"), gemini.get("system_instruction")]
    first = [m for m in body.get("messages", ()) if m["role"] == "system"]
    return _bytes(read), _bytes([*filter(None, texts), *first])


def sent(request: Request) -> int:
    """Give the number of bytes of a request."""
    return len(_bytes(dict(request)))


def finished(name: str, *, searching: bool = True, pinned: bool = True) -> Talk:
    """Give a conversation with an adapter, after all its steps."""
    return _finished(name, searching, pinned)


# To a cache, an argument that is left out is another one than its default.
@cache
def _finished(name: str, searching: bool, pinned: bool) -> Talk:
    talk = Talk(name, searching, pinned)
    talk.run()
    return talk


@attrs.define
class Talk:
    """A conversation in which the model searches, calls what it found, and says something."""

    adapter: str
    searching: bool
    pinned: bool
    sent: int = 0
    cached: int = 0
    read: int = 0
    changes: int = 0
    discovered: list[str] = attrs.field(factory=list)
    refused: list[str] = attrs.field(factory=list)
    ran: list[str] = attrs.field(factory=list)

    def run(self) -> None:
        """Go through all steps."""
        prompt = host(searching=self.searching)
        mode: Any = "prefix" if self.pinned else "none"
        talk = Conversation(prompt, adapter=without_count(self.adapter), pin=mode)
        before = b""
        for step in range(STEPS):
            if step % 3 == 0:
                talk.say(questions()[step][0])
            state = RuntimeState(discovered_tools=self.discovered)
            request = talk.step(state, model=MODEL, cache=False)
            before = self._count(request, before)
            calls = talk.commit(self._reply(request, step))
            talk.add_results([(call, *self._result(prompt, request, call)) for call in calls])

    def _count(self, request: Request, before: bytes) -> bytes:
        start = b"\n".join(prefix(request))
        now = b"\n".join([start, *_history(request)])
        common = _common(now, before)
        self.changes += bool(before) and not before.startswith(start)
        self.sent += sent(request)
        self.cached += common
        self.read += len(now)
        return now

    def _reply(self, request: Request, step: int) -> dict[str, Any]:
        question, answer = questions()[step - step % 3]
        if step % 3 == 2:
            return _said(self.adapter, "Done.")
        if step % 3 == 0 and self.searching:
            return _called(self.adapter, SEARCH_TOOL, {"query": question})
        if answer in request.names:
            return _called(self.adapter, answer, {})
        return _called(self.adapter, SEARCH_TOOL, {"call": {"name": answer, "arguments": {}}})

    def _result(self, prompt: SystemPrompt, request: Request, call: ToolCall) -> tuple[str, bool]:
        name = call.name
        if call.refusal is None and name == SEARCH_TOOL and isinstance(call.arguments, dict):
            answer = prompt.require(TOOL_SEARCH).of(request.assembly).answer(call.arguments)
            if not isinstance(answer, ToolRequest):
                self.discovered += [tool.name for tool in answer.schemas]
                return answer, False
            name = answer.name
        refusal = call.refusal or request.assembly.authorize(name)
        (self.ran if refusal is None else self.refused).append(name)
        return refusal or "It has run.", refusal is not None


def _history(request: Request) -> list[bytes]:
    """Give the messages as the model reads them: with the tools that they refer to."""
    named = {tool["name"]: _bytes(tool) for tool in request["tools"] if "name" in tool}
    read = []
    for message in request["messages"]:
        if message["role"] != "system":
            read.append(_bytes(message))
            read += [named[name] for name in sorted(referenced([message]))]
    return read


def _common(one: bytes, other: bytes) -> int:
    """Give the length of the start that both have."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _said(name: str, text: str) -> dict[str, Any]:
    if name == "anthropic_messages":
        return {"content": [{"type": "text", "text": text}]}
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def _called(name: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    if name == "anthropic_messages":
        return {"content": [{"type": "tool_use", "id": "1", "name": tool, "input": arguments}]}
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": "1", "type": "function", "function": function}
    return {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}}]}


def _bytes(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
