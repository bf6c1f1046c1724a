"""A fingerprint says what the bytes are, and nothing of where they were made."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dsh_prompt
from tests.laws import fingerprint_child, strategies
from tests.laws.world import NAMED_KINDS, Item, World

ROOT = Path(dsh_prompt.__file__).parents[1]
ENVIRONMENTS = {
    "other hash seed": {"PYTHONHASHSEED": "1"},
    "no hash seed": {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "0"},
    "turkish": {"PYTHONHASHSEED": "2", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "latin": {"PYTHONHASHSEED": "3", "LC_ALL": "de_DE.ISO-8859-1", "PYTHONCOERCECLOCALE": "0"},
    "other time zone": {"PYTHONHASHSEED": "4", "TZ": "Asia/Kathmandu"},
    "optimised": {"PYTHONHASHSEED": "5", "PYTHONOPTIMIZE": "2"},
}


@pytest.mark.parametrize("environment", ENVIRONMENTS.values(), ids=ENVIRONMENTS)
def test_fingerprints_are_equal_in_every_process(
    environment: dict[str, str], tmp_path: Path
) -> None:
    """Other hash seeds, locales, time zones and directories give the same digests."""
    run = subprocess.run(
        [sys.executable, fingerprint_child.__file__],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    ours = fingerprint_child.fingerprint()
    expected = {field: getattr(ours, field) for field in fingerprint_child.FIELDS}
    assert json.loads(run.stdout) == expected


@given(items=st.lists(strategies.items(NAMED_KINDS), max_size=8))
def test_a_fingerprint_does_not_change(items: list[Item]) -> None:
    """Assembling again gives the same digests, as does asking twice."""
    world = World()
    world.add_all(items)
    assembly = world.prompt.assemble(scope=world.child)
    assert assembly.fingerprint() == assembly.fingerprint()
    assert world.prompt.assemble(scope=world.child).fingerprint() == assembly.fingerprint()


@pytest.mark.parametrize(
    ("kind", "part"), [("section", "system"), ("context", "contexts"), ("tool", "tools")]
)
def test_a_fingerprint_tells_contents_apart(kind: str, part: str) -> None:
    """Another text changes the digest of its part and of all, and of no other part."""
    one, other = World(), World()
    one.add(Item(kind, 0, "name", text="one", dynamic=kind == "section"))
    other.add(Item(kind, 0, "name", text="other", dynamic=kind == "section"))
    ours, theirs = (world.prompt.assemble().fingerprint() for world in (one, other))
    parts = ["system", "contexts", "tools", "all"]
    assert {p for p in parts if getattr(ours, p) != getattr(theirs, p)} == {part, "all"}
    assert (ours.prefix == theirs.prefix) is (kind != "tool")
