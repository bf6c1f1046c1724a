"""The fresh process: does one job, and answers on what was its standard output."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

from dsh_prompt.testing import clock, listings

#: Where a clock that stands still stands: another day in some time zones.
_INSTANT = 1_767_299_400.0  # 2026-01-01 20:30 UTC


def run(job: dict[str, Any]) -> None:
    """Do the *job*; what plugins print goes to standard error."""
    with os.fdopen(os.dup(1), "w", encoding="ascii") as answer:
        os.dup2(2, 1)
        json.dump(_outcome(job), answer)


def _outcome(job: dict[str, Any]) -> dict[str, Any]:
    if job["frozen"]:
        clock.install(_INSTANT)
    if job["turned"] is not None:
        listings.sort(turned=job["turned"])
    module, _, function = job["task"].partition(":")
    try:
        return {"result": getattr(import_module(module), function)(**job["arguments"])}
    except (Exception, SystemExit, BaseExceptionGroup) as error:  # noqa: BLE001 - it is the answer
        return {"error": describe(error)}


def describe(error: BaseException) -> str:
    """Tell what was raised: our own errors speak for themselves, others need their type."""
    from dsh_prompt.errors import PromptError, text_of  # noqa: PLC0415 - only for an error

    if isinstance(error, BaseExceptionGroup):
        return f"{error.message}: {'; '.join(map(describe, error.exceptions))}"
    if isinstance(error, SystemExit):
        return "it tried to end the program (SystemExit)"
    if isinstance(error, PromptError):
        return text_of(error)
    return f"{type(error).__name__}: {text_of(error)}"
