"""The names of a new plugin, all made of one."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

import attrs

from dsh_prompt.errors import InvalidContributionError, shown

if TYPE_CHECKING:
    from dsh_prompt.plugins.discovery import Discovery

PREFIX = "dsh-prompt-"
#: Lines of the templates have room for as much.
LONGEST = 40
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


@attrs.frozen
class Names:
    """The names of one plugin; *plugin* is the one that a host and its users know."""

    plugin: str

    @classmethod
    def of(cls, name: str) -> Names:
        """Make the names of *name*, with or without ``dsh-prompt-`` before it.

        Raises `InvalidContributionError` for one that is not normalised, with the nearest
        that is.
        """
        plugin = name.removeprefix(PREFIX)
        if _NAME.fullmatch(plugin) and len(plugin) <= LONGEST:
            return cls(plugin)
        better = re.sub("[^a-z0-9]+", "-", plugin.lower()).lstrip("-0123456789")
        better = better[:LONGEST].rstrip("-")
        hint = f'; did you mean "{better}"?' if better else ""
        raise InvalidContributionError(
            f'"{shown(name)}" cannot be the name of a plugin: it takes lower-case letters, digits '
            f"and single hyphens, begins with a letter and has {LONGEST} characters at the most"
            f"{hint}"
        )

    @property
    def distribution(self) -> str:
        """The name of the package, as installers know it."""
        return f"{PREFIX}{self.plugin}"

    @property
    def module(self) -> str:
        """The name of the package, as Python imports it; never a keyword, nor Python's own."""
        return f"dsh_prompt_{self.identifier}"

    @property
    def identifier(self) -> str:
        """The plugin's name for variables and tools."""
        return self.plugin.replace("-", "_")

    def check_free(self, installed: Discovery) -> None:
        """Raise `InvalidContributionError` if what is installed has one of the names."""
        other = installed.plugins.get(self.plugin)
        if other is not None:
            raise InvalidContributionError(
                f'a plugin "{self.plugin}" is installed already, by {other.distribution} '
                f"{other.version}; take another name"
            )
        if find_spec(self.module) is not None:
            raise InvalidContributionError(
                f"there is a module {self.module} already, which Python would import in place of "
                "the plugin's; take another name"
            )
