"""Fresh processes: what an import and the command cost, and what they load."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.measuring import Measure

ROOT = Path(__file__).parents[2]

_STATEMENT = """
from time import perf_counter
start = perf_counter()
{statement}
print(perf_counter() - start)
"""

_ASSEMBLE = """
from dsh_prompt import SystemPrompt, render_context_snapshot, render_prompt
prompt = SystemPrompt()
prompt.section(name="a", order=1, text=lambda: "{{b}}")
prompt.variable("b", "c")
assembly = prompt.assemble()
render_prompt(assembly), render_context_snapshot(assembly)
"""

_VERSION = """
import contextlib, io, sys
from dsh_prompt.cli import main
sys.argv = ["dsh-prompt", "--version"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
"""

_LOADED = """
import sys
print(*[name for name in ("anyio", "cattrs", "importlib_metadata", "rich") if name in sys.modules])
"""

_SCANS = """
import importlib_metadata
scans, distributions = 0, importlib_metadata.distributions
def counted(**options):
    global scans
    scans += not options
    return distributions(**options)
importlib_metadata.distributions = counted
from dsh_prompt import SystemPrompt
SystemPrompt().load_entry_points()
print(scans)
"""


def running(statement: str) -> Measure:
    """Measure a *statement*, an import for example, in a fresh process each time."""
    code = _STATEMENT.format(statement=statement)
    return _averaged(lambda: float(_python(code)))


def starting(*command: str) -> Measure:
    """Measure a whole process."""

    def seconds() -> float:
        start = perf_counter()
        _run(command)
        return perf_counter() - start

    return _averaged(seconds)


def version_command() -> tuple[str, ...]:
    """Give the command ``dsh-prompt --version``, as installed beside this Python."""
    script = shutil.which("dsh-prompt", path=str(Path(sys.executable).parent))
    found = (sys.executable, "-m", "dsh_prompt") if script is None else (script,)
    return (*found, "--version")


def loaded_by_assembly() -> str:
    """Name what an import and a first assembly load of what is to be loaded on demand."""
    return _python(_ASSEMBLE + _LOADED).strip()


def loaded_by_version() -> str:
    """Name what ``dsh-prompt --version`` loads of it."""
    return _python(_VERSION + _LOADED).strip()


def scans() -> int:
    """Count how often loading plugins scans all that is installed."""
    return int(_python(_SCANS))


def _averaged(seconds: Callable[[], float]) -> Measure:
    return lambda iterations: sum(seconds() for _ in range(iterations)) / iterations


def _python(code: str) -> str:
    return _run((sys.executable, "-c", code))


def _run(command: tuple[str, ...]) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, encoding="utf-8", cwd=ROOT, env=_environment()
    ).stdout


def _environment() -> dict[str, str]:
    """Let all be compiled once, as what is installed is, whatever the environment says."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": _cache_folder().name}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


@cache
def _cache_folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="dsh-prompt-bench-")
