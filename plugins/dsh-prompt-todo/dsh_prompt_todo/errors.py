"""Why a list of todos is not taken."""

from __future__ import annotations

from dsh_prompt import PromptError


class TodoError(PromptError, ValueError):
    """Raised for a list that the store does not take: *problems* tells what is wrong."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
