"""Bugs that users of other plugin systems have reported: none of them is here."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anyio
import pytest

import dsh_prompt
from dsh_prompt import (
    Config,
    DisposableContext,
    DisposedError,
    PluginLoadError,
    PluginsConfig,
    PromptAssembly,
    PromptError,
    ProviderError,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dsh_prompt import ChangeEvent, Registration
    from tests.sites import Site

HEAD = "from dsh_prompt import hookimpl\n"


def code(name: str, text: str = "x", more: str = "") -> str:
    """Give the code of a plugin that contributes one variable."""
    return (
        f"{HEAD}@hookimpl\ndef contribute_variables():\n    return {{'{name}': '{text}'}}\n{more}"
    )


def install(site: Site, name: str, version: str = "1.0", more: str = "") -> None:
    """Install ``dsh-NAME``, whose plugin says the version."""
    files = {f"dsh_test_{name}": code(name, version, more)}
    site.install(f"dsh-{name}", version, files, **{name: f"dsh_test_{name}"})


class Noting:
    """Notes every hook that runs."""

    def __init__(self) -> None:
        self.log: list[str] = []

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        self.log.append("activate")
        ctx.variable("noting", self.provide)
        ctx.callback(self.log.append, "callback")

    def provide(self) -> str:
        self.log.append("provider")
        return "value"

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        self.log.append("assemble")

    @hookimpl
    def system_prompt_change(self, event: ChangeEvent) -> None:
        self.log.append(event.kind)

    @hookimpl
    def deactivate(self) -> None:
        self.log.append("deactivate")


# An effect that is registered while its plugin is unloaded leaks


@contextmanager
def noting(log: list[str]) -> Iterator[None]:
    """Note that it was entered, and left."""
    log.append("entered")
    yield
    log.append("left")


#: What a plugin can register, and forget.
EFFECTS: dict[str, Callable[[Any, list[str]], object]] = {
    "variable": lambda ctx, log: ctx.variable("leak", "x"),
    "section": lambda ctx, log: ctx.section(name="leak", order=1, text="x"),
    "tools": lambda ctx, log: ctx.tools([{"name": "leak", "description": "", "parameters": {}}]),
    "listener": lambda ctx, log: ctx.on_assemble(lambda assembly: log.append("called")),
    "change listener": lambda ctx, log: ctx.on_change(lambda event: log.append("called")),
    "callback": lambda ctx, log: ctx.callback(log.append, "called"),
    "context manager": lambda ctx, log: ctx.enter_context(noting(log)),
    "scope": lambda ctx, log: ctx.create_scope("leak"),
}


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=EFFECTS)
@pytest.mark.parametrize("when", ["deactivate", "callback"])
@pytest.mark.parametrize("how", ["unload", "reload", "dispose"])
def test_an_effect_registered_while_its_plugin_ends_is_refused(
    effect: Callable[[Any, list[str]], object], when: str, how: str
) -> None:
    """Nothing of it is left, and the plugin is gone."""
    log: list[str] = []
    plugin = SimpleNamespace(ended=False)

    @hookimpl
    def activate(ctx: DisposableContext) -> None:
        if when == "callback":
            ctx.callback(end, ctx)

    @hookimpl
    def deactivate(ctx: DisposableContext) -> None:
        if when == "deactivate":
            end(ctx)

    def end(ctx: DisposableContext) -> None:
        if not plugin.ended:
            plugin.ended = True
            effect(ctx, log)

    plugin.activate, plugin.deactivate = activate, deactivate
    prompt = SystemPrompt()
    prompt.load(plugin, name="p")
    ending: dict[str, Callable[[], object]] = {
        "unload": lambda: prompt.unload("p"),
        "reload": lambda: prompt.reload("p"),
        "dispose": prompt.dispose,
    }
    with pytest.raises(DisposedError, match='"p"'):
        ending[how]()
    assert len(prompt.plugins) == (how == "reload")
    assert log == []
    if how != "dispose":
        prompt.variable("probe", "x")
        assembly = prompt.assemble()
        assert (set(assembly.variables), assembly.tools) == ({"probe"}, [])
        assert "leak" not in [section.name for section in assembly.sections]
        assert log == []


# An update that returns to its old value during an async load is lost


@pytest.mark.anyio
@pytest.mark.parametrize("operation", ["load", "reload"])
async def test_an_update_and_its_return_during_an_async_load_are_both_told(
    operation: str,
) -> None:
    """Each has its event and its generation, and the value is the last one."""
    reached, go_on = anyio.Event(), anyio.Event()
    waits = operation == "load"

    class Slow:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.variable("mine", "x")
            if waits:
                reached.set()
                await go_on.wait()

    prompt = SystemPrompt()
    registration: Registration = prompt.variable("v", "old")
    if operation == "reload":
        await prompt.load_async(Slow)
        waits = True
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    seen: list[tuple[str | None, int]] = []

    def note() -> None:
        assembly = prompt.assemble()
        seen.append((assembly.variables["v"], assembly.generation or 0))

    async with anyio.create_task_group() as group:
        start: Any = prompt.load_async if operation == "load" else prompt.reload_async
        group.start_soon(start, Slow if operation == "load" else "Slow")
        await reached.wait()
        for value in ("new", "old"):
            registration.dispose()
            registration = prompt.variable("v", value)
            note()
        go_on.set()
    note()
    assert [value for value, _ in seen] == ["new", "old", "old"]
    assert [number for _, number in seen] == sorted({number for _, number in seen})
    kinds = [event.kind for event in events]
    assert kinds == ["disposed", "registered", "disposed", "registered", f"{operation}ed"]
    assert prompt.assemble().variables == {"v": "old", "mine": "x"}


# A plugin that failed runs again by itself


def test_a_plugin_that_failed_does_not_run_again_by_itself(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever happens to others; only somebody who asks for it runs it."""
    import builtins  # noqa: PLC0415 - the one place that all code sees

    runs: list[str] = []
    monkeypatch.setattr(builtins, "dsh_test_runs", runs, raising=False)
    install(site, "bad", "1.0", "import builtins\nbuiltins.dsh_test_runs.append('run')\n1/0\n")
    install(site, "good")
    prompt = SystemPrompt()
    assert list(prompt.load_entry_points().failed) == ["bad"]
    prompt.reload("good")
    install(site, "good", "2.0")
    prompt.sync()
    prompt.create_scope("agent").dispose()
    prompt.assemble()
    prompt.unload("good")
    report = prompt.sync()
    assert (runs, "bad" in report.failed) == (["run"], True)
    with pytest.raises(PluginLoadError):
        prompt.load("bad")
    assert runs == ["run", "run"]


def test_a_plugin_that_failed_in_activate_gets_no_further_hook_call() -> None:
    """But the end of what it had begun."""

    class Failing(Noting):
        @hookimpl
        def contribute_tools(self) -> list[Any]:
            raise ValueError("mine")

    plugin = Failing()
    prompt = SystemPrompt()
    with pytest.raises(PluginLoadError):
        prompt.load(plugin)
    assert plugin.log == ["activate", "deactivate", "callback"]
    prompt.variable("v", "x")
    prompt.assemble()
    assert plugin.log == ["activate", "deactivate", "callback"]


# A rollback touches plugins that had not changed


@pytest.mark.parametrize("how", ["reload", "sync", "load", "listener"])
def test_a_rollback_does_not_touch_what_had_not_changed(site: Site, how: str) -> None:
    """No hook of others runs, and their contributions are the same."""
    bystander = Noting()
    install(site, "a")
    install(site, "b")
    prompt = SystemPrompt()
    prompt.load("a")
    prompt.load(bystander, name="bystander")
    prompt.load("b")
    prompt.load_entry_points(only=())
    bystander.log.clear()
    described, before = prompt.plugins, prompt.assemble().variables
    modules = {name: sys.modules[name] for name in ("dsh_test_a", "dsh_test_b")}
    bystander.log.clear()
    install(site, "a", "2.0", "" if how == "listener" else "1/0")

    def refuse(event: ChangeEvent) -> None:
        if event.kind == "reloaded":
            raise ValueError("refused")

    if how == "listener":
        refusing = prompt.on_change(refuse)
        with pytest.raises(ValueError, match="refused"):
            prompt.reload("a")
        refusing.dispose()
        # It is a change listener itself, and had been told.
        assert bystander.log == ["reloaded", "withdrawn"]
    elif how == "sync":
        assert list(prompt.sync().failed) == ["a"]
    else:
        with pytest.raises(PluginLoadError):
            prompt.reload("a") if how == "reload" else prompt.load("a", name="second")
    assert {"activate", "deactivate", "callback"}.isdisjoint(bystander.log)
    assert prompt.plugins == described
    assert prompt.assemble().variables == before
    assert {name: sys.modules[name] for name in modules} == modules


# Disposing a child disables the parent


@pytest.mark.parametrize("times", [1, 2])
def test_disposing_a_child_leaves_its_parent_as_it_is(times: int) -> None:
    """Its plugins, its contributions and its other children."""
    plugin = Noting()
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    prompt.load(plugin, scope=parent)
    child = parent.create_scope("child", parent=parent)
    sibling = prompt.create_scope("sibling", parent=parent)
    prompt.load(Noting(), name="Noting", scope=child)
    for _ in range(times):
        child.dispose()
    plugin.log.clear()
    for scope in (parent, sibling, child):
        expected = {} if scope is child and child.parent is None else {"noting": "value"}
        assert prompt.assemble(scope=scope).variables == expected
    parent.variable("more", "x")
    assert [info.scope for info in prompt.plugins] == [parent]
    prompt.reload("Noting", scope=parent)


def test_disposing_a_scope_of_a_plugin_s_own_leaves_the_plugin_loaded() -> None:
    """It can create the next one."""

    class Spawning:
        def __init__(self) -> None:
            self.ctx: DisposableContext | None = None

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            self.ctx = ctx
            ctx.variable("v", "x")

    plugin = Spawning()
    prompt = SystemPrompt()
    prompt.load(plugin)
    assert plugin.ctx is not None
    for _ in range(2):
        scope = plugin.ctx.create_scope("child")
        prompt.load(Noting(), name="inner", scope=scope)
        scope.dispose()
    assert [info.name for info in prompt.plugins] == ["Spawning"]
    assert prompt.assemble().variables == {"v": "x"}


# A reload keeps the old configuration


@pytest.mark.parametrize("how", ["reload", "sync", "unload and load"])
def test_new_code_has_the_configuration_that_is_in_the_file_now(
    site: Site, folder: Path, how: str
) -> None:
    """Also a value that was taken away: it has its default again."""
    more = """
import attrs
@attrs.define
class Config:
    level: int = 0
@hookimpl
def activate(ctx):
    ctx.variable("level", str(ctx.config.level))
"""
    install(site, "a", "1.0", more)
    file = folder / "dsh-prompt.toml"
    file.write_text("[plugins.config.a]\nlevel = 1\n")
    prompt = SystemPrompt(Config.load(file))
    prompt.load_entry_points()
    for index, (text, expected) in enumerate([("level = 2", "2"), ("", "0"), ("level = 3", "3")]):
        file.write_text(f"[plugins.config.a]\n{text}\n")
        install(site, "a", f"2.{index}", more)
        if how == "unload and load":
            prompt.reload("a")
            prompt.unload("a", purge=True)
            prompt.load("a")
        else:
            prompt.reload("a") if how == "reload" else prompt.sync()
        assert prompt.assemble().variables["level"] == expected


# A hook of a disabled plugin still runs


@pytest.mark.parametrize("how", ["unload", "quarantine", "scope"])
def test_no_hook_of_a_plugin_that_is_switched_off_runs(how: str) -> None:
    """Assemblies were made before, and are made after it."""
    plugin = Noting()
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    child = prompt.create_scope("child", parent=scope)
    where = scope if how == "scope" else None
    prompt.load(plugin, name="p", scope=where)
    for one in (None, scope, child):
        prompt.assemble(scope=one)
    if how == "unload":
        prompt.unload("p")
    elif how == "quarantine":
        prompt.quarantine("p", "mine")
    else:
        scope.dispose()
    plugin.log.clear()
    for one in (None, scope, child):
        assert prompt.assemble(scope=one).variables == {}
    prompt.variable("v", "x").dispose()
    prompt.load(Noting(), name="q")
    assert plugin.log == []


def test_a_plugin_that_is_disabled_is_not_even_imported(site: Site) -> None:
    """By the configuration, the call, or the environment."""
    install(site, "a")
    prompt = SystemPrompt(Config(plugins=PluginsConfig(disable=("a",))))
    for _ in range(2):
        prompt.load_entry_points()
        prompt.sync()
    assert (prompt.plugins, "dsh_test_a" in sys.modules) == ([], False)


# One entry point that crashes takes the command down


@pytest.mark.parametrize("command", ["plugins", "render"])
def test_an_entry_point_that_crashes_does_not_take_the_command_down(
    site: Site, folder: Path, command: str
) -> None:
    """The others do their work; each that crashed is named, without a traceback."""
    crashes = ("1/0", "def (", "import no_such_module_at_all", "class E(Exception): ...\nraise E")
    bad = [f"bad{index}" for index in range(len(crashes))]
    for name, crash in zip(bad, crashes, strict=True):
        install(site, name, "1.0", crash + "\n")
    section = "@hookimpl\ndef contribute_sections(): return [PromptSection('s', 1, 'good text')]\n"
    install(site, "zz_good", "1.0", "from dsh_prompt import PromptSection\n" + section)
    package = str(Path(dsh_prompt.__file__).parents[1])
    done = subprocess.run(
        (sys.executable, "-m", "dsh_prompt", command),
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(site.folder), package))},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert ("good text" if command == "render" else "zz_good") in done.stdout
    for name in bad:
        assert name in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


# An error names neither plugin nor distribution

FAILING = {
    "import": "1/0\n",
    "activate": "@hookimpl\ndef activate(): 1/0\n",
    "contribution": "@hookimpl\ndef contribute_sections(): return [5]\n",
    "hook": "@hookimpl\ndef activat(): ...\n",
    "requires": "requires = ('nobody',)\n",
    "requires what": "requires = 5\n",
    "config": "import attrs\n@attrs.define\nclass Config:\n    need: int\n",
    "config class": "Config = 5\n",
    "duplicate": "@hookimpl(specname='contribute_variables')\ndef more(): return {'taken': ''}\n",
}


@pytest.mark.parametrize("more", FAILING.values(), ids=FAILING)
@pytest.mark.parametrize("operation", ["load", "load_entry_points", "reload", "sync"])
def test_every_load_error_names_plugin_and_distribution(
    site: Site, more: str, operation: str
) -> None:
    """In its text, and as attributes; the version is the one that failed, or is kept."""
    prompt = SystemPrompt()
    prompt.variable("taken", "x")
    renews = operation in {"reload", "sync"}
    if renews:
        install(site, "p")
        prompt.load("p")
    install(site, "p", "2.0", more)
    error: PromptError
    if operation in {"load_entry_points", "sync"}:
        operate: Any = getattr(prompt, operation)
        error = operate().failed["p"]
    else:
        with pytest.raises(PluginLoadError) as caught:
            prompt.load("p") if operation == "load" else prompt.reload("p")
        error = caught.value
    assert isinstance(error, PluginLoadError)
    assert (error.plugin, error.distribution) == ("p", "dsh-p")
    assert 'plugin "p" (dsh-p ' in str(error)
    assert ("the old code stays in place" in str(error)) == renews


def test_an_error_in_an_assembly_names_the_plugin_as_it_is_now(site: Site) -> None:
    """With the version that a reload brought."""
    install(site, "p")
    prompt = SystemPrompt()
    prompt.load("p")
    install(site, "p", "2.0", "@hookimpl\ndef system_prompt_assemble(): 1/0\n")
    prompt.reload("p")
    with pytest.raises(ProviderError, match=r'plugin "p" \(dsh-p 2\.0\)'):
        prompt.assemble()


# A cached subset of the hooks still calls a plugin that is gone


@pytest.mark.parametrize("where", ["global", "parent", "child"])
@pytest.mark.parametrize("how", ["unload", "reload", "replace"])
def test_no_remembered_chain_calls_a_plugin_that_is_gone(
    site: Site, where: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each scope has its own chain, made at its first assembly; every one of them is renewed."""
    # A plain import takes byte code for current after an edit in the same second.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    more = (
        "@hookimpl\ndef system_prompt_assemble(assembly):\n"
        "    assembly.variables['called'] = VERSION\nVERSION = '{}'\n"
    )
    site.module("dsh_test_m", code("v", "1", more.format("old")))
    prompt = SystemPrompt()
    parent = prompt.create_scope("parent")
    child = prompt.create_scope("child", parent=parent)
    scopes = [None, parent, child]
    scope = {"global": None, "parent": parent, "child": child}[where]
    prompt.load(importlib.import_module("dsh_test_m"), name="m", scope=scope)
    prompt.on_assemble(lambda assembly: None, before=("m",))
    seeing = scopes[scopes.index(scope) :]

    def called() -> list[str | None]:
        return [prompt.assemble(scope=one).variables.get("called") for one in scopes]

    before = called()
    assert before == ["old" if one in seeing else None for one in scopes]
    site.module("dsh_test_m", code("v", "2", more.format("new")))
    expected = None
    if how == "unload":
        prompt.unload("m", scope=scope)
    elif how == "reload":
        expected = "new"
        prompt.reload("m", scope=scope)
    else:
        prompt.unload("m", scope=scope, purge=True)
        expected = "new"
        prompt.load(importlib.import_module("dsh_test_m"), name="m", scope=scope)
    assert called() == [expected if one in seeing else None for one in scopes]
