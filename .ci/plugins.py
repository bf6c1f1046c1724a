"""Run a command with the folders of all plugins as its last arguments, or once for each.

``python .ci/plugins.py pip install`` is one command for all, on every system's shell. With
``--names`` first, it gets their names in place of their folders; with ``--each`` there is one
command for each plugin, and type checkers see the sources of all.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDERS = sorted(str(file.parent) for file in Path("plugins").glob("*/pyproject.toml"))


def main(command: list[str]) -> int:
    """Run *command*, and give its exit code; of several, the first that is not 0."""
    if command[0] == "--names":
        return subprocess.call([*command[1:], *(Path(folder).name for folder in FOLDERS)])
    if command[0] != "--each":
        return subprocess.call([*command, *FOLDERS])
    codes = [_call_for(folder, command[1:]) for folder in FOLDERS]
    return next(filter(None, codes), 0)


def _call_for(folder: str, command: list[str]) -> int:
    # Tests import modules beside them.
    path = os.pathsep.join([*FOLDERS, f"{folder}/tests"])
    return subprocess.call([*command, folder], env=os.environ | {"MYPYPATH": path})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
