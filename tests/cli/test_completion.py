"""What shells complete, and what a misspelt word is answered with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dsh_prompt.cli import main

if TYPE_CHECKING:
    from tests.cli.conftest import Outcome, Program, Run
    from tests.cli.installing import Site

SHELLS = ("bash", "zsh", "fish")


def asked(program: Program, instruction: str, words: str = "", current: str = "") -> Outcome:
    """Run the program as a shell does that completes."""
    program.environment |= {
        "_DSH_PROMPT_COMPLETE": instruction,
        "COMP_WORDS": words,
        "COMP_CWORD": current,
    }
    outcome = program.run()
    assert outcome.err == ""
    return outcome


def completed(program: Program, *words: str) -> set[str]:
    """Give what bash is offered for the last of *words*."""
    line = " ".join(("dsh-prompt", *words))
    lines = asked(program, "bash_complete", line, str(len(words))).text.splitlines()
    return {line.removeprefix("plain,") for line in lines}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_gets_a_script(program: Program, shell: str) -> None:
    """It calls the program whenever something is to be completed."""
    script = asked(program, f"{shell}_source").text
    assert f"_DSH_PROMPT_COMPLETE={shell}_complete" in script


def test_commands_options_and_choices_are_completed(program: Program) -> None:
    """As click does it."""
    assert completed(program, "ren") == {"render"}
    assert completed(program, "render", "--form") == {"--format"}
    assert completed(program, "new", "x", "--kind", "f") == {"filter"}


@pytest.mark.parametrize("option", ["--plugin", "--no-plugin"])
def test_names_of_installed_plugins_are_completed(
    program: Program, site: Site, option: str
) -> None:
    """They are read from the entry points, so nothing of them is imported."""
    site.add("gnat", "raise SystemExit")
    site.add("gnu", "raise SystemExit")
    site.add("yak", "raise SystemExit")
    assert completed(program, "render", option, "gn") == {"gnat", "gnu"}


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_completes(program: Program, shell: str) -> None:
    """Fish tells the word itself, the others its number."""
    current = "ren" if shell == "fish" else "1"
    assert "render" in asked(program, f"{shell}_complete", "dsh-prompt ren", current).text


# What is misspelt


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("rende", 'there is no command "rende"; did you mean "render"?'),
        ("plugin", 'there is no command "plugin"; did you mean "plugins"?'),
        ("x\x1b", 'there is no command "x\\x1b"; there are "'),
        ("render --formt text", "--format"),
        ("render --format jsn", "'json'"),
        ("render --plugin gti", 'no plugin "gti" is installed; did you mean "git"?'),
        ("render --no-plugin gti", 'no plugin "gti" is installed; did you mean "git"?'),
        ("render --config c.toml", 'persna: unknown key; did you mean "persona"?'),
        ("render --state s.json", 'workdr: unknown key; did you mean "workdir"?'),
        ("new rules --kind secton", "'section'"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_nearest(
    run: Run, site: Site, words: str, answer: str
) -> None:
    """A command, an option, a choice, a plugin, a key: always what there is."""
    site.add("git", "")
    (site.folder.parent / "work" / "c.toml").write_text('persna = "x"')
    (site.folder.parent / "work" / "s.json").write_text('{"workdr": "x"}')
    outcome = run(*words.split(" "))
    assert outcome.code == 2
    assert answer in outcome.err


@pytest.mark.parametrize("command", sorted(main.commands))
def test_the_help_of_each_command_has_examples(run: Run, command: str) -> None:
    """Which begin with the command itself."""
    text = run(command, "--help").text
    assert f"dsh-prompt {command}" in text.partition("Examples:\n")[2]
