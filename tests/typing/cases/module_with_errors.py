"""Hooks of a module that are wrong in ways that the marker alone cannot see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import PromptContext, hookimpl

if TYPE_CHECKING:
    from dsh_prompt import AssembleContext, DisposableContext, PromptSection


@hookimpl
def contribute_sections(context: DisposableContext) -> list[PromptSection]:
    """Call the argument by another name; it looks like a method without arguments."""
    return []


@hookimpl
def contribute_contexts(ctx: AssembleContext) -> list[PromptContext]:
    """Take the argument for something else."""
    return []
