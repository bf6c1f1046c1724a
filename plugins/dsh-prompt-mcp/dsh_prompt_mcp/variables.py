"""Values from the environment, which are nobody's to see."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from dsh_prompt_mcp.broken import BrokenError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f]")
#: A key in a variable has several lines.
_CONTROLS_IN_LINES: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def variables(values: Mapping[str, str]) -> dict[str, str]:
    """Give variables of an environment with each `${NAME}` replaced by that of this process.

    Raises `BrokenError`, with names alone, where one is not set or a value cannot be used.
    """
    return _checked("variable", expanded(values), of_variable)


def headers(values: Mapping[str, str]) -> dict[str, str]:
    """Give headers in the same way, without the white space around them.

    It means nothing there, and is left over from a file that was read.
    """
    return _checked("header", {k: v.strip() for k, v in expanded(values).items()}, of_header)


def of_variable(text: str) -> str:
    """Say what is wrong with *text* as the value of a variable, without it."""
    return "holds a control character" if _CONTROLS_IN_LINES.search(text) else ""


def of_header(text: str) -> str:
    """Say what is wrong with *text* as the value of a header, without it."""
    if _CONTROLS.search(text.strip()):
        return "holds a line break or another control character"
    return "" if text.isascii() else "holds what is not ASCII"


def expanded(values: Mapping[str, str]) -> dict[str, str]:
    """Give *values* with each `${NAME}` replaced by that variable of this process.

    Raises `BrokenError`, with the name alone, where it is not set.
    """
    return {name: _REFERENCE.sub(_value, text) for name, text in values.items()}


def secrets(values: Mapping[str, str]) -> tuple[str, ...]:
    """Give what nobody is to see of *values*: as they are once expanded, and each variable's.

    What follows the first word is as secret as the whole: that may be `Bearer`.
    """
    texts = expanded(values).values()
    return (
        *texts,
        *(text.partition(" ")[2] for text in texts),
        *(_value(match) for text in values.values() for match in _REFERENCE.finditer(text)),
    )


def passed(names: Iterable[str]) -> dict[str, str]:
    """Give those variables of this process that are set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def _checked(kind: str, values: dict[str, str], complaint: Callable[[str], str]) -> dict[str, str]:
    for name, text in values.items():
        if what := complaint(text):
            raise BrokenError(f"cannot be given the {kind} {name}: its value {what}")
    return values


def _value(match: re.Match[str]) -> str:
    name = match.group(1)
    value = os.environ.get(name)
    if value is None:
        raise BrokenError(f"the environment variable {name} is not set")
    return value
