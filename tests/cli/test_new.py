"""``dsh-prompt new``: which files it writes, and what it refuses."""

from __future__ import annotations

import ast
import keyword
import os
import tomllib
from typing import TYPE_CHECKING

import pytest

from dsh_prompt.scaffold.kinds import KINDS
from dsh_prompt.scaffold.names import LONGEST, Names
from dsh_prompt.scaffold.writing import package_files
from dsh_prompt.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.installing import Site

FILES = {
    ".github/workflows/tests.yml",
    ".gitignore",
    "README.md",
    "dsh_prompt_open_files/__init__.py",
    "dsh_prompt_open_files/py.typed",
    "pyproject.toml",
    "tests/test_open_files.py",
}
HOOKS = {
    "section": {"contribute_sections", "contribute_variables"},
    "context": {"contribute_contexts"},
    "tools": {"contribute_sections", "contribute_tools"},
    "filter": {"system_prompt_assemble"},
    "mode": {"system_prompt_assemble"},
}


def files_in(folder: Path) -> set[str]:
    """Name all files below *folder*."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def hooks_in(code: str) -> set[str]:
    """Name the functions in *code* that are marked as hooks."""
    return {
        node.name
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef) and "hookimpl" in ast.unparse(node.decorator_list[:1])  # type: ignore[arg-type]
    }


# What it writes


@pytest.mark.parametrize("kind", KINDS)
def test_it_writes_a_whole_package(run: Run, workdir: Path, kind: str) -> None:
    """The same files for each kind, nothing beside them, and no placeholder is left."""
    assert run("new", "open-files", "--kind", kind).code == 0
    assert os.listdir(workdir) == ["dsh-prompt-open-files"]  # noqa: PTH208 - hidden ones too
    package = workdir / "dsh-prompt-open-files"
    assert files_in(package) == FILES
    for name in FILES - {".github/workflows/tests.yml"}:
        assert "$" not in (package / name).read_text("utf-8"), name
    code = (package / "dsh_prompt_open_files" / "__init__.py").read_text("utf-8")
    assert hooks_in(code) == HOOKS[kind]


def test_the_package_is_known_by_three_names(run: Run, workdir: Path) -> None:
    """Installers, hosts and Python each have theirs; this version is the least it needs."""
    run("new", "open-files", "--kind", "context")
    text = (workdir / "dsh-prompt-open-files" / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    assert project["name"] == "dsh-prompt-open-files"
    assert project["entry-points"] == {"dsh_prompt": {"open-files": "dsh_prompt_open_files"}}
    minor = int(VERSION.split(".")[1])
    assert project["dependencies"] == [f"dsh-prompt>=0.{minor},<0.{minor + 1}"]
    assert project["license"] == "MIT"


def test_a_section_is_the_default(run: Run, workdir: Path) -> None:
    """What most plugins are; its settings are a class of attrs."""
    run("new", "rules")
    package = workdir / "dsh-prompt-rules"
    assert "contribute_sections" in (package / "dsh_prompt_rules" / "__init__.py").read_text()
    assert '"attrs>=' in (package / "pyproject.toml").read_text()


def test_it_tells_what_was_written_and_what_comes_next(run: Run, workdir: Path) -> None:
    """Each file, then three commands to paste, with a path that a shell takes as one word."""
    (workdir / "my plugins").mkdir()
    lines = run("new", "open-files", "--into", "my plugins").text.splitlines()
    target = os.path.join("my plugins", "dsh-prompt-open-files")  # noqa: PTH118 - as it is told
    assert lines[0] == f"Wrote {target}:"
    assert {line.strip() for line in lines[1:-4]} == FILES
    assert lines[-4:] == [
        "Next:",
        f"  cd '{target}'",
        '  python -m pip install -e ".[dev]"',
        "  python -m pytest",
    ]
    assert files_in(workdir / target) == FILES


def test_the_prefix_may_be_given(run: Run, workdir: Path) -> None:
    """``new dsh-prompt-rules`` is ``new rules``."""
    run("new", "dsh-prompt-rules")
    assert [path.name for path in workdir.iterdir()] == ["dsh-prompt-rules"]


@pytest.mark.parametrize("name", ["class", "none", "json", "test", "attrs"])
def test_a_name_that_python_knows_does_no_harm(name: str) -> None:
    """The module has a prefix, and nothing else is named like the plugin."""
    names = Names.of(name)
    names_in_code = (names.module, f"{names.identifier}_lookup")
    assert not any(map(keyword.iskeyword, names_in_code))
    for kind in KINDS:
        for file, text in package_files(names, kind).items():
            if file.endswith(".py"):
                ast.parse(text)


@pytest.mark.parametrize("kind", KINDS)
def test_no_line_gets_too_long(kind: str) -> None:
    """The templates have room for the longest name that is taken."""
    for file, text in package_files(Names.of("x" * LONGEST), kind).items():
        if file.endswith(".py"):
            assert max(map(len, text.splitlines())) <= 100, file


# What it refuses


@pytest.mark.parametrize("there", ["folder", "file", "link"])
def test_what_exists_stays_as_it_is(run: Run, workdir: Path, there: str) -> None:
    """A full or an empty folder, a file, a link to nowhere; nothing else is left behind."""
    target = workdir / "dsh-prompt-rules"
    if there == "folder":
        target.mkdir()
    elif there == "file":
        target.write_text("mine")
    else:
        target.symlink_to(workdir / "nowhere")
    outcome = run("new", "rules")
    assert outcome.code == 2
    assert outcome.err == "Error: dsh-prompt-rules exists already, and stays as it is\n"
    assert [*workdir.iterdir()] == [target]
    assert not target.is_dir() or not [*target.iterdir()]


def test_a_failure_leaves_nothing(run: Run, workdir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package appears whole, or not at all."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.rename", full)
    outcome = run("new", "rules")
    assert outcome.err == ("Error: dsh-prompt-rules cannot be written: No space left on device\n")
    assert outcome.code == 2
    assert [*workdir.iterdir()] == []


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("Open_Files", "open-files"),
        ("open--files-", "open-files"),
        ("2nd.try", "nd-try"),
        ("../evil", "evil"),
        ("x" * (LONGEST + 1), "x" * LONGEST),
        ("x\x1b", "x"),
    ],
)
def test_a_name_that_is_none_is_refused_with_the_nearest(
    run: Run, workdir: Path, name: str, better: str
) -> None:
    """The message tells the rule as well, and is safe to show."""
    outcome = run("new", name)
    assert outcome.code == 2
    assert "it takes lower-case letters, digits and single hyphens" in outcome.err
    assert outcome.err.endswith(f'; did you mean "{better}"?\n')
    assert "\x1b" not in outcome.err
    assert [*workdir.iterdir()] == []


@pytest.mark.parametrize("name", ["", "-", "42", "\u4e2d"])
def test_there_may_be_no_better_name(name: str) -> None:
    """Then none is suggested."""
    with pytest.raises(ValueError, match=r"at the most$"):
        Names.of(name)


def test_the_name_of_an_installed_plugin_is_refused(run: Run, site: Site) -> None:
    """With the distribution that has it: the two could not be loaded together."""
    site.add("rules", "")
    outcome = run("new", "rules")
    assert outcome.code == 2
    assert 'a plugin "rules" is installed already, by dsh-prompt-rules 1.0' in outcome.err


def test_a_module_that_exists_is_refused(run: Run, site: Site) -> None:
    """Python would import that one."""
    (site.folder / "dsh_prompt_rules.py").write_text("")
    outcome = run("new", "rules")
    assert outcome.code == 2
    assert "there is a module dsh_prompt_rules already" in outcome.err


def test_an_unknown_kind_is_refused_with_all_that_there_are(run: Run) -> None:
    """There are few."""
    outcome = run("new", "rules", "--kind", "secton")
    assert outcome.code == 2
    assert outcome.err.endswith("'section', 'context', 'tools', 'filter', 'mode'.\n")


def test_a_folder_that_is_none_is_refused(run: Run) -> None:
    """It makes the package's folder, and no other."""
    outcome = run("new", "rules", "--into", "nowhere")
    assert outcome.code == 2
    assert "Invalid value for --into: there is no folder nowhere" in outcome.err
