"""Where a part of an assembly came from."""

from __future__ import annotations

from typing import Any, Literal

import attrs


@attrs.frozen
class Source:
    """Who put a section, context, tool or variable into an assembly.

    *plugin*, *distribution* and *version* are None for what the host itself contributed;
    *scope* is the name of the scope it was contributed to (None: global); *how* tells
    whether it was ``"contributed"`` or put there by the ``"waterfall"``.
    """

    plugin: str | None = None
    distribution: str | None = None
    version: str | None = None
    scope: str | None = None
    how: Literal["contributed", "waterfall"] = "contributed"

    @property
    def owner(self) -> str:
        """The owner as error messages name it: ``plugin "git" (dsh-prompt-git 1.0)``."""
        if self.plugin is None:
            return "the host" if self.scope is None else f'the host in scope "{self.scope}"'
        details = [f"{self.distribution} {self.version}"] if self.distribution else []
        if self.scope is not None:
            details.append(f'in scope "{self.scope}"')
        return f'plugin "{self.plugin}"' + (f" ({', '.join(details)})" if details else "")

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as JSON."""
        return {
            "plugin": self.plugin,
            "distribution": self.distribution,
            "version": self.version,
            "scope": self.scope,
            "how": self.how,
        }


def describe(source: Source | None) -> str:
    """Name the owner in *source*, or say that it is not known."""
    return "an unknown owner" if source is None else source.owner
