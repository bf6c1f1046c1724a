"""Whether a plugin contributes the same on every machine, in every process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import attrs

from dsh_prompt.testing.fresh_process import FreshProcessError, run
from dsh_prompt.testing.parts import Part, all_parts, changes
from dsh_prompt.testing.samples import sample_folder
from dsh_prompt.testing.subjects import Subject, as_json
from dsh_prompt.testing.surroundings import CAUSES, Surroundings, several
from dsh_prompt.testing.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dsh_prompt.model.state import RuntimeState

_PROCESSES_AT_ONCE = 4


def assert_deterministic(
    plugin: object, *, config: object = None, state: RuntimeState | None = None
) -> None:
    """Check that fresh processes, each in other surroundings, give the same model input.

    They differ in hash seed, locale, time zone, user, working directory, the order of the
    environment and the order in which folders are listed; the clock stands still in all.
    *plugin* is the name of an installed plugin, a module, or a class or function at the top
    of a module (a function is called, and gives the plugin). Without a *state* it is tried
    without one, and with a rich one.
    """
    __tracebackhide__ = True
    target = Target.of(plugin)
    given = None if state is None else state.to_dict()
    with sample_folder() as folder:
        told = differences(Subject(target, folder, as_json(config), given))
    if told:
        lines = "\n".join(told)
        raise AssertionError(f'plugin "{target.name}" is not deterministic:\n{lines}')


def differences(subject: Subject) -> list[str]:
    """Tell, in words, what depends on the surroundings, and on which of them."""
    first, *others = several()
    before, *afters = _renderings(subject, [first, *others])
    if "error" in before:
        return [f"it cannot be rendered in a fresh process: {before['error']}"]
    for surroundings, after in zip(others, afters, strict=True):
        told = list(_changes(before, after))
        if told:
            return [_causes(subject, first, surroundings, before), *told]
    return []


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    if "error" in after:
        yield f"  there it cannot be rendered: {after['error']}"
        return
    for name, parts in before.items():
        pair = ([Part(**part) for part in each] for each in (parts, after[name]))
        for change in changes(*pair):
            yield f"  with {name}, {change}"


def _causes(
    subject: Subject, first: Surroundings, other: Surroundings, before: Mapping[str, Any]
) -> str:
    """Tell what makes the difference, by changing one thing at a time."""
    if _renderings(subject, [first]) != [before]:
        return "it differs from run to run: random numbers, id(), or the number of the process"
    single = [attrs.evolve(first, **{name: getattr(other, name)}) for name in CAUSES]
    results = zip(CAUSES.values(), _renderings(subject, single), strict=True)
    causes = [cause for cause, result in results if result != before]
    return f"it depends on {' and on '.join(causes) or 'several things together'}"


def _renderings(subject: Subject, surroundings: Sequence[Surroundings]) -> list[dict[str, Any]]:
    with ThreadPoolExecutor(_PROCESSES_AT_ONCE) as threads:
        return list(threads.map(partial(_rendering, attrs.asdict(subject)), surroundings))


def _rendering(subject: dict[str, Any], surroundings: Surroundings) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = run(
            f"{__name__}:render_here", {"subject": subject}, surroundings=surroundings
        )
    except FreshProcessError as error:
        return {"error": str(error)}
    return answer


def render_here(subject: dict[str, Any]) -> dict[str, Any]:
    """Give, by the name of each state, the parts of the model input; for a fresh process."""
    return anyio.run(_render, Subject.from_dict(subject))


async def _render(subject: Subject) -> dict[str, Any]:
    host = await subject.host()
    await subject.load(host)
    found: dict[str, Any] = {}
    for name, state in subject.states.items():
        assembly = await host.assemble_async(state=state)
        denials = [
            Part("denial", tool, "the assembly", reason)
            for tool, reason in sorted(assembly.denied.items())
        ]
        found[name] = [attrs.asdict(part) for part in (*all_parts(assembly), *denials)]
    await host.dispose_async()
    return found
