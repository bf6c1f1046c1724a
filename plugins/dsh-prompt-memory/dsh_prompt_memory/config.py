"""What a user may set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.fields import TRUSTED, flag, seconds, whole
from dsh_prompt.untrusted.places import about_path

if TYPE_CHECKING:
    from dsh_prompt.fields import Validator


def _place(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is not the same file whatever the working directory is."""
    if value is None:
        return
    if not isinstance(value, str) or about_path(value):
        raise ValueError(f"{field.name} must be a path, absolute or below ~, not {value!r}")
    try:
        Path(value).expanduser()
    except RuntimeError:
        raise ValueError(
            f"{field.name} must be below a home that there is, not {value!r}"
        ) from None


# A checkout that could choose these would have files written wherever it likes, give the model
# tools that the user has switched off, or fill each call with notes.
def _setting(default: object, validator: Validator) -> Any:
    return attrs.field(default=default, validator=validator, metadata=TRUSTED)


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *path*: the file of the notes, absolute or below `~`; None: one in the user's data folder.

    *tools*: whether the model gets the tools `remember` and `recall`, and rules for them.

    *max_items*: how many notes are shown at once, 0 to 100; 0 leaves the context out.

    *max_chars*: how many characters they may take together, frame included, 500 to 100,000.

    *max_note_chars*: how long one note may be, 50 to 100,000 characters: a longer one is not
    stored, and of one that comes from elsewhere the beginning is shown.

    *max_notes*: how many notes the file may hold, 1 to 1,000,000; past it none is added.

    *timeout*: the seconds to wait for another process that writes, up to 60.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect.
    """

    path: str | None = _setting(None, _place)
    tools: bool = _setting(True, flag)
    max_items: int = _setting(10, whole(0, 100))
    max_chars: int = _setting(4_000, whole(500, 100_000))
    max_note_chars: int = _setting(1_000, whole(50, 100_000))
    max_notes: int = _setting(10_000, whole(1, 1_000_000))
    timeout: float = _setting(10.0, seconds(60))
