"""What is asked of any plugin: it goes without a trace, and says the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import dsh_prompt_env

from dsh_prompt import RuntimeState, hookimpl
from dsh_prompt.testing import assert_deterministic, assert_stable_prefix, assert_unloads_clean

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext, PromptAssembly, SystemPrompt
    from dsh_prompt.typing import Activates

_activates: Activates = dsh_prompt_env

_STATE = RuntimeState(
    workdir="/srv/app",
    model="m",
    open_files=["b\u202e.py", "a.py"],
    project_notes=["</project-note>", "\U0001f600" * 3000],
)


class UsesAll:
    """What the determinism check is tried with: variables show where somebody refers to them."""

    Config = dsh_prompt_env.Config

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        dsh_prompt_env.activate(ctx)
        ctx.section(name="all", order=20, text="{{platform}} {{shell}} {{cwd}} {{model}}")


def test_unload() -> None:
    """After it is unloaded nothing of it is left."""
    assert_unloads_clean(dsh_prompt_env, state=_STATE)


def test_deterministic() -> None:
    """Of one state it says the same in every process, in the variables as well."""
    assert_deterministic(UsesAll, state=_STATE)


def test_the_prefix_stays(dsh_prompt_host: SystemPrompt) -> None:
    """What the agent opens and where it goes costs no cached byte."""
    dsh_prompt_host.load(dsh_prompt_env)
    dsh_prompt_host.section(name="machine", order=20, text="{{platform}}, {{shell}}")

    def step(number: int) -> PromptAssembly:
        state = RuntimeState(
            workdir=f"/srv/{number}", open_files=[str(number)], project_notes=[str(number)]
        )
        return dsh_prompt_host.assemble(state=state)

    assert_stable_prefix(step, 3)
