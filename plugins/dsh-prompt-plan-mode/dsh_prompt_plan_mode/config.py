"""What a user may set."""

from __future__ import annotations

import math
from typing import Any, Literal

import attrs

from dsh_prompt import SectionOrder

TEXT = """\
Plan mode is active: look and think, but change nothing. Do not write files, do not run commands \
that change anything, and do not ask other agents or services to do it for you. Tools that can \
change something are not available.

Find out what the task needs, and ask where it is unclear. Then give a plan: the steps in their \
order, what each one touches, how the result will be checked, and what is still open. Start on it \
only after the user has agreed and plan mode has ended."""

REASON = "plan mode is active, which allows read-only tools alone"

#: A checkout must not decide what plan mode says, where, nor which tools it takes for harmless.
_TRUSTED = {"dsh_prompt": {"trusted": True}}


def _mode(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if value not in ("narrow", "mask"):
        raise ValueError(f'{field.name} must be "narrow" or "mask", not {value!r}')


def _text(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{field.name} must be a text that is not blank, not {value!r}")


def _order(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    number = None if isinstance(value, bool) else value
    if not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(f"{field.name} must be a finite number, not {value!r}")


def _listed(value: Any) -> Any:
    """Give a list as a tuple; anything else is left for `_globs`."""
    return tuple(value) if isinstance(value, list) else value


def _globs(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, tuple):
        raise ValueError(f"{field.name} must be a list of tool names or globs, not {value!r}")  # noqa: TRY004
    for index, glob in enumerate(value):
        if not isinstance(glob, str) or not glob.strip():
            raise ValueError(f"{field.name}[{index}] must be a tool name or a glob, not {glob!r}")


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *mode*: `"narrow"` puts the plan text into the system prompt and takes out the tools that are
    not read-only; `"mask"` leaves system prompt and tool list as they are, gives the text as a
    runtime context and denies those tools.

    *text*: what the model is told; braces in it are plain text.

    *order*: where the text stands among the sections, or among the runtime contexts.

    *read_only*: names or globs of tools that plan mode keeps, whatever their annotations say.

    *not_read_only*: names or globs of tools that it never keeps; wins over all else.
    *reason*: what `authorize` answers for a denied tool; used by `"mask"` alone.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect.
    """

    mode: Literal["narrow", "mask"] = attrs.field(
        default="narrow", validator=_mode, metadata=_TRUSTED
    )
    text: str = attrs.field(default=TEXT, validator=_text, metadata=_TRUSTED)
    order: float = attrs.field(default=SectionOrder.PLAN_MODE, validator=_order, metadata=_TRUSTED)
    read_only: tuple[str, ...] = attrs.field(
        default=(), converter=_listed, validator=_globs, metadata=_TRUSTED
    )
    not_read_only: tuple[str, ...] = attrs.field(
        default=(), converter=_listed, validator=_globs, metadata=_TRUSTED
    )
    reason: str = attrs.field(default=REASON, validator=_text, metadata=_TRUSTED)
