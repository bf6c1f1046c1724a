"""Write the oldest version of each dependency that pyproject.toml allows, for pip, to a file."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

pins = [
    re.sub(r"^([\w.-]+)>=([\d.]+)$", r"\1==\2", dependency)
    for dependency in tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"]
]
Path(sys.argv[1]).write_text("\n".join(pins), "utf-8")
