"""A process is killed in the middle of a conversation, and another one goes on with it."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conversation import killed

ROOT = Path(__file__).parents[2]
STYLE = "Answer in full sentences."
PLACES = [
    "before the step, not kept",
    "before the step, kept",
    "after the step, not kept",
    "after the step, kept",
    "after the call",
    "after the commit, not kept",
    "after the commit, kept",
    "after the tool",
]
#: Where a request was sent whose reply is lost: it is sent again.
AGAIN = ("after the call", "after the commit, not kept")


def begin(folder: Path, place: str, style: str = STYLE) -> subprocess.Popen[str]:
    """Begin the program, or let another process go on with it."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    return subprocess.Popen(
        [sys.executable, killed.__file__, str(folder), place, style],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def kill(folder: Path, place: str) -> None:
    """Kill the program at *place*."""
    with begin(folder, place) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{place}\n"
        process.kill()
    assert process.returncode != 0


def finish(folder: Path, style: str = STYLE) -> None:
    """Let the program run to its end."""
    with begin(folder, "nowhere", style) as process:
        process.communicate()
    assert process.returncode == 0


def sent(folder: Path) -> list[str]:
    """Give the requests, as they were sent."""
    return (folder / "sent.jsonl").read_text("utf-8").splitlines()


def messages(folder: Path) -> list[dict[str, Any]]:
    """Give the history that is in the file."""
    kept = json.loads((folder / "conversation.json").read_text("utf-8"))
    assert kept["pending"] is None
    found: list[dict[str, Any]] = kept["messages"]
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of a program that nobody killed."""
    folder = tmp_path_factory.mktemp("undisturbed")
    finish(folder)
    assert len(sent(folder)) == len(killed.SCRIPT)
    return folder


@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_lost_and_nothing_doubled(place: str, tmp_path: Path, undisturbed: Path) -> None:
    """The requests are the same bytes as ever, and so is the history in the end."""
    kill(tmp_path, place)
    finish(tmp_path)
    requests = sent(tmp_path)
    assert [request for request, _ in itertools.groupby(requests)] == sent(undisturbed)
    assert len(requests) == len(killed.SCRIPT) + (place in AGAIN)
    assert messages(tmp_path) == messages(undisturbed)


@pytest.mark.parametrize("place", ["after the step, kept", "after the commit, kept"])
def test_a_new_version_of_the_program_keeps_the_prefix(place: str, tmp_path: Path) -> None:
    """The model is told what it says now, once; a step that was made already stays as it was."""
    kill(tmp_path, place)
    finish(tmp_path, "Be brief.")
    bodies = [json.loads(line) for line in sent(tmp_path)]
    assert len({json.dumps([body["messages"][0], body["tools"]]) for body in bodies}) == 1
    assert ["Be brief." in line for line in sent(tmp_path)] == [False, False, True, True]
    assert (
        "system prompt, of the host, now says:\nBe brief." in bodies[2]["messages"][-1]["content"]
    )
