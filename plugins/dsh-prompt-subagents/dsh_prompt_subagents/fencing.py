"""The restriction of a child, also for tools of which the registry does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt import InvalidContributionError, ToolSchema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dsh_prompt import Scope, ToolRegistry
    from dsh_prompt_subagents.spawning import Restriction

_MOST_SEEN: Final = 10_000


@attrs.frozen
class Fence:
    """What lets through the names in *allow* (None: all) that are not in *deny*."""

    allow: frozenset[str] | None
    deny: frozenset[str]

    @classmethod
    def of(cls, restrict: Restriction) -> Fence:
        """Make the fence of a restriction; raises `InvalidContributionError` for no names."""
        allow, deny = _names("allow", restrict.get("allow")), _names("deny", restrict.get("deny"))
        return cls(allow, deny or frozenset())

    @property
    def names(self) -> frozenset[str]:
        """All names that it speaks of."""
        return (self.allow or frozenset()) | self.deny

    def admits(self, name: str) -> bool:
        """Tell whether the tool *name* may pass."""
        return (self.allow is None or name in self.allow) and name not in self.deny

    def without(self, names: frozenset[str]) -> Restriction | None:
        """Give the restriction as `Scope.restrict` takes it, which has to know all its names.

        None where it spoke of *names* alone.
        """
        allow = None if self.allow is None else sorted(self.allow - names)
        deny = sorted(self.deny - names) or None
        if allow is None and deny is None and self.names:
            return None
        return {"allow": allow, "deny": deny}


def _names(key: str, names: Iterable[str] | None) -> frozenset[str] | None:
    if names is None:
        return None
    listed = [] if isinstance(names, str) or not hasattr(names, "__iter__") else list(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in listed):
        raise InvalidContributionError(f"{key} takes a list of tool names, not {names!r}")
    return frozenset(listed)


class ProvidedTools:
    """Tools that stand in assemblies though the registry of the host does not know them.

    Those of MCP servers are such: `Scope.restrict` does not reach what a provider gives.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry
        # Registered ones too: which of them are is looked at when somebody spawns.
        self._seen: set[str] = set()

    def note(self, tools: Iterable[ToolSchema]) -> None:
        """Remember their names: a restriction may speak of them."""
        if len(self._seen) < _MOST_SEEN:
            self._seen.update(tool.name for tool in tools if isinstance(tool, ToolSchema))

    def names(self, scopes: Iterable[Scope | None]) -> frozenset[str]:
        """Name those that assemblies have shown, and that the registry gives none of *scopes*."""
        return frozenset(self._seen).difference(*map(self._registered, scopes))

    def fenced(
        self, tools: Iterable[ToolSchema], scope: Scope, fences: Sequence[Fence]
    ) -> list[ToolSchema]:
        """Give *tools* without those of providers that one of *fences* does not admit."""
        known = self._registered(scope)
        return [
            tool
            for tool in tools
            # What is no schema stays: the guard of the host names who put it there.
            if not isinstance(tool, ToolSchema)
            or tool.name in known
            or all(fence.admits(tool.name) for fence in fences)
        ]

    def _registered(self, scope: Scope | None) -> set[str]:
        return {tool.name for tool in self._registry.schemas(scope)}
