"""Which tools a rule is about, and in which permission mode."""

from __future__ import annotations

import re
from fnmatch import translate
from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_WILDCARD: Final = re.compile(r"[*?\[]")


@attrs.frozen
class Globs:
    """Tool names and patterns of such; upper and lower case differ, on every platform."""

    names: frozenset[str]
    #: All patterns in one, which is far quicker than one after the other.
    pattern: re.Pattern[str] | None
    #: Each as it was written: a tool may have a name that looks like a pattern.
    written: frozenset[str]

    @classmethod
    def of(cls, globs: Iterable[str]) -> Globs:
        """Take apart plain names and those with wildcards."""
        written = frozenset(globs)
        wild = {glob for glob in written if _WILDCARD.search(glob)}
        pattern = "|".join(translate(glob) for glob in sorted(wild))
        return cls(written - wild, re.compile(pattern) if wild else None, written)

    def __bool__(self) -> bool:
        return bool(self.written)

    def match(self, name: str) -> bool:
        """Tell whether one of them is *name*, or matches the whole of it."""
        return name in self.written or bool(self.pattern and self.pattern.match(name))


@attrs.frozen
class Rule:
    """A rule about tools: *always*, in each of the modes of *by_mode*, and *in_unknown* ones.

    In a mode of which nobody has said anything, what holds in any mode holds: a misspelt mode takes
    away tools, and no protection.
    """

    always: Globs
    by_mode: Mapping[str, Globs]
    in_unknown: Globs

    @classmethod
    def of(
        cls,
        always: Iterable[str],
        in_mode: Mapping[str, Iterable[str]],
        known_modes: Iterable[str],
    ) -> Rule:
        """Make a rule of settings; *known_modes* are all that there are."""
        return cls(
            Globs.of(always),
            {mode: Globs.of(in_mode.get(mode, ())) for mode in known_modes},
            Globs.of(glob for globs in in_mode.values() for glob in globs),
        )

    def in_mode(self, mode: str) -> Globs:
        """Give what the rule is about in *mode*, besides *always*."""
        return self.by_mode.get(mode, self.in_unknown)

    def holds(self, tool: str, mode: str) -> bool:
        """Tell whether the rule is about *tool* while *mode* holds."""
        return self.always.match(tool) or self.in_mode(mode).match(tool)
