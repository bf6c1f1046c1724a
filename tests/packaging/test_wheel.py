"""The wheel of the core and a plugin's wheel, installed by pip into a fresh environment."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.packaging.outside import ROOT, run

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "dsh-prompt-greeter"
version = "2.1"
dependencies = ["dsh-prompt>=0.1"]

[project.entry-points.dsh_prompt]
greeter = "dsh_prompt_greeter"
"""

PLUGIN = """
from dsh_prompt import PromptSection, hookimpl

@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="greeting", order=10, text="Greet {{whom}}.")]

@hookimpl
def contribute_variables(ctx):
    return {"whom": "everybody"}
"""

SCRIPT = """
import json
from pathlib import Path
import dsh_prompt
from dsh_prompt import SystemPrompt, render_prompt

prompt = SystemPrompt()
report = prompt.load_entry_points()
(info,) = report.loaded
assembly = prompt.assemble()
prompt.unload("greeter")
print(json.dumps({
    "where": str(Path(dsh_prompt.__file__).parent),
    "typed": Path(dsh_prompt.__file__).with_name("py.typed").exists(),
    "loaded": [info.name, info.distribution, info.version],
    "failed": list(report.failed),
    "prompt": render_prompt(assembly),
    "owner": assembly.source_of("section", "greeting").owner,
    "after": render_prompt(prompt.assemble()),
    "plugins": prompt.plugins,
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the Python of a fresh environment with both wheels in it."""
    folder = tmp_path_factory.mktemp("wheels")
    package = folder / "greeter"
    (package / "dsh_prompt_greeter").mkdir(parents=True)
    (package / "pyproject.toml").write_text(PYPROJECT)
    (package / "dsh_prompt_greeter" / "__init__.py").write_text(PLUGIN)
    for source in (ROOT, package):
        build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir")
        run(*build, folder, source, cwd=folder)
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(python, *install, *folder.glob("*.whl"), cwd=folder)
    return python


@pytest.fixture(scope="module")
def outcome(installed: Path) -> dict[str, Any]:
    """Give what a program in that environment saw."""
    result: dict[str, Any] = json.loads(run(installed, "-c", SCRIPT, cwd=installed.parent))
    return result


def test_the_core_runs_from_its_wheel(installed: Path, outcome: dict[str, Any]) -> None:
    """What ran is the installed wheel, which is marked as typed."""
    assert Path(outcome["where"]).is_relative_to(installed.parents[1])
    assert outcome["typed"] is True


def test_an_installed_plugin_is_discovered_and_loaded(outcome: dict[str, Any]) -> None:
    """Its entry point is found, with the distribution and version that offer it."""
    assert outcome["loaded"] == ["greeter", "dsh-prompt-greeter", "2.1"]
    assert outcome["failed"] == []


def test_an_installed_plugin_takes_part_until_it_is_unloaded(outcome: dict[str, Any]) -> None:
    """What it contributes is assembled under its name, and gone after the unload."""
    assert outcome["prompt"].endswith("Greet everybody.")
    assert outcome["owner"] == 'plugin "greeter" (dsh-prompt-greeter 2.1)'
    assert "Greet" not in outcome["after"]
    assert outcome["plugins"] == []


def test_the_command_is_installed(installed: Path) -> None:
    """The console script renders what the installed plugin contributes."""
    command = installed.with_name("dsh-prompt")
    text = run(command, "render", "--format", "text", cwd=installed.parent)
    assert text.endswith("Greet everybody.")
