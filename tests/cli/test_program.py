"""The command line as a program: terminals, pipes, signals, encodings, its start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dsh_prompt import PromptAssembly, render_prompt
from dsh_prompt.cli import main

if TYPE_CHECKING:
    from tests.cli.conftest import Outcome, Program, Run
    from tests.cli.installing import Site

needs_posix = pytest.mark.skipif(os.name == "nt", reason="no pseudo terminals or signals")

SECTION = """
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="rules", order=10, text={text!a})]
"""


def show(program: Program, *args: str) -> str:
    """Run the program on a terminal of its own, and give what it wrote there."""
    leader, follower = os.openpty()
    process = program.start(*args, stdin=follower, stdout=follower, stderr=follower)
    os.close(follower)
    written = bytearray()
    with open(leader, "rb", buffering=0) as terminal:  # noqa: PTH123 - a descriptor
        try:
            while chunk := terminal.read(65536):
                written += chunk
        except OSError:  # how Linux says that the other end is closed
            pass
    assert process.wait() == 0
    return written.decode().replace("\r\n", "\n")


def test_the_program_starts_light() -> None:
    """``--version`` imports nothing of what only an assembly, a table or a file needs."""
    code = (
        "import sys; sys.argv = ['dsh-prompt', '--version']\n"
        "from dsh_prompt.__main__ import run\n"
        "run()\n"
        "heavy = {'rich', 'anyio', 'asyncio', 'attr', 'cattrs', 'click', 'importlib_metadata'}\n"
        "assert not heavy & {*sys.modules}, heavy & {*sys.modules}\n"
    )
    package = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", code], cwd=package, check=True)


@needs_posix
def test_a_terminal_gets_tables_and_escaped_texts(program: Program, site: Site) -> None:
    """On a terminal the page is the default; only its own styles are escape sequences."""
    site.add("hostile", SECTION.format(text="\x1b]0;owned\x07\x9b31m\u202e [bold]"))
    program.environment |= {"TERM": "xterm-256color", "COLUMNS": "80"}
    page = show(program, "render")
    assert "\x1b[1mSystem prompt: " in page
    assert "  \\x1b]0;owned\\x07\\x9b31m\\u202e [bold]\n" in page
    assert not {"\x07", "\x9b", "\u202e"} & {*page}
    assert {part[0] for part in page.split("\x1b")[1:]} == {"["}


@needs_posix
def test_no_color_gives_a_terminal_plain_text(program: Program, site: Site) -> None:
    """With ``NO_COLOR`` there is not one escape sequence; without UTF-8, ASCII lines."""
    site.add("hostile", SECTION.format(text="\x1b[1mü"))
    program.environment |= {"NO_COLOR": "1", "PYTHONIOENCODING": "ascii"}
    page = show(program, "render")
    assert "\x1b" not in page
    assert "  \\x1b[1m\\xfc\n" in page
    assert "\n---" in page


@needs_posix
def test_text_on_a_terminal_is_escaped_and_ends_its_line(program: Program, site: Site) -> None:
    """``--format text`` shows tabs and newlines, and escapes all other controls."""
    site.add("hostile", SECTION.format(text="a\tb\nc\x1b[2J"))
    program.environment["DSH_PROMPT_PLUGINS"] = "hostile"
    assert show(program, "render", "--format", "text").endswith("\n\na\tb\nc\\x1b[2J\n")


def test_pipes_get_utf_8_whatever_the_locale(program: Program, site: Site) -> None:
    """Neither ``LC_ALL=C`` nor an ASCII stream changes a byte, or crashes an error text."""
    site.add("snow", SECTION.format(text="\u2603 \udce9"))
    site.add("bad", 'raise ImportError("\\u2603 \\udce9")')
    program.environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    outcome = program.run("render", "--plugin", "snow", "--plugin", "bad")
    assert outcome.out.endswith("☃ \\udce9".encode())
    assert "ImportError: ☃ \\udce9 (" in outcome.err
    assert outcome.code == 0


@needs_posix
def test_a_closed_pipe_ends_it_quietly(program: Program) -> None:
    """What ``| head`` does to a program is no reason to complain."""
    reader, writer = os.pipe()
    os.close(reader)
    process = program.start("render", stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert process.communicate()[1] == b""
    assert process.returncode == 141


def interrupted(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Press Ctrl-C, and give what was printed since.

    An event loop that is about to wait can miss a signal until something wakes it, so that a
    person presses twice; the two count as one then.
    """
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=30)


@needs_posix
@pytest.mark.parametrize("kind", ["async def", "def"])
def test_an_interrupt_cleans_up_and_ends_it(program: Program, site: Site, kind: str) -> None:
    """Ctrl-C ends it with 130 and no traceback, even inside a provider that never returns."""
    site.add(
        "endless",
        f"""
import sys, threading, anyio
{kind} wait():
    print("ready", file=sys.stderr, flush=True)
    {"await anyio.sleep_forever()" if "async" in kind else "threading.Event().wait()"}

@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="wait", order=10, text=wait, blocking={kind == "def"})]

@hookimpl
def deactivate(ctx):
    print("wound down", file=sys.stderr)
""",
    )
    # A job in the background of a shell starts with the signal ignored, and so would this.
    process = program.start(
        "render",
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None
    assert process.stderr.readline() == b"ready\n"
    assert interrupted(process) == (b"", b"wound down\n\n")
    assert process.returncode == 130


@pytest.mark.parametrize("place", ["the project's own", "a new one"])
def test_it_runs_in_a_checkout(program: Program, site: Site, tmp_path: Path, place: str) -> None:
    """In a git checkout, below the folder of the configuration, the assembly is whole."""
    site.add("rules", SECTION.format(text="Be precise."))
    folder = Path(__file__).parents[2]
    if place == "a new one":
        folder = tmp_path / "checkout" / "sub"
        folder.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", ".."], cwd=folder, check=True)
        (folder.parent / "pyproject.toml").write_text('[tool.dsh-prompt]\npersona = "Ada."')
    assembly = read_back(program.run("render", "--format", "json", cwd=folder))
    assert "Be precise." in render_prompt(assembly)
    assert ("Ada." in render_prompt(assembly)) == (place == "a new one")


def read_back(outcome: Outcome) -> PromptAssembly:
    assert outcome.code == 0
    return PromptAssembly.from_dict(json.loads(outcome.out))


# Its door, in this process


def test_it_tells_what_it_can_do(run: Run) -> None:
    """``--help`` of the group and of each command has examples."""
    for command in ((), ("render",), ("plugins",)):
        outcome = run(*command, "--help")
        assert outcome.code == 0
        assert "Examples:\n" in outcome.text


def test_it_tells_its_version(run: Run) -> None:
    """``--version`` gives name and version, and is not confused by a missing installation."""
    assert run("--version").text.startswith("dsh-prompt ")


def test_a_misspelt_command_or_option_is_a_usage_error(run: Run) -> None:
    """What is not known is refused, escaped, with exit code 2."""
    assert run("rendr\x1b").code == 2
    assert "\\x1b" in run("render", "--formt\x1b", "x").err
    assert run().err.endswith("Error: Missing command.\n")


def test_a_stuck_worker_does_not_keep_it_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a blocking provider goes on, the process ends with the code all the same."""
    codes: list[int] = []
    release = threading.Event()
    monkeypatch.setattr("os._exit", codes.append)
    worker = threading.Thread(target=release.wait, name="AnyIO worker thread")
    worker.start()
    with pytest.raises(SystemExit):
        main(["rendr"], "dsh-prompt")
    release.set()
    worker.join()
    assert codes == [2]


def test_it_can_be_called_by_a_program() -> None:
    """Without standalone mode, errors and results are the caller's, as click has it."""
    assert main.main(["--version"], "dsh-prompt", standalone_mode=False) == 0
