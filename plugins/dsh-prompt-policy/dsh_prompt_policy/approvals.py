"""Which calls wait for the user's approval, for the loop that runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dsh_prompt import Key
from dsh_prompt_policy.rules import Rule

if TYPE_CHECKING:
    from dsh_prompt_policy.config import Config


class Approvals:
    """The service that an agent loop asks before it runs a call which nobody refused."""

    def __init__(self, config: Config) -> None:
        self._rule = Rule.of(config.ask, config.ask_in, config.known_modes)

    def needed(self, tool: str, mode: str = "default") -> bool:
        """Tell whether a call of *tool* waits for the user's approval while *mode* holds.

        *mode* is `state.permission_mode`; in one that the settings do not know, a call waits if it
        does so in any. Whether the call is refused anyway, `assembly.authorize(tool)` tells.
        """
        return self._rule.holds(tool, mode)


#: The key of the service: `prompt.require(APPROVALS)`.
APPROVALS: Final = Key[Approvals]("policy-approvals")
