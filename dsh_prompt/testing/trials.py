"""A host in which a plugin is tried, with what the plugin needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.plugins.discovery import discover
from dsh_prompt.system_prompt import SystemPrompt
from dsh_prompt.testing.samples import sample_tools

if TYPE_CHECKING:
    from dsh_prompt.config.config import Config


def sample_host(config: Config | None = None) -> SystemPrompt:
    """Make a host with the sample tools: from a provider, so that their names are free."""
    host = SystemPrompt(config)
    host.tools(sample_tools)
    return host


async def load_needs(host: SystemPrompt, plugin: object) -> None:
    """Load the installed plugins that *plugin* requires, and what they require."""
    for needed in _requires(plugin):
        if needed not in [info.name for info in host.plugins]:
            await load_needs(host, needed)
            await host.load_async(needed)


def _requires(plugin: object) -> tuple[str, ...]:
    """Give the names of what *plugin* requires, as far as that can be told before it is loaded."""
    if isinstance(plugin, str):
        installed = discover().plugins.get(plugin)
        try:
            plugin = None if installed is None else installed.load()
        except Exception:  # noqa: BLE001 - the load says why, and names the plugin
            return ()
    requires = getattr(plugin, "requires", ())
    if not isinstance(requires, list | tuple):
        return ()
    return tuple(name for name in requires if isinstance(name, str))
