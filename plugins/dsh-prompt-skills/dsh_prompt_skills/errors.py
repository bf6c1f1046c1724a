"""Why a skill, or a file of one, cannot be had."""

from __future__ import annotations

from dsh_prompt import PromptError


class SkillError(PromptError):
    """Raised when a skill or a file of it is not there, or cannot be read; its text says why."""
