"""The tool registry: one tool provider that knows layers, shadowing and restrictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsh_prompt.errors import InvalidContributionError, ScopeError, quoted
from dsh_prompt.layers.tool_order import utf16_key
from dsh_prompt.model.tools import ToolProviderResult, ToolSchema

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.layers.entry import Entry
    from dsh_prompt.layers.layers import Layer, Layers
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.model.context import AssembleContext
    from dsh_prompt.model.source import Source


class Restriction:
    """What one `Scope.restrict` lets through: *allow* (None: all) without *deny*."""

    __slots__ = ("allow", "deny")

    def __init__(self, allow: Iterable[str] | None, deny: Iterable[str] | None) -> None:
        if allow is None and deny is None:
            raise InvalidContributionError(
                "tools.restrict({}) is a no-op: give allow=..., deny=..., or both"
            )
        self.allow = None if allow is None else _names("allow", allow)
        self.deny = frozenset() if deny is None else _names("deny", deny)

    def admits(self, name: str) -> bool:
        """Tell whether an inherited tool of that *name* stays visible."""
        return name not in self.deny and (self.allow is None or name in self.allow)

    def check_known(self, known: Iterable[str]) -> None:
        """Raise `InvalidContributionError` for names that are not *known*: typing errors."""
        names = set(known)
        if unknown := sorted((self.allow or frozenset()) - names | self.deny - names):
            listed = ", ".join(sorted(names, key=utf16_key)) or "(none)"
            raise InvalidContributionError(
                f"tools.restrict() names unknown global tool(s) {quoted(unknown)}; "
                f"known global tools: {listed}"
            )


def _names(option: str, names: Iterable[str]) -> frozenset[str]:
    if isinstance(names, str):
        raise InvalidContributionError(
            f"{option} takes a list of tool names, not the str {names!r}"
        )
    listed: list[Any] = list(names) if hasattr(names, "__iter__") else [names]
    if not all(isinstance(name, str) for name in listed):
        raise InvalidContributionError(f"{option} takes a list of tool names, not {names!r}")
    return frozenset(listed)


class ToolRegistry:
    """The tools registered with ``ctx.tool()``, as each scope sees them.

    It contributes itself to the host as a tool provider. A scope's tool shadows the
    inherited one; restrictions mask what the viewing scope does not register itself.
    """

    def __init__(self, layers: Layers) -> None:
        self._layers = layers

    def __call__(self, context: AssembleContext) -> ToolProviderResult:
        """Give the visible schemas and the names known before any restriction."""
        own = context.scope is not None and context.scope._layers is self._layers
        with self._layers.lock:
            chain = self._chain(context.scope if own else None)
            return ToolProviderResult(
                [entry.value for entry in visible_tools(chain)], known_tools(chain)
            )

    def schemas(self, scope: Scope | None = None) -> list[ToolSchema]:
        """Give the schemas that *scope* sees (None: the global level), by name."""
        with self._layers.lock:
            tools = [entry.value for entry in visible_tools(self._chain(scope))]
        return sorted(tools, key=lambda tool: utf16_key(tool.name))

    def get(self, name: str, scope: Scope | None = None) -> ToolSchema | None:
        """Give the schema that *scope* sees under *name*, or None where it sees none."""
        return next((tool for tool in self.schemas(scope) if tool.name == name), None)

    def serves(self, root: Layer) -> bool:
        """Tell whether this is the registry of the host whose global layer is *root*."""
        return self._layers.root is root

    def _chain(self, scope: Scope | None) -> list[Layer]:
        layers = self._layers
        if scope is not None and scope._layers is not layers:
            raise ScopeError(f"{scope!r} is no scope of this host")
        return layers.chain(layers.root if scope is None else scope.layer)


def visible_tools(chain: list[Layer]) -> list[Entry]:
    """List the tools that the last layer of *chain* sees, farthest layer first."""
    nearest: dict[str, Entry] = {}
    for layer in chain:
        for entry in layer.holds("tool"):
            nearest[entry.name] = entry
    restrictions = [entry.value for layer in chain for entry in layer.holds("restriction")]
    return [
        entry
        for entry in nearest.values()
        if entry.layer is chain[-1] or all(limit.admits(entry.name) for limit in restrictions)
    ]


def withheld_tools(chain: list[Layer]) -> dict[str, Source]:
    """Give the names that restrictions mask from the last layer of *chain*, each with the owner."""
    restrictions = [entry for layer in chain for entry in layer.holds("restriction")]
    if not restrictions:
        return {}
    visible = {entry.name for entry in visible_tools(chain)}
    return {
        name: next(entry.source for entry in restrictions if not entry.value.admits(name))
        for name in known_tools(chain)
        if name not in visible
    }


def known_tools(chain: list[Layer], *, loading: bool = False) -> list[str]:
    """List the names of all tools in *chain*, restricted or not; *loading* adds reserved ones."""
    return list(
        {
            entry.name: None
            for layer in chain
            for entry in (layer.all("tool") if loading else layer.holds("tool"))
        }
    )
