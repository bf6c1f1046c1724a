"""A host that many threads and tasks use at once: each assembly shows one generation, whole."""

from __future__ import annotations

import sys
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from dsh_prompt import (
    AssembledSection,
    DisposedError,
    DuplicateContributionError,
    PluginConflictError,
    PromptAssembly,
    PromptError,
    PromptSection,
    SystemPrompt,
    ToolSchema,
    hookimpl,
    render_prompt,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dsh_prompt import ChangeEvent, DisposableContext, Registration, Scope

THREADS = 8
ROUNDS = 25
#: What an assembly shows; events also tell of other things.
KINDS = {"section", "context", "tool", "variable"}

Names = frozenset[tuple[str, str]]
Seen = tuple[int, "Scope | None", Names]


@pytest.fixture(autouse=True)
def _eager_switching() -> Iterator[None]:
    """Let threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


class History:
    """Replays change events: what each layer held at each generation."""

    def __init__(self, prompt: SystemPrompt) -> None:
        self.prompt = prompt
        self.events: list[ChangeEvent] = []
        self.before = shown(prompt.assemble())
        prompt.on_change(self.events.append)

    def expect(self, seen: Iterable[Seen], parents: dict[Scope, Scope | None]) -> None:
        """Check that what was *seen* is what the layers held at that generation."""
        layers: dict[Scope | None, set[tuple[str, str]]] = defaultdict(set)
        pending = sorted(self.events, key=lambda event: event.generation, reverse=True)
        for generation, scope, names in sorted(seen, key=lambda entry: entry[0]):
            while pending and pending[-1].generation <= generation:
                replay(pending.pop(), layers)
            assert names == self.before.union(*(layers[s] for s in chain(scope, parents)))


def chain(scope: Scope | None, parents: dict[Scope, Scope | None]) -> list[Scope | None]:
    """Give *scope*, its ancestors and the global level."""
    return [None] if scope is None else [scope, *chain(parents[scope], parents)]


def replay(event: ChangeEvent, layers: dict[Scope | None, set[tuple[str, str]]]) -> None:
    """Apply *event* to the *layers*."""
    for kind, name, scope in event.removed:
        layers[scope].discard((kind, name))
    for kind, name, scope in event.added:
        if kind in KINDS:
            layers[scope].add((kind, name))


def shown(assembly: PromptAssembly) -> Names:
    """Give the kind and name of everything in *assembly*."""
    return frozenset(
        {("section", section.name) for section in assembly.sections}
        | {("context", context.name) for context in assembly.contexts}
        | {("tool", tool.name) for tool in assembly.tools}
        | {("variable", name) for name in assembly.variables}
    )


def together(work: Callable[[int], list[Seen]]) -> list[Seen]:
    """Run *work* in eight threads that start at one moment; give what all of them saw."""
    barrier = threading.Barrier(THREADS)

    def run(index: int) -> list[Seen]:
        barrier.wait()
        return work(index)

    with ThreadPoolExecutor(THREADS) as pool:
        return [entry for seen in pool.map(run, range(THREADS)) for entry in seen]


def look(prompt: SystemPrompt, scope: Scope | None) -> Seen:
    """Assemble for *scope* and say what there is, and of which generation."""
    assembly = prompt.assemble(scope=scope)
    assert assembly.generation is not None
    return assembly.generation, scope, shown(assembly)


def contribute(ctx: DisposableContext, name: str) -> list[Registration]:
    """Register one of each kind."""
    return [
        ctx.section(name=name, order=1, text="text"),
        ctx.context(name=name, order=1, text=lambda: "text"),
        ctx.variable(name, "value"),
        ctx.tool(ToolSchema(name, "", {})),
    ]


class Pair:
    """A plugin whose contributions belong together."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        contribute(ctx, f"{self.name}_one")

    @hookimpl
    def contribute_sections(self, ctx: DisposableContext) -> list[PromptSection]:
        return [PromptSection(name=f"{self.name}_two", order=2, text="text")]


def test_registrations_of_many_threads_are_seen_one_generation_at_a_time() -> None:
    """Whatever threads register and dispose, each assembly is that of one generation."""
    prompt = SystemPrompt()
    history = History(prompt)

    def work(index: int) -> list[Seen]:
        seen = []
        for number in range(ROUNDS):
            registrations = contribute(prompt, f"t{index}_{number}")
            seen.append(look(prompt, None))
            for registration in registrations:
                registration.dispose()
            seen.append(look(prompt, None))
        return seen

    seen = together(work)
    history.expect(seen, {})
    assert shown(prompt.assemble()) == history.before
    assert len({event.generation for event in history.events}) == THREADS * ROUNDS * 8


def test_scopes_of_many_threads_are_seen_one_generation_at_a_time() -> None:
    """Threads that work in scopes of a common parent see it and their own, whole."""
    prompt = SystemPrompt()
    history = History(prompt)
    shared = prompt.create_scope("shared")
    parents: dict[Scope, Scope | None] = {shared: None}
    lock = threading.Lock()

    def work(index: int) -> list[Seen]:
        seen = []
        for number in range(ROUNDS):
            scope = prompt.create_scope(f"agent-{index}-{number}", parent=shared)
            with lock:
                parents[scope] = shared
            contribute(scope, f"s{index}_{number}")
            inherited = shared.section(name=f"shared_{index}", order=3, text="text")
            seen += [look(prompt, scope), look(prompt, shared)]
            scope.dispose()
            seen.append(look(prompt, scope))
            inherited.dispose()
        return seen

    history.expect(together(work), parents)
    assert shown(prompt.assemble(scope=shared)) == history.before


def test_plugins_of_many_threads_come_and_go_whole() -> None:
    """No assembly shows half a plugin, whichever thread loads or unloads it."""
    prompt = SystemPrompt()
    history = History(prompt)

    def work(index: int) -> list[Seen]:
        seen = []
        for _ in range(ROUNDS):
            prompt.load(Pair(f"p{index}"), name=f"p{index}")
            seen.append(look(prompt, None))
            prompt.unload(f"p{index}")
            seen.append(look(prompt, None))
        return seen

    seen = together(work)
    history.expect(seen, {})
    for _, _, names in seen:
        ones = {name.removesuffix("_one") for kind, name in names if kind == "section"}
        twos = {name.removesuffix("_two") for kind, name in names if kind == "section"}
        assert all((f"p{i}" in ones) == (f"p{i}" in twos) for i in range(THREADS))
    assert prompt.plugins == []


REGISTER: dict[str, Callable[[SystemPrompt], object]] = {
    "section": lambda prompt: prompt.section(name="single", order=1, text="text"),
    "tool": lambda prompt: prompt.tool(ToolSchema("single", "", {})),
    "plugin": lambda prompt: prompt.load(Pair("single"), name="single"),
}


@pytest.mark.parametrize("register", REGISTER.values(), ids=REGISTER)
def test_one_name_is_taken_by_one_thread_only(register: Callable[[SystemPrompt], object]) -> None:
    """Of eight threads that register one name at once, exactly one succeeds."""
    prompt = SystemPrompt()
    refused: list[PromptError] = []

    def work(_: int) -> list[Seen]:
        try:
            register(prompt)
        except PromptError as error:
            refused.append(error)
        return []

    together(work)
    assert len(refused) == THREADS - 1
    assert {type(error) for error in refused} <= {DuplicateContributionError, PluginConflictError}


def race(scope: Scope, in_time: list[Registration], index: int) -> list[Seen]:
    """Dispose *scope* in one thread, register through it in the others."""
    if index == 0:
        scope.dispose()
        return []
    with suppress(DisposedError):
        in_time += contribute(scope, f"r{index}")
    return []


def test_registering_races_disposal() -> None:
    """Whoever comes too late to a scope is refused; nothing stays of what came in time."""
    prompt = SystemPrompt()
    before = shown(prompt.assemble())
    for number in range(ROUNDS):
        scope = prompt.create_scope(f"agent-{number}")
        in_time: list[Registration] = []

        together(partial(race, scope, in_time))
        assert shown(prompt.assemble(scope=scope)) == before
        for registration in in_time:
            registration.dispose()


async def _change_while_suspended() -> None:
    prompt, started, release = SystemPrompt(), anyio.Event(), anyio.Event()

    async def gate() -> str:
        started.set()
        await release.wait()
        return "open"

    prompt.variable("gate", gate)
    old, finished = contribute(prompt, "old"), list[PromptAssembly]()

    async def assemble() -> None:
        finished.append(await prompt.assemble_async())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(assemble)
        await started.wait()
        for registration in old:
            registration.dispose()
        contribute(prompt, "new")
        prompt.suppress_runtime_context()
        prompt.on_assemble(lambda assembly: assembly.variables.update(late="listener"))
        release.set()
    names = {(kind, "old") for kind in KINDS} | {("variable", "gate")}
    assert shown(finished[0]) == shown(SystemPrompt().assemble()) | names
    later = {(kind, "new") for kind in KINDS - {"context"}} | {("variable", "gate")}
    expected = shown(SystemPrompt().assemble()) | later | {("variable", "late")}
    assert shown(await prompt.assemble_async()) == expected


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_what_changes_during_an_assembly_shows_in_the_next(backend: str) -> None:
    """A suspended assembly keeps what took part at its start, and gets nothing new."""
    anyio.run(_change_while_suspended, backend=backend)


def suspended_plugin(started: anyio.Event, release: anyio.Event) -> Any:
    """Make a plugin whose section waits for *release* and whose hook adds a section."""

    class Plugin:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.section(name="slow", order=10, text=self.slow)
            ctx.variable("owned", "of the plugin")
            ctx.tool(ToolSchema("owned_tool", "", {}))

        async def slow(self) -> str:
            started.set()
            await release.wait()
            return "{{owned}}"

        @hookimpl
        def system_prompt_assemble(self, assembly: PromptAssembly) -> None:
            assembly.sections.append(AssembledSection("hooked", "by {{owned}}"))

    return Plugin()


async def _unload_while_suspended(withdraw: Callable[[SystemPrompt, Scope], object]) -> None:
    prompt, started, release = SystemPrompt(), anyio.Event(), anyio.Event()
    scope = prompt.create_scope("agent")
    before = prompt.assemble(scope=scope).fingerprint()
    prompt.load(suspended_plugin(started, release), name="slow", scope=scope)
    finished: list[PromptAssembly] = []

    async def assemble() -> None:
        finished.append(await prompt.assemble_async(scope=scope))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(assemble)
        await started.wait()
        withdraw(prompt, scope)
        assert prompt.assemble(scope=scope).fingerprint() == before
        release.set()
    assert render_prompt(finished[0]).endswith("of the plugin\n\nby of the plugin")
    assert [tool.name for tool in finished[0].tools] == ["owned_tool"]
    after = await prompt.assemble_async(scope=scope)
    assert after.fingerprint() == before
    assert shown(after) == shown(SystemPrompt().assemble())


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize(
    "withdraw",
    [
        lambda prompt, scope: prompt.unload("slow", scope=scope),
        lambda prompt, scope: scope.dispose(),
    ],
    ids=["unload", "scope"],
)
def test_an_assembly_that_runs_finishes_as_it_began(
    backend: str, withdraw: Callable[[SystemPrompt, Scope], object]
) -> None:
    """What is withdrawn while an assembly is suspended stays in it, and in no later one."""
    anyio.run(_unload_while_suspended, withdraw, backend=backend)
