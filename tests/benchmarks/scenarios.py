"""Hosts with many scopes, many contributions and waiting providers, for every measurement."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING

from dsh_prompt import Config, PromptSection, SystemPrompt, hookimpl
from tests.benchmarks.peers.ours import host, setter
from tests.benchmarks.workloads import SIZES, work_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dsh_prompt import DisposableContext, Registration, Scope
    from tests.benchmarks.measuring import Measure

WAIT = 0.02


def host_with_scopes(count: int) -> tuple[SystemPrompt, list[Scope]]:
    """Make a host with the work S and *count* scopes."""
    prompt = host(work_of(SIZES["S"]))
    return prompt, [add_scope(prompt) for _ in range(count)]


def add_scope(prompt: SystemPrompt) -> Scope:
    """Make a scope of three contributions and one listener."""
    scope = prompt.create_scope("agent")
    scope.section(name="agent", order=1.5, text="Agent {{agent}}.")
    scope.context(name="agent", order=1.5, text=_is_here)
    scope.variable("agent", _one)
    scope.on_assemble(_listener)
    return scope


_listener = setter("agent")


def _is_here() -> str:
    return "Agent {{agent}} is here."


def _one() -> str:
    return "one"


def assembling(prompt: SystemPrompt, scope: Scope | None = None) -> Measure:
    """Measure an assembly, without rendering."""
    return timed(lambda: prompt.assemble(scope=scope))


def creating_scopes(prompt: SystemPrompt) -> Measure:
    """Measure the creation of a scope; they are disposed again afterwards."""

    def measure(iterations: int) -> float:
        start = perf_counter()
        scopes = [add_scope(prompt) for _ in range(iterations)]
        seconds = perf_counter() - start
        _dispose(scopes)
        return seconds / iterations

    return measure


def disposing_scopes(prompt: SystemPrompt) -> Measure:
    """Measure the disposal of a scope that has been created for it."""

    def measure(iterations: int) -> float:
        scopes = [add_scope(prompt) for _ in range(iterations)]
        start = perf_counter()
        _dispose(scopes)
        return (perf_counter() - start) / iterations

    return measure


def _dispose(things: Iterable[DisposableContext | Registration]) -> None:
    for thing in things:
        thing.dispose()


def host_with_sections(count: int) -> SystemPrompt:
    """Make a host with *count* sections that has assembled once."""
    prompt = SystemPrompt(Config())
    for number in range(count):
        prompt.section(name=f"section-{number}", order=number, text=f"Section {number}.")
    prompt.assemble()
    return prompt


def register(prompt: SystemPrompt) -> Registration:
    """Register one more section."""
    return prompt.section(name="one more", order=0.5, text="One more.")


def registering(prompt: SystemPrompt, other: SystemPrompt | None = None) -> Measure:
    """Measure a registration; with an *other* host, each comes right after an assembly."""

    def measure(iterations: int) -> float:
        seconds = 0.0
        for _ in range(iterations):
            if other is not None:
                _assemble(prompt, other)
            start = perf_counter()
            registration = register(prompt)
            seconds += perf_counter() - start
            registration.dispose()
        return seconds / iterations

    return measure


def disposing(prompt: SystemPrompt, other: SystemPrompt | None = None) -> Measure:
    """Measure a disposal; with an *other* host, each comes right after an assembly."""

    def measure(iterations: int) -> float:
        seconds = 0.0
        for _ in range(iterations):
            registration = register(prompt)
            if other is not None:
                _assemble(prompt, other)
            start = perf_counter()
            registration.dispose()
            seconds += perf_counter() - start
        return seconds / iterations

    return measure


def _assemble(prompt: SystemPrompt, other: SystemPrompt) -> None:
    """Assemble *prompt*, then *other* anew: it leaves caches as cold, whatever *prompt* is."""
    prompt.assemble()
    register(other).dispose()
    other.assemble()


class Contributor:
    """A plugin with *count* sections."""

    def __init__(self, count: int) -> None:
        self.count = count

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        return [
            PromptSection(name=f"plugin-{number}", order=number, text="Of the plugin.")
            for number in range(self.count)
        ]


def load(prompt: SystemPrompt, count: int) -> Callable[[], None]:
    """Load a plugin with *count* sections, and give what unloads it."""
    prompt.load(Contributor(count), name="contributor")
    return lambda: prompt.unload("contributor")


def unloading(prompt: SystemPrompt, count: int, *, assemble: bool = False) -> Measure:
    """Measure the unloading of a plugin, per contribution."""

    def measure(iterations: int) -> float:
        seconds = 0.0
        for _ in range(iterations):
            unload = load(prompt, count)
            if assemble:
                prompt.assemble()
            start = perf_counter()
            unload()
            seconds += perf_counter() - start
        return seconds / iterations / count

    return measure


def assembling_async(prompt: SystemPrompt, runner: asyncio.Runner) -> Measure:
    """Measure an assembly inside a running event loop, without the loop's own start."""

    async def block(iterations: int) -> float:
        start = perf_counter()
        for _ in range(iterations):
            await prompt.assemble_async()
        return (perf_counter() - start) / iterations

    return lambda iterations: runner.run(block(iterations))


def host_that_waits(count: int) -> SystemPrompt:
    """Make a host with *count* providers that wait 20 ms each."""
    prompt = SystemPrompt(Config())

    async def text() -> str:
        await asyncio.sleep(WAIT)
        return "Waited."

    for number in range(count):
        prompt.section(name=f"section-{number}", order=number, text=text)
    return prompt


def timed(function: Callable[[], object]) -> Measure:
    """Measure *function*."""

    def measure(iterations: int) -> float:
        start = perf_counter()
        for _ in range(iterations):
            function()
        return (perf_counter() - start) / iterations

    return measure
