"""What a user may set."""

from __future__ import annotations

from typing import Any, Final

import attrs

from dsh_prompt.fields import TRUSTED, each, listed, whole
from dsh_prompt_env.showing import shown_line

#: The variables that there are.
VARIABLES: Final = ("platform", "shell", "cwd", "model", "provider")
_LONGEST: Final = 200


def _about_variable(name: str) -> str:
    return "" if name in VARIABLES else f"is none of {', '.join(VARIABLES)}"


def _line(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str) or not value.strip() or shown_line(value, _LONGEST).problems:
        raise ValueError(
            f"{field.name} must be one line of up to {_LONGEST} visible characters, not {value!r}"
        )


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *variables*: which variables there are; leave out those that somebody else registers.

    *platform*, *shell*: what the variables of that name say (None: what this process finds out);
    for agents whose commands run on another machine than the host.

    *max_open_files*: how many open files are named, 0 to 1000; 0 leaves the context out.

    *max_open_chars*: how many characters their names take together, 100 to 100,000.

    *max_notes*: how many project notes are shown, 0 to 100; 0 leaves the context out.

    *max_note_chars*: how many characters of each note are shown, 100 to 100,000.

    A value outside of these raises `ValueError` naming the field. All but *max_open_files* need
    trust: a checkout must not speak through the variables, take away notes or lift their limits.
    """

    variables: tuple[str, ...] = attrs.field(
        default=VARIABLES,
        converter=listed,
        validator=each(_about_variable, "names of variables"),
        metadata=TRUSTED,
    )
    platform: str | None = attrs.field(default=None, validator=_line, metadata=TRUSTED)
    shell: str | None = attrs.field(default=None, validator=_line, metadata=TRUSTED)
    max_open_files: int = attrs.field(default=20, validator=whole(0, 1000))
    max_open_chars: int = attrs.field(default=8000, validator=whole(100, 100_000), metadata=TRUSTED)
    max_notes: int = attrs.field(default=20, validator=whole(0, 100), metadata=TRUSTED)
    max_note_chars: int = attrs.field(default=2000, validator=whole(100, 100_000), metadata=TRUSTED)
