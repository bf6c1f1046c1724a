"""Validators and converters for the fields of a plugin's `Config` (an attrs class).

A wrong value raises `ValueError` that names the field, what it must be and what it was; the host
adds the file and the key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    import attrs

Validator: TypeAlias = Callable[[object, "attrs.Attribute[Any]", object], None]

#: Metadata of a field that has no effect in the configuration of a checkout, until a person has
#: trusted that: ``attrs.field(metadata=TRUSTED)``.
TRUSTED: Final[Mapping[str, Any]] = {"dsh_prompt": {"trusted": True}}


def whole(low: int, high: int) -> Validator:
    """Make a validator of a whole number from *low* to *high*."""

    def check(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(
                f"{field.name} must be a whole number from {low} to {high}, not {value!r}"
            )

    return check


def seconds(high: float) -> Validator:
    """Make a validator of a time above zero and up to *high* seconds."""

    def check(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
        number = None if isinstance(value, bool) else value
        if not isinstance(number, int | float) or not 0 < number <= high:
            raise ValueError(
                f"{field.name} must be seconds above 0 and up to {high:g}, not {value!r}"
            )

    return check


def finite(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no finite number: the order of a section or context is one."""
    number = None if isinstance(value, bool) else value
    if not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError(f"{field.name} must be a finite number, not {value!r}")


def flag(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool):
        raise ValueError(f"{field.name} must be true or false, not {value!r}")  # noqa: TRY004


def words(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no text, or a blank one."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{field.name} must be a text that is not blank, not {value!r}")


def one_of(*choices: str) -> Validator:
    """Make a validator of one of *choices*."""

    def check(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
        if value not in choices:
            listed = " or ".join(f'"{choice}"' for choice in choices)
            raise ValueError(f"{field.name} must be {listed}, not {value!r}")

    return check


def listed(value: Any) -> Any:
    """Give a list as a tuple; anything else is left for the validator: a converter."""
    return tuple(value) if isinstance(value, list) else value


def each(complaint: Callable[[str], str], what: str = "strings") -> Validator:
    """Make a validator of a tuple of strings about which there is no *complaint*.

    *complaint* says what is wrong with an item; the empty string where nothing is. *what* is what
    the error calls the items.
    """

    def check(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
        if not isinstance(value, tuple):
            raise ValueError(f"{field.name} must be a list of {what}, not {value!r}")  # noqa: TRY004
        for index, item in enumerate(value):
            wrong = complaint(item) if isinstance(item, str) else "is not a string"
            if wrong:
                raise ValueError(f"{field.name}[{index}] {wrong}: {item!r}")

    return check
