"""What one assembly is for: the scope, the agent's state, a way to cancel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.model.keys import Keyed
from dsh_prompt.model.state import RuntimeState

if TYPE_CHECKING:
    from threading import Event

    from dsh_prompt.lifecycle.disposable import Scope


class AssembleContext(Keyed):
    """What providers and waterfall listeners are told about one assembly.

    *scope* is the agent's scope (None: the global level alone), *state* its
    `RuntimeState`, *cancel* a `threading.Event` that is checked between providers. Plugins
    add typed fields with a `Key`.
    """

    __slots__ = ("cancel", "scope", "state")

    def __init__(
        self,
        scope: Scope | None = None,
        state: RuntimeState | None = None,
        cancel: Event | None = None,
    ) -> None:
        if state is not None and not isinstance(state, RuntimeState):
            raise TypeError(
                f"state must be a RuntimeState, not {type(state).__name__}; "
                "RuntimeState.from_dict() builds one from a dict"
            )
        self._values = None
        self.scope = scope
        self.state = state
        self.cancel = cancel

    def __repr__(self) -> str:
        name = None if self.scope is None else self.scope.name
        return f"<AssembleContext scope={name!r} state={'no' if self.state is None else 'yes'}>"
