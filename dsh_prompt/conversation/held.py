"""What becomes of tools that are held back, in a conversation that is pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.model.deferred import Deferred
from dsh_prompt.model.tools import ToolSchema

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dsh_prompt.model.prompt_assembly import PromptAssembly

NOTHING = Deferred((), "")


@attrs.frozen
class Held:
    """Two lists of tools by name, *before* as pinned and *now*, and what of each is held back.

    *pinned* and *fresh* are None where nothing can be, since there is no search for tools.
    """

    before: Mapping[str, ToolSchema]
    now: Mapping[str, ToolSchema]
    pinned: Deferred | None
    fresh: Deferred | None

    @property
    def search(self) -> str | None:
        """The tool that finds those that the pin holds back; None where it does not any more."""
        same = self.pinned and self.fresh and self.pinned.search == self.fresh.search
        return self.pinned.search if self.pinned and same else None

    @property
    def is_idle(self) -> bool:
        """Whether the search works, but a new pin would not need it, with so few tools."""
        return self.search is not None and self.search not in self.now

    @property
    def came(self) -> list[ToolSchema]:
        """The tools that came since, and can be called by the search."""
        if self.search is None:
            return []
        return [tool for name, tool in self.now.items() if name not in self.before]

    def deferred(self) -> Deferred | None:
        """Give what the step holds back: what the pin does, whatever was found, and what came."""
        if self.pinned is None:
            return None
        came = {tool.name for tool in self.came}
        return attrs.evolve(self.pinned, names=self.pinned.names | came)

    # What the model knows, and so has to be told of

    def known(self) -> dict[str, ToolSchema]:
        """Give the tools that it knew: listed ones and found ones, those that came since too."""
        unknown = self._unknown | ({self.search} if self.is_idle else set())
        known = {name: tool for name, tool in self.before.items() if name not in unknown}
        if self.search is not None:
            for name in sorted(self._opened - (self.pinned or NOTHING).opened - self.now.keys()):
                known.setdefault(name, ToolSchema(name, "", {}))
        return known

    def told(self) -> dict[str, ToolSchema]:
        """Give the tools that there are now, without those that it finds by itself."""
        own = {(self.fresh or NOTHING).search} - self.before.keys()
        quiet = self._unknown | own
        if self.search is not None:
            found = (self.fresh or NOTHING).names | self._opened
            quiet |= found - self.before.keys()
        return {name: tool for name, tool in self.now.items() if name not in quiet}

    @property
    def lost(self) -> list[str]:
        """Those gone that it did not find yet, where no index of the search is there to say so."""
        return sorted(self._unknown - self.now.keys()) if self.is_idle else []

    @property
    def _unknown(self) -> frozenset[str]:
        return (self.pinned or NOTHING).names - self._opened

    @property
    def _opened(self) -> frozenset[str]:
        return frozenset() if self.search is None else (self.fresh or NOTHING).opened

    # Sections that go with tools

    def hides(self, needs: Collection[str]) -> bool:
        """Tell whether a section is about a search that the pin does not have."""
        return self.search is None and (self.fresh or NOTHING).search in needs

    def keeps(self, needs: Collection[str]) -> bool:
        """Tell whether a pinned section that is left out now counts all the same.

        It is about a search that is idle, or a tool that is held back now but was listed.
        """
        listed = (self.fresh or NOTHING).names - (self.pinned or NOTHING).names
        return not listed.isdisjoint(needs) or (self.is_idle and self.search in needs)


def needs_of(assembly: PromptAssembly) -> dict[str, tuple[str, ...]]:
    """Give the tools that sections require, by the names of the sections; not of those without."""
    found: dict[str, Any] = {one.name: one.requires_tools for one in assembly.sections}
    return {name: tuple(needs) for name, needs in found.items() if needs}
