"""What all adapters are, and what the built-in ones share."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import attrs

from dsh_prompt.adapters.calls import plain
from dsh_prompt.adapters.preflight import check_request, checked_tools, names_to_send
from dsh_prompt.adapters.request import Request
from dsh_prompt.model.deferred import DEFERRED
from dsh_prompt.render.fingerprint import stable_count
from dsh_prompt.render.prompt import render_sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dsh_prompt.adapters.calls import ToolCall, ToolResult
    from dsh_prompt.adapters.limits import Limits
    from dsh_prompt.adapters.preflight import OnInvalid, SentTool
    from dsh_prompt.adapters.schemas import Complaint
    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.tools import ToolSchema


class Adapter(Protocol):
    """Turns an assembly and a history into what one method of a provider's client takes."""

    @property
    def name(self) -> str:
        """The name that `adapter` finds it by."""
        ...

    def __call__(
        self,
        assembly: PromptAssembly,
        messages: Iterable[Any] = (),
        *,
        model: str,
        cache: bool = True,
        on_invalid: OnInvalid = "raise",
        **options: Any,
    ) -> Request:
        """Make a request of *assembly* and the history *messages*, in the provider's own form.

        *options* are further arguments of the client's method. With *cache* the request says
        what the provider can cache. Raises `PreflightError` for what the provider would refuse
        (*on_invalid*: `checked_tools`), and what rendering raises.
        """
        ...

    def tool_calls(self, response: object) -> list[ToolCall]:
        """Give the calls in *response*, by the names that were sent, none authorized."""
        ...

    def user_message(self, text: str) -> Any:
        """Give *text* as a message of the user."""
        ...

    def reply_messages(self, response: object) -> list[Any]:
        """Give what *response* adds to the history, as JSON."""
        ...

    def result_messages(self, results: Iterable[ToolResult]) -> list[Any]:
        """Give what the *results* of calls add to the history, as JSON."""
        ...


@attrs.frozen
class Parts:
    """What a request is made of."""

    assembly: PromptAssembly
    model: str
    messages: list[Any]
    tools: list[SentTool]
    cache: bool
    options: dict[str, Any]

    @cached_property
    def texts(self) -> Sequence[str]:
        """The texts of the sections."""
        return render_sections(self.assembly)

    @cached_property
    def system(self) -> str:
        """The system prompt."""
        return _joined(self.texts)

    @cached_property
    def stable(self) -> str:
        """What of the system prompt belongs to the stable prefix."""
        return _joined(self.texts[: stable_count(self.assembly)])

    @cached_property
    def allowed(self) -> list[SentTool] | None:
        """The tools that are not denied; None where none is."""
        denied = self.assembly.denied
        allowed = [tool for tool in self.tools if tool.schema.name not in denied]
        return None if len(allowed) == len(self.tools) else allowed


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts))


@attrs.frozen
class BuiltIn(Adapter):
    """An adapter that `_body` makes, of parts that are checked against *limits*."""

    #: Arguments that the assembly and the history fill.
    slots: ClassVar[tuple[str, ...]]

    # An attribute is as good as a property to whoever reads it.
    name: str  # pyright: ignore[reportIncompatibleMethodOverride]
    limits: Limits

    def __call__(
        self,
        assembly: PromptAssembly,
        messages: Iterable[Any] = (),
        *,
        model: str,
        cache: bool = True,
        on_invalid: OnInvalid = "raise",
        **options: Any,
    ) -> Request:
        """Make a request: see `Adapter`, and the module for what becomes of what."""
        if taken := [slot for slot in self.slots if slot in options]:
            raise TypeError(f"{self.name} fills {', '.join(taken)} itself")
        tools, skipped = checked_tools(
            assembly, self.limits, self.name, on_invalid, self._left_out(assembly)
        )
        history = [plain(message) for message in messages]
        parts = Parts(assembly, model, history, tools, cache, options)
        body = self._body(parts)
        check_request(parts.system, body, self.limits, self.name, self._complaints(body))
        names = {tool.name: tool.schema.name for tool in tools}
        return Request(body, self, assembly, names, skipped)

    def _body(self, parts: Parts) -> Mapping[str, Any]:
        raise NotImplementedError

    def _left_out(self, assembly: PromptAssembly) -> frozenset[str]:
        """Name the tools that the request does not hold: those held back, if it cannot say so."""
        deferred = assembly.get(DEFERRED)
        return frozenset() if deferred is None else deferred.names

    def _complaints(self, _body: Mapping[str, Any]) -> Iterable[Complaint]:
        """Say what of the history and the options this provider would refuse."""
        return ()

    def sent_names(self, tools: Iterable[ToolSchema]) -> dict[str, str]:
        """Give the names by which *tools* are sent, by their own; not of those it would refuse."""
        return names_to_send(tools, self.limits)

    def user_message(self, text: str) -> Any:
        """Give *text* as a message of the user."""
        return {"role": "user", "content": text}
