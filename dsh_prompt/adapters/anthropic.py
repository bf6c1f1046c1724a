"""Anthropic's Messages: ``client.messages.create(**anthropic_messages(...))``.

- The cache holds the start of a request, in the order tools, system, messages, up to a block that
  is marked with `cache_control`. Marked are the last tool, the end of the stable prefix, for which
  the system prompt is split into two blocks, and the last block of the last message. At most four
  marks are taken: those in messages and options count, and where there are too many, ours go
  (first the tool's, then the message's). Blank text and thinking cannot be marked, and blank text
  cannot be a block at all. Source: https://platform.claude.com/docs/en/build-with-claude/
  prompt-caching, and https://github.com/anomalyco/opencode/issues/35101 for blank text.
- No argument can say that some tools are denied; that all are, ``tool_choice`` can. It leaves the
  cache of tools and system as it is, not that of the messages. Source: the same page.
- `max_tokens` has to be there. Give it as an option; otherwise it is 4096.
- Tools that are held back have `defer_loading`: the model does not see them, and they are no part
  of the cached prefix, until the history has a `tool_reference` to them, which the results of a
  search for tools become. So a tool that is opened costs no cache. A tool without the mark has to
  be there, and one with it cannot be marked for the cache. Sources: the documentation,
  agents-and-tools/tool-use/tool-search-tool and tool-use-with-prompt-caching; the API's message,
  in https://github.com/router-for-me/CLIProxyAPI/issues/4561. For a model that does not know this
  (before Claude 4.5), ``attrs.evolve(anthropic_messages, defers=False)`` leaves them out.
- All results of one reply's calls go into one message of the user. Source: the documentation,
  agents-and-tools/tool-use/handle-tool-calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.adapters.base import BuiltIn
from dsh_prompt.adapters.calls import called, field, part, plain
from dsh_prompt.adapters.limits import ANTHROPIC
from dsh_prompt.adapters.references import referenced, with_references_to
from dsh_prompt.model.deferred import DEFERRED, FoundTools

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from dsh_prompt.adapters.base import Parts
    from dsh_prompt.adapters.calls import ToolCall, ToolResult
    from dsh_prompt.adapters.preflight import SentTool
    from dsh_prompt.adapters.schemas import Complaint
    from dsh_prompt.model.prompt_assembly import PromptAssembly

DEFAULT_MAX_TOKENS = 4096
#: The API refuses an error that says nothing: https://github.com/jlevy/markform/issues/153.
NO_REASON = "The tool failed without saying why."

_MINUTES = {"cache_control": {"type": "ephemeral"}}
_HOUR = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
_MARKABLE = ("document", "image", "search_result", "tool_result", "tool_use")


@attrs.frozen
class AnthropicMessages(BuiltIn):
    """The adapter: see the module. *defers*: the model knows tools that are deferred."""

    slots = ("messages", "system", "tools")

    defers: bool = True

    def _body(self, parts: Parts) -> Mapping[str, Any]:
        marks, mark = self._marks(parts), _mark_beside(parts)
        body: dict[str, Any] = {"model": parts.model, "max_tokens": DEFAULT_MAX_TOKENS}
        if system := _system(parts, mark if "prefix" in marks else None):
            body["system"] = system
        held, messages = self._held(parts), parts.messages
        if parts.tools:
            tools = [_tool(tool, held) for tool in parts.tools]
            body["tools"] = _marked_tools(tools, mark) if "tools" in marks else tools
        if parts.allowed == []:
            body["tool_choice"] = {"type": "none"}
        if "message" in marks:
            messages = [*messages[:-1], _marked(messages[-1], mark)]
        messages = with_references_to(held, messages, [tool.name for tool in parts.tools])
        return body | {"messages": messages} | parts.options

    def _left_out(self, assembly: PromptAssembly) -> frozenset[str]:
        return frozenset() if self.defers else super()._left_out(assembly)

    def _held(self, parts: Parts) -> frozenset[str]:
        """Give the sent names of the tools to defer.

        One that was, and that the history opens, is one of them: it is open by that, and the
        prefix stays.
        """
        deferred = parts.assembly.get(DEFERRED)
        if deferred is None or not self.defers:
            return frozenset()
        names = {tool.name for tool in parts.tools if tool.schema.name in deferred.names}
        found = {tool.name for tool in parts.tools if tool.schema.name in deferred.opened}
        names |= found & referenced(parts.messages)
        # A request in which all tools are deferred is refused.
        return frozenset(names) if len(names) < len(parts.tools) else frozenset()

    def _marks(self, parts: Parts) -> set[str]:
        """Tell which places to mark: those that there are, the best ones first."""
        if not parts.cache or self.limits.breakpoints is None:
            return set()
        automatic = bool(parts.options.get("cache_control"))
        theirs = _count(_marks_in(parts.messages)) + automatic
        free = max(0, self.limits.breakpoints.value - theirs)
        places = {
            "prefix": bool(parts.stable.strip()),
            "message": not automatic and bool(parts.messages) and _can_mark(parts.messages[-1]),
            "tools": bool(parts.tools),
        }
        return set([place for place, there in places.items() if there][:free])

    def _complaints(self, body: Mapping[str, Any]) -> Iterator[Complaint]:
        most, blank = self.limits.breakpoints, self.limits.no_blank_text
        places = [body.get("tools"), body.get("system"), body["messages"]]
        marks = _count(_marks_in(places)) + bool(body.get("cache_control"))
        if most and marks > most.value:
            yield f"{marks} marks for the cache, of {most.value}: mark fewer places", most.source
        if blank and blank.value:
            for place in _blank_places(body["messages"]):
                yield f"{place} is a blank text: leave it out", blank.source

    def tool_calls(self, response: object) -> list[ToolCall]:
        """Give the blocks of *response* that use one of the caller's tools."""
        return [
            called(field(block, "name"), field(block, "input") or {}, field(block, "id"))
            for block in part(response, "Messages", "content")
            if field(block, "type") == "tool_use"
        ]

    def reply_messages(self, response: object) -> list[Any]:
        """Give the reply, without blank text, which could not be sent again."""
        blocks = plain(part(response, "Messages", "content"))
        content = [block for block in blocks if not _is_blank(block)]
        return [{"role": "assistant", "content": content}] if content else []

    def result_messages(self, results: Iterable[ToolResult]) -> list[Any]:
        """Give one message with all results."""
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": self._result(output, is_error=is_error),
                **({"is_error": True} if is_error else {}),
            }
            for call, output, is_error in results
        ]
        return [{"role": "user", "content": blocks}] if blocks else []

    def _result(self, output: str, *, is_error: bool) -> str | list[dict[str, str]]:
        if is_error:
            return output if output.strip() else NO_REASON
        return self._references(output) if self.defers else output

    def _references(self, output: str) -> str | list[dict[str, str]]:
        """Give the references to found tools; text, where the request may not know them so."""
        found = output.schemas if isinstance(output, FoundTools) else ()
        sent = self.sent_names(found)
        if any(name != own for own, name in sent.items()):
            return output
        names = [tool.name for tool in found if tool.name in sent]  # the best ones first
        return [{"type": "tool_reference", "tool_name": name} for name in names] or output


def _tool(tool: SentTool, held: frozenset[str]) -> dict[str, Any]:
    described = {"description": tool.schema.description} if tool.schema.description else {}
    deferred = {"defer_loading": True} if tool.name in held else {}
    return {"name": tool.name, **described, "input_schema": tool.parameters, **deferred}


def _marked_tools(tools: list[dict[str, Any]], mark: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give *tools* with the last one marked that is not deferred: those are not in the prefix."""
    last = max(place for place, tool in enumerate(tools) if "defer_loading" not in tool)
    return [*tools[:last], {**tools[last], **mark}, *tools[last + 1 :]]


def _system(parts: Parts, mark: Mapping[str, Any] | None) -> str | list[dict[str, Any]]:
    """Give the system prompt; with a *mark* in two blocks, which joined are the same text."""
    if mark is None:
        return parts.system if parts.system.strip() else ""
    blocks: list[dict[str, Any]] = [{"type": "text", "text": parts.stable, **mark}]
    rest = parts.system[len(parts.stable) :]
    return [*blocks, {"type": "text", "text": rest}] if rest.strip() else blocks


def _blocks(message: Any) -> list[Any]:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def _can_mark(message: Any) -> bool:
    blocks = _blocks(message)
    if not blocks or not isinstance(blocks[-1], dict) or "cache_control" in blocks[-1]:
        return False
    kind = blocks[-1].get("type")
    return kind in _MARKABLE or (kind == "text" and not _is_blank(blocks[-1]))


def _marked(message: dict[str, Any], mark: Mapping[str, Any]) -> dict[str, Any]:
    """Give *message* with its last block marked; a text is the same as one block with it."""
    *before, last = _blocks(message)
    return message | {"content": [*before, {**last, **mark}]}


def _is_blank(block: Any) -> bool:
    return field(block, "type") == "text" and not (field(block, "text") or "").strip()


def _marks_in(value: Any) -> Iterator[Any]:
    """Give the marks that are in messages, or blocks, already."""
    if isinstance(value, list):
        for item in value:
            yield from _marks_in(item)
    elif isinstance(value, dict):
        if mark := value.get("cache_control"):
            yield mark
        yield from _marks_in(value.get("content"))


def _count(marks: Iterator[Any]) -> int:
    return sum(1 for _ in marks)


def _mark_beside(parts: Parts) -> dict[str, Any]:
    """Give the mark that may stand before those of the caller."""
    theirs = [parts.options.get("cache_control"), *_marks_in(parts.messages)]
    return _HOUR if any(field(mark, "ttl") == "1h" for mark in theirs) else _MINUTES


def _blank_places(messages: list[Any]) -> Iterator[str]:
    for number, message in enumerate(messages):
        for place, block in enumerate(_blocks(message)):
            if _is_blank(block):
                yield f"messages[{number}].content[{place}]"


anthropic_messages = AnthropicMessages("anthropic_messages", ANTHROPIC)
