"""Whether the stable prefix is stable: the bytes that a provider caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.testing.parts import changes, prefix_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dsh_prompt.testing.parts import Part

T = TypeVar("T")


def assert_stable_prefix(
    step_fn: Callable[..., PromptAssembly], steps: int | Iterable[object]
) -> None:
    """Check that each assembly that *step_fn* gives has the prefix of the first.

    *step_fn* is called with each of *steps*: a number of them, or what they are.
    """
    __tracebackhide__ = True
    problem = prefix_change(step_fn, range(steps) if isinstance(steps, int) else steps)
    if problem is not None:
        raise AssertionError(problem)


def prefix_change(step_fn: Callable[[T], PromptAssembly], steps: Iterable[T]) -> str | None:
    """Tell where the prefix changes, and how; None where it does not.

    Raises `ValueError` for less than two steps: there is nothing to compare.
    """
    steps = list(steps)
    if len(steps) < 2:  # noqa: PLR2004 - a pair
        raise ValueError(f"a prefix is compared over two steps or more, not {len(steps)}")
    first: tuple[T, str, list[Part]] | None = None
    for step in steps:
        assembly = step_fn(step)
        if not isinstance(assembly, PromptAssembly):
            raise TypeError(f"step_fn must return a PromptAssembly, not {type(assembly).__name__}")
        now = (step, assembly.fingerprint().prefix, prefix_parts(assembly))
        first = first or now
        if now[1] != first[1]:
            told = "\n".join(f"  {change}" for change in changes(first[2], now[2]))
            return f"the stable prefix of step {step!r} is not that of step {first[0]!r}:\n{told}"
    return None
