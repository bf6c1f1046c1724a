"""Warnings are told once, in one line, to people."""

from __future__ import annotations

import logging
import warnings
from typing import TYPE_CHECKING

from dsh_prompt.cli.messages import Messages

if TYPE_CHECKING:
    import pytest


def test_a_warning_is_one_line_and_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    """Line breaks become semicolons, control characters visible, repetitions nothing."""
    messages = Messages(with_traceback=False)
    for _ in range(2):
        messages.warn("first\n\nsecond \x1b\n", ValueError("hidden"))
    assert capsys.readouterr() == ("", "Warning: first; second \\x1b\n")


def test_loggers_and_warnings_are_heard_while_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """From WARNING on; before and after nothing is changed."""
    logger = logging.getLogger("some.plugin")

    async def main() -> int:
        logger.info("quiet")
        logger.warning("loud %s", 1)
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.warn("old\x1b", DeprecationWarning, stacklevel=1)
        return 7

    before = logging.getLogger().handlers[:]
    assert Messages(with_traceback=False).run(main) == 7
    assert logging.getLogger().handlers == before
    first, second, *rest = capsys.readouterr().err.splitlines()
    assert first == "Warning: loud 1"
    assert "DeprecationWarning: old\\x1b" in second
    assert rest == []


def test_tracebacks_of_loggers_are_shown_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    """Then an ignored logger is heard as well."""

    async def main() -> None:
        try:
            raise ValueError("why")  # noqa: TRY301
        except ValueError:
            logging.getLogger("ignored").exception("what")

    Messages(with_traceback=False, ignored="ignored").run(main)
    assert capsys.readouterr().err == ""
    Messages(with_traceback=True, ignored="ignored").run(main)
    told = capsys.readouterr().err
    assert told.startswith("Warning: what\nTraceback (most recent call last):")
    assert told.endswith("ValueError: why\n")


def test_a_broken_log_call_stops_nobody(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plugin that logs wrongly gets what logging always does about that."""
    monkeypatch.setattr(logging, "raiseExceptions", False)

    async def main() -> None:
        logging.getLogger("x").warning("%d", "no number")

    Messages(with_traceback=False).run(main)
    assert capsys.readouterr().err == ""
