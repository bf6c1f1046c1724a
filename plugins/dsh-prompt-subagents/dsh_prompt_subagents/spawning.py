"""What a spawn is made of: checked arguments, and the child's scope."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypedDict

from dsh_prompt import (
    PERSONA_SECTION,
    DisposedError,
    InvalidContributionError,
    Scope,
    ScopeError,
    SectionOrder,
)
from dsh_prompt_subagents.child import lineage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dsh_prompt import DisposableContext
    from dsh_prompt_subagents.fencing import Fence, ProvidedTools

_KEYS: Final = ("allow", "deny")


class Restriction(TypedDict, total=False):
    """Which of the inherited tools a child has: what `Scope.restrict` takes."""

    allow: Iterable[str] | None
    deny: Iterable[str] | None


def check_restriction(restrict: object) -> None:
    """Raise `InvalidContributionError` for what is no `Restriction` and not None."""
    if restrict is None:
        return
    if not isinstance(restrict, Mapping):
        kind = type(restrict).__name__
        raise InvalidContributionError(f"restrict must be a mapping or None, not {kind}")
    for key in restrict:
        if key not in _KEYS:
            raise InvalidContributionError(
                f'restrict has unknown key {str(key)[:100]!r}; it takes "allow" and "deny"'
            )


def check_parent(ctx: DisposableContext, parent: object) -> None:
    """Raise where *parent* cannot have children that *ctx* makes.

    `ScopeError` where it is no scope, or does not stand where the plugin can be seen;
    `DisposedError` where it or an ancestor is gone, and its restrictions with it.
    """
    if parent is None:
        return
    if not isinstance(parent, Scope):
        raise ScopeError(f"the parent must be a scope of this host or None, not {parent!r}")
    above = lineage(parent)
    if ctx.scope is not None and ctx.scope not in above:
        raise ScopeError(f"{parent!r} does not stand below {ctx.scope!r}, where the plugin is")
    for one in above:
        if one.is_gone:
            raise DisposedError(f"{one!r} is gone, so no child can be spawned below it")


def make_scope(
    ctx: DisposableContext,
    name: str,
    parent: Scope | None,
    *,
    persona: str | None,
    fence: Fence | None,
    provided: ProvidedTools,
    ended: Callable[[Scope], object],
) -> Scope:
    """Make the scope of a child, whole or not at all; *ended* is called when it is disposed."""
    scope = ctx.create_scope(name, parent)
    try:
        scope.callback(ended, scope)
        # First, so that no change listener sees the child with more tools than it will have.
        if fence is not None:
            _restrict(scope, fence, provided)
        if persona is not None:
            order = SectionOrder.PERSONA
            scope.section(name=PERSONA_SECTION, order=order, text=persona, literal=True)
    except BaseException:
        scope.dispose()
        raise
    return scope


def _restrict(scope: Scope, fence: Fence, provided: ProvidedTools) -> None:
    """Restrict what the registry knows; the rest of *fence* is for what providers give."""
    restriction = fence.without(provided.names([None, *lineage(scope)]))
    if restriction is not None:
        scope.restrict(**restriction)
