"""The children of an agent, as its model reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dsh_prompt import AssembleContext
    from dsh_prompt_subagents.child import Child
    from dsh_prompt_subagents.config import Config
    from dsh_prompt_subagents.subagents import SubAgents


def roster_provider(subagents: SubAgents, config: Config) -> Callable[[AssembleContext], str]:
    """Make the provider of the roster of the agent of an assembly, empty without children."""

    def roster(context: AssembleContext) -> str:
        return "\n".join(_lines(subagents.children(context.scope), config.max_shown))

    return roster


def _lines(children: Sequence[Child], most: int) -> Iterator[str]:
    shown = _most_telling(children, most)
    for child in children:
        if child in shown:
            yield from _entry(child)
    if len(shown) < len(children):
        yield f"({len(children) - len(shown)} more)"


def _most_telling(children: Sequence[Child], most: int) -> set[Child]:
    """Choose those that are still at work, then the latest of those that are not."""
    latest = list(reversed(children))
    return set(sorted(latest, key=lambda child: child.has_ended)[:most])


def _entry(child: Child) -> Iterator[str]:
    # Read once: another thread may report meanwhile.
    status, result = child.told
    about = f": {child.description}" if child.description else ""
    yield f"- {child.name} ({status}){about}"
    if result:
        yield f"  reported: {result}"
