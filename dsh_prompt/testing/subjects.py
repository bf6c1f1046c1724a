"""What is to be checked, as JSON: a plugin, its configuration, the states that it is given."""

from __future__ import annotations

import json
from contextlib import chdir
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.config.config import Config
from dsh_prompt.model.state import RuntimeState
from dsh_prompt.testing.samples import rich_state
from dsh_prompt.testing.targets import Target
from dsh_prompt.testing.trials import load_needs, sample_host

if TYPE_CHECKING:
    from dsh_prompt.lifecycle.disposable import Scope
    from dsh_prompt.system_prompt import SystemPrompt


@attrs.frozen
class Subject:
    """A plugin to look at in fresh processes.

    *config* is what it is loaded with (None: what the host's configuration says), *folder*
    one with sample files. *state* is the one state to assemble with (None: without a state,
    and with a rich one). *settings* are the directory and the file of the host's
    configuration (None: the default configuration).
    """

    target: Target
    folder: str
    config: Any = None
    state: dict[str, Any] | None = None
    settings: tuple[str, str | None] | None = None

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Subject:
        """Build it from what ``attrs.asdict`` gave."""
        return cls(**{**data, "target": Target(**data["target"])})

    @property
    def states(self) -> dict[str, RuntimeState | None]:
        """The states to assemble with, and what they are called."""
        if self.state is not None:
            return {"the given state": RuntimeState.from_dict(self.state)}
        return {"no state": None, "a rich state": rich_state(self.folder)}

    def host_config(self) -> Config:
        """Read the configuration of the host, from where its user keeps it."""
        if self.settings is None:
            return Config()
        directory, file = self.settings
        with chdir(directory):
            return Config.load(file)

    async def host(self) -> SystemPrompt:
        """Make a host without the plugin, but with what it requires."""
        host = sample_host(self.host_config())
        await load_needs(host, self.target.found())
        return host

    async def load(self, host: SystemPrompt, scope: Scope | None = None) -> str:
        """Load the plugin into *host*, and give its name."""
        info = await host.load_async(self.target.found(), None, self.config, scope)
        return info.name


def as_json(config: object) -> Any:
    """Give a plugin's *config* as JSON: a mapping, or the fields of an attrs instance.

    Raises `TypeError` for what JSON cannot hold.
    """
    if attrs.has(type(config)):
        config = attrs.asdict(config)  # type: ignore[arg-type]
    try:
        return json.loads(json.dumps(config, allow_nan=False))
    except (TypeError, ValueError) as error:
        message = f"config is sent to fresh processes, so it must be JSON: {error}"
        raise TypeError(message) from error
