"""What a user may set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs

from dsh_prompt.errors import nearest, short
from dsh_prompt.fields import TRUSTED, each, listed, whole
from dsh_prompt_policy.texts import MODES

if TYPE_CHECKING:
    from dsh_prompt.fields import Validator


def _about_glob(glob: str) -> str:
    return "" if glob.strip() and glob.isprintable() else "is no tool name or glob"


_GLOBS: Final = each(_about_glob, "tool names or globs")


def _tables_listed(value: Any) -> Any:
    """Give a table of lists as a copy with tuples; what is none is left for the validator."""
    if not isinstance(value, Mapping):
        return value
    return {key: listed(item) for key, item in value.items()}


def _copied(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _check_modes(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no table of names and texts."""
    for mode, text in _table(field.name, value, "modes and what the model is told in them"):
        if not isinstance(mode, str) or not mode.strip() or not mode.isprintable():
            raise ValueError(f"{field.name} has a mode without a name that can be read: {mode!r}")
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                f"{field.name}.{mode} must be a text that is not blank, not {short(text)}"
            )


def _check_globs_by_mode(instance: Any, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no table of known modes and globs: a misspelt mode would protect nobody."""
    for mode, globs in _table(field.name, value, "modes and lists of tool names or globs"):
        if mode not in instance.known_modes:
            hint = nearest(mode, instance.known_modes) if isinstance(mode, str) else ""
            raise ValueError(
                f"{field.name}.{mode} is no known mode{hint}; a mode of your own goes into "
                "modes, with a text"
            )
        _GLOBS(instance, field.evolve(name=f"{field.name}.{mode}"), globs)


def _table(name: str, value: object, what: str) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} must be a table of {what}, not {short(value)}")  # noqa: TRY004
    return value.items()


# A checkout that could choose these would take away what protects the user.
def _setting(validator: Validator, **more: Any) -> Any:
    return attrs.field(validator=validator, metadata=TRUSTED, **more)


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *modes*: a table of permission modes and what the model is told in them, besides or in place of
    those that are known from the start; braces are plain text.

    *deny*: names or globs of tools that are denied in every mode.

    *deny_in*: a table of modes and lists of tools that are denied there, besides those of *deny*.

    *ask*: names or globs of tools of which each call waits for the user's approval, in every mode.

    *ask_in*: a table of modes and lists of tools for which that holds there, besides *ask*.

    *max_names*: how many of the denied tools the model is told by name, 0 to 1000.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect.
    """

    modes: Mapping[str, str] = _setting(_check_modes, factory=dict, converter=_copied)
    deny: tuple[str, ...] = _setting(_GLOBS, default=(), converter=listed)
    deny_in: Mapping[str, tuple[str, ...]] = _setting(
        _check_globs_by_mode, factory=dict, converter=_tables_listed
    )
    ask: tuple[str, ...] = _setting(_GLOBS, default=(), converter=listed)
    ask_in: Mapping[str, tuple[str, ...]] = _setting(
        _check_globs_by_mode, factory=dict, converter=_tables_listed
    )
    max_names: int = _setting(whole(0, 1000), default=50)

    @property
    def known_modes(self) -> dict[str, str]:
        """The modes and their texts: those known from the start, and the user's."""
        return {**MODES, **self.modes}
