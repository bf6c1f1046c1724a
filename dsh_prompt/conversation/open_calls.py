"""The calls in a model's last reply, and the results that they have so far."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.adapters.calls import ToolCall, mended
from dsh_prompt.conversation.errors import ConversationError
from dsh_prompt.errors import quoted
from dsh_prompt.model.deferred import FoundTools
from dsh_prompt.model.tools import ToolSchema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from dsh_prompt.adapters.calls import ToolResult


class OpenCalls:
    """The *calls* of one reply: each waits for a result, and all of them are answered together."""

    def __init__(self, calls: Iterable[ToolCall] = ()) -> None:
        self._calls = tuple(calls)
        # By the place of the call among them: what the tool gave.
        self._results: dict[int, tuple[str, bool]] = {}

    @property
    def waiting(self) -> tuple[ToolCall, ...]:
        """Those without a result."""
        return tuple(call for place, call in enumerate(self._calls) if place not in self._results)

    def add(self, call: ToolCall, output: str, *, is_error: bool) -> None:
        """Keep the result of *call*; raises `ConversationError` if it does not wait for one."""
        check_output(call, output)
        places = (place for place, one in enumerate(self._calls) if one == call)
        place = next((place for place in places if place not in self._results), None)
        if place is None:
            raise ConversationError(f'the call of "{call.name}" is none that waits for a result')
        self._results[place] = (output, is_error)

    def results(self) -> list[ToolResult]:
        """Give all results, in the order of the calls."""
        return [(call, *self._results[place]) for place, call in enumerate(self._calls)]

    def check_none(self, action: str) -> None:
        """Raise `ConversationError` while there are calls without a result."""
        if waiting := self.waiting:
            raise ConversationError(
                f"add the results of {quoted(call.name for call in waiting)} before you {action}"
            )

    def to_dict(self) -> dict[str, Any]:
        """Give calls and results as JSON; `from_dict` takes them back."""
        return {
            "calls": [attrs.asdict(call) for call in self._calls],
            "results": [
                [place, output, is_error, *_found(output)]
                for place, (output, is_error) in self._results.items()
            ],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Take back what `to_dict` gave."""
        self = cls(ToolCall(**call) for call in data["calls"])
        for place, output, is_error, *found in data["results"]:
            schemas = [ToolSchema.from_dict(tool) for tools in found for tool in tools]
            self._results[place] = (FoundTools(output, schemas) if found else output, is_error)
        return self


def _found(output: str) -> list[list[dict[str, Any]]]:
    """Give the schemas that the output of a search has with it; other outputs have none."""
    if not isinstance(output, FoundTools):
        return []
    return [[schema.to_dict() for schema in output.schemas]]


def check_output(call: ToolCall, output: object) -> None:
    """Raise `TypeError` for an output that is no text."""
    if not isinstance(output, str):
        raise TypeError(
            f'the output of the tool "{call.name}" must be a str, not {type(output).__name__}'
        )


def whole(results: Iterable[ToolResult]) -> list[ToolResult]:
    """Give *results* with half surrogate pairs replaced: no provider takes them.

    Raises `TypeError` for an output that is no text.
    """
    mended_results = []
    for call, output, is_error in results:
        check_output(call, output)
        mended_results.append((call, mended(output), is_error))
    return mended_results
