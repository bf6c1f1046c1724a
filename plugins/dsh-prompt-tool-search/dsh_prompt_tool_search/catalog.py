"""The service of an agent loop: searches among the tools of an assembly, and calls of those."""

from __future__ import annotations

import json
from difflib import get_close_matches
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from dsh_prompt.adapters import DEFERRED, FoundTools
from dsh_prompt.untrusted import clean
from dsh_prompt_tool_search.errors import ToolSearchError
from dsh_prompt_tool_search.ranking import Ranking
from dsh_prompt_tool_search.schema import SEARCH_TOOL, ToolRequest, query_in, requested

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dsh_prompt import PromptAssembly, ToolSchema

# One for each kind of agent that works at a time.
_KEPT = 8

FOUND = (
    "Call a tool that is in your list of tools as any other. Call one that is not like this: "
    f'{SEARCH_TOOL} with {{"call": {{"name": "...", "arguments": {{...}}}}}}.'
)
NOTHING = "No tool was found. Try other words, or a name from the system prompt."


class Catalog:
    """The tools of one assembly that may be called, for searches in that."""

    def __init__(self, assembly: PromptAssembly, ranking: Ranking, limit: int) -> None:
        self._assembly = assembly
        self._ranking = ranking
        self._limit = limit

    def search(self, query: str, limit: int | None = None) -> tuple[ToolSchema, ...]:
        """Give the tools that fit *query*, the best first, at most *limit*; no denied ones."""
        # One look at the assembly: `authorize` looks through all tools for each of them.
        there = {tool.name for tool in self._assembly.tools} - self._assembly.denied.keys()
        allowed = (tool for tool in self._ranking.find(query) if tool.name in there)
        return tuple(islice(allowed, self._limit if limit is None else limit))

    @property
    def _held(self) -> frozenset[str]:
        deferred = self._assembly.get(DEFERRED)
        return frozenset() if deferred is None else deferred.names

    def answer(self, arguments: Mapping[str, Any]) -> FoundTools | ToolRequest:
        """Follow the *arguments* of a call of `tool_search`.

        Gives the output of a search, with the schemas of those that are held back, or the call
        that the model makes through it: that is for the loop to authorize and to run. Raises
        `ToolSearchError`, whose text is for the model.
        """
        if arguments.get("call") is None:
            query, limit = query_in(arguments, self._limit)
            return _found(self.search(query, limit), self._held)
        request = requested(arguments["call"])
        names = [tool.name for tool in self._assembly.tools if tool.name != SEARCH_TOOL]
        if request.name not in names:
            near = get_close_matches(request.name[:200], names, n=1)
            hint = f'; did you mean "{clean(near[0]).text}"?' if near else ""
            raise ToolSearchError(f'there is no tool "{clean(request.name[:200]).text}"{hint}')
        # For a loop that forgets to ask; one that does, knows more by now.
        if refusal := self._assembly.authorize(request.name):
            raise ToolSearchError(refusal)
        return request


class ToolSearch:
    """The service: `of(assembly)` gives the `Catalog` of an assembly."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._known: list[tuple[list[ToolSchema], Ranking]] = []

    def of(self, assembly: PromptAssembly) -> Catalog:
        """Give the catalog of *assembly*; its index is made once for a list of tools."""
        tools = [tool for tool in assembly.tools if tool.name != SEARCH_TOOL]
        with self._lock:
            # Equal lists mostly hold the same objects, which are compared at once.
            found = next((known for known in self._known if known[0] == tools), None)
            if found is None:
                found = (tools, Ranking(tools))
            else:
                self._known.remove(found)
            self._known = [found, *self._known[: _KEPT - 1]]
        return Catalog(assembly, found[1], self._limit)

    def clear(self) -> None:
        """Forget all tools."""
        with self._lock:
            self._known = []


def _found(tools: tuple[ToolSchema, ...], held: frozenset[str]) -> FoundTools:
    if not tools:
        return FoundTools(NOTHING)
    lines = [clean(json.dumps(_told(tool), ensure_ascii=False)).text for tool in tools]
    # The others are in the list already: there is nothing to open.
    opening = [tool for tool in tools if tool.name in held]
    return FoundTools("\n".join([FOUND, "", *lines]), opening)


def _told(tool: ToolSchema) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
