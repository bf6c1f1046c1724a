"""The service with which an agent loop spawns children, and knows them."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Final

from dsh_prompt import DisposedError, InvalidContributionError, Key
from dsh_prompt_subagents.child import Child, lineage
from dsh_prompt_subagents.fencing import Fence, ProvidedTools
from dsh_prompt_subagents.spawning import check_parent, check_restriction, make_scope
from dsh_prompt_subagents.texts import checked_name, one_line, whole_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt import AssembleContext, DisposableContext, PromptAssembly, Scope
    from dsh_prompt_subagents.config import Config
    from dsh_prompt_subagents.spawning import Restriction

_LOG: Final = logging.getLogger("dsh_prompt_subagents")


class SubAgents:
    """The children of all agents of one host, or of one scope into which the plugin is loaded.

    It may be used from any thread, and lives as long as the plugin is loaded.
    """

    def __init__(self, ctx: DisposableContext, config: Config) -> None:
        self._ctx: DisposableContext | None = ctx
        self._config = config
        self._lock = Lock()
        self._provided = ProvidedTools(ctx.host.registry)
        # By their scopes, in the order in which they were spawned.
        self._children: dict[Scope, Child] = {}
        # The names of those that are being spawned, with their parents.
        self._reserved: set[tuple[Scope | None, str]] = set()

    @property
    def max_chars(self) -> int:
        """How many characters of a description, and of a result, are shown."""
        return self._config.max_chars

    @property
    def is_there(self) -> bool:
        """Whether the plugin is loaded and not switched off."""
        ctx = self._ctx
        info = None if ctx is None else ctx.plugin
        return info is not None and info.state in ("loading", "loaded")

    def children(self, scope: Scope | None = None) -> tuple[Child, ...]:
        """Give the open children of the agent of *scope* (None: the global one), oldest first."""
        parent = self._default(scope)
        return tuple(one for one in self._held() if one.parent is parent and one.is_open)

    def spawn(
        self,
        scope: Scope | None = None,
        *,
        name: str | None = None,
        persona: str | None = None,
        restrict: Restriction | None = None,
        description: str = "",
    ) -> Child:
        """Make a child of the agent of *scope* (None: the global one), with a scope of its own.

        The child's scope stands below *scope* and inherits from it. *persona* is what the section
        `deployment:persona` says there (None: what it says for the parent); braces in it are plain
        text. *restrict* is what `Scope.restrict` takes: `{"allow": [...]}`, `{"deny": [...]}` or
        both. *name* (None: `child-1` and so on) and *description* are for the roster.

        Raises `InvalidContributionError` for a name that another open child of this parent has or
        that cannot be shown, for tools that nobody knows, and for what is no text; `ScopeError`
        for a scope of another host or outside of the plugin's; `DisposedError` where the parent or
        the plugin is gone. Nothing is left behind then.
        """
        ctx, parent = self._checked_ctx(), self._default(scope)
        check_parent(ctx, parent)
        check_restriction(restrict)
        self._close_orphans()
        with self._reserving(parent, name) as own:
            line = one_line(f'the description of child agent "{own}"', description, self.max_chars)
            text = (
                None
                if persona is None
                else whole_text(f'the persona of child agent "{own}"', persona)
            )
            fence = None if restrict is None else Fence.of(restrict)
            made = make_scope(
                ctx,
                own,
                parent,
                persona=text,
                fence=fence,
                provided=self._provided,
                ended=self._forget,
            )
            child = Child(self, made, own, line, fence)
            with self._lock:
                self._children[made] = child
            if not child.is_open or not self.is_there:  # gone since
                child.close()
                self._forget(made)
                raise DisposedError(f'the parent of child agent "{own}", or the plugin, is gone')
        return child

    def restrict_providers(self, assembly: PromptAssembly, context: AssembleContext) -> None:
        """Take what a child may not have of tool providers out of *assembly*: a listener."""
        self._provided.note(assembly.tools)
        scope = context.scope
        children = () if scope is None else map(self._children.get, lineage(scope))
        fences = [child.fence for child in children if child is not None and child.fence]
        if scope is not None and fences:
            assembly.tools = self._provided.fenced(assembly.tools, scope, fences)

    def below(self, scope: Scope) -> list[Child]:
        """List all below the agent of *scope*, open or not, each before whoever spawned it."""
        found, above = [], {scope}
        # Nobody is spawned before its parent.
        for child in self._held():
            if child.parent in above:
                found.append(child)
                above.add(child.own_scope)
        return found[::-1]

    def end(self) -> None:
        """Let go of the host; whoever spawns after this is told so."""
        self._ctx = None
        with self._lock:
            self._children.clear()

    def _checked_ctx(self) -> DisposableContext:
        ctx = self._ctx
        if ctx is None or not self.is_there:
            raise DisposedError(
                "the plugin of this SubAgents is unloaded or switched off; ask the host for "
                "SUBAGENTS again"
            )
        return ctx

    def _default(self, scope: Scope | None) -> Scope | None:
        ctx = self._ctx
        return ctx.scope if scope is None and ctx is not None else scope

    def _held(self) -> list[Child]:
        with self._lock:
            return list(self._children.values())

    def _forget(self, scope: Scope) -> None:
        with self._lock:
            self._children.pop(scope, None)

    @contextmanager
    def _reserving(self, parent: Scope | None, name: str | None) -> Iterator[str]:
        """Keep the name of a child, the first free one where there is no *name*, from others."""
        with self._lock:
            taken = {one.name for one in self._children.values() if one.parent is parent}
            taken |= {other for above, other in self._reserved if above is parent}
            if name is None:
                name = next(one for one in map("child-{}".format, count(1)) if one not in taken)
            elif checked_name(name) in taken:
                raise InvalidContributionError(
                    f'there is a child agent "{name}" already; close it, or take another name'
                )
            self._reserved.add((parent, name))
        try:
            yield name
        finally:
            with self._lock:
                self._reserved.discard((parent, name))

    def _close_orphans(self) -> None:
        """Close the children whose parents have gone without closing them."""
        for child in self._held():
            # Closing one closes those below it, so the parent is all that there is to look at.
            if child.parent is not None and child.parent.is_gone:
                try:
                    child.close()
                except Exception as error:  # noqa: BLE001 - it is not the business of this spawn
                    message = 'child agent "%s", whose parent is gone, cannot be closed: %s'
                    _LOG.warning(message, child.name, error)


#: The service, for `ctx.require` and `prompt.require`.
SUBAGENTS: Final = Key[SubAgents]("subagents")
