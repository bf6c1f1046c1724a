"""A dsh_prompt plugin: with many tools, most are held back until the model searches for them.

The class `ToolSearchPlugin` is the plugin: `SystemPrompt().load(ToolSearchPlugin,
name="tool-search")`, or installed, by its entry point `tool-search`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dsh_prompt import Key, hookimpl
from dsh_prompt.adapters import DEFERRED, Deferred
from dsh_prompt_tool_search.catalog import Catalog, ToolSearch
from dsh_prompt_tool_search.config import ALWAYS, Config
from dsh_prompt_tool_search.errors import ToolSearchError
from dsh_prompt_tool_search.holding import (
    INDEX_SECTION,
    has_other_search,
    hold_back,
    opened_tools,
    searched_tools,
)
from dsh_prompt_tool_search.ranking import has_full_text
from dsh_prompt_tool_search.schema import SEARCH_TOOL, ToolRequest

if TYPE_CHECKING:
    from collections.abc import Generator

    from dsh_prompt import AssembleContext, DisposableContext, PromptAssembly

__all__ = [
    "ALWAYS",
    "INDEX_SECTION",
    "SEARCH_TOOL",
    "TOOL_SEARCH",
    "Catalog",
    "Config",
    "ToolRequest",
    "ToolSearch",
    "ToolSearchError",
    "ToolSearchPlugin",
]

logger = logging.getLogger("dsh_prompt.plugins.tool_search")

#: The service that an agent loop follows a call of `tool_search` with.
TOOL_SEARCH: Key[ToolSearch] = Key("tool-search")

_DECIDES: Key[object] = Key("tool-search-decides")


class ToolSearchPlugin:
    """The plugin; a class, since the waterfall needs the settings of its own load."""

    Config = Config

    def __init__(self) -> None:
        self._config = Config()
        self._service: ToolSearch | None = None
        self._has_warned = False

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        """Take the settings of this load, and offer the service."""
        if not has_full_text():
            raise RuntimeError("the SQLite of this Python has no FTS5, which the search needs")
        self._config = ctx.config
        self._service = ToolSearch(self._config.limit)
        ctx.provide(TOOL_SEARCH, self._service)

    # A wrapper works in both ways to assemble; outermost, it sees the tools that others add and
    # those that plan mode leaves.
    @hookimpl(wrapper=True, tryfirst=True, before=("plan-mode",))
    def system_prompt_assemble(
        self, assembly: PromptAssembly, context: AssembleContext
    ) -> Generator[None, PromptAssembly, PromptAssembly]:
        """Hold back the tools that are neither listed nor discovered, if there are many."""
        # The outermost of several decides: that of the nearest scope.
        if _DECIDES not in assembly:
            assembly[_DECIDES] = self
        result = yield
        if result.get(_DECIDES, self) is self:
            if _DECIDES in result:
                del result[_DECIDES]
            if DEFERRED not in result:
                self._hold_back(result, context)
        return result

    def _hold_back(self, assembly: PromptAssembly, context: AssembleContext) -> None:
        if has_other_search(assembly):
            self._warn(assembly)
            return
        discovered = () if context.state is None else context.state.discovered_tools
        assembly[DEFERRED] = Deferred((), SEARCH_TOOL, opened_tools(discovered, self._config))
        if searched := searched_tools(assembly, self._config):
            hold_back(assembly, searched, self._config)

    def _warn(self, assembly: PromptAssembly) -> None:
        if searched_tools(assembly, self._config) and not self._has_warned:
            self._has_warned = True
            logger.warning('no tool is held back: another one is named "%s"', SEARCH_TOOL)

    @hookimpl
    def deactivate(self) -> None:
        """Forget the tools of the host."""
        if self._service is not None:
            self._service.clear()
