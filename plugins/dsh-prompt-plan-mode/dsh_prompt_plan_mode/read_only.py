"""Which tools plan mode keeps."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt import ToolSchema
    from dsh_prompt_plan_mode.config import Config


def is_read_only(tool: ToolSchema, config: Config) -> bool:
    """Tell whether *tool* is read-only: what the settings list, else what its annotations say.

    A tool of which nothing is known is not read-only.
    """
    if _matches(tool.name, config.not_read_only):
        return False
    return _matches(tool.name, config.read_only) or _says_so(tool)


def _matches(name: str, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _says_so(tool: ToolSchema) -> bool:
    # Only the boolean counts, and a tool that also calls itself destructive is not believed.
    hints = tool.annotations
    return hints.get("readOnlyHint") is True and not hints.get("destructiveHint")
