"""Validators of settings: each error names the field, what it must be, and what it was."""

from __future__ import annotations

import math
from typing import Any

import attrs
import pytest

from dsh_prompt.config.settings import needs_trust
from dsh_prompt.fields import TRUSTED, each, finite, flag, listed, one_of, seconds, whole, words


def about(name: str) -> str:
    return "" if name else "is empty"


@attrs.frozen(kw_only=True)
class Settings:
    """One field for each validator."""

    count: int = attrs.field(default=1, validator=whole(0, 9))
    wait: float = attrs.field(default=1, validator=seconds(60))
    order: float = attrs.field(default=1, validator=finite)
    on: bool = attrs.field(default=True, validator=flag)
    text: str = attrs.field(default="x", validator=words)
    mode: str = attrs.field(default="a", validator=one_of("a", "b"))
    names: tuple[str, ...] = attrs.field(default=(), converter=listed, validator=each(about))


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("count", 10, "count must be a whole number from 0 to 9, not 10"),
        ("count", True, "count must be a whole number from 0 to 9, not True"),
        ("count", 1.0, "count must be a whole number from 0 to 9, not 1.0"),
        ("wait", 0, "wait must be seconds above 0 and up to 60, not 0"),
        ("wait", 61, "wait must be seconds above 0 and up to 60, not 61"),
        ("order", math.nan, "order must be a finite number, not nan"),
        ("order", False, "order must be a finite number, not False"),
        ("on", 1, "on must be true or false, not 1"),
        ("text", " ", "text must be a text that is not blank, not ' '"),
        ("mode", "c", 'mode must be "a" or "b", not \'c\''),
        ("names", "ab", "names must be a list of strings, not 'ab'"),
        ("names", ["a", 1], "names[1] is not a string: 1"),
        ("names", ["a", ""], "names[1] is empty: ''"),
    ],
)
def test_a_wrong_value_is_refused(field: str, value: Any, expected: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole message is compared
        Settings(**{field: value})
    assert str(caught.value) == expected


def test_a_right_value_is_taken() -> None:
    made = Settings(count=9, wait=0.5, order=-1.5, on=False, text="y", mode="b", names=["a"])
    assert made.names == ("a",)


def test_the_mark_is_what_the_host_looks_for() -> None:
    @attrs.frozen
    class Marked:
        program: str = attrs.field(default="", metadata=TRUSTED)

    assert needs_trust(attrs.fields(Marked).program)
