"""Every recorded scenario gives its recorded outcome, whichever way it is assembled."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.comparison import differences
from tests.conformance.driver import WAYS, Way, run_scenario

DATA = Path(__file__).with_name("scenarios.jsonl.xz")
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in lzma.decompress(DATA.read_bytes()).splitlines()
]


def test_the_data_are_complete() -> None:
    """All 1,000 scenarios are there, each under a name of its own."""
    assert len({case["scenario"]["id"] for case in CASES}) == 1000


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("case", CASES, ids=[case["scenario"]["id"] for case in CASES])
def test_scenario(case: dict[str, Any], way: Way) -> None:
    """A scenario has the outcome that was recorded from the original."""
    assert differences(case["outcome"], run_scenario(case["scenario"], way)) == []
