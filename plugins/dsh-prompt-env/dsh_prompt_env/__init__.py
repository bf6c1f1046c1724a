"""A dsh_prompt plugin that tells a model where it works.

It contributes the variables `platform`, `shell`, `cwd`, `model` and `provider`, and the runtime
contexts `env:workdir`, `env:open-files` and `env:notes`. The module is the plugin:
`SystemPrompt().load(dsh_prompt_env)`, or installed, by its entry point `env`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dsh_prompt import hookimpl
from dsh_prompt.untrusted import Reports
from dsh_prompt_env.config import Config
from dsh_prompt_env.contexts import contexts
from dsh_prompt_env.variables import variables

if TYPE_CHECKING:
    from dsh_prompt import DisposableContext

__all__ = ["Config", "activate"]


@hookimpl
def activate(ctx: DisposableContext) -> None:
    """Register the variables that the settings list, and the contexts of the state."""
    reports = Reports(logging.getLogger("dsh_prompt_env"))
    for name, value in variables(ctx.config, reports).items():
        ctx.variable(name, value)
    for context in contexts(ctx.config, reports):
        ctx.context(context)
