"""A model that says what it was told to say, and records what it was sent."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.render.prompt import render_context_snapshot, render_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.tools import ToolSchema
    from dsh_prompt.render.fingerprint import Fingerprint


@attrs.frozen
class Request:
    """One call of the model.

    *system* is the system prompt, *snapshot* that of the runtime contexts, *tools* the tool
    schemas, *messages* a copy of what was given, *fingerprint* that of the assembly.
    """

    system: str
    snapshot: str
    tools: tuple[ToolSchema, ...]
    messages: tuple[Any, ...]
    fingerprint: Fingerprint


class FakeModel:
    """Stands in for a model: call it with an assembly, and it gives the next of *replies*.

    When there are no more it gives ``""``. ``requests`` is what it was sent, in order. Raises
    `TypeError` for a single text: it would be said letter by letter.
    """

    def __init__(self, replies: Iterable[Any] = ()) -> None:
        if isinstance(replies, str):
            raise TypeError(f"replies must be a list: FakeModel([{replies!r}])")
        self._replies = list(replies)
        self.requests: list[Request] = []

    @property
    def last(self) -> Request:
        """What it was sent last."""
        if not self.requests:
            raise LookupError("the model was not called yet")
        return self.requests[-1]

    def __call__(self, assembly: PromptAssembly, messages: Iterable[Any] = ()) -> Any:
        """Record what the model is sent, and give its reply; raises what rendering raises."""
        self.requests.append(
            Request(
                render_prompt(assembly),
                render_context_snapshot(assembly),
                tuple(assembly.tools),
                tuple(deepcopy(list(messages))),
                assembly.fingerprint(),
            )
        )
        return self._replies.pop(0) if self._replies else ""

    async def acall(self, assembly: PromptAssembly, messages: Iterable[Any] = ()) -> Any:
        """Do the same for a loop that awaits its model."""
        return self(assembly, messages)
