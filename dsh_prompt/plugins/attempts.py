"""Failed attempts: code that failed is not run again by itself, before it changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt.errors import PluginLoadError
from dsh_prompt.plugins.discovery import is_unfinished

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dsh_prompt.errors import PromptError
    from dsh_prompt.plugins.discovery import Installed


def edition(installed: Installed) -> tuple[str, str]:
    """Give what tells one state of an installed plugin from another."""
    return (installed.distribution, installed.version)


class Attempts:
    """Remembers which editions of installed plugins failed, and how."""

    def __init__(self) -> None:
        #: The names of the plugins that failed, for whatever reason.
        self.names: set[str] = set()
        self._failed: dict[tuple[str, str, str], PluginLoadError] = {}

    def note(self, failed: Mapping[str, PromptError], tried: Mapping[str, Installed]) -> None:
        """Remember the errors in *failed* that the code of those *tried* is to blame for."""
        self.names.update(failed)
        for name, error in failed.items():
            if name not in tried or not isinstance(error, PluginLoadError):
                continue
            # It may have failed beside another one, or be still being written.
            is_guilty = error.__cause__ is not None and (
                error.plugin == name or error.plugin not in failed
            )
            if is_guilty and not is_unfinished(tried[name].distribution):
                # The error itself holds frames, and so what failed.
                self._failed[name, *edition(tried[name])] = PluginLoadError(
                    str(error), plugin=error.plugin, distribution=error.distribution
                )

    def failure(self, name: str, installed: Installed) -> PluginLoadError | None:
        """Give the error of *name* as it is *installed*, if that failed before."""
        return self._failed.get((name, *edition(installed)))

    def forget(self, names: Collection[str]) -> None:
        """Forget the failures of *names*: there is a reason to try again."""
        self.names.difference_update(names)
        self._failed = {key: one for key, one in self._failed.items() if key[0] not in names}
