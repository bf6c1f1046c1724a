"""Runs of pytest that have the pytest plugin, whether it is installed or only on the path."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

PLUGIN = "dsh_prompt.testing.fixtures"


@pytest.fixture(scope="session")
def kit() -> list[str]:
    """Give the arguments with which pytest finds the plugin, once."""
    installed = {point.value for point in entry_points(group="pytest11")}
    return [] if PLUGIN in installed else ["-p", PLUGIN]
