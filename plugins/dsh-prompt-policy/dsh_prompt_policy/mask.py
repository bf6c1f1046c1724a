"""The deny list, as a mask over the tools of an assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import ToolSchema
from dsh_prompt_policy.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt import PromptAssembly
    from dsh_prompt_policy.config import Config

_ALWAYS = "the user's policy denies this tool"
_IN_MODE = "the user's policy denies this tool in permission mode {}"
_UNKNOWN = (
    "the user's policy does not know the permission mode {}, so it denies what it denies in "
    "any mode"
)


class Mask:
    """Denies tools by the settings; the list of tools stays byte for byte."""

    def __init__(self, config: Config) -> None:
        self._rule = Rule.of(config.deny, config.deny_in, config.known_modes)

    def apply(self, assembly: PromptAssembly, mode: str, shown_mode: str) -> None:
        """Deny in *assembly* what is denied in *mode*, which reasons call *shown_mode*."""
        in_mode = self._rule.in_mode(mode)
        if not self._rule.always and not in_mode:
            return
        reason = (_IN_MODE if mode in self._rule.by_mode else _UNKNOWN).format(shown_mode)
        names = [*tool_names(assembly), *self._rule.always.names, *in_mode.names]
        # Who denied a tool before had a reason of its own.
        for name in sorted(set(names) - assembly.denied.keys()):
            if self._rule.always.match(name):
                assembly.deny(name, _ALWAYS)
            elif in_mode.match(name):
                assembly.deny(name, reason)


def tool_names(assembly: PromptAssembly) -> Iterator[str]:
    """Name the tools of *assembly*; what is none is left to the host's guard."""
    return (tool.name for tool in assembly.tools if isinstance(tool, ToolSchema))
