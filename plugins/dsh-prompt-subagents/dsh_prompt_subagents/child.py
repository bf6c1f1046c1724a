"""One child agent: its scope, and what its parent is told about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from dsh_prompt import DisposedError, InvalidContributionError
from dsh_prompt_subagents.texts import one_line

if TYPE_CHECKING:
    from typing import Self

    from dsh_prompt import Scope
    from dsh_prompt_subagents.fencing import Fence
    from dsh_prompt_subagents.subagents import SubAgents

Status: TypeAlias = Literal["running", "waiting", "done", "failed"]
_STATUSES: Final = get_args(Status)
_ENDED: Final = ("done", "failed")


class Child:
    """A child agent, from `SubAgents.spawn` until it is closed.

    *name* and *description* are what its parent's model reads in the roster, with *status* and
    *result*, which the agent loop reports. It is a context manager: leaving it closes the child.
    """

    def __init__(
        self,
        family: SubAgents,
        scope: Scope,
        name: str,
        description: str,
        fence: Fence | None = None,
    ) -> None:
        self._family = family
        self._scope = scope
        self._parent = scope.parent
        self._name = name
        self._description = description
        self._fence = fence
        self._told: tuple[Status, str] = ("running", "")

    @property
    def name(self) -> str:
        """The name by which its parent knows it."""
        return self._name

    @property
    def description(self) -> str:
        """What it is for, as the roster shows it."""
        return self._description

    @property
    def parent(self) -> Scope | None:
        """The scope of its parent; None is the global agent."""
        return self._parent

    @property
    def fence(self) -> Fence | None:
        """What it was restricted to."""
        return self._fence

    @property
    def told(self) -> tuple[Status, str]:
        """What was last reported: `status` and `result`, which belong together."""
        return self._told

    @property
    def status(self) -> Status:
        """What was last reported: `running`, `waiting`, `done` or `failed`."""
        return self._told[0]

    @property
    def result(self) -> str:
        """The line that was reported with the status, as the roster shows it."""
        return self._told[1]

    @property
    def has_ended(self) -> bool:
        """Whether it is `done` or `failed`."""
        return self.status in _ENDED

    @property
    def is_open(self) -> bool:
        """Whether its scope is as it was made: neither that nor an ancestor is disposed."""
        return not any(one.is_gone for one in lineage(self._scope))

    @property
    def own_scope(self) -> Scope:
        """Its scope, gone or not."""
        return self._scope

    @property
    def scope(self) -> Scope:
        """Its scope, to assemble for.

        Raises `DisposedError` once the child is closed, its parent is gone or the plugin is
        unloaded: an assembly for what is left would not know the child's restriction any more.
        """
        if self.is_open and self._family.is_there:
            return self._scope
        raise DisposedError(
            f'child agent "{self._name}" is closed, or its parent or the plugin is gone; '
            "spawn a new one"
        )

    def report(self, status: Status, result: str = "") -> None:
        """Tell the parent's model, from its next call on, how the child is getting on.

        *result*: a line about that, for example what came out. A longer text is cut; what cannot
        be seen in it is escaped. Raises `InvalidContributionError` for any other status.
        """
        if status not in _STATUSES:
            listed = ", ".join(f'"{one}"' for one in _STATUSES)
            raise InvalidContributionError(f"status must be one of {listed}, not {status!r}")
        what = f'the result of child agent "{self._name}"'
        self._told = (status, one_line(what, result, self._family.max_chars))

    def close(self) -> None:
        """Close all below it, then dispose its scope; twice is harmless.

        Raises `AsyncProviderError`, and nothing of this scope has changed, where that holds
        something async: `close_async` is for that.
        """
        for scope in self._scopes():
            scope.dispose()

    async def close_async(self) -> None:
        """Do what `close` does, async cleanups included."""
        for scope in self._scopes():
            await scope.dispose_async()

    def _scopes(self) -> list[Scope]:
        return [*(child.own_scope for child in self._family.below(self._scope)), self._scope]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close_async()

    def __repr__(self) -> str:
        return f"<Child {self._name!r}, {self.status if self.is_open else 'closed'}>"


def lineage(scope: Scope) -> list[Scope]:
    """List *scope* and its ancestors, nearest first."""
    found = []
    above: Scope | None = scope
    while above is not None:
        found.append(above)
        above = above.parent
    return found
