"""Mishaps that somebody who tried to break hot plugins has found."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import anyio
import attrs
import pytest

from dsh_prompt import (
    ChangeEvent,
    Config,
    DisposableContext,
    InvalidContributionError,
    Key,
    PluginConflictError,
    PluginLoadError,
    ProviderError,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites import Site


def plugin(name: str, *requires: str) -> Any:
    """Give a plugin with a variable of its own name."""

    class Plugin:
        @hookimpl
        def contribute_variables(self) -> dict[str, str]:
            return {name: "value"}

    Plugin.__name__ = name
    Plugin.requires = requires  # type: ignore[attr-defined]
    return Plugin


def names(prompt: SystemPrompt) -> list[str]:
    return [info.name for info in prompt.plugins]


def test_an_entry_point_that_fails_leaves_the_modules_of_its_siblings_alone(site: Site) -> None:
    site.module("acme.__init__", "")
    site.module("acme.shared", "STATE = []\n")
    site.module(
        "acme.a",
        "from dsh_prompt import hookimpl\nimport acme.shared\n"
        "@hookimpl\ndef activate():\n    raise ValueError('no')\n",
    )
    site.module(
        "acme.b",
        "from dsh_prompt import hookimpl\nfrom acme.shared import STATE\n"
        "@hookimpl\ndef contribute_variables():\n    return {'b': 'value'}\n",
    )
    site.distribution("dsh-acme", a="acme.a", b="acme.b")
    report = SystemPrompt().load_entry_points(only=["a", "b"])
    assert ([info.name for info in report.loaded], [*report.failed]) == (["b"], ["a"])
    assert {"acme", "acme.b", "acme.shared"} <= set(sys.modules)


def test_a_withdrawn_service_is_no_service() -> None:
    prompt = SystemPrompt()
    key: Key[str] = Key("svc")
    prompt.provide(key, "outer")
    scope = prompt.create_scope("agent")
    seen: list[str | None] = []

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.provide(key, "inner").dispose()
            seen.append(ctx.get(key))

    prompt.load(Plugin, scope=scope)
    assert seen == ["outer"]


@pytest.mark.parametrize("what", ["plugin", "scope", "need"])
def test_a_refused_reload_does_not_bring_back_what_was_taken_away_meanwhile(what: str) -> None:
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(plugin("need"))
    prompt.load(plugin("mine", "need"), scope=scope)

    def act(event: ChangeEvent) -> None:
        if event.kind == "reloaded":
            if what == "plugin":
                prompt.unload("mine", scope=scope)
            elif what == "scope":
                scope.dispose()
            else:
                prompt.unload("need")

    def refuse(event: ChangeEvent) -> None:
        if event.kind == "reloaded":
            raise ValueError("no")

    prompt.on_change(act)
    prompt.on_change(refuse)
    with pytest.raises(ValueError, match="no"):
        prompt.reload("mine", scope=scope)
    assert "mine" not in names(prompt)
    assert "mine" not in prompt.assemble(scope=scope).variables


@pytest.mark.anyio
async def test_a_reload_whose_requirement_goes_meanwhile_leaves_the_old_plugin() -> None:
    prompt, go = SystemPrompt(), anyio.Event()
    go.set()

    class Slow:
        requires = ("base",)

        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            await go.wait()
            ctx.variable("slow", "value")

    prompt.load(plugin("base"))
    await prompt.load_async(Slow, name="slow")
    prompt.load(plugin("top", "slow"))
    go = anyio.Event()
    async with anyio.create_task_group() as group:

        async def reload() -> None:
            with pytest.raises(PluginLoadError, match='"base", which it requires'):
                await prompt.reload_async("slow")

        group.start_soon(reload)
        await anyio.wait_all_tasks_blocked()
        prompt.quarantine("base", "down")
        go.set()
    assert names(prompt) == ["base", "slow", "top"]
    await prompt.reload_async("base")
    assert {"base", "slow", "top"} <= set(prompt.assemble().variables)


def test_two_threads_that_reload_one_plugin_do_not_get_in_each_other_s_way(site: Site) -> None:
    code = (
        "import threading\nfrom dsh_prompt import hookimpl\n"
        "@hookimpl\ndef contribute_variables():\n    return {'p': 'value'}\n"
    )
    site.plugin("p", code)
    prompt = SystemPrompt()
    prompt.load("p")
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    problems: list[Exception] = []

    def reload() -> None:
        for _ in range(5):
            try:
                prompt.reload("p")
            except PluginConflictError as error:
                problems.append(error)

    threads = [threading.Thread(target=reload) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(events) + len(problems) == 15
    assert all(event.added == event.removed != () for event in events)
    assert "dsh_test_p" in sys.modules
    assert names(prompt) == ["p"]


@pytest.mark.anyio
async def test_a_load_waits_for_no_assembly() -> None:
    prompt, ready = SystemPrompt(), anyio.Event()

    async def text() -> str:
        await ready.wait()
        return "text"

    prompt.section(name="slow", order=1, text=text)
    async with anyio.create_task_group() as group:
        group.start_soon(prompt.assemble_async)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(10):
            await prompt.load_async(plugin("quick"))
        ready.set()


def test_a_module_that_was_deleted_is_not_reloaded(site: Site) -> None:
    site.module("gone1", "from dsh_prompt import hookimpl\n@hookimpl\ndef activate(): ...\n")
    __import__("gone1")
    module = sys.modules["gone1"]
    prompt = SystemPrompt()
    prompt.load(module)
    (site.folder / "gone1.py").unlink()
    with pytest.raises(PluginLoadError, match="the old code stays in place"):
        prompt.reload("gone1")
    assert sys.modules["gone1"] is module
    assert names(prompt) == ["gone1"]


def test_a_plugin_whose_attributes_raise_is_contained(site: Site) -> None:
    site.plugin(
        "odd",
        "from dsh_prompt import hookimpl\nclass P:\n    @property\n    def requires(self):\n"
        "        raise ZeroDivisionError\n    @hookimpl\n    def activate(self): ...\n",
    )
    site.distribution("dsh-odd2", odd2="dsh_test_odd:P")
    report = SystemPrompt().load_entry_points(only=["odd2"])
    assert "ZeroDivisionError" in str(report.failed["odd2"])


def test_quarantine_and_what_follows_are_told_once() -> None:
    prompt, balance = SystemPrompt(), dict[Any, int]()

    def count(event: ChangeEvent) -> None:
        for item in event.added:
            balance[item] = balance.get(item, 0) + 1
        for item in event.removed:
            balance[item] = balance.get(item, 0) - 1

    prompt.load(plugin("base"))
    prompt.load(plugin("top", "base"))
    prompt.on_change(count)
    prompt.quarantine("base", "down")
    prompt.unload("base")
    assert set(balance.values()) == {-1}


def test_what_a_failed_reload_had_loaded_itself_is_told_to_be_gone_again() -> None:
    prompt, events, fails = SystemPrompt(), list[ChangeEvent](), [False, True]

    class Outer:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.load(plugin("inner"), scope=ctx.create_scope("own"))

    class Top:
        requires = ("Outer",)

        @hookimpl
        def activate(self) -> None:
            if fails.pop(0):
                raise ValueError("no")

    prompt.load(Outer)
    prompt.load(Top)
    prompt.on_change(events.append)
    with pytest.raises(PluginLoadError):
        prompt.reload("Outer")
    added = [item[:2] for event in events for item in event.added]
    removed = [item[:2] for event in events for item in event.removed]
    assert ("variable", "inner") in added
    assert sorted(set(removed) - {("plugin", "inner")}) == sorted(set(added))


def test_plugins_of_one_name_in_several_scopes_are_no_cycle() -> None:
    prompt = SystemPrompt()
    scope = prompt.create_scope("agent")
    prompt.load(plugin("x"))
    prompt.load(plugin("y", "x"), name="x", scope=scope)
    prompt.reload("x", scope=scope)
    prompt.reload("x")
    assert names(prompt) == ["x", "x"]


@attrs.frozen
class Inner:
    number: int = 0


def test_a_configuration_that_was_given_is_the_one_after_a_reload(
    site: Site,
) -> None:
    site.plugin(
        "conf",
        "import attrs, enum\nfrom dsh_prompt import hookimpl\n"
        "class E(enum.Enum):\n    A = 1\n"
        "@attrs.frozen\nclass In:\n    n: int = 0\n"
        "@attrs.frozen\nclass Config:\n    e: E = E.A\n    inner: In = In()\n"
        "    late: int = attrs.field(init=False, default=3)\n"
        "@hookimpl\ndef contribute_variables(ctx):\n"
        "    return {'n': str(ctx.config.inner.n)}\n",
    )
    prompt = SystemPrompt()
    __import__("dsh_test_conf")
    module: Any = sys.modules["dsh_test_conf"]
    prompt.load("conf", config=module.Config(module.E.A, module.In(2)))
    prompt.reload("conf")
    assert prompt.assemble().variables["n"] == "2"


def test_a_finder_that_raises_leaves_imports_usable(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.plugin("p")
    prompt = SystemPrompt()
    prompt.load("p")

    class Odd:
        fails = True

        def find_spec(self, *_: object) -> None:
            return None

        def invalidate_caches(self) -> None:
            if self.fails:
                raise OSError("no")

    odd = Odd()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, odd])
    with pytest.raises(PluginLoadError, match="OSError: no"):
        prompt.reload("p")
    odd.fails = False
    thread = threading.Thread(target=prompt.reload, args=("p",), daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert "dsh_test_p" in sys.modules


@pytest.mark.anyio
async def test_a_task_that_disposes_its_owner_as_it_ends_does_not_wait_for_itself() -> None:
    prompt, started = SystemPrompt(), anyio.Event()

    class Plugin:
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.start_task(self.work, ctx)

        async def work(self, ctx: DisposableContext) -> None:
            started.set()
            try:
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await ctx.dispose_async()

    await prompt.load_async(Plugin)
    await started.wait()
    with anyio.fail_after(10):
        await prompt.unload_async("Plugin")


@pytest.mark.anyio
async def test_a_plugin_keeps_the_place_of_its_registrations_not_of_the_start_of_its_load() -> None:
    prompt, go, order = SystemPrompt(), anyio.Event(), list[str]()

    class Slow:
        @hookimpl
        async def activate(self) -> None:
            await go.wait()

        @hookimpl
        def system_prompt_assemble(self) -> None:
            order.append("slow")

    async with anyio.create_task_group() as group:
        group.start_soon(prompt.load_async, Slow, "slow")
        await anyio.wait_all_tasks_blocked()
        prompt.on_assemble(lambda: order.append("quick"))
        go.set()
    prompt.assemble()
    await prompt.reload_async("slow")
    prompt.assemble()
    assert order == ["quick", "slow"] * 2


def test_a_reload_from_a_listener_of_its_own_event_is_refused_and_hurts_nobody() -> None:
    prompt = SystemPrompt()
    problems: list[Exception] = []

    def again(event: ChangeEvent) -> None:
        if event.kind == "reloaded":
            try:
                prompt.reload("p")
            except PluginConflictError as error:
                problems.append(error)

    prompt.load(plugin("p"))
    prompt.on_change(again)
    prompt.reload("p")
    assert len(problems) == 1
    assert "being reloaded already" in str(problems[0])
    prompt.reload("p")


def test_a_table_that_is_taken_out_of_a_file_counts_no_more(tmp_path: Path) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_text("[tool.dsh-prompt.plugins.config.p]\nlevel = 1\n")
    seen: list[Any] = []

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            seen.append(dict(ctx.config))

    prompt = SystemPrompt(Config.load(file, trusted=True))
    prompt.load(Plugin, name="p")
    file.write_text("[project]\nname = 'x'\n")
    prompt.reload("p")
    file.write_text("[tool.dsh-prompt.plugins.config.p]\nlevel = 2\n")
    prompt.reload("p")
    file.unlink()
    prompt.reload("p")
    assert seen == [{"level": 1}, {}, {"level": 2}, {}]


def test_streams_that_nobody_holds_leave_no_listener() -> None:
    prompt = SystemPrompt()
    for _ in range(10):
        prompt.changes()
    gc.collect()
    prompt.variable("a", "value")
    assert len(prompt._layers.watchers.entries) == 0


@pytest.mark.parametrize("reason", [None, 5, ""])
def test_a_quarantine_has_a_reason(reason: Any) -> None:
    prompt = SystemPrompt()
    prompt.load(plugin("p"))
    with pytest.raises(InvalidContributionError, match="takes a reason"):
        prompt.quarantine("p", reason)


def test_an_odd_exception_does_not_keep_the_others_from_being_cleaned_up() -> None:
    prompt, done = SystemPrompt(), list[str]()

    class OddError(Exception):
        __notes__ = (1,)  # type: ignore[assignment]

    def fail() -> None:
        raise OddError

    prompt.callback(done.append, "cleaned")
    prompt.callback(fail)
    with pytest.raises(OddError):
        prompt.dispose()
    assert done == ["cleaned"]


@pytest.mark.anyio
async def test_failures_of_the_code_before_a_reload_are_not_those_of_the_new() -> None:
    """Assemblies that were begun before it fail after it."""
    prompt, go = SystemPrompt(Config(quarantine_after=2)), anyio.Event()
    fails = [True]

    class Flaky:
        @hookimpl
        def contribute_variables(self) -> dict[str, Any]:
            return {"flaky": self.value}

        async def value(self) -> str:
            if fails[0]:
                await go.wait()
                raise ValueError("no")
            return "value"

    async def assemble() -> None:
        with pytest.raises(ProviderError):
            await prompt.assemble_async()

    prompt.load(Flaky)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(assemble)
        await anyio.wait_all_tasks_blocked()
        prompt.reload("Flaky")
        go.set()
    fails[0] = False
    await prompt.assemble_async()
    assert prompt.plugins[0].state == "loaded"


def test_a_sync_that_is_interrupted_lets_go_of_nothing_that_a_reload_holds(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes back its own part, and the plugin that it could not have is still protected."""
    prompt, acts = SystemPrompt(), list[Callable[[], None]]()
    probe: Any = types.ModuleType("probe")
    probe.act = lambda: acts.pop()() if acts else None
    monkeypatch.setitem(sys.modules, "probe", probe)
    code = (
        "import probe\nprobe.act()\nfrom dsh_prompt import hookimpl\n"
        "@hookimpl\ndef activate(): ...\n"
    )
    folder = site.plugin("a", code)
    prompt.load_entry_points(only=["a", "b"])
    shutil.rmtree(folder)
    site.distribution("dsh-a", "2.0", a="dsh_test_a")
    site.plugin("b", "raise KeyboardInterrupt\n")

    def act() -> None:
        with pytest.raises(KeyboardInterrupt):
            prompt.sync()
        with pytest.raises(PluginConflictError, match="being reloaded already"):
            prompt.reload("a")

    acts.append(act)
    assert prompt.reload("a").version == "2.0"
    assert acts == []
    prompt.reload("a")
