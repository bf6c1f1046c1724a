"""The shapes that a hook's function can have, for type checkers.

A host gives arguments by name, and only those that a function names. So each choice of arguments
is a shape of its own, with keywords only: their order does not matter. `R_co` is what the
function gives, `N_contra` the type of its ``call_next``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from dsh_prompt.lifecycle.changes import ChangeEvent
    from dsh_prompt.lifecycle.disposable import DisposableContext
    from dsh_prompt.model.context import AssembleContext
    from dsh_prompt.model.prompt_assembly import PromptAssembly

R_co = TypeVar("R_co", covariant=True)
N_contra = TypeVar("N_contra", contravariant=True)

# ruff: noqa: D101, D102 - each says what it takes, and nothing else
# A: the assembly, C: the context of one assembly, Next: the rest of the waterfall.


class Nothing(Protocol[R_co]):
    def __call__(self) -> R_co: ...


class Ctx(Protocol[R_co]):
    def __call__(self, *, ctx: DisposableContext) -> R_co: ...


class Event(Protocol[R_co]):
    def __call__(self, *, event: ChangeEvent) -> R_co: ...


class A(Protocol[R_co]):
    def __call__(self, *, assembly: PromptAssembly) -> R_co: ...


class C(Protocol[R_co]):
    def __call__(self, *, context: AssembleContext) -> R_co: ...


class AC(Protocol[R_co]):
    def __call__(self, *, assembly: PromptAssembly, context: AssembleContext) -> R_co: ...


class Next(Protocol[N_contra, R_co]):
    def __call__(self, *, call_next: N_contra) -> R_co: ...


class ANext(Protocol[N_contra, R_co]):
    def __call__(self, *, assembly: PromptAssembly, call_next: N_contra) -> R_co: ...


class CNext(Protocol[N_contra, R_co]):
    def __call__(self, *, context: AssembleContext, call_next: N_contra) -> R_co: ...


class ACNext(Protocol[N_contra, R_co]):
    def __call__(
        self, *, assembly: PromptAssembly, context: AssembleContext, call_next: N_contra
    ) -> R_co: ...


# The choices that each hook leaves

OfCtx: TypeAlias = Nothing[R_co] | Ctx[R_co]
OfEvent: TypeAlias = Nothing[R_co] | Event[R_co]
OfAssembly: TypeAlias = Nothing[R_co] | A[R_co] | C[R_co] | AC[R_co]
OfNext: TypeAlias = (
    Next[N_contra, R_co] | ANext[N_contra, R_co] | CNext[N_contra, R_co] | ACNext[N_contra, R_co]
)
