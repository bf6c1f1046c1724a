"""The bodies of requests, one file for each adapter and case, to be read and compared.

Run as a program, this file writes them.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.adapters.cases import ADAPTERS, CASES

GOLDEN = Path(__file__).with_name("golden")
NAMES = [(adapter, case) for adapter in ADAPTERS for case in CASES]


def written(adapter: str, case: str) -> str:
    """Give a case as its file has it."""
    return json.dumps(CASES[case](ADAPTERS[adapter]).to_dict(), indent=2) + "\n"


@pytest.mark.parametrize(("adapter", "case"), NAMES)
def test_the_body_is_that_of_the_file(adapter: str, case: str) -> None:
    """To the byte, keys in their order: that is what a cache compares."""
    file = GOLDEN / adapter / f"{case}.json"
    assert written(adapter, case) == file.read_text(encoding="utf-8")


def test_there_is_no_other_file() -> None:
    """Nothing is left of a case that is gone."""
    files = {(file.parent.name, file.stem) for file in GOLDEN.rglob("*.json")}
    assert files == set(NAMES)


if __name__ == "__main__":
    for name, title in NAMES:
        (GOLDEN / name).mkdir(parents=True, exist_ok=True)
        (GOLDEN / name / f"{title}.json").write_text(written(name, title), encoding="utf-8")
