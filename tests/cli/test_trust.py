"""``dsh-prompt trust``, and what the other commands tell of a file that is not trusted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dsh_prompt.config.schema import config_schema

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run
    from tests.cli.installing import Site

#: A plugin that starts the program that its settings name.
RUNNER = """
import attrs, subprocess

@attrs.frozen
class Config:
    program: str | None = attrs.field(default=None, metadata={"dsh_prompt": {"trusted": True}})
    title: str = "nothing"

@hookimpl
def contribute_sections(ctx):
    if ctx.config.program:
        subprocess.run(ctx.config.program, shell=True, check=True)
    return [PromptSection(name="run", order=10, text=ctx.config.title)]
"""


@pytest.fixture
def checkout(site: Site, user_folder: Path, workdir: Path) -> Path:
    """Give the configuration of a checkout that wants a program to be started."""
    site.add("run", RUNNER)
    site.add("off", "@hookimpl\ndef contribute_sections(ctx):\n    return []")
    (user_folder / "dsh-prompt.toml").write_text('[plugins]\ndisable = ["off"]\n')
    file = workdir / "dsh-prompt.toml"
    file.write_text(
        '[plugins]\ndisable = []\n[plugins.config.run]\nprogram = "touch started"\ntitle = "x"\n'
    )
    return file


def notice(file: Path) -> str:
    """Give what is told of the file."""
    return (
        f"Warning: {file} is not trusted, so these of its settings are ignored: "
        'plugins.disable ("off"), plugins.config.run.program; read the file, then run: '
        f"dsh-prompt trust {file}\n"
    )


def test_nothing_is_started_for_a_checkout_until_it_is_trusted(
    run: Run, checkout: Path, workdir: Path
) -> None:
    """It is told once, on standard error, with the command that changes it."""
    outcome = run("render", "--format", "text")
    assert (outcome.code, outcome.err) == (0, notice(checkout))
    assert outcome.text.endswith("\n\nx")
    assert not (workdir / "started").exists()
    assert run("trust").text == f"Trusted: {checkout}\n"
    assert run("render").err == ""
    assert (workdir / "started").exists()


def test_an_edited_file_asks_again(run: Run, checkout: Path, workdir: Path) -> None:
    """Trust is for what was read."""
    run("trust", checkout)
    checkout.write_text(checkout.read_text() + "# edited\n")
    assert run("render").err == notice(checkout)
    assert not (workdir / "started").exists()
    assert run("trust", "--list").text == f"changed  {checkout}\n"


def test_what_is_ignored_is_in_the_list_of_plugins(run: Run, checkout: Path) -> None:
    """For programs with file, key and names, for people on standard error."""
    outcome = run("plugins", "--json")
    assert outcome.err == notice(checkout)
    survey = json.loads(outcome.text)
    assert survey["ignored"] == [
        {"file": str(checkout), "key": "plugins.disable", "names": ["off"]},
        {"file": str(checkout), "key": "plugins.config.run.program", "names": []},
    ]
    states = {plugin["name"]: plugin["state"] for plugin in survey["plugins"]}
    assert (states["run"], states["off"]) == ("loaded", "disabled")
    run("trust")
    survey = json.loads(run("plugins", "--json").text)
    assert survey["ignored"] == []
    assert {plugin["state"] for plugin in survey["plugins"]} == {"loaded"}


def test_trust_is_taken_back_for_a_file_or_a_folder(
    run: Run, checkout: Path, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for files that have gone, or from a folder below."""
    inner = workdir / "src"
    inner.mkdir()
    (inner / "pyproject.toml").write_text("[tool.dsh-prompt]\n")
    assert run("trust", inner).text == f"Trusted: {inner / 'pyproject.toml'}\n"
    run("trust")
    (inner / "pyproject.toml").unlink()
    assert run("trust", "--untrust", ".").text == (
        f"No longer trusted: {checkout}\nNo longer trusted: {inner / 'pyproject.toml'}\n"
    )
    run("trust")
    monkeypatch.chdir(inner)
    assert run("trust", "--untrust").text == f"No longer trusted: {checkout}\n"
    outcome = run("trust", "--untrust")
    assert (outcome.code, outcome.out) == (2, b"")
    assert outcome.err == "Error: .: nothing there is trusted\n" or str(inner) in outcome.err


def test_the_list_tells_which_records_are_in_force(run: Run, checkout: Path) -> None:
    """A file that has changed, or gone, is listed as such."""
    assert run("trust", "--list").text == ""
    run("trust")
    assert run("trust", "--list").text == f"trusted  {checkout}\n"
    checkout.unlink()
    assert run("trust", "--list").text == f"gone     {checkout}\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("trust",), "there is no configuration for dsh-prompt"),
        (("trust", "missing.toml"), "missing.toml: cannot be read"),
        (("trust", "--untrust", "missing.toml"), "missing.toml: cannot be read"),
        (("trust", "--list", "x"), "--list stands alone"),
        (("trust", "--list", "--untrust"), "--list stands alone"),
    ],
)
def test_what_cannot_be_trusted_is_told(
    arguments: tuple[str, ...], problem: str, run: Run, user_folder: Path
) -> None:
    """Nothing is recorded."""
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (2, b"")
    assert problem in outcome.err
    assert not (user_folder / "trusted").exists()


def test_what_is_no_configuration_is_not_trusted(
    run: Run, workdir: Path, user_folder: Path
) -> None:
    """Its mistakes are told at once."""
    (workdir / "dsh-prompt.toml").write_text("personna = 'x'")
    outcome = run("trust")
    assert outcome.code == 2
    assert 'personna: unknown key; did you mean "persona"?' in outcome.err
    assert not (user_folder / "trusted").exists()


def test_a_store_that_cannot_be_written_is_told(
    run: Run, checkout: Path, user_folder: Path
) -> None:
    """With what the system says."""
    (user_folder / "trusted").write_text("")
    for arguments in (("trust",), ("trust", "--untrust")):
        outcome = run(*arguments)
        assert outcome.code == 2
        assert "Error: trust cannot be " in outcome.err


def test_the_schema_is_printed(run: Run) -> None:
    """As JSON, for a file that an editor reads."""
    assert json.loads(run("schema").text) == config_schema()
