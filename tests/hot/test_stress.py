"""Stress: threads and tasks that change one host at once, while plugins and listeners fail."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import random
import sys
import threading
import time
from collections import defaultdict
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import PromptError, PromptSection, SystemPrompt, ToolSchema, hookimpl
from dsh_prompt.coroutines import drive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dsh_prompt import (
        ChangeEvent,
        DisposableContext,
        PromptAssembly,
        Registration,
        Scope,
    )

THREADS, TASKS = 8, 50
SECONDS = float(os.environ.get("DSH_PROMPT_STRESS_SECONDS", "3"))
SEED = os.environ.get("DSH_PROMPT_STRESS_SEED")
#: Seconds after which something hangs for sure.
LIMIT = 120.0
#: What an assembly shows; events also tell of other things.
KINDS = {"section", "context", "tool", "variable"}

Names = frozenset[tuple[str, str]]
#: A generation, the layers that were looked at, and what they showed.
Seen = tuple[int, "tuple[Scope | None, ...]", Names]


@pytest.fixture(autouse=True)
def _watched(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Let threads take turns as often as possible; where all of them hang, show where."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    with capfd.disabled():
        stderr = os.dup(2)
    faulthandler.dump_traceback_later(SECONDS + LIMIT, exit=True, file=stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        os.close(stderr)
        sys.setswitchinterval(before)


# What fails, and what must not


class InjectedError(Exception):
    """Raised on purpose."""


class Chance:
    """Raises, sometimes."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def fail(self, probability: float) -> None:
        if self._random.random() < probability:
            raise InjectedError


@contextmanager
def may_fail() -> Iterator[list[BaseException]]:
    """Let pass what was injected, and what the host refuses; anything else is a failure."""
    errors: list[BaseException] = []
    try:
        yield errors
    except* (InjectedError, PromptError) as group:
        errors.append(group)


# What each generation held


class History:
    """Replays the change events: what each layer held at each generation."""

    def __init__(self, prompt: SystemPrompt) -> None:
        self.events: list[ChangeEvent] = []
        self.before = shown(prompt.assemble())
        # It is the first listener, so that it is told of whatever another one refuses.
        prompt.on_change(self.events.append)

    def expect(self, seen: list[Seen]) -> None:
        """Check that what was *seen* is what the layers held at that generation."""
        layers: dict[Scope | None, set[tuple[str, str]]] = defaultdict(set)
        pending = sorted(self.events, key=lambda event: event.generation, reverse=True)
        for generation, chain, names in sorted(seen, key=lambda entry: entry[0]):
            while pending and pending[-1].generation <= generation:
                replay(pending.pop(), layers)
            assert names == self.before.union(*(layers[scope] for scope in chain))

    def expect_nothing_left(self) -> None:
        """Check that everything that came has gone, once."""
        layers: dict[Scope | None, set[tuple[str, str]]] = defaultdict(set)
        for event in sorted(self.events, key=lambda event: event.generation):
            replay(event, layers)
        assert not any(layers.values())


def replay(event: ChangeEvent, layers: dict[Scope | None, set[tuple[str, str]]]) -> None:
    """Apply *event* to the *layers*: nothing comes twice, nothing goes that was not there."""
    for kind, name, scope in event.removed:
        if kind in KINDS:
            layers[scope].remove((kind, name))
    for kind, name, scope in event.added:
        if kind in KINDS:
            assert (kind, name) not in layers[scope]
            layers[scope].add((kind, name))


def shown(assembly: PromptAssembly) -> Names:
    """Give the kind and name of everything in *assembly* that was contributed."""
    return frozenset(
        {("section", section.name) for section in assembly.sections}
        | {("context", context.name) for context in assembly.contexts}
        | {("tool", tool.name) for tool in assembly.tools}
        | {("variable", name) for name in assembly.variables if not name.endswith("_late")}
    )


def expect_whole_plugins(assembly: PromptAssembly) -> None:
    """Check that all parts of each plugin are those of one and the same instance."""
    parts: dict[str, set[str | None]] = defaultdict(set)
    counts: dict[str, int] = defaultdict(int)
    found = [(section.name, section.text) for section in assembly.sections]
    found += [(tool.name, tool.description) for tool in assembly.tools]
    found += [(name, value or "") for name, value in assembly.variables.items()]
    for name, edition in found:
        plugin = name.removesuffix("_late").removesuffix("_two").removesuffix("_one")
        if plugin.startswith("p_"):
            parts[plugin].add(edition)
            counts[plugin] += 1
    assert all(len(editions) == 1 for editions in parts.values()), parts
    assert all(number == 5 for number in counts.values()), counts


# What is loaded

editions = count()


def plugin_class(name: str, chance: Chance, *, requires: tuple[str, ...] = ()) -> type[Any]:
    """Make a plugin class whose instances differ, and fail now and then."""

    class Plugin:
        def __init__(self) -> None:
            chance.fail(0.02)
            self.edition = str(next(editions))

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.section(name=f"{name}_one", order=1, text=self.edition)
            ctx.callback(chance.fail, 0.05)
            chance.fail(0.05)
            ctx.tool(ToolSchema(name, self.edition, {}))

        @hookimpl
        def contribute_sections(self) -> Iterator[PromptSection]:
            yield PromptSection(name=f"{name}_two", order=2, text=lambda: self.edition)
            chance.fail(0.03)

        @hookimpl
        def contribute_variables(self) -> dict[str, Any]:
            return {name: lambda: self.edition}

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.variables[f"{name}_late"] = self.edition

        @hookimpl
        def system_prompt_change(self, event: ChangeEvent) -> None:
            chance.fail(0.001)

        @hookimpl
        def deactivate(self) -> None:
            chance.fail(0.1)

    Plugin.requires = requires  # type: ignore[attr-defined]
    return Plugin


def async_plugin_class(name: str, chance: Chance) -> type[Any]:
    """Make one with async hooks and a task."""
    base: Any = plugin_class(name, chance)

    class Plugin(base):  # type: ignore[misc]
        @hookimpl
        async def activate(self, ctx: DisposableContext) -> None:
            ctx.start_task(anyio.sleep_forever)
            await anyio.lowlevel.checkpoint()
            base.activate(self, ctx)

        @hookimpl
        async def deactivate(self) -> None:
            await anyio.lowlevel.checkpoint()
            chance.fail(0.1)

    return Plugin


# Who does it


class Worker:
    """Does something at random, again and again, and knows what of it must be there."""

    def __init__(self, prompt: SystemPrompt, name: str, seed: str, *, is_async: bool) -> None:
        self.prompt = prompt
        self.name = name
        self.is_async = is_async
        self.random = random.Random(f"{seed}-{name}")
        self.chance = Chance(f"{seed}-{name}-failures")
        self.seen: list[Seen] = []
        self.loaded: set[str] = set()
        self.registered: dict[str, Registration] = {}
        self.scopes: list[Scope] = []
        self.numbers = count()
        self.done = 0

    async def run(self, deadline: float) -> None:
        steps: list[Callable[[], Any]] = [
            *(self.look, self.look, self.load, self.load, self.unload, self.reload),
            *(self.register, self.register, self.dispose, self.open_scope, self.close_scope),
            *(self.change_scope, self.change_shared, self.change_shared),
        ]
        while time.monotonic() < deadline:
            await self.random.choice(steps)()
            await self.look()
            self.done += 1

    async def call(self, target: Any, operation: str, *args: Any, **options: Any) -> Any:
        """Call an operation, in the form that this worker uses."""
        if self.is_async:
            return await getattr(target, f"{operation}_async")(*args, **options)
        return getattr(target, operation)(*args, **options)

    async def look(self) -> None:
        """Assemble, which never fails, for one of the layers."""
        scope = self.random.choice([None, *self.scopes])
        chain: list[Scope | None] = [None]
        link = scope
        while link is not None:
            chain.append(link)
            link = link.parent
        assembly = await self.call(self.prompt, "assemble", scope=scope)
        assert assembly.generation is not None
        expect_whole_plugins(assembly)
        self.seen.append((assembly.generation, tuple(chain), shown(assembly)))

    def new_plugin(self, name: str) -> type[Any]:
        if self.is_async and self.random.random() < 0.5:
            return async_plugin_class(name, self.chance)
        return plugin_class(name, self.chance)

    async def load(self) -> None:
        name = f"p_{self.name}_{next(self.numbers)}"
        if len(self.loaded) > 3:
            return
        with may_fail() as errors:
            await self.call(self.prompt, "load", self.new_plugin(name), name=name)
        if not errors:
            self.loaded.add(name)

    async def unload(self) -> None:
        if self.loaded:
            name = self.loaded.pop()
            with may_fail():
                await self.call(self.prompt, "unload", name)

    async def reload(self) -> None:
        for name in sorted(self.loaded)[:1]:
            with may_fail():
                await self.call(self.prompt, "reload", name)

    async def register(self) -> None:
        name = f"r_{self.name}_{next(self.numbers)}"
        register: Any = self.random.choice(
            [
                lambda ctx: ctx.section(name=name, order=3, text="text"),
                lambda ctx: ctx.context(name=name, order=3, text=lambda: "text"),
                lambda ctx: ctx.variable(name, "value"),
                lambda ctx: ctx.tool(ToolSchema(name, "", {})),
                lambda ctx: ctx.on_assemble(lambda assembly: None),
            ]
        )
        if len(self.registered) < 6:
            with may_fail():
                self.registered[name] = register(self.random.choice([self.prompt, *self.scopes]))

    async def dispose(self) -> None:
        for name in list(self.registered)[:2]:
            with may_fail():
                self.registered.pop(name).dispose()

    async def open_scope(self) -> None:
        if len(self.scopes) < 3:
            parent = self.random.choice([None, *self.scopes])
            self.scopes.append(self.prompt.create_scope(f"{self.name}-scope", parent=parent))

    async def close_scope(self) -> None:
        """Dispose a scope; whatever was registered through it is gone."""
        if self.scopes:
            scope = self.scopes.pop(self.random.randrange(len(self.scopes)))
            with may_fail():
                await self.call(scope, "dispose")

    async def change_scope(self) -> None:
        """Load into a scope, or give it another parent; both go with it."""
        if not self.scopes:
            return
        scope = self.random.choice(self.scopes)
        with may_fail():
            if self.random.random() < 0.3:
                scope.rebind(self.random.choice([None, *self.scopes]))
            else:
                name = f"p_{self.name}_{next(self.numbers)}"
                await self.call(self.prompt, "load", self.new_plugin(name), name=name, scope=scope)

    async def change_shared(self) -> None:
        """Load, reload or unload what the others do as well, and what requires it."""
        number = self.random.randrange(4)
        name = f"p_shared_{number}"
        requires = (f"p_shared_{number - 1}",) if number % 2 else ()
        operation = self.random.choice(["load", "load", "reload", "unload"])
        given: Any = name
        if operation == "load":
            given = plugin_class(name, self.chance, requires=requires)
        with may_fail():
            await self.call(self.prompt, operation, given, *[name] * (operation == "load"))

    @property
    def own(self) -> Names:
        """What this worker registered at the global level, as far as it can tell."""
        return frozenset(
            item
            for name in self.loaded
            for item in (
                ("section", f"{name}_one"),
                ("section", f"{name}_two"),
                ("tool", name),
                ("variable", name),
            )
        )

    async def clean_up(self) -> None:
        """Take everything back."""
        while self.loaded:
            await self.unload()
        while self.registered:
            await self.dispose()
        while self.scopes:
            await self.close_scope()


async def work(prompt: SystemPrompt, workers: list[Worker]) -> None:
    """Let all *workers* work until the time is over: some as tasks, the others in threads."""
    deadline = time.monotonic() + SECONDS
    failures: list[BaseException] = []

    def in_thread(worker: Worker) -> None:
        try:
            drive(worker.run(deadline))
        except BaseException as error:  # noqa: BLE001 - raised by the test
            failures.append(error)

    threads = [
        threading.Thread(target=in_thread, args=(worker,), name=worker.name, daemon=True)
        for worker in workers
        if not worker.is_async
    ]
    for thread in threads:
        thread.start()
    async with asyncio.TaskGroup() as tasks:
        for worker in workers:
            if worker.is_async:
                tasks.create_task(worker.run(deadline))
    for thread in threads:
        await asyncio.to_thread(thread.join)
    if failures:
        raise BaseExceptionGroup("failures in threads", failures)


async def stress(seed: str) -> int:
    """Let everybody work on one host, and compare it with the model."""
    prompt = SystemPrompt()
    history = History(prompt)
    chance = Chance(f"{seed}-listener")
    prompt.on_change(lambda _: chance.fail(0.02))
    workers = [Worker(prompt, f"t{i}", seed, is_async=False) for i in range(THREADS)]
    workers += [Worker(prompt, f"a{i}", seed, is_async=True) for i in range(TASKS)]
    await work(prompt, workers)

    for worker in workers:
        await worker.look()
    history.expect([entry for worker in workers for entry in worker.seen])
    everything = shown(prompt.assemble())
    loaded = {info.name for info in prompt.plugins if info.scope is None}
    for worker in workers:
        assert worker.own <= everything
        mine = {name for name in loaded if name.startswith(f"p_{worker.name}_")}
        assert mine == worker.loaded

    for worker in workers:
        worker.is_async = True
        await worker.clean_up()
    for info in prompt.plugins:
        with may_fail():
            await prompt.unload_async(info.name)
    assert prompt.plugins == []
    assert shown(prompt.assemble()) == history.before
    history.expect_nothing_left()
    await prompt.dispose_async()
    return sum(worker.done for worker in workers)


def test_threads_and_tasks_see_one_generation_at_a_time() -> None:
    """Whatever fails, each assembly is that of one generation, and in the end all is gone."""
    seed = SEED or str(random.randrange(1_000_000))
    try:
        done = asyncio.run(stress(seed))
    except BaseException as error:
        error.add_note(f"with DSH_PROMPT_STRESS_SEED={seed}")
        raise
    assert done > THREADS + TASKS


# Hooks that call back into the host


def sections(prompt: SystemPrompt) -> list[str]:
    """Name the sections of an assembly that are not built in."""
    return [section.name for section in prompt.assemble().sections if ":" not in section.name]


class Named:
    """A plugin with one section of its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return [PromptSection(name=self.name, order=1, text="text")]


def test_a_change_listener_may_assemble() -> None:
    """It sees the generation that it is told of."""
    prompt = SystemPrompt()
    told: list[list[str]] = []
    prompt.on_change(lambda _: told.append(sections(prompt)))
    prompt.load(Named("one"), name="one")
    prompt.reload("one")
    prompt.unload("one")
    assert told == [["one"], ["one"], []]


def test_a_change_listener_may_assemble_in_another_thread() -> None:
    """Nothing is held while listeners are told."""
    prompt = SystemPrompt()
    told: list[list[str]] = []

    def elsewhere(_: ChangeEvent) -> None:
        thread = threading.Thread(target=lambda: told.append(sections(prompt)), daemon=True)
        thread.start()
        thread.join()

    prompt.on_change(elsewhere)
    prompt.load(Named("one"), name="one")
    prompt.reload("one")
    prompt.quarantine("one", "it misbehaves")
    prompt.unload("one")
    assert told == [["one"], ["one"], [], []]


def test_activate_may_load_another_plugin() -> None:
    """In the same thread, and in one that it waits for."""
    prompt = SystemPrompt()

    class Loader(Named):
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.host.load(Named("inner"), name="inner")
            other = threading.Thread(
                target=ctx.host.load, args=(Named("other"), "other"), daemon=True
            )
            other.start()
            other.join()

    prompt.load(Loader("outer"), name="outer")
    assert sorted(sections(prompt)) == ["inner", "other", "outer"]
    assert [info.name for info in prompt.plugins] == ["outer", "inner", "other"]


def test_deactivate_may_unload_another_plugin() -> None:
    """In a thread that it waits for."""
    prompt = SystemPrompt()

    class Last(Named):
        @hookimpl
        def deactivate(self, ctx: DisposableContext) -> None:
            other = threading.Thread(target=ctx.host.unload, args=("other",), daemon=True)
            other.start()
            other.join()

    prompt.load(Last("last"), name="last")
    prompt.load(Named("other"), name="other")
    prompt.unload("last")
    assert prompt.plugins == []


def test_a_provider_may_register() -> None:
    """What it registers shows in the next assembly, and it may be asked again meanwhile."""
    prompt = SystemPrompt()
    names = iter(["late", "later"])

    def register() -> str:
        for name in names:
            prompt.section(name=name, order=2, text="text")
            prompt.assemble()
        return "text"

    prompt.section(name="first", order=1, text=register)
    assert sections(prompt) == ["first"]
    assert sections(prompt) == ["first", "late", "later"]


class Leaving:
    """A plugin whose provider unloads it."""

    def __init__(self, unload: Callable[[SystemPrompt], Any]) -> None:
        self.unload = unload

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.section(name="leaving", order=1, text=lambda: self.leave(ctx))

    def leave(self, ctx: DisposableContext) -> Any:
        return self.unload(ctx.host)


def test_a_provider_may_unload_its_own_plugin() -> None:
    """The assembly that asked it finishes with it."""
    prompt = SystemPrompt()

    def unload(host: SystemPrompt) -> str:
        host.unload("leaving")
        return "text"

    prompt.load(Leaving(unload), name="leaving")
    assert sections(prompt) == ["leaving"]
    assert (sections(prompt), prompt.plugins) == ([], [])


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_an_async_provider_may_unload_its_own_plugin(backend: str) -> None:
    """The unload does not wait for the assembly that waits for it."""

    async def unload(host: SystemPrompt) -> str:
        await host.unload_async("leaving")
        return "text"

    async def main() -> None:
        prompt = SystemPrompt()
        prompt.load(Leaving(unload), name="leaving")
        assembly = await prompt.assemble_async()
        assert assembly.sections[-1].name == "leaving"
        assert (sections(prompt), prompt.plugins) == ([], [])

    anyio.run(main, backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_two_assemblies_may_reload_what_both_of_them_use(backend: str) -> None:
    """One of them is refused, or comes second; neither waits for the other for ever."""

    async def main() -> None:
        prompt = SystemPrompt()
        outcomes: list[str] = []

        class Reloading:
            @hookimpl
            def activate(self, ctx: DisposableContext) -> None:
                ctx.section(name="reloading", order=1, text=self.text)

            async def text(self) -> str:
                await anyio.lowlevel.checkpoint()
                try:
                    await prompt.reload_async("reloading")
                except PromptError as error:
                    outcomes.append(type(error).__name__)
                else:
                    outcomes.append("reloaded")
                return "text"

        prompt.load(Reloading, name="reloading")
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(prompt.assemble_async)
        assert len(outcomes) == 4
        assert "reloaded" in outcomes
        assert [info.name for info in prompt.plugins] == ["reloading"]

    anyio.run(main, backend=backend)


def test_a_change_listener_may_load() -> None:
    """What it loads is told as well, also to itself."""
    prompt = SystemPrompt()
    told: list[tuple[str, str | None]] = []

    def load(event: ChangeEvent) -> None:
        told.append((event.kind, event.plugin))
        if event.plugin == "first":
            prompt.load(Named("second"), name="second")

    prompt.on_change(load)
    prompt.load(Named("first"), name="first")
    assert told == [("loaded", "first"), ("loaded", "second")]
    assert sections(prompt) == ["first", "second"]


def test_a_change_listener_may_unload_what_came() -> None:
    """The load is told to be over; whoever loaded it finds it unloaded."""
    prompt = SystemPrompt()

    def unload(event: ChangeEvent) -> None:
        if event.kind == "loaded":
            prompt.unload("first")

    prompt.on_change(unload)
    assert prompt.load(Named("first"), name="first").state == "unloaded"
    assert (sections(prompt), prompt.plugins) == ([], [])


def test_change_listeners_of_two_threads_may_work_crosswise() -> None:
    """On two hosts, each listener assembles, loads and unloads on the other one."""
    hosts = [SystemPrompt(), SystemPrompt()]
    barrier = threading.Barrier(2)
    failures: list[BaseException] = []

    def crosswise(index: int) -> Callable[[ChangeEvent], None]:
        def listener(event: ChangeEvent) -> None:
            if event.plugin is None or not event.plugin.startswith("direct"):
                return
            other, name = hosts[1 - index], f"cross_{index}"
            other.assemble()
            other.load(Named(name), name=name)
            other.reload(name)
            other.unload(name)

        return listener

    for index, host in enumerate(hosts):
        host.on_change(crosswise(index))

    def run(index: int) -> None:
        try:
            for number in range(30):
                barrier.wait()
                name = f"direct_{number}"
                hosts[index].load(Named(name), name=name)
                barrier.wait()
                hosts[index].unload(name)
        except BaseException as error:  # noqa: BLE001 - raised by the test
            barrier.abort()
            failures.append(error)

    threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [sections(host) for host in hosts] == [[], []]
