"""Quarantine: a misbehaving plugin is switched off, and the others go on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import (
    AssembledSection,
    Config,
    ConfigError,
    DisposableContext,
    DisposedError,
    InvariantError,
    PluginConflictError,
    PluginNotFoundError,
    PromptAssembly,
    PromptError,
    ProviderError,
    Scope,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt import ChangeEvent


class Plugin:
    """Contributes to everything, and notes its cleanup."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.ctx: DisposableContext | None = None

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        self.ctx = ctx
        ctx.variable("name", "value")
        ctx.create_scope("inner").variable("inner", "value")
        ctx.callback(self.log.append, "cleaned up")

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        self.log.append("assembled")

    @hookimpl
    def system_prompt_change(self, event: ChangeEvent) -> None:
        self.log.append(event.kind)


def test_a_quarantined_plugin_takes_no_part_and_stays_listed() -> None:
    prompt, plugin = SystemPrompt(), Plugin()
    before = prompt.assemble()
    prompt.load(plugin)
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    plugin.log.clear()
    prompt.quarantine("Plugin", "it hangs")
    assert prompt.assemble() == before
    assert plugin.log == []
    (info,) = prompt.plugins
    assert (info.state, info.reason, info.contributions) == ("quarantined", "it hangs", ())
    (event,) = events
    assert (event.kind, event.plugin, event.added) == ("unloaded", "Plugin", ())
    assert [item[:2] for item in event.removed] == [
        ("variable", "name"),
        ("variable", "inner"),
        ("listener", "system_prompt_assemble"),
    ]


def test_it_can_register_nothing_more() -> None:
    prompt, plugin = SystemPrompt(), Plugin()
    prompt.load(plugin)
    prompt.quarantine("Plugin", "it hangs")
    assert plugin.ctx is not None
    with pytest.raises(DisposedError, match='plugin "Plugin" is quarantined'):
        plugin.ctx.variable("other", "value")


def test_a_second_quarantine_changes_nothing() -> None:
    prompt = SystemPrompt()
    prompt.load(Plugin())
    prompt.quarantine("Plugin", "first")
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    prompt.quarantine("Plugin", "second")
    assert events == []
    assert prompt.plugins[0].reason == "first"


def test_unloading_it_cleans_up_and_frees_its_name() -> None:
    prompt, plugin = SystemPrompt(), Plugin()
    prompt.load(plugin)
    prompt.quarantine("Plugin", "it hangs")
    with pytest.raises(PluginConflictError, match="already loaded"):
        prompt.load(Plugin())
    prompt.unload("Plugin")
    assert plugin.log[-1] == "cleaned up"
    prompt.load(Plugin())
    assert prompt.plugins[0].state == "loaded"


def test_reloading_it_brings_it_back() -> None:
    prompt = SystemPrompt()
    prompt.load(Plugin)
    before = prompt.assemble()
    prompt.quarantine("Plugin", "it hangs")
    assert prompt.reload("Plugin").state == "loaded"
    assert prompt.assemble() == before


def test_a_reload_that_fails_leaves_it_quarantined() -> None:
    prompt = SystemPrompt()
    fails = [False, True]

    class Broken:
        @hookimpl
        def activate(self) -> None:
            if fails.pop(0):
                raise ValueError("no")

    prompt.load(Broken)
    prompt.quarantine("Broken", "it hangs")
    with pytest.raises(PromptError, match="the old code stays in place"):
        prompt.reload("Broken")
    assert (prompt.plugins[0].state, prompt.plugins[0].reason) == ("quarantined", "it hangs")


def test_what_requires_it_is_switched_off_with_it() -> None:
    prompt = SystemPrompt()

    class Rules:
        requires = ("Plugin",)

        @hookimpl
        def contribute_variables(self) -> dict[str, str]:
            return {"rules": "value"}

    prompt.load(Plugin())
    prompt.load(Rules)
    prompt.quarantine("Plugin", "it hangs")
    assert [(info.name, info.reason) for info in prompt.plugins] == [
        ("Plugin", "it hangs"),
        ("Rules", 'it needs "Plugin": it hangs'),
    ]
    prompt.unload("Plugin")
    assert prompt.plugins == []


def test_a_plugin_of_a_scope_is_named_with_its_scope() -> None:
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(Plugin(), scope=scope)
    with pytest.raises(PluginNotFoundError):
        prompt.quarantine("Plugin", "it hangs")
    prompt.quarantine("Plugin", "it hangs", scope=scope)
    assert prompt.plugins[0].state == "quarantined"
    scope.dispose()
    assert prompt.plugins == []


def test_it_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    prompt = SystemPrompt()
    prompt.load(Plugin())
    with caplog.at_level(logging.WARNING, "dsh_prompt"):
        prompt.quarantine("Plugin", "it hangs")
    assert 'plugin "Plugin" is quarantined: it hangs' in caplog.text


def raising(assembly: PromptAssembly) -> None:
    raise ValueError("no")


def malformed(assembly: PromptAssembly) -> None:
    assembly.sections.append(AssembledSection("", "text"))


def wrong(assembly: PromptAssembly) -> Any:
    return "a text"


def misbehaving(listener: Callable[[PromptAssembly], object], fails: list[bool]) -> Any:
    """Give a plugin whose listener misbehaves as long as *fails* says so (empty: always)."""

    class Misbehaving:
        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> Any:
            return listener(assembly) if not fails or fails.pop(0) else None

    return Misbehaving


@pytest.mark.parametrize(
    ("listener", "error"),
    [(raising, ProviderError), (malformed, InvariantError), (wrong, ProviderError)],
)
def test_after_failures_in_a_row_a_plugin_is_switched_off(
    listener: Callable[[PromptAssembly], object], error: type[Exception]
) -> None:
    """The assembly that fails once too often still fails; the next one works."""
    prompt = SystemPrompt(Config(quarantine_after=3))
    before = prompt.assemble()
    prompt.load(misbehaving(listener, []))
    for _ in range(3):
        assert prompt.plugins[0].state == "loaded"
        with pytest.raises(error):
            prompt.assemble()
    assert prompt.assemble() == before
    (info,) = prompt.plugins
    assert info.state == "quarantined"
    assert (info.reason or "").startswith("it failed 3 times in a row, last with: ")


@pytest.mark.anyio
async def test_an_async_assembly_counts_as_well() -> None:
    prompt = SystemPrompt(Config(quarantine_after=2))
    prompt.load(misbehaving(raising, []))
    for _ in range(2):
        with pytest.raises(ProviderError):
            await prompt.assemble_async()
    await prompt.assemble_async()


@pytest.mark.anyio
async def test_a_hook_that_hangs_is_switched_off() -> None:
    class Hanging:
        @hookimpl
        async def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            await anyio.sleep_forever()

    prompt = SystemPrompt(Config(quarantine_after=1, hook_timeout=0.01))
    prompt.load(Hanging)
    with pytest.raises(ProviderError, match="took longer than hook_timeout"):
        await prompt.assemble_async()
    await prompt.assemble_async()
    assert "hook_timeout" in (prompt.plugins[0].reason or "")


def test_a_good_assembly_begins_a_new_row() -> None:
    prompt = SystemPrompt(Config(quarantine_after=2))
    prompt.load(misbehaving(raising, [True, False, True, False, True, True]))
    for fails in (True, False, True, False, True, True):
        if fails:
            with pytest.raises(ProviderError):
                prompt.assemble()
        else:
            prompt.assemble()
    assert prompt.plugins[0].state == "quarantined"


def test_an_assembly_that_it_takes_no_part_in_says_nothing_of_it() -> None:
    prompt = SystemPrompt(Config(quarantine_after=2))
    scope, other = prompt.create_scope("agent"), prompt.create_scope("other")
    prompt.load(misbehaving(raising, []), scope=scope)
    for _ in range(2):
        with pytest.raises(ProviderError):
            prompt.assemble(scope=scope)
        prompt.assemble(scope=other)
        prompt.assemble()
    assert prompt.plugins[0].state == "quarantined"


def test_of_two_plugins_of_one_name_the_one_that_failed_is_switched_off() -> None:
    prompt = SystemPrompt(Config(quarantine_after=1))
    scope = prompt.create_scope("agent")
    prompt.load(misbehaving(raising, [False]), name="same", scope=scope)
    prompt.load(misbehaving(raising, []), name="same")
    with pytest.raises(ProviderError):
        prompt.assemble(scope=scope)
    assert [(info.scope, info.state) for info in prompt.plugins] == [
        (scope, "loaded"),
        (None, "quarantined"),
    ]


def test_by_default_nobody_is_switched_off() -> None:
    prompt = SystemPrompt()
    prompt.load(misbehaving(raising, []))
    for _ in range(5):
        with pytest.raises(ProviderError):
            prompt.assemble()
    assert prompt.plugins[0].state == "loaded"


def test_failures_of_the_host_s_own_blame_no_plugin() -> None:
    prompt = SystemPrompt(Config(quarantine_after=1))
    prompt.load(Plugin())
    prompt.on_assemble(raising)
    for _ in range(2):
        with pytest.raises(ProviderError):
            prompt.assemble()
    assert prompt.plugins[0].state == "loaded"


def test_a_change_listener_that_raises_does_not_hide_why_the_assembly_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    prompt = SystemPrompt(Config(quarantine_after=1))
    prompt.load(misbehaving(raising, []))

    def refuse(event: ChangeEvent) -> None:
        raise RuntimeError("not this one")

    prompt.on_change(refuse)
    with pytest.raises(ProviderError):
        prompt.assemble()
    assert prompt.plugins[0].state == "quarantined"
    assert "not this one" in caplog.text


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "3"])
def test_the_number_is_a_positive_one(value: Any) -> None:
    with pytest.raises(ConfigError, match="quarantine_after: expected a positive number"):
        Config(quarantine_after=value)


def test_what_a_plugin_does_in_a_scope_of_its_own_counts_as_well() -> None:
    prompt = SystemPrompt(Config(quarantine_after=1))
    scopes: list[Scope] = []

    def fail() -> str:
        raise ValueError("no")

    class Owner:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            scopes.append(ctx.create_scope("own"))
            scopes[0].section(name="own", order=1, text=fail)

    prompt.load(Owner)
    with pytest.raises(ProviderError):
        prompt.assemble(scope=scopes[0])
    assert prompt.plugins[0].state == "quarantined"
