"""What mypy and pyright tell of hooks, good and bad ones, without a plugin of their own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import dsh_prompt.typing
from dsh_prompt import PromptError, SystemPrompt, hookspecs, render_prompt
from tests.typing.cases import out_of_reach

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).parent / "cases"
FILES = sorted(path.name for path in CASES.glob("*.py"))


def run(*command: str) -> str:
    """Run a checker over all cases, with the settings of the project; give what it prints."""
    pytest.importorskip(command[0])
    files = [str(CASES / name) for name in FILES]
    done = subprocess.run(
        [sys.executable, "-m", *command, *files],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stderr == ""
    return done.stdout


def mypy() -> Iterator[tuple[Path, int, str]]:
    """Give file, line and text of what mypy tells."""
    for line in run("mypy", "--no-incremental", "--output=json").splitlines():
        told: Mapping[str, Any] = json.loads(line)
        yield ROOT / told["file"], told["line"], told["message"]


def pyright() -> Iterator[tuple[Path, int, str]]:
    """Give file, line and text of what pyright tells."""
    for told in json.loads(run("pyright", "--outputjson"))["generalDiagnostics"]:
        yield Path(told["file"]), told["range"]["start"]["line"] + 1, told["message"]


CHECKERS = {"mypy": mypy, "pyright": pyright}


@cache
def told_by(checker: str) -> tuple[tuple[str, int, str], ...]:
    """Give file, line and text of what *checker* tells of the cases, each checker run once."""
    return tuple((path.name, line, text) for path, line, text in CHECKERS[checker]())


def expected(file: str) -> dict[int, str]:
    """Give the comments in *file* that say what is told, by line."""
    lines = enumerate((CASES / file).read_text("utf-8").splitlines(), 1)
    found = ((number, re.search("# error: (.+)", line)) for number, line in lines)
    return {number: match[1] for number, match in found if match}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("checker", CHECKERS)
def test_a_checker_tells_what_is_wrong_and_nothing_else(checker: str, file: str) -> None:
    """Each error that a comment announces, and no other one."""
    told: dict[int, list[str]] = {}
    for name, line, text in told_by(checker):
        if name == file:
            told.setdefault(line, []).append(text)
    assert told.keys() == expected(file).keys(), told
    for line, text in expected(file).items():
        assert any(text in one for one in told[line]), (line, told[line])


def test_the_bad_ones_are_many_and_the_good_ones_are_good() -> None:
    """The cases say something."""
    assert {file: len(expected(file)) for file in FILES if expected(file)} == {"bad.py": 15}


def test_each_hook_has_a_protocol() -> None:
    """With one member, which is the hook."""
    protocols = [getattr(dsh_prompt.typing, name) for name in dsh_prompt.typing.__all__]
    members = [
        name
        for protocol in protocols
        for name in vars(protocol)
        if isinstance(vars(protocol)[name], property)
    ]
    assert sorted(members) == sorted(
        name for name, value in vars(hookspecs).items() if hasattr(value, "dsh_prompt_spec")
    )


def prompt_with(plugin: type) -> str:
    """Load a plugin and render what a model would be told."""
    prompt = SystemPrompt()
    prompt.load(plugin)
    return render_prompt(prompt.assemble())


@pytest.mark.parametrize(
    ("plugin", "text"),
    [
        (out_of_reach.UnknownHook, 'unknown hook "contribute_section"; did you mean'),
        (out_of_reach.WrongArgument, "contribute_sections.*\n?.*context"),
        (out_of_reach.WrongOption, "is a wrapper, which only system_prompt_assemble can have"),
        (out_of_reach.WrongVariable, "answer.*int"),
        (out_of_reach.WrongReference, 'unknown prompt variable "{{nobody}}"'),
    ],
)
def test_what_is_out_of_reach_is_found_by_the_host(plugin: type, text: str) -> None:
    """At load, or at the latest when the prompt is rendered."""
    with pytest.raises(PromptError, match=text):
        prompt_with(plugin)
