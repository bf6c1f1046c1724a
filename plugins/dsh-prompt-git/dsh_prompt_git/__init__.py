"""A dsh_prompt plugin that tells a model where its git repository stands.

It contributes a runtime context named `git` and a variable named `git_branch`. The module is the
plugin: `SystemPrompt().load(dsh_prompt_git)`, or installed, by its entry point `git`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import PromptContext, hookimpl
from dsh_prompt_git.config import Config
from dsh_prompt_git.providers import branch_provider, context_provider

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext

__all__ = ["Config", "activate", "contribute_contexts"]


@hookimpl
def contribute_contexts(ctx: DisposableContext) -> list[PromptContext]:
    """Give the context of the repository around the agent's working directory."""
    return [
        PromptContext(
            name="git",
            order=20,
            title="Git repository",
            text=context_provider(ctx.config),
            literal=True,
            blocking=True,
        )
    ]


@hookimpl
def activate(ctx: DisposableContext) -> None:
    """Register the variable here, since a mapping of variables has no place for *blocking*."""
    ctx.variable("git_branch", branch_provider(ctx.config), blocking=True)
