"""Plugins that can fail at each of their steps, and the whole state of a host to compare."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from dsh_prompt import Key, SystemPrompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import ChangeEvent, Scope
    from tests.sites import Site

#: The start of what installed test modules are called.
PREFIX = "dsh_test_"

#: An installed plugin: whatever of it is called comes by a step, in which it may fail.
CODE = """
from contextlib import contextmanager

import attrs

from dsh_prompt import PromptContext, PromptSection, ToolSchema, hookimpl
from dsh_test_wire import wire

wire.step("NAME: import")
from dsh_test_NAME import PART

wire.step("NAME: import, after its part")


@attrs.frozen
class Limit:
    most: int = attrs.field(default=3, validator=lambda *_: wire.step("NAME: validate"))


def convert(value):
    wire.step("NAME: convert")
    return value


@attrs.frozen
class Config:
    tone: str = attrs.field(default="calm", converter=convert)
    limit: Limit = attrs.Factory(Limit)

    def __attrs_post_init__(self):
        wire.step("NAME: configured")


class Plugin:
    Config = Config
    requires = REQUIRES

    def __init__(self):
        wire.step("NAME: instantiate")

    @hookimpl
    def activate(self, ctx):
        wire.step("NAME: activate")
        ctx.callback(wire.step, "cleanup: NAME")
        ctx.section(name="NAME_one", order=1, text="vVERSION")
        ctx.enter_context(self.opened())
        ctx.provide(wire.keys["NAME"], "vVERSION")
        ctx.tool(ToolSchema("NAME_tool", "vVERSION", {}))
        ctx.on_change(lambda event: wire.step("NAME: listener"))
        ctx.on_assemble(lambda assembly: wire.trace(assembly, "NAME VERSION first"), prepend=True)
        ctx.create_scope("own").section(name="NAME_own", order=1, text="vVERSION")
        wire.step("NAME: activate, at its end")

    @contextmanager
    def opened(self):
        wire.step("NAME: enter")
        yield
        wire.step("cleanup: NAME, leave")

    @hookimpl
    def contribute_sections(self):
        for part in PART.names:
            wire.step("NAME: yield " + part)
            yield PromptSection(name="NAME_" + part, order=2, text="vVERSION")
        wire.step("NAME: yield no more")

    @hookimpl
    def contribute_contexts(self):
        wire.step("NAME: contexts")
        return [PromptContext(name="NAME_context", order=2, text="vVERSION")]

    @hookimpl
    def contribute_tools(self):
        wire.step("NAME: tools")
        return [ToolSchema("NAME_tool_vVERSION", "", {}), ToolSchema("NAME_other", "vVERSION", {})]

    @hookimpl
    def contribute_variables(self):
        wire.step("NAME: variables")
        return {"NAME": lambda: "vVERSION"}

    @hookimpl
    def system_prompt_assemble(self, assembly):
        wire.trace(assembly, "NAME VERSION")

    @hookimpl
    def system_prompt_change(self, event):
        wire.step("NAME: change hook")

    @hookimpl
    def deactivate(self):
        wire.step("cleanup: NAME, deactivate")
"""

#: The submodule of each version, and what is in it.
PARTS = {
    "1": ("old_part", 'names = ("two", "three")'),
    "2": ("new_part", 'names = ("two", "four")'),
}


class InjectedError(Exception):
    """Raised on purpose."""


class Wire:
    """Counts the steps into plugins and listeners, and raises in those that are to fail."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.keys = {name: Key[str](name) for name in ("alpha", "beta", "gamma", "delta")}
        self._fails: Callable[[int], bool] = lambda _: False
        self._error: type[BaseException] = InjectedError

    def arm(self, fails: Callable[[int], bool], error: type[BaseException] = InjectedError) -> None:
        """Count anew; the steps that *fails* holds for raise an *error*."""
        self.steps, self._fails, self._error = [], fails, error

    def disarm(self) -> list[str]:
        """Let nothing fail any more, and give the steps that were taken."""
        self._fails = lambda _: False
        return [*self.steps]

    def step(self, label: str) -> None:
        """Take a step."""
        self.steps.append(label)
        if self._fails(len(self.steps)):
            raise self._error(label)

    def trace(self, assembly: Any, name: str) -> None:
        """Note that the waterfall was at *name*."""
        assembly.variables["trace"] = f"{assembly.variables.get('trace', '')}, {name}"


class Host:
    """A host with two scopes and listeners around its plugins, and the balance of its events."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.prompt = SystemPrompt()
        self.scope = self.prompt.create_scope("agent")
        self.child = self.prompt.create_scope("child", parent=self.scope)
        self.balance: Counter[tuple[str, str, Scope | None]] = Counter()
        self.events: list[ChangeEvent] = []
        self.prompt.on_change(self.tell)
        self.prompt.on_change(lambda _: wire.step("listener: first"))
        self.prompt.on_assemble(lambda assembly: wire.trace(assembly, "host"))
        self.prompt.section(name="host", order=1.5, text="host")

    def watch(self) -> None:
        """Add what stands behind the plugins."""
        self.prompt.on_assemble(lambda assembly: self.wire.trace(assembly, "behind"))
        self.prompt.on_change(lambda _: self.wire.step("listener: last"))

    def tell(self, event: ChangeEvent) -> None:
        """Keep the balance of what came and what went."""
        self.events.append(event)
        self.balance.subtract(event.removed)
        self.balance.update(event.added)

    def state(self) -> dict[str, Any]:
        """Give all that can be seen of the host, without its numbers."""
        prompt = self.prompt
        assemblies: dict[str, Any] = {}
        for scope in (None, self.scope, self.child):
            assembly = prompt.assemble(scope=scope).to_dict()
            assembly.pop("generation", None)
            name = "global" if scope is None else scope.name
            assemblies[name] = assembly
            assemblies[f"{name} schemas"] = prompt.registry.schemas(scope)
        return {
            **assemblies,
            "plugins": prompt.plugins,
            "balance": {item: number for item, number in self.balance.items() if number},
            "config": prompt.config,
            "services": {name: prompt.get(key) for name, key in self.wire.keys.items()},
        }


def modules(*names: str) -> dict[str, Any]:
    """Give the installed modules of the plugins *names*, and those that packages hold."""
    starts = tuple(f"{PREFIX}{name}" for name in names)
    found = {name: module for name, module in sys.modules.items() if name.startswith(starts)}
    parts = {
        f"{name}:{part}": vars(module).get(part)
        for name, module in found.items()
        for part, _ in PARTS.values()
    }
    return {**found, **parts}


def install(
    site: Site, name: str, code: str, requires: tuple[str, ...] = (), release: str | None = None
) -> None:
    """Install the distribution ``dsh-NAME`` with the plugin *name*, with *code* 1 or 2."""
    part, names = PARTS[code]
    text = CODE.replace("VERSION", code).replace("PART", part)
    text = text.replace("REQUIRES", repr(requires)).replace("NAME", name)
    package = f"{PREFIX}{name}"
    texts = {f"{package}.__init__": text, f"{package}.{part}": names}
    site.install(f"dsh-{name}", release or code, texts, **{name: f"{package}:Plugin"})
