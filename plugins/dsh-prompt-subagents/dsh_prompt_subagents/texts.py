"""Texts about children, and by them, made visible, harmless and short."""

from __future__ import annotations

import logging
from typing import Final

from dsh_prompt import InvalidContributionError
from dsh_prompt.cutting import cut
from dsh_prompt.untrusted import clean, visible_name

_LOG: Final = logging.getLogger("dsh_prompt_subagents")
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"
_LONGEST_NAME: Final = 100
#: No instruction of people is that long, and nothing is cut out of one.
_LONGEST_PERSONA: Final = 100_000


def checked_name(name: object) -> str:
    """Give *name* where it can be told from others; raises `InvalidContributionError`."""
    if isinstance(name, str) and len(name) <= _LONGEST_NAME:
        shown = clean(visible_name(name)).text
        if name == shown == name.strip() != "":
            return name
    raise InvalidContributionError(
        f"the name of a child agent must be one line of up to {_LONGEST_NAME} visible characters, "
        f"not {_excerpt(name)}"
    )


def one_line(what: str, text: object, limit: int) -> str:
    """Give *text* in one line of about *limit* characters; what is wrong with it is logged.

    *what* names the text in the log, and in the `InvalidContributionError` for what is no text.
    """
    begun = " ".join(_checked(what, text)[: 20 * limit].split())
    short = cut(begun, limit)
    shown = _cleaned(what, short)
    if len(short) == len(begun) and len(str(text)) <= 20 * limit:
        return shown
    _LOG.warning("%s has %d characters, its beginning is shown", what, len(str(text)))
    return shown + _CUT


def whole_text(what: str, text: object) -> str:
    """Give all of *text* with its lines; one that is no text or too long raises."""
    checked = _checked(what, text)
    if len(checked) > _LONGEST_PERSONA:
        raise InvalidContributionError(
            f"{what} has {len(checked)} characters, more than {_LONGEST_PERSONA}"
        )
    return _cleaned(what, checked.replace("\r\n", "\n").replace("\r", "\n"))


def _checked(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise InvalidContributionError(f"{what} must be a str, not {type(text).__name__}")
    return text


def _cleaned(what: str, text: str) -> str:
    cleaned = clean(text)
    for problem in cleaned.findings():
        _LOG.warning("%s %s", what, problem)
    return cleaned.text


def _excerpt(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _LONGEST_NAME else shown[:_LONGEST_NAME] + _CUT
