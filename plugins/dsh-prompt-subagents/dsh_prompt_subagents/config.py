"""What a user may set."""

from __future__ import annotations

import re
from typing import Any, Final

import attrs

from dsh_prompt.fields import TRUSTED, flag, whole, words

#: What every provider takes for the name of a tool.
_TOOL: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


def _tool_name(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, str) or not _TOOL.fullmatch(value):
        raise ValueError(
            f"{field.name} must be the name of a tool, up to 64 letters, digits, _ and -, "
            f"not {value!r}"
        )


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *tool*: the name of the tool with which a model delegates. The rules are there where it is.

    *tool_schema*: whether the plugin contributes that tool; false where the loop has its own.

    *rules*: what the model is told about delegating (None: the plugin's own words); braces in it
    are plain text.

    *max_shown*: how many children the roster names, 1 to 200.

    *max_chars*: how many characters it shows of a description, and of a result, 20 to 5000.

    A value outside of these raises `ValueError` naming the field. The first three need trust: a
    checkout must not choose the words or the tools of an agent.
    """

    tool: str = attrs.field(default="delegate", validator=_tool_name, metadata=TRUSTED)
    tool_schema: bool = attrs.field(default=True, validator=flag, metadata=TRUSTED)
    rules: str | None = attrs.field(
        default=None, validator=attrs.validators.optional(words), metadata=TRUSTED
    )
    max_shown: int = attrs.field(default=20, validator=whole(1, 200))
    max_chars: int = attrs.field(default=300, validator=whole(20, 5000))
