"""Leaks: plugins that come and go for as long as a host lives leave nothing behind."""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import logging
import os
import sys
import tracemalloc
import weakref
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import attrs
import pytest

from dsh_prompt import (
    Key,
    PluginLoadError,
    PromptContext,
    PromptSection,
    SystemPrompt,
    ToolSchema,
    hookimpl,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from dsh_prompt import ChangeEvent, DisposableContext, PromptAssembly
    from tests.sites import Site

#: What 1,800 rounds may leave behind: objects that the collector knows, and bytes.
OBJECTS, BYTES, ROUNDS = 50, 200_000, 1_800
#: What may settle late, in however few rounds.
LATE_OBJECTS, LATE_BYTES = 10, 100_000
#: If set, each variant goes through so many rounds, every byte traced: it takes minutes.
GIVEN = os.environ.get("DSH_PROMPT_LEAK_ROUNDS")


class Growth:
    """Runs rounds, some to warm up, and measures what the others leave behind."""

    def __init__(self, rounds: int, *, traced: bool) -> None:
        self.rounds = int(GIVEN or rounds)
        self.traced = traced or GIVEN is not None
        self.warm = max(self.rounds // 10, 20)

    def check(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Compare the states before and after; a share of the rounds may leave its share."""
        share = (self.rounds - self.warm) / ROUNDS
        objects, size = (after - before for before, after in zip(start, end, strict=True))
        grown = f"{self.rounds} rounds left {objects} objects and {size} {self.unit}"
        assert objects <= max(LATE_OBJECTS, OBJECTS * share), grown
        allowed = max(LATE_BYTES, BYTES * share)
        # The interpreter counts blocks for nothing, where bytes cost most of the time.
        assert size <= (allowed if self.traced else allowed / 100), grown

    def has_ended(self, start: tuple[int, int], end: tuple[int, int], *, is_last: bool) -> bool:
        """Tell whether nothing was left: a table may double once, a leak goes on."""
        try:
            self.check(start, end)
        except AssertionError:
            if is_last:
                raise
            return False
        return True

    @property
    def unit(self) -> str:
        return "bytes" if self.traced else "blocks"

    def state(self) -> tuple[int, int]:
        """Count what there is, beside the standard library's bounded caches."""
        for cache in vars(inspect).values():
            if isinstance(cache, functools._lru_cache_wrapper):
                cache.cache_clear()
        gc.collect()
        used = tracemalloc.get_traced_memory()[0] if self.traced else sys.getallocatedblocks()
        return len(gc.get_objects()), used

    def of(self, work: Callable[[], object]) -> None:
        """Run *work* again and again."""
        with self.tracing():
            for _ in range(self.warm):
                work()
            for is_last in (False, True):
                start = self.state()
                for _ in range(self.rounds - self.warm):
                    work()
                if self.has_ended(start, self.state(), is_last=is_last):
                    return

    async def of_async(self, work: Callable[[], Awaitable[object]]) -> None:
        """Await *work* again and again."""
        with self.tracing():
            for _ in range(self.warm):
                await work()
            for is_last in (False, True):
                start = self.state()
                for _ in range(self.rounds - self.warm):
                    await work()
                if self.has_ended(start, self.state(), is_last=is_last):
                    return

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Trace, where every byte counts."""
        if not self.traced:
            yield
            return
        tracemalloc.start()
        try:
            yield
        finally:
            tracemalloc.stop()


def dead(*references: weakref.ref[Any]) -> list[bool]:
    """Tell which are dead after one collection."""
    gc.collect()
    return [reference() is None for reference in references]


@pytest.fixture(autouse=True)
def _no_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no log record live: it holds what was raised, and pytest holds it."""
    monkeypatch.setattr(logging.getLogger("dsh_prompt.plugins"), "disabled", True)


# Plugins in modules of their own, as they are installed

CODE = """
from __future__ import annotations

from contextlib import contextmanager

import attrs

from dsh_prompt import Key, PromptContext, PromptSection, ToolSchema, hookimpl
from dsh_test_leak import services

KEY = Key("leak.service")


@attrs.frozen
class Limit:
    most: int = 3


@attrs.frozen
class Config:
    tone: str = "calm"
    limit: Limit | None = None
    limits: tuple[Limit, ...] = ()
    named: dict[str, Limit] = attrs.Factory(dict)


@hookimpl
def activate(ctx):
    ctx.provide(KEY, services.Service(ctx))
    ctx.on_change(lambda event: services.TOLD.append(event.kind))
    ctx.on_assemble(lambda assembly: assembly.variables.update(late=ctx.config.tone), after=("a",))
    ctx.callback(services.TOLD.append, ctx)
    ctx.enter_context(services.opened(ctx))
    scope = ctx.create_scope("own")
    scope.section(name="own", order=1, text=services.Service(ctx).text)
    scope.tool({"name": "scoped", "description": "", "parameters": {}})
    scope.restrict(deny=["scoped"])
    ctx.tool({"name": "one", "description": "", "parameters": {}})


@hookimpl
def contribute_sections(ctx):
    yield PromptSection(name="rules", order=1, text="Be {{tone}}.")
    yield PromptSection(name="live", order=2, text=lambda context: ctx.require(KEY).text())


@hookimpl
def contribute_contexts(ctx):
    return [PromptContext(name="state", order=1, text=lambda: ctx.config.tone)]


@hookimpl
def contribute_tools(ctx):
    return lambda: [ToolSchema("two", "", {"type": "object"})]


@hookimpl
def contribute_variables(ctx):
    return {"tone": lambda: ctx.config.tone, "fixed": "constant"}


@hookimpl
def system_prompt_assemble(assembly, context, call_next):
    return call_next()


@hookimpl
def system_prompt_change(event):
    services.TOLD.append(event)


@hookimpl
def deactivate(ctx):
    services.TOLD.append(ctx)
"""

SERVICES = """
from contextlib import contextmanager

TOLD = []


class Service:
    def __init__(self, ctx):
        self.ctx = ctx

    def text(self):
        return "served"


@contextmanager
def opened(ctx):
    yield ctx
"""

MODULES = ("dsh_test_leak", "dsh_test_leak.services")
CONFIG = {"tone": "dry", "limit": {"most": 2}, "limits": [{"most": 1}], "named": {"a": {"most": 4}}}


@pytest.fixture
def leak(site: Site) -> Site:
    """Give the folder in which the plugin package ``dsh_test_leak`` is installed."""
    install(site, "1.0")
    return site


def install(site: Site, version: str) -> None:
    """Install a version of the plugin."""
    code = {"dsh_test_leak.__init__": CODE, "dsh_test_leak.services": SERVICES}
    site.install("dsh-leak", version, code, leak="dsh_test_leak")


def new_host() -> SystemPrompt:
    """Make a host with a change listener."""
    prompt = SystemPrompt()
    prompt.on_change(lambda _: None)
    return prompt


def once(prompt: SystemPrompt) -> None:
    """Import, load, assemble, unload with its modules."""
    prompt.load(importlib.import_module("dsh_test_leak"), name="leak", config=CONFIG)
    assert prompt.assemble().variables["late"] == "dry"
    prompt.unload("leak", purge=True)
    assert not sys.modules.keys() & {*MODULES}


def test_modules_and_config_classes_leave_no_objects(leak: Site) -> None:
    """Imported, loaded, assembled and purged again and again, they add up to nothing."""
    prompt = new_host()
    Growth(120, traced=False).of(lambda: once(prompt))


def test_modules_and_config_classes_leave_no_bytes(leak: Site) -> None:
    """Nor is there text or code that the collector does not know of."""
    prompt = new_host()
    Growth(50, traced=True).of(lambda: once(prompt))


def test_reloads_leave_nothing(leak: Site) -> None:
    """However often the code is imported anew, there is one edition of it."""
    prompt = new_host()
    prompt.load(importlib.import_module("dsh_test_leak"), name="leak", config=CONFIG)

    def reload() -> None:
        prompt.reload("leak")
        assert prompt.assemble().variables["late"] == "dry"

    Growth(80, traced=False).of(reload)


def test_installed_plugins_that_come_and_go_leave_nothing(leak: Site) -> None:
    """Loaded from their entry point, reloaded and purged."""
    prompt = new_host()

    def come_and_go() -> None:
        prompt.load("leak", config=CONFIG)
        prompt.reload("leak")
        prompt.assemble()
        prompt.unload("leak", purge=True)

    Growth(40, traced=False).of(come_and_go)


def test_syncs_of_new_versions_leave_nothing(leak: Site) -> None:
    """Each is the upgrade of the last."""
    prompt = new_host()
    prompt.load_entry_points(only=["leak"])
    versions = map(str, range(2, 1_000_000))

    def upgrade() -> None:
        version = next(versions)
        install(leak, version)
        (info,) = prompt.sync().upgraded
        assert info.version == version
        prompt.assemble()

    Growth(40, traced=False).of(upgrade)


def reach(prompt: SystemPrompt, module: Any) -> list[weakref.ref[Any]]:
    """Load *module* and give weak references to all that makes up the plugin."""
    prompt.load(module, name="leak", config=CONFIG)
    events = module.services.TOLD
    prompt.section(name="other", order=9, text="x").dispose()
    assert events
    return [
        weakref.ref(thing)
        for thing in (
            module,
            module.services,
            module.Config,
            module.Limit,
            module.contribute_sections,
            module.system_prompt_assemble,
            prompt.get(module.KEY),
        )
    ]


def test_a_purged_plugin_is_dead(leak: Site) -> None:
    """Its modules, its configuration's class, its hooks and what it provided."""
    prompt = new_host()
    references = reach(prompt, importlib.import_module("dsh_test_leak"))
    prompt.assemble()
    prompt.unload("leak", purge=True)
    assert all(dead(*references))


def test_the_old_code_is_dead_after_a_reload(leak: Site) -> None:
    """Though the new code has the same names and stands in the same place."""
    prompt = new_host()
    references = reach(prompt, importlib.import_module("dsh_test_leak"))
    prompt.assemble()
    prompt.reload("leak")
    assert all(dead(*references))
    assert prompt.assemble().variables["late"] == "dry"


def test_new_code_that_fails_is_dead(leak: Site) -> None:
    """After a reload that was taken back, only the old code is there."""
    prompt = new_host()
    prompt.load(importlib.import_module("dsh_test_leak"), name="leak", config=CONFIG)
    found: list[weakref.ref[Any]] = []
    sys.modules["dsh_test_leak_found"] = found  # type: ignore[assignment]
    failing = CODE.replace(
        "KEY =", "import sys, weakref\nfound = sys.modules['dsh_test_leak_found']\nKEY ="
    ).replace(
        "return {",
        "found.extend(map(weakref.ref, (sys.modules[__name__], Config, services, Limit)))"
        "\n    raise ValueError('new')\n    return {",
    )
    leak.module("dsh_test_leak.__init__", failing)
    try:
        with suppress(PluginLoadError):
            prompt.reload("leak")
    finally:
        del sys.modules["dsh_test_leak_found"]
    assert len(found) == 4
    assert all(dead(*found))
    assert prompt.assemble().variables["late"] == "dry"


def test_an_uninstalled_plugin_is_dead_after_sync(leak: Site) -> None:
    """Its modules go with it, and the report does not hold it."""
    prompt = new_host()
    prompt.load_entry_points(only=["leak"])
    module = sys.modules["dsh_test_leak"]
    references = [weakref.ref(thing) for thing in (module, module.Config, module.services)]
    del module
    leak.uninstall("dsh-leak")
    report = prompt.sync()
    assert [info.name for info in report.removed] == ["leak"]
    assert all(dead(*references))


# Plugins that are objects

KEY = Key[object]("leak.object")


def new_plugin() -> Any:
    """Make a plugin of a class of its own, which contributes everything."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.provide(KEY, self)
            ctx.on_change(lambda _: self)
            ctx.on_assemble(lambda assembly: assembly.variables.update(late=str(bool(self))))
            ctx.callback(self.over, ctx)
            ctx.create_scope("own").tool(ToolSchema("scoped", "", {}))
            ctx.tool(ToolSchema("one", "", {}))

        def over(self, ctx: DisposableContext) -> None:
            self.ctx = ctx

        @hookimpl
        def contribute_sections(self, ctx: DisposableContext) -> Iterator[PromptSection]:
            yield PromptSection(name="rules", order=1, text="Be {{tone}}.")
            yield PromptSection(name="live", order=2, text=lambda _: str(bool(ctx.require(KEY))))

        @hookimpl
        def contribute_contexts(self, ctx: DisposableContext) -> list[PromptContext]:
            return [PromptContext(name="state", order=1, text=lambda: str(bool(self)))]

        @hookimpl
        def contribute_tools(self) -> Any:
            return lambda: [ToolSchema("two", str(bool(self)), {})]

        @hookimpl
        def contribute_variables(self) -> dict[str, Any]:
            return {"tone": lambda: str(bool(self)), "fixed": "constant"}

        @hookimpl
        def system_prompt_assemble(self, call_next: Callable[[], PromptAssembly]) -> PromptAssembly:
            return call_next()

        @hookimpl
        def system_prompt_change(self, event: ChangeEvent) -> None:
            self.event = event

        @hookimpl
        def deactivate(self, ctx: DisposableContext) -> None:
            self.ctx = ctx

    return Plugin()


def test_two_thousand_plugins_leave_nothing() -> None:
    """Each of a class of its own, loaded, assembled and unloaded."""
    prompt = new_host()
    agent = prompt.create_scope("agent")

    def come_and_go() -> None:
        prompt.load(new_plugin(), name="leak")
        prompt.assemble(scope=agent)
        prompt.unload("leak")

    Growth(2_000, traced=False).of(come_and_go)


def test_plugins_of_scopes_leave_nothing() -> None:
    """The scope is disposed with them, and its child looks on."""
    prompt = new_host()

    def come_and_go() -> None:
        scope = prompt.create_scope("agent")
        child = prompt.create_scope("child", parent=scope)
        prompt.load(new_plugin(), name="leak", scope=scope)
        prompt.assemble(scope=child)
        scope.dispose()
        prompt.assemble(scope=child)
        child.dispose()

    Growth(200, traced=False).of(come_and_go)


def test_quarantined_plugins_leave_nothing() -> None:
    """Switched off, and unloaded afterwards."""
    prompt = new_host()

    def come_and_go() -> None:
        prompt.load(new_plugin(), name="leak")
        prompt.assemble()
        prompt.quarantine("leak", "it misbehaves")
        prompt.unload("leak")

    Growth(200, traced=False).of(come_and_go)


def test_reloads_of_objects_leave_nothing() -> None:
    """What requires the reloaded plugin is made anew each time."""
    prompt = new_host()

    class Above:
        requires = ("leak",)

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.section(name="above", order=3, text=lambda: str(bool(ctx.require(KEY))))

    prompt.load(type(new_plugin()), name="leak")
    prompt.load(Above, name="above")

    def reload() -> None:
        prompt.reload("leak")
        prompt.assemble()

    Growth(100, traced=False).of(reload)


@attrs.define(slots=False)
class Settings:
    """What a plugin was given as its configuration, with a provider."""

    text: Callable[[], str] = lambda: "text"


def test_an_unloaded_object_is_dead() -> None:
    """The plugin, its configuration and its providers, while its context is held."""
    prompt = new_host()
    contexts: list[DisposableContext] = []

    class Plugin:
        Config = Settings

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            contexts.append(ctx)
            ctx.section(name="text", order=1, text=ctx.config.text)
            ctx.on_change(lambda _: self)

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.variables["mine"] = str(bool(self))

    def load() -> list[weakref.ref[Any]]:
        plugin, provider = Plugin(), lambda: "given"
        settings = Settings(provider)
        prompt.load(plugin, name="leak", config=settings)
        return [weakref.ref(plugin), weakref.ref(provider), weakref.ref(settings)]

    references = load()
    prompt.assemble()
    assert not any(dead(*references))
    prompt.unload("leak")
    contexts.clear()
    assert all(dead(*references))


# Plugins that fail


class PartialPlugin:
    """Registers a lot, and fails where it is told to."""

    def __init__(self, where: str) -> None:
        self.where = where

    def step(self, name: str) -> None:
        if name == self.where:
            raise ValueError(name)

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.section(name="rules", order=1, text=lambda: str(self))
        ctx.provide(KEY, self)
        ctx.callback(self.step, "nothing")
        ctx.create_scope("own").section(name="own", order=1, text=lambda: str(self))
        self.step("activate")

    @hookimpl
    def contribute_sections(self) -> Iterator[PromptSection]:
        yield PromptSection(name="live", order=2, text=lambda: str(self))
        self.step("sections")

    @hookimpl
    def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
        assembly.variables["mine"] = str(self)

    @hookimpl
    def system_prompt_change(self, event: ChangeEvent) -> None:
        self.step("change")

    @hookimpl
    def deactivate(self, ctx: DisposableContext) -> None:
        if self.where == "change":
            raise KeyError(self.where)


@pytest.mark.parametrize("where", ["activate", "sections", "change"])
def test_loads_that_fail_leave_nothing(where: str) -> None:
    """Whether they fail first or last; the error holds the plugin until it is dropped."""
    prompt = new_host()

    def fail() -> weakref.ref[PartialPlugin]:
        plugin = PartialPlugin(where)
        with suppress(PluginLoadError, ValueError):
            prompt.load(plugin, name="leak")
            raise AssertionError
        return weakref.ref(plugin)

    Growth(100, traced=False).of(fail)
    assert dead(fail()) == [True]


def test_refused_configurations_leave_nothing(leak: Site) -> None:
    """Neither the class nor what was refused."""
    prompt = new_host()

    def fail() -> None:
        module = importlib.import_module("dsh_test_leak")
        with suppress(PluginLoadError):
            prompt.load(module, name="leak", config={**CONFIG, "limits": [{"most": "many"}]})
            raise AssertionError
        for name in MODULES:
            del sys.modules[name]

    Growth(60, traced=False).of(fail)


def test_reloads_that_fail_leave_nothing(leak: Site) -> None:
    """The new code is forgotten each time."""
    prompt = new_host()
    prompt.load(importlib.import_module("dsh_test_leak"), name="leak", config=CONFIG)
    failing = CODE.replace("return {", "raise ValueError('new')\n    return {")
    leak.module("dsh_test_leak.__init__", failing)

    def fail() -> None:
        with suppress(PluginLoadError):
            prompt.reload("leak")
            raise AssertionError
        assert prompt.assemble().variables["late"] == "dry"

    Growth(60, traced=False).of(fail)


def test_installed_plugins_that_fail_leave_nothing(leak: Site) -> None:
    """The report is dropped, and with it all that failed."""
    prompt = new_host()
    failing = CODE.replace("return {", "raise ValueError('new')\n    return {")
    leak.module("dsh_test_leak.__init__", failing)

    def fail() -> None:
        assert [*prompt.load_entry_points(only=["leak"]).failed] == ["leak"]

    Growth(40, traced=False).of(fail)
    assert not sys.modules.keys() & {*MODULES}


# Plugins with tasks


class Busy:
    """Holds a task and an async context manager."""

    def __init__(self) -> None:
        self.left = 0

    @hookimpl
    async def activate(self, ctx: DisposableContext) -> None:
        ctx.start_task(self.work, ctx)
        await ctx.enter_async_context(self.opened(ctx))
        ctx.section(name="live", order=1, text=self.text)

    async def work(self, ctx: DisposableContext) -> None:
        try:
            await anyio.sleep_forever()
        finally:
            self.left += 1

    @asynccontextmanager
    async def opened(self, ctx: DisposableContext) -> AsyncIterator[object]:
        yield ctx
        self.left += 1

    async def text(self) -> str:
        await anyio.lowlevel.checkpoint()
        return "text"

    @hookimpl
    async def deactivate(self, ctx: DisposableContext) -> None:
        await anyio.lowlevel.checkpoint()


async def _come_and_go(rounds: int) -> None:
    prompt = new_host()

    async def come_and_go() -> weakref.ref[Busy]:
        plugin = Busy()
        await prompt.load_async(plugin, name="leak")
        await prompt.assemble_async()
        await prompt.unload_async("leak")
        assert plugin.left == 2
        return weakref.ref(plugin)

    await Growth(rounds, traced=False).of_async(come_and_go)
    reference = await come_and_go()
    await anyio.lowlevel.checkpoint()
    assert dead(reference) == [True]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_plugins_leave_nothing(backend: str) -> None:
    """Their tasks end and their context managers are left, and nobody remembers them."""
    anyio.run(_come_and_go, 100, backend=backend)


async def _fail(rounds: int) -> None:
    prompt = new_host()

    class Failing(Busy):
        @hookimpl
        def contribute_variables(self) -> None:
            raise ValueError

    async def fail() -> None:
        plugin = Failing()
        with suppress(PluginLoadError):
            await prompt.load_async(plugin, name="leak")
            raise AssertionError
        assert plugin.left == 2

    await Growth(rounds, traced=False).of_async(fail)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_async_loads_that_fail_leave_nothing(backend: str) -> None:
    """What they had started is ended before the error is told."""
    anyio.run(_fail, 60, backend=backend)
