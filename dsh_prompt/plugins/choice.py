"""Which of the installed plugins a host loads, and why not the others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import attrs

from dsh_prompt.errors import nearest, shown
from dsh_prompt.hookspecs import plugin_names

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from dsh_prompt.config.config import Config, PluginsConfig

#: Comma-separated names: if set, ``load_entry_points`` loads no others.
PLUGINS_VARIABLE = "DSH_PROMPT_PLUGINS"


@attrs.frozen
class LeftOut:
    """Why an installed plugin was not loaded: *state* is ``disabled`` or ``blocked``."""

    state: Literal["disabled", "blocked"]
    reason: str


@attrs.frozen
class Choice:
    """The *names* to load, why the others that are installed are *left_out*.

    *kept_out* are those of them that a file that is not trusted takes away from the user;
    *problems* tells of names that are probably misspelt.
    """

    names: list[str]
    left_out: Mapping[str, LeftOut]
    kept_out: list[str]
    problems: list[str]


@attrs.frozen
class Wanted:
    """What a host asked for: *only* these plugins (None: all), but none of *block*.

    *unloaded* are those that it unloaded by name since.
    """

    only: tuple[str, ...] | None = None
    block: tuple[str, ...] = ()
    unloaded: set[str] = attrs.field(factory=set)

    @classmethod
    def asked(cls, only: Iterable[str] | None, block: Iterable[str]) -> Wanted:
        """Read the arguments of ``load_entry_points``."""
        return cls(
            None if only is None else plugin_names(only, "only"), plugin_names(block, "block")
        )


def choose(
    config: Config, installed: Collection[str], loaded: Collection[str], wanted: Wanted
) -> Choice:
    """Choose what to load of what is *installed* and not *loaded* yet.

    *wanted* takes the place of what *config* wants, or narrows it; the environment narrows
    both.
    """
    asked, blocked = wanted.only, wanted.block
    allowed = _allowed_by_environment()

    def objection(name: str, settings: PluginsConfig) -> LeftOut | None:
        if name in blocked or name in wanted.unloaded:
            reason = "the caller blocked it" if name in blocked else "it was unloaded by name"
            return LeftOut("blocked", reason)
        if name in settings.disable:
            place = _place(config, "disable", lambda names: name in (names or ()))
            return LeftOut("disabled", f"plugins.disable in {place} names it")
        if allowed is not None and name not in allowed:
            return LeftOut("blocked", f"{PLUGINS_VARIABLE} does not name it")
        if asked is not None:
            return None if name in asked else LeftOut("blocked", "the caller named others")
        if settings.autoload or name in settings.enable:
            return None
        place = _place(config, "autoload", lambda value: value is False)
        reason = f"plugins.autoload in {place} is off, and plugins.enable does not name it"
        return LeftOut("disabled", reason)

    candidates = dict.fromkeys((*(asked or ()), *installed, *config.plugins.enable))
    names = [name for name in candidates if name not in loaded]
    objections = {name: objection(name, config.plugins) for name in names}
    left_out = {name: why for name, why in objections.items() if why and name in installed}
    own = config.own_plugins
    return Choice(
        [name for name, why in objections.items() if why is None],
        left_out,
        [name for name in left_out if own is not None and objection(name, own) is None],
        list(_misspelt(config, allowed or (), {*installed, *loaded})),
    )


def _misspelt(config: Config, allowed: Iterable[str], known: Collection[str]) -> Iterator[str]:
    """Tell of names that nothing has, where something has nearly the same."""
    for place, names in (
        ("plugins.disable", config.plugins.disable),
        ("plugins.config", config.plugins.config),
        (PLUGINS_VARIABLE, sorted(allowed)),
    ):
        for name in names:
            if name not in known and (hint := nearest(name, known, cutoff=0.65)):
                yield f'{place} names "{shown(name)}", which is not installed{hint}'


def _place(config: Config, key: str, counts: Callable[[Any], bool]) -> str:
    """Give the nearest file in whose ``[plugins]`` the value of *key* is one that *counts*."""
    said = [file for file in config.files if counts(file.data.get("plugins", {}).get(key))]
    return shown(str(said[-1].path)) if said else config.file or "the configuration"


def _allowed_by_environment() -> set[str] | None:
    """Give the names that the safety switch lets through; None where it is not set."""
    value = os.environ.get(PLUGINS_VARIABLE)
    return None if value is None else {name.strip() for name in value.split(",")}
