"""What is true of every good plugin: one function for each check, run in a fresh process.

Each gives what is wrong, in words; what else is worth knowing it adds to *notes*.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import anyio

from dsh_prompt.errors import AsyncProviderError, PromptError
from dsh_prompt.plugins.candidates import candidate_of, imported
from dsh_prompt.plugins.discovery import discover
from dsh_prompt.plugins.hooks import read_hooks
from dsh_prompt.testing import clock
from dsh_prompt.testing.child import describe
from dsh_prompt.testing.parts import all_parts, changes
from dsh_prompt.testing.prefixes import prefix_change
from dsh_prompt.testing.samples import rich_state
from dsh_prompt.testing.subjects import Subject
from dsh_prompt.testing.unloading import leftovers
from dsh_prompt.testing.visibility import hidden_in

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from typing import Any, TypeAlias

    from dsh_prompt.model.prompt_assembly import PromptAssembly
    from dsh_prompt.model.state import RuntimeState
    from dsh_prompt.system_prompt import SystemPrompt
    from dsh_prompt.testing.parts import Part

    Check: TypeAlias = Callable[[Subject, list[str]], Awaitable[list[str]]]

_HOUR = 3600.0
#: How far the clock is put on before each step: other days and hours, another month and year.
_JUMPS = (*[13 * _HOUR] * 6, 31 * 24 * _HOUR, 366 * 24 * _HOUR)


async def imports(subject: Subject, notes: list[str]) -> list[str]:
    """Import it, and tell how long that takes."""
    start = time.perf_counter()
    if subject.target.module is None:
        discover().plugins[subject.target.name].load()
    else:
        subject.target.found()
    notes.append(f"it takes {(time.perf_counter() - start) * 1000:.0f} ms")
    return []


async def hooks(subject: Subject, notes: list[str]) -> list[str]:
    """Compare its hooks with the specifications."""
    target = subject.target
    if target.module is None:
        candidate = imported(discover().plugins[target.name])
    else:
        candidate = candidate_of(target.found(), None)
    names = read_hooks(candidate).names
    if not names:
        return ["it implements no hook; is @hookimpl missing?"]
    notes.append(f"it implements {', '.join(names)}")
    return []


async def loads(subject: Subject, notes: list[str]) -> list[str]:
    """Load it with the host's configuration."""
    host = await subject.host()
    name = await subject.load(host)
    [info] = [info for info in host.plugins if info.name == name]
    contributed = [f"{kind} {name}" for kind, name, _ in info.contributions]
    notes.append(f"it contributes {', '.join(contributed) or 'nothing'}")
    await host.dispose_async()
    return []


async def assembles(subject: Subject, notes: list[str]) -> list[str]:
    """Assemble and render, with little state and with much; the guard and variables included."""
    host = await subject.host()
    await subject.load(host)
    problems = []
    for name, state in subject.states.items():
        try:
            (await _assembled(host, state, notes)).fingerprint()
        except PromptError as error:
            problems.append(f"with {name}: {describe(error)}")
    await host.dispose_async()
    return problems


async def _assembled(
    host: SystemPrompt, state: RuntimeState | None, notes: list[str]
) -> PromptAssembly:
    try:
        return host.assemble(state=state)
    except AsyncProviderError as error:
        if str(error) not in notes:
            notes.append(str(error))
    return await host.assemble_async(state=state)


async def prefix_is_stable(subject: Subject, _: list[str]) -> list[str]:
    """Assemble again and again, hours to a year apart, with another state each time.

    What changes with the permission mode is left alone: that is rare, and may be meant.
    """
    now = clock.install(time.time())
    host = await subject.host()
    await subject.load(host)
    for mode in ("default", "plan"):
        assemblies = []
        for step, jump in enumerate(_JUMPS):
            now.now += jump
            state = rich_state(subject.folder, step, permission_mode=mode)
            assemblies.append(await host.assemble_async(state=state))
        problem = prefix_change(assemblies.__getitem__, range(len(_JUMPS)))
        if problem is not None:
            return [problem]
    await host.dispose_async()
    return []


async def scope_holds_it(subject: Subject, _: list[str]) -> list[str]:
    """Load it into two scopes: nobody else must see it, and it must go with its scope."""
    clock.install(time.time())
    host = await subject.host()
    agent, other = host.create_scope("agent"), host.create_scope("other")
    outside = host.create_scope("outside")
    before = await _seen(host, subject, outside)
    for scope in (agent, other):
        await subject.load(host, scope)
        await host.assemble_async(scope=scope, state=rich_state(subject.folder))
    problems = [
        f"seen outside of its scope: {one}"
        for one in changes(before, await _seen(host, subject, outside))
    ]
    await agent.dispose_async()
    await other.dispose_async()
    if not problems:
        problems = [
            f"seen after its scope is gone: {one}"
            for one in changes(before, await _seen(host, subject, outside))
        ]
    await host.dispose_async()
    return problems


async def _seen(host: SystemPrompt, subject: Subject, scope: Any = None) -> list[Part]:
    state = rich_state(subject.folder)
    return all_parts(await host.assemble_async(scope=scope, state=state))


async def reloads(subject: Subject, _: list[str]) -> list[str]:
    """Reload it: the same code must give the same model input."""
    clock.install(time.time())
    host = await subject.host()
    name = await subject.load(host)
    before = await _seen(host, subject)
    await host.reload_async(name)
    told = changes(before, await _seen(host, subject))
    await host.dispose_async()
    return [f"after a reload {one}" for one in told]


async def shows_all(subject: Subject, _: list[str]) -> list[str]:
    """Look for characters in its texts that nobody sees."""
    host = await subject.host()
    name = await subject.load(host)
    found: dict[str, None] = {}
    for state in subject.states.values():
        parts = all_parts(await host.assemble_async(state=state))
        found |= dict.fromkeys(hidden_in(part for part in parts if part.plugin == name))
    await host.dispose_async()
    return list(found)


async def unloads_clean(subject: Subject, _: list[str]) -> list[str]:
    """Unload it: nothing must remain."""
    return leftovers(
        subject.target.found(),
        config=subject.config,
        states=tuple(subject.states.values()),
        host_config=subject.host_config(),
    )


#: By name; where one of these fails, the others have nothing to look at.
FIRST: dict[str, Check] = {
    "imports": imports,
    "hooks": hooks,
    "loads": loads,
    "assembles": assembles,
}
OTHERS: dict[str, Check] = {
    "stable prefix": prefix_is_stable,
    "unloads clean": unloads_clean,
    "scope": scope_holds_it,
    "reload": reloads,
    "visible text": shows_all,
}


def check_here(name: str, subject: dict[str, Any]) -> dict[str, list[str]]:
    """Run the check *name*, for a fresh process."""
    notes: list[str] = []
    check = {**FIRST, **OTHERS}[name]
    problems = anyio.run(check, Subject.from_dict(subject), notes)
    return {"problems": problems, "notes": notes}
