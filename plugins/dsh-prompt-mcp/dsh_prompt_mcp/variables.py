"""Values from the environment, which are nobody's to see."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from dsh_prompt_mcp.broken import BrokenError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: A shorter value is no secret, and could be part of any word.
_SHORTEST_SECRET: Final = 6


def expanded(values: Mapping[str, str]) -> dict[str, str]:
    """Give *values* with each `${NAME}` replaced by that variable of this process.

    Raises `BrokenError`, with the name alone, where it is not set.
    """
    return {name: _REFERENCE.sub(_value, text) for name, text in values.items()}


def secrets(values: Mapping[str, str]) -> tuple[str, ...]:
    """Give what nobody is to see of *values*: as they are once expanded, and each variable's."""
    texts = expanded(values).values()
    return (
        *texts,
        *(_value(match) for text in values.values() for match in _REFERENCE.finditer(text)),
    )


def passed(names: Iterable[str]) -> dict[str, str]:
    """Give those variables of this process that are set."""
    return {name: os.environ[name] for name in names if name in os.environ}


def _value(match: re.Match[str]) -> str:
    name = match.group(1)
    value = os.environ.get(name)
    if value is None:
        raise BrokenError(f"the environment variable {name} is not set")
    return value


def without(hidden: Iterable[str], text: str) -> str:
    """Give *text* without the *hidden* values that an error of somebody else may have quoted."""
    for secret in sorted(hidden, key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
