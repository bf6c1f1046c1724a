"""What ``dsh-prompt new`` writes, in a fresh environment with the core's wheel: it all works."""

from __future__ import annotations

import json
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import attrs
import pytest

from dsh_prompt.scaffold.kinds import KINDS
from tests.packaging.outside import ROOT, run

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import json
from dsh_prompt import SystemPrompt

prompt = SystemPrompt()
report = prompt.load_entry_points()
print(json.dumps({info.name: [info.distribution, list(info.hooks)] for info in report.loaded}))
assert not report.failed and not report.problems, report
prompt.assemble()
"""

each_kind = pytest.mark.parametrize("kind", KINDS)


@attrs.frozen
class Workshop:
    """A folder with a package of each kind, and an environment in which all are installed."""

    folder: Path

    def package(self, kind: str) -> Path:
        """Give the folder of the package of *kind*."""
        return self.folder / f"dsh-prompt-my-{kind}"

    def command(self, name: str) -> Path:
        """Give the place of a command in the environment."""
        return self.folder / "env" / "bin" / name

    def run(self, command: str, *arguments: str | Path, cwd: Path | None = None) -> str:
        """Run a command of the environment and give what it prints."""
        return run(self.command(command), *arguments, cwd=cwd or self.folder)


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Build the core as it is published, wheel from sdist, and make and install the packages."""
    workshop = Workshop(tmp_path_factory.mktemp("workshop"))
    folder = workshop.folder
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    venv.create(folder / "env")
    pip = (sys.executable, "-m", "pip", "--python", workshop.command("python"), "install")
    quick = ("--quiet", "--disable-pip-version-check", "--no-compile")
    tools = ("editables", "hatchling", "mypy", "pytest", "ruff")
    run(*pip, *quick, *folder.glob("*.whl"), *tools, cwd=folder)
    editable: list[str | Path] = []
    for kind in KINDS:
        workshop.run("dsh-prompt", "new", f"my-{kind}", "--kind", kind)
        editable += ["--editable", workshop.package(kind)]
    run(*pip, *quick, "--no-build-isolation", "--no-deps", *editable, cwd=folder)
    return workshop


def test_a_host_finds_and_loads_them_all(workshop: Workshop) -> None:
    """Each by its entry point, and all of them together."""
    loaded = json.loads(workshop.run("python", "-c", SCRIPT))
    assert loaded == {
        "my-context": ["dsh-prompt-my-context", ["contribute_contexts"]],
        "my-filter": ["dsh-prompt-my-filter", ["system_prompt_assemble"]],
        "my-mode": ["dsh-prompt-my-mode", ["system_prompt_assemble"]],
        "my-section": ["dsh-prompt-my-section", ["contribute_sections", "contribute_variables"]],
        "my-tools": ["dsh-prompt-my-tools", ["contribute_sections", "contribute_tools"]],
    }


def test_they_pass_their_tests(workshop: Workshop) -> None:
    """As they are generated, two at a time; they need pytest alone."""
    with ThreadPoolExecutor(2) as pool:
        packages = map(workshop.package, KINDS)
        for text in pool.map(lambda package: workshop.run("pytest", cwd=package), packages):
            assert " passed in " in text


@each_kind
def test_it_is_clean_to_the_linter(workshop: Workshop, kind: str) -> None:
    """All rules but those that its settings leave out, each with a reason; and laid out."""
    workshop.run("ruff", "check", cwd=workshop.package(kind))
    workshop.run("ruff", "format", "--check", cwd=workshop.package(kind))


@each_kind
def test_its_types_are_right(workshop: Workshop, kind: str) -> None:
    """In mypy's strict mode, tests included."""
    cache = ("--cache-dir", workshop.folder / "mypy")
    workshop.run("mypy", *cache, cwd=workshop.package(kind))


def test_their_types_are_right_to_pyright_as_well(workshop: Workshop) -> None:
    """All of them at once; pyright is that of whoever runs this test."""
    pytest.importorskip("pyright")
    pyright = (sys.executable, "-m", "pyright", "--pythonpath", workshop.command("python"))
    run(*pyright, *map(workshop.package, KINDS), cwd=workshop.folder)


def test_a_plugin_that_is_installed_is_not_made_again(workshop: Workshop) -> None:
    """Its name is taken, wherever its folder is."""
    elsewhere = workshop.folder / "elsewhere"
    elsewhere.mkdir()
    with pytest.raises(AssertionError, match='a plugin "my-mode" is installed already'):
        workshop.run("dsh-prompt", "new", "my-mode", cwd=elsewhere)
    assert not [*elsewhere.iterdir()]
