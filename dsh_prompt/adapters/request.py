"""A request: the keyword arguments of a client's method, and the way back from its response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.model.deferred import DEFERRED
from dsh_prompt.model.frozen_json import FrozenDict, FrozenList, frozen_dict, frozen_list, thaw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt.adapters.base import Adapter
    from dsh_prompt.adapters.calls import ToolCall
    from dsh_prompt.adapters.preflight import Problem
    from dsh_prompt.model.prompt_assembly import PromptAssembly


def frozen(value: Any) -> Any:
    """Give a copy of *value* whose dicts and lists refuse change; other objects stay."""
    if isinstance(value, FrozenDict | FrozenList):
        return value
    if isinstance(value, Mapping):
        return frozen_dict((key, frozen(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return frozen_list(map(frozen, value))
    return value


@attrs.frozen(eq=False, repr=False)
class Request(Mapping[str, Any]):
    """The keyword arguments of a client's method: ``client.messages.create(**request)``.

    A mapping that refuses change, through and through; its dicts and lists are real ones, as
    clients want them. *adapter* and *assembly* are what it was made by and from, *names* the
    tools' own names by the names that were sent, *skipped* the problems of tools left out.
    """

    _body: Mapping[str, Any] = attrs.field(converter=frozen)
    adapter: Adapter
    assembly: PromptAssembly
    names: Mapping[str, str] = attrs.field(converter=frozen)
    skipped: tuple[Problem, ...] = ()

    def __getitem__(self, key: str) -> Any:
        return self._body[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._body)

    def __len__(self) -> int:
        return len(self._body)

    def __repr__(self) -> str:
        return f"<Request {self.adapter.name}: {', '.join(self._body)}>"

    def to_dict(self) -> dict[str, Any]:
        """Give a plain, mutable copy."""
        made: dict[str, Any] = thaw(self._body)
        return made

    def original_name(self, sent: str) -> str:
        """Give the name of the tool that was sent as *sent*; an unknown one stays."""
        return self.names.get(sent, sent)

    def tool_calls(self, response: object) -> list[ToolCall]:
        """Give the calls in *response*, by the tools' own names, each authorized.

        *response* is the client's object, or the same as a plain dict. A call of a tool that is
        denied, or not in the assembly, has a `ToolCall.refusal`. Raises `TypeError` for what is
        no response.
        """
        return [self._authorized(call) for call in self.adapter.tool_calls(response)]

    def _authorized(self, call: ToolCall) -> ToolCall:
        name = self.original_name(call.sent_name)
        refusal = self.assembly.authorize(name)
        if refusal is None and call.sent_name not in self.names:
            refusal = self._why_left_out(name)
        return attrs.evolve(call, name=name, refusal=refusal)

    def _why_left_out(self, name: str) -> str:
        deferred = self.assembly.get(DEFERRED)
        if deferred is not None and name in deferred.names:
            return f'tool "{name}" is held back: "{deferred.search}" opens and calls it'
        return f'tool "{name}" was left out of this request'
