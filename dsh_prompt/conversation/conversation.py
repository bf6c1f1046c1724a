"""A conversation: one agent's history, step by step, whatever plugins do meanwhile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from uuid import uuid4
from weakref import WeakKeyDictionary

import attrs

from dsh_prompt.adapters.calls import mended, plain
from dsh_prompt.adapters.registry import adapter as find_adapter
from dsh_prompt.adapters.request import Request, frozen
from dsh_prompt.conversation.errors import ConversationError
from dsh_prompt.conversation.open_calls import OpenCalls, whole
from dsh_prompt.conversation.pin import Pin
from dsh_prompt.model.context import AssembleContext
from dsh_prompt.model.deferred import DEFERRED
from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.render.projection import RuntimeContextProjection
from dsh_prompt.render.prompt import render_context_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from threading import Event
    from typing import Self

    from dsh_prompt.adapters.base import Adapter
    from dsh_prompt.adapters.calls import ToolCall, ToolResult
    from dsh_prompt.conversation.pin import Names
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.system_prompt import SystemPrompt

PinMode: TypeAlias = Literal["prefix", "none"]

#: Tells hosts apart, also those of other processes: only one counts the same generations.
_HOSTS: WeakKeyDictionary[SystemPrompt, str] = WeakKeyDictionary()


@attrs.frozen
class _Pending:
    """A step that is neither committed nor discarded: its request, its snapshot and its pin."""

    request: Request
    snapshot: str | None
    pin: Pin | None


class Conversation:
    """The history of one agent of *prompt*, in *scope*, in the form of one provider.

    *adapter* is one of `dsh_prompt.adapters`, or its name. With ``pin="prefix"`` system text
    and tools stay byte for byte as the first step sent them, until `repin`: what changes is
    told in the snapshot of runtime contexts, a tool that goes away is denied, one that comes
    waits. A change that is marked urgent pins anew at the next step. ``pin="none"`` sends
    each assembly as it is. For one thread at a time.
    """

    def __init__(
        self,
        prompt: SystemPrompt,
        scope: Scope | None = None,
        *,
        adapter: Adapter | str,
        pin: PinMode = "prefix",
        messages: Iterable[Any] = (),
    ) -> None:
        if pin not in ("prefix", "none"):
            raise ValueError(f'pin must be "prefix" or "none", not "{pin}"')
        self.adapter: Adapter = find_adapter(adapter) if isinstance(adapter, str) else adapter
        self._prompt = prompt
        self._scope = scope
        self._mode: PinMode = pin
        self._history = [frozen(plain(message)) for message in messages]
        self._projection = RuntimeContextProjection()
        self._pin: Pin | None = None
        self._pending: _Pending | None = None
        self._calls = OpenCalls()

    @property
    def messages(self) -> tuple[Any, ...]:
        """The history so far, in the provider's form."""
        return tuple(self._history)

    @property
    def pending(self) -> Request | None:
        """The request of a step that is neither committed nor discarded."""
        return None if self._pending is None else self._pending.request

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the last reply that have no result, as long as nothing came after it."""
        return self._calls.waiting

    # What is said

    def say(self, text: str) -> None:
        """Add a message of the user to the history.

        Raises `ConversationError` while calls wait for results: no provider takes a message
        between the two.
        """
        self._calls.check_none("say something")
        self.add(self.adapter.user_message(text))

    def add(self, *messages: Any) -> None:
        """Add *messages*, in the provider's form, to the history.

        Calls that wait for results do so no more: the messages are taken for what answers them.
        """
        if messages:
            self._check_no_step("add to the history")
            self._history += [frozen(plain(message)) for message in messages]
            self._calls = OpenCalls()

    def add_result(self, call: ToolCall, output: str, *, is_error: bool = False) -> None:
        """Add what a tool gave for one of `calls`.

        They join the history together, in the order of the calls, once each has one; until then
        they are kept with the conversation. Raises `ConversationError` for any other call, and
        `TypeError` for an *output* that is no text.
        """
        self._check_no_step("add to the history")
        self._calls.add(call, output, is_error=is_error)
        if not self._calls.waiting:
            self.add_results(self._calls.results())

    def add_results(self, results: Iterable[ToolResult]) -> None:
        """Add what tools gave: (call, output, whether it is an error) of each.

        Half a surrogate pair in an output is replaced: no provider takes it. Raises `TypeError`
        for an output that is no text.
        """
        self.add(*self.adapter.result_messages(whole(results)))

    # Steps

    def step(
        self,
        state: RuntimeState | None = None,
        *,
        model: str,
        cancel: Event | None = None,
        **options: Any,
    ) -> Request:
        """Give the request of the next model call: assembled once, with the snapshot it needs.

        *options* go to the adapter. Until `commit` or `discard` it is the same request, whatever
        is asked for: a retry sends what was sent before. Raises what assembling, rendering and
        the adapter raise, and `ConversationError` while calls wait for results; nothing has
        changed then.
        """
        if self._pending is None:
            self._calls.check_none("make a step")
            context = AssembleContext(self._scope, state, cancel)
            self._begin(self._prompt.assemble(context), model, options)
        return self._request()

    async def step_async(
        self,
        state: RuntimeState | None = None,
        *,
        model: str,
        cancel: Event | None = None,
        **options: Any,
    ) -> Request:
        """Give the next request as `step` does, with async providers and hooks."""
        if self._pending is None:
            self._calls.check_none("make a step")
            context = AssembleContext(self._scope, state, cancel)
            assembly = await self._prompt.assemble_async(context)
            if self._pending is None:  # another task may have been faster
                self._begin(assembly, model, options)
        return self._request()

    def _begin(self, assembly: PromptAssembly, model: str, options: Mapping[str, Any]) -> None:
        pin = self._pin
        if self._mode == "prefix":
            if pin is None or self._is_outdated(pin):
                pin = Pin.of(assembly)
            pin.hold(assembly, _names_of(self.adapter))
        snapshot = self._projection.project(render_context_snapshot(assembly))
        messages = list(self._history)
        if snapshot is not None:
            messages.append(self.adapter.user_message(snapshot))
        request = self.adapter(assembly, messages, model=model, **options)
        self._pending = _Pending(request, snapshot, pin)

    def _is_outdated(self, pin: Pin) -> bool:
        return pin.generation < self._prompt._urgent_generation(self._scope)

    def _request(self) -> Request:
        if self._pending is None:
            raise ConversationError("there is no step to commit; call step() first")
        return self._pending.request

    def commit(self, response: object) -> list[ToolCall]:
        """End the step with the model's *response*: snapshot and reply join the history.

        Gives the calls of tools in it, each authorized: see `Request.tool_calls`.
        """
        pending = self._pending
        if pending is None:
            raise ConversationError("there is no step to commit; call step() first")
        calls = pending.request.tool_calls(response)
        replies = self.adapter.reply_messages(response)
        added = [frozen(mended(plain(message))) for message in replies]
        if pending.snapshot is not None:
            self._history.append(frozen(self.adapter.user_message(pending.snapshot)))
            self._projection.accept(pending.snapshot)
        self._history += added
        self._calls = OpenCalls(calls)
        self._pin, self._pending = pending.pin, None
        return calls

    def authorize(self, call: ToolCall, state: RuntimeState | None = None) -> str | None:
        """Give the reason to refuse *call* now, None where it may run: ask right before it does.

        `ToolCall.refusal` is what the step of the call said; this assembles anew, since tools,
        denials and *state* may be others by now. Raises what assembling raises.
        """
        if call.refusal is not None:
            return call.refusal
        return self._prompt.assemble(AssembleContext(self._scope, state)).authorize(call.name)

    async def authorize_async(
        self, call: ToolCall, state: RuntimeState | None = None
    ) -> str | None:
        """Give the reason to refuse *call* now, as `authorize` does."""
        if call.refusal is not None:
            return call.refusal
        assembly = await self._prompt.assemble_async(AssembleContext(self._scope, state))
        return assembly.authorize(call.name)

    def discard(self) -> None:
        """End the step as if it had not been: the call failed, and is not to be repeated."""
        self._pending = None

    # The prefix

    def repin(self) -> None:
        """Take the assembly of the next step as the new prefix."""
        self._check_no_step("pin anew")
        self._pin = None

    def compacted(self, summary: str = "") -> None:
        """Put *summary*, said by the user, in place of the history, and pin anew.

        Without one the history is empty: a summary may be in the runtime state, for a plugin to
        show. Calls that wait for results are gone with the history.
        """
        self.repin()
        self._history = [frozen(self.adapter.user_message(summary))] if summary.strip() else []
        self._calls = OpenCalls()
        self._projection.forget()

    def _check_no_step(self, action: str) -> None:
        if self._pending is not None:
            raise ConversationError(f"commit() or discard() the step before you {action}")

    # Keeping

    def to_dict(self) -> dict[str, Any]:
        """Give the conversation as JSON, a pending step included; `from_dict` resumes it.

        Raises `TypeError` where a pending request holds what is not JSON.
        """
        return {
            "adapter": self.adapter.name,
            "pin": self._mode,
            "messages": list(self._history),
            "snapshot": self._projection.to_dict(),
            "host": _host_id(self._prompt),
            "prefix": self._prefix_to_dict(),
            **self._calls.to_dict(),
            "pending": None if self._pending is None else _pending_to_dict(self._pending),
        }

    def _prefix_to_dict(self) -> dict[str, Any] | None:
        """Give the pin of the step that is pending, else the last one, unless it is outdated."""
        pin = self._pin if self._pending is None else self._pending.pin
        return None if pin is None or self._is_outdated(pin) else pin.to_dict()

    @classmethod
    def from_dict(
        cls,
        data: Mapping[str, Any],
        prompt: SystemPrompt,
        scope: Scope | None = None,
        *,
        adapter: Adapter | None = None,
    ) -> Self:
        """Resume what `to_dict` gave, also in another process: nothing is lost, or doubled.

        In another host, each urgent change that has been there counts as one since then.
        """
        found = data["adapter"] if adapter is None else adapter
        self = cls(prompt, scope, adapter=found, pin=data["pin"], messages=data["messages"])
        self._projection = RuntimeContextProjection.from_dict(data["snapshot"])
        if data["prefix"] is not None:
            self._pin = Pin.from_dict(data["prefix"])
            if data["host"] != _host_id(prompt):
                self._pin = attrs.evolve(self._pin, generation=0)
        self._calls = OpenCalls.from_dict(data)
        if data["pending"] is not None:
            self._pending = _pending_from_dict(data["pending"], self.adapter, self._pin)
        return self


def _names_of(adapter: Adapter) -> Names:
    """Give what tells the names by which tools are sent: their own, for an adapter of others."""
    names: Names | None = getattr(adapter, "sent_names", None)
    return names or (lambda tools: {tool.name: tool.name for tool in tools})


def _host_id(prompt: SystemPrompt) -> str:
    # A process that was forked counts its own generations.
    return f"{_HOSTS.setdefault(prompt, uuid4().hex)}-{os.getpid()}"


def _pending_to_dict(pending: _Pending) -> dict[str, Any]:
    request = pending.request
    return {
        "body": plain(request.to_dict()),
        "assembly": request.assembly.to_dict(),
        "names": dict(request.names),
        "snapshot": pending.snapshot,
    }


def _pending_from_dict(data: Mapping[str, Any], adapter: Adapter, pin: Pin | None) -> _Pending:
    assembly = PromptAssembly.from_dict(data["assembly"], [DEFERRED])
    request = Request(data["body"], adapter, assembly, data["names"])
    return _Pending(request, data["snapshot"], pin)
