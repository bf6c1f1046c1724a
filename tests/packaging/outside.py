"""Programs that run outside of this checkout, as a user's do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: What is here without what whoever runs the tests has set for Python and its tools.
ENVIRONMENT = {
    key: value
    for key, value in os.environ.items()
    if not key.startswith(("COV", "DSH_", "MYPY", "PYTHON"))
}


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command and give what it prints."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
