"""A process that follows what pip does to its environment: install, upgrade, rename, uninstall."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from typing import TYPE_CHECKING, Any

import pytest

from tests.packaging.outside import ENVIRONMENT, ROOT, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PYPROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "dsh-prompt-tides"
version = "VERSION"
dependencies = ["dsh-prompt>=0.1"]

[project.entry-points.dsh_prompt]
NAME = "dsh_prompt_tides"
"""

PLUGIN = """
from dsh_prompt import PromptSection, hookimpl
from dsh_prompt_tides import PART

@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name=PART.NAME, order=10, text=text)]

@hookimpl
def contribute_variables(ctx):
    return {"tide": PART.NAME}

def text():
    from dsh_prompt_tides.words import WORD
    return WORD + " {{tide}} tide."
"""

#: By version: the name of the entry point, the submodule, and what follows the plugin's code.
VERSIONS = {
    "1.0": ("tides", "low", ""),
    "2.0": ("tides", "high", ""),
    "2.1": ("tides", "spring", "raise RuntimeError('2.1 is broken')"),
    "3.0": ("currents", "high", ""),
}

#: Follows at each line that it reads, and tells what there is.
SCRIPT = """
import json
import sys
from dsh_prompt import SystemPrompt, render_prompt

prompt = SystemPrompt()
events = []
prompt.on_change(lambda event: events.append(event))
prompt.load_entry_points()
for line in sys.stdin:
    report = prompt.sync()
    print(json.dumps({
        "installed": [[info.name, info.version] for info in report.installed],
        "upgraded": [[info.name, info.version] for info in report.upgraded],
        "removed": [[info.name, info.version] for info in report.removed],
        "failed": {name: str(error) for name, error in report.failed.items()},
        "problems": list(report.problems),
        "prompt": render_prompt(prompt.assemble()),
        "plugins": [[info.name, info.version] for info in prompt.plugins],
        "events": [
            [event.kind, sorted(i[:2] for i in event.added), sorted(i[:2] for i in event.removed)]
            for event in events
        ],
        "modules": sorted(name for name in sys.modules if name.startswith("dsh_prompt_tides")),
    }), flush=True)
    events.clear()
"""


def build(source: Path, folder: Path) -> Path:
    """Build the wheel of *source* into a folder of its own, and give it."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    (wheel,) = folder.glob("*.whl")
    return wheel


def write_plugin(package: Path, version: str) -> Path:
    """Write the project of one version of the plugin."""
    name, part, rest = VERSIONS[version]
    code = package / "dsh_prompt_tides"
    code.mkdir(parents=True)
    pyproject = PYPROJECT.replace("VERSION", version).replace("NAME", name)
    (package / "pyproject.toml").write_text(pyproject)
    (code / "__init__.py").write_text(PLUGIN.replace("PART", part) + rest)
    (code / f"{part}.py").write_text(f'NAME = "{part}"\n')
    (code / "words.py").write_text(f'WORD = "Mind the {version}"\n')
    return package


class Environment:
    """A fresh environment with the core in it, and a wheel of each version of the plugin."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.wheels = {
            version: build(write_plugin(folder / version, version), folder / f"wheel-{version}")
            for version in VERSIONS
        }
        venv.create(folder / "env", with_pip=True)
        self.python = folder / "env" / "bin" / "python"
        self.pip("install", build(ROOT, folder / "wheel"))

    def pip(self, *arguments: str | Path) -> None:
        quiet = ("--quiet", "--disable-pip-version-check")
        run(self.python, "-m", "pip", *arguments, *quiet, cwd=self.folder)

    def install(self, version: str) -> None:
        self.pip("install", "--no-deps", self.wheels[version])

    def uninstall(self) -> None:
        self.pip("uninstall", "--yes", "dsh-prompt-tides")


class Follower:
    """A process in that environment, which goes on running."""

    def __init__(self, environment: Environment) -> None:
        self.process = subprocess.Popen(
            [environment.python, "-c", SCRIPT],
            cwd=environment.folder,
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def sync(self) -> dict[str, Any]:
        """Let it follow, and give what it tells."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, "the process has ended"
        told: dict[str, Any] = json.loads(line)
        return told

    def end(self) -> None:
        with self.process:
            assert self.process.stdin is not None
            self.process.stdin.close()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Give the environment, without the plugin."""
    return Environment(tmp_path_factory.mktemp("upgrades"))


@pytest.fixture(scope="module")
def story(environment: Environment) -> Iterator[dict[str, dict[str, Any]]]:
    """Give what one process told after each thing that pip did."""
    follower = Follower(environment)
    told = {"before": follower.sync()}
    for version in VERSIONS:
        environment.install(version)
        told[version] = follower.sync()
        if version == "2.1":
            told["again"] = follower.sync()
    environment.uninstall()
    told["after"] = follower.sync()
    yield told
    follower.end()


def items(part: str) -> list[list[str]]:
    """List what a version of the plugin contributes, as events do."""
    return [["section", part], ["variable", "tide"]]


NOTHING: dict[str, Any] = {"installed": [], "upgraded": [], "removed": [], "failed": {}}


def report(told: dict[str, Any]) -> dict[str, Any]:
    """Give the part of what was told that is the report."""
    return {key: told[key] for key in NOTHING}


def test_what_does_not_change_is_left_alone(story: dict[str, dict[str, Any]]) -> None:
    """Nothing is installed yet: nothing is reported, and no event fired."""
    assert report(story["before"]) == NOTHING
    assert (story["before"]["plugins"], story["before"]["events"]) == ([], [])


def test_an_installed_plugin_is_loaded(story: dict[str, dict[str, Any]]) -> None:
    """It takes part in the next assembly of the running process."""
    told = story["1.0"]
    assert report(told) == {**NOTHING, "installed": [["tides", "1.0"]]}
    assert told["prompt"] == f"{story['before']['prompt']}\n\nMind the 1.0 low tide."
    added = sorted([["plugin", "tides"], *items("low")])
    assert told["events"] == [["synced", added, []]]


def test_an_upgraded_plugin_is_reloaded(story: dict[str, dict[str, Any]]) -> None:
    """Its new code is imported, all of it, and its old submodule is forgotten."""
    told = story["2.0"]
    assert report(told) == {**NOTHING, "upgraded": [["tides", "2.0"]]}
    assert told["prompt"].endswith("\n\nMind the 2.0 high tide.")
    assert told["plugins"] == [["tides", "2.0"]]
    ((kind, added, removed),) = told["events"]
    assert kind == "synced"
    assert [item for item in added if item[0] != "plugin"] == items("high")
    assert [item for item in removed if item[0] != "plugin"] == items("low")
    assert told["modules"] == [f"dsh_prompt_tides{part}" for part in ("", ".high", ".words")]


def test_a_broken_upgrade_leaves_the_old_code_in_place(story: dict[str, dict[str, Any]]) -> None:
    """It goes on working though its files are gone, and the report says what is wrong."""
    told = story["2.1"]
    assert list(told["failed"]) == ["tides"]
    assert "2.1 is broken" in told["failed"]["tides"]
    assert report({**told, "failed": {}}) == NOTHING
    for key in ("prompt", "plugins", "modules"):
        assert told[key] == story["2.0"][key]
    assert told["events"] == []
    assert {**story["again"]} == {**told}


def test_a_renamed_plugin_takes_the_place_of_the_old(story: dict[str, dict[str, Any]]) -> None:
    """Both in one event: at no time is there none of them, or both."""
    told = story["3.0"]
    expected = {**NOTHING, "installed": [["currents", "3.0"]], "removed": [["tides", "2.0"]]}
    assert report(told) == expected
    assert told["prompt"].endswith("\n\nMind the 3.0 high tide.")
    assert told["plugins"] == [["currents", "3.0"]]
    ((kind, added, removed),) = told["events"]
    assert kind == "synced"
    assert added == sorted([["plugin", "currents"], *items("high")])
    assert removed == sorted([["plugin", "tides"], *items("high")])


def test_an_uninstalled_plugin_is_unloaded(story: dict[str, dict[str, Any]]) -> None:
    """Nothing of it is left, not even its modules."""
    told = story["after"]
    assert report(told) == {**NOTHING, "removed": [["currents", "3.0"]]}
    assert (told["plugins"], told["modules"]) == ([], [])
    assert told["prompt"] == story["before"]["prompt"]
    ((kind, added, removed),) = told["events"]
    assert (kind, added) == ("synced", [])
    assert removed == sorted([["plugin", "currents"], *items("high")])


def test_nothing_is_wrong_with_the_environment(story: dict[str, dict[str, Any]]) -> None:
    """What pip leaves is whole, each time."""
    assert [name for name, told in story.items() if told["problems"]] == []
