"""Two machines, as far as one can be two: the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from dsh_prompt_clock.config import Config

from tests.together.agent import make_project

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from dsh_prompt_clock import NOW
from dsh_prompt import AssembleContext, RuntimeState
from dsh_prompt.adapters import anthropic_messages
from tests.together.agent import host

folder, state = Path(sys.argv[1]), RuntimeState.from_dict(json.loads(sys.argv[2]))
with host(folder) as prompt:
    context = AssembleContext(state=state)
    context[NOW] = datetime(2026, 11, 30, 23, 30, tzinfo=UTC)
    assembly = prompt.assemble(context)
    document = assembly.to_dict()
    request = anthropic_messages(assembly, model="m").to_dict()
    sys.stdout.buffer.write(json.dumps([document, request, assembly.fingerprint().all]).encode())
"""

STATE = {
    "model": "model-1",
    "provider": "x",
    "permission_mode": "plan",
    "open_files": ["b.py", "a.py", "\u00e4.py"],
    "todos": [{"content": "Z\u00fcrich", "status": "in_progress"}, {"content": "i\u0130"}],
    "loaded_skills": ["release"],
    "memories": [{"content": "One."}, {"content": "Two.", "score": 0.5}],
    "summary": "It began. It went on.",
    "project_notes": ["B", "a"],
}


def assembled(folder: Path, cwd: Path, **environment: str) -> bytes:
    """Assemble in a process of its own."""
    state = json.dumps(STATE | {"workdir": str(folder / "project")})
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder), state],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def test_nothing_of_the_process_shows(tmp_path: Path) -> None:
    """Neither seed, locale, time zone nor directory, as long as what it reads is equal."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        make_project(folder / "project")
    one = assembled(here, here, PYTHONHASHSEED="1", LC_ALL="C", TZ="UTC", LANG="C")
    two = assembled(
        there, there / "project", PYTHONHASHSEED="2", LC_ALL="tr_TR.UTF-8", TZ="Asia/Tokyo"
    )
    # What differs is what the state says: where the project is.
    assert _without_places(one, here) == _without_places(two, there)
    assert assembled(here, there, PYTHONHASHSEED="3", TZ="America/Lima") == one


def _without_places(data: bytes, folder: Path) -> object:
    document, request, _ = json.loads(data.decode().replace(str(folder), "FOLDER"))
    return document, request


def test_the_date_has_one_zone_everywhere() -> None:
    """By default; a zone that follows the machine is for whoever asks for it."""
    assert Config().zone == "UTC"
