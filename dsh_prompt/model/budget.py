"""How much of the model input one section or context may take, and what became of it."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Literal, TypeAlias

import attrs
from attrs.validators import in_, instance_of

from dsh_prompt.errors import InvalidContributionError

Overflow: TypeAlias = Literal["truncate", "drop", "error"]


class Priority(IntEnum):
    """Priorities of first-party runtime contexts: where room is short, the lowest goes first."""

    REST = 0
    MEMORY = 100
    SUMMARY = 200
    TODOS = 300
    PERMISSIONS = 400


def _limit(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidContributionError(
            f"budget {field.name} must be a whole number from 0, or None, not {value!r}"
        )


def _overflow(_instance: object, _field: object, value: object) -> None:
    if value not in ("truncate", "drop", "error"):
        raise InvalidContributionError(
            f'budget overflow must be "truncate", "drop" or "error", not {value!r}'
        )


def _priority(_instance: object, _field: object, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidContributionError(f"budget priority must be a whole number, not {value!r}")


@attrs.frozen
class Budget:
    """The most that the text of one section or context may have.

    *max_chars*: code points, without the title. *max_tokens*: as `approximate_tokens` counts.
    *max_items*: items of a list, which begin with ``-``, ``*``, ``+`` or a number at the beginning
    of a line. None is no limit. *overflow*: what becomes of a text that has more: ``"truncate"``
    leaves its beginning and says what is missing, ``"drop"`` leaves the whole out, ``"error"``
    raises `BudgetError`. *priority*: the lowest goes first where the whole input has to shrink.

    Raises `InvalidContributionError` for a value that none of these is.
    """

    max_chars: int | None = attrs.field(default=None, validator=_limit)
    max_tokens: int | None = attrs.field(default=None, validator=_limit)
    max_items: int | None = attrs.field(default=None, validator=_limit)
    overflow: Overflow = attrs.field(default="truncate", validator=_overflow)
    priority: int = attrs.field(default=0, validator=_priority)


@attrs.frozen
class Trimmed:
    """What became of a section or context that took more than its budget.

    *before* and *after* count the characters of its text, with the values of its variables and
    without its title.
    """

    kind: Literal["section", "context"] = attrs.field(validator=in_(("section", "context")))
    name: str = attrs.field(validator=instance_of(str))
    how: Literal["truncated", "dropped"] = attrs.field(validator=in_(("truncated", "dropped")))
    before: int = attrs.field(validator=instance_of(int))
    after: int = attrs.field(validator=instance_of(int))
