"""The runtime context: which permission mode holds, and what it takes away."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from dsh_prompt.cutting import cut
from dsh_prompt.untrusted import Reports, quoted, visible_name
from dsh_prompt_policy.rules import Rule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt import RuntimeState
    from dsh_prompt_policy.config import Config

_LOG: Final = logging.getLogger("dsh_prompt_policy")
_LONGEST_NAME: Final = 100


class Permissions:
    """Says to a model what is allowed right now, and to a person what looks wrong in that."""

    def __init__(self, config: Config) -> None:
        self._modes = config.known_modes
        self._ask = Rule.of(config.ask, config.ask_in, config.known_modes)
        self._most = config.max_names
        self._reports = Reports(_LOG)

    def mode_text(self, state: RuntimeState | None) -> str:
        """Say which mode holds and what it allows; nothing where there is no state."""
        if state is None:
            return ""
        mode = mode_of(state)
        about = self._modes.get(mode)
        if about is None:
            about = "Nothing is known of this mode: what any mode restricts is restricted."
            self._reports.give(
                [f"permission mode {shown(mode)} is none that the setting modes knows"]
            )
        lines = [f"Permission mode: {shown(mode)}. {about}"]
        if ask := sorted(self._ask.in_mode(mode).written):
            lines.append(f"Calls of these wait for approval in it: {', '.join(map(quoted, ask))}.")
        return "\n".join(lines)

    def denied_text(self, names: Iterable[str]) -> str:
        """Name the denied tools, as many as the settings say; nothing where there are none."""
        names = sorted(names)
        self._reports.give(
            f"the name of the denied tool {shown(name)} holds hidden characters"
            for name in names
            if visible_name(name) != name
        )
        return f"Denied tools: {self._listed(names)}." if names else ""

    def _listed(self, names: list[str]) -> str:
        listed = ", ".join(map(shown, names[: self._most]))
        more = len(names) - self._most
        if more <= 0:
            return listed
        return f"{listed} and {more} more" if listed else str(more)


def mode_of(state: RuntimeState | None) -> str:
    """Give the name of the mode that holds.

    A member of a string enumeration is its value. What is no text is known by its type, so that
    it is the same in each process, and unknown to all settings.
    """
    if state is None:
        return "default"
    mode: object = state.permission_mode
    return str.__str__(mode) if isinstance(mode, str) else f"({type(mode).__name__})"


def shown(name: str) -> str:
    """Give a name that somebody else chose: in quotes and in one line, not too long."""
    visible = visible_name(name[: _LONGEST_NAME + 1])
    return quoted(visible if len(visible) <= _LONGEST_NAME else cut(visible, _LONGEST_NAME) + "...")
