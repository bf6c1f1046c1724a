"""``dsh-prompt watch``: what it shows of each edit, as a program in a project of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from functools import partial
from queue import Queue
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

    from tests.cli.conftest import Program, Run
    from tests.cli.installing import Site

pytestmark = pytest.mark.skipif(os.name == "nt", reason="it is ended by a signal")

SECTION = """
@hookimpl
def contribute_sections(ctx):
    return [PromptSection(name="rules", order=10, text={text!a})]
"""
INSTRUCTIONS = """
from pathlib import Path

@hookimpl
def contribute_contexts(ctx):
    text = lambda: Path("AGENTS.md").read_text()
    return [PromptContext(name="instructions", order=10, text=text)]
"""
TOOL = """
@hookimpl
def contribute_tools(ctx):
    return [{"name": "bash", "description": "Runs it."}]
"""
WHOLE = "from dsh_prompt import *\n"


@pytest.fixture(autouse=True)
def _no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep plugins out that are installed where the tests run."""
    monkeypatch.setenv("DSH_PROMPT_PLUGINS", "demo,agents,new,other,strict")


class Lines:
    """The lines of a stream, read as they come."""

    def __init__(self, stream: Iterator[bytes]) -> None:
        self._queue: Queue[str | None] = Queue()
        self.all: list[str] = []
        threading.Thread(target=self._read, args=[stream], daemon=True).start()

    def _read(self, stream: Iterator[bytes]) -> None:
        for line in stream:
            self._queue.put(line.decode().rstrip("\n"))
        self._queue.put(None)

    def up_to(self, part: str) -> list[str]:
        """Give the lines up to the first one with *part* in it."""
        lines: list[str] = []
        while not lines or part not in lines[-1]:
            line = self._queue.get(timeout=30)
            assert line is not None, f"{part!r} never came, but {self.all}"
            lines.append(line)
            self.all.append(line)
        return lines


class Watching:
    """A running ``dsh-prompt watch``."""

    def __init__(self, program: Program, *args: str) -> None:
        # A job in the background of a shell starts with the signal ignored, and so would this.
        self.process = program.start(
            "watch",
            *args,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.out = Lines(self.process.stdout)
        self.err = Lines(self.process.stderr)
        self.start = self.out.up_to("Watching ")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def end(self) -> int:
        """Press Ctrl-C, twice where the loop misses it once, and give the exit code."""
        for _ in range(2):
            self.process.send_signal(signal.SIGINT)
            try:
                return self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                continue
        return self.process.wait(timeout=30)


def save(path: Path, text: str) -> None:
    """Write a file in one step."""
    draft = path.with_name("draft.tmp")
    draft.write_text(text, "utf-8")
    draft.replace(path)


def code(text: str) -> str:
    return WHOLE + SECTION.format(text=text)


def test_it_shows_what_edits_change(program: Program, site: Site, workdir: Path) -> None:
    """Code, broken and mended; instructions; what is installed. Ctrl-C ends it with 130."""
    (workdir / ".git").mkdir()
    (workdir / "AGENTS.md").write_text("Be brief.")
    site.add("demo", SECTION.format(text="one\x1b[2J"))
    site.add("agents", INSTRUCTIONS)
    demo = site.folder / "demo_plugin.py"
    with Watching(program) as watching:
        out, err = watching.out, watching.err
        assert watching.start[0].startswith("3 sections, 1 context, 0 tools; stable prefix ")
        assert watching.start[1] == f"Watching {workdir.resolve()}; Ctrl-C ends it."

        save(demo, code("two\u202e"))
        lines = out.up_to("The prompt cache prefix changed: ")
        assert lines[:2] == [f"Changed: {demo.resolve()}", "Reloaded: demo"]
        assert lines[2:4] == ["--- system prompt", "+++ system prompt"]
        assert lines[-3:-1] == ["-one\\x1b[2J", "+two\\u202e"]

        for attempt in ("first", "second"):
            save(demo, f"raise ValueError('{attempt}')")
            assert out.up_to("What the model is told stays as it was.")[1] == "Failed: demo"
            err.up_to(f"ValueError: {attempt}")

        save(demo, code("three"))
        assert out.up_to("The prompt cache prefix changed: ")[-2] == "+three"

        save(workdir / "AGENTS.md", "Be precise.")
        lines = out.up_to("+Be precise.")
        assert lines[:2] == ["Changed: AGENTS.md", "--- context snapshot"]

        save(workdir / "unrelated.txt", "nothing is shown of this")
        site.add("new", TOOL)
        lines = [*out.up_to("Installed: new"), *out.up_to("The prompt cache prefix changed: ")]
        assert "Changed: unrelated.txt" not in out.all
        assert "--- tools" in lines
        assert '+    "name": "bash",' in lines

        assert watching.end() == 130
        assert not any("Traceback" in line for line in err.all)


def test_a_new_configuration_is_a_new_host(program: Program, site: Site, workdir: Path) -> None:
    """A broken one is told, and the last good state stays; other plugins are chosen."""
    for name in ("demo", "other"):
        site.add(name, SECTION.replace('"rules"', f'"{name}"').format(text=name))
    file = workdir / "dsh-prompt.toml"
    state = workdir / "state.json"
    state.write_text("{}")
    with Watching(program, "--state", "state.json") as watching:
        out, err = watching.out, watching.err

        save(file, 'persona = "Ada"')
        assert "+Ada" in out.up_to("The prompt cache prefix changed: ")
        save(file, "persona = 3")
        err.up_to("persona: expected a string")
        save(file, 'persona = "Ada"\n[plugins]\ndisable = ["other"]')
        lines = out.up_to("The prompt cache prefix changed: ")
        assert lines[0] == "Changed: dsh-prompt.toml"
        assert "-other" in lines
        save(state, "[")
        err.up_to("state.json: is no valid JSON")
        save(file, 'persona = "Eve"')
        err.up_to("state.json: is no valid JSON")
        save(state, "{}")
        assert {"-Ada", "+Eve", "+other"} <= {*out.up_to("The prompt cache prefix changed: ")}
        assert watching.end() == 130


def test_it_begins_with_what_is_broken(program: Program, site: Site, workdir: Path) -> None:
    """And shows what there is once it is mended; a plugin that breaks settings is kept."""
    site.add("agents", INSTRUCTIONS)
    strict = """
import attrs
@attrs.frozen
class Config:
    word: str = "none"
@hookimpl
def activate(ctx):
    ctx.section(name="strict", order=10, text=ctx.config.word)
"""
    site.add("strict", strict)
    with Watching(program) as watching:
        out, err = watching.out, watching.err
        assert len(watching.start) == 1
        err.up_to("No such file")

        save(workdir / "AGENTS.md", "Be brief.")
        assert out.up_to("3 sections, 1 context, 0 tools; ")[0] == "Changed: AGENTS.md"
        save(workdir / "dsh-prompt.toml", "[plugins.config.strict]\nword = 3")
        err.up_to("word: expected a string")
        save(workdir / "dsh-prompt.toml", '[plugins.config.strict]\nword = "some"')
        assert {"-none", "+some"} <= {*out.up_to("The prompt cache prefix changed: ")}
        (workdir / "AGENTS.md").unlink()
        err.up_to("No such file")
        assert watching.end() == 130


def test_without_the_extra_it_cannot_be_used(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says how to install it."""
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    outcome = run("watch")
    assert outcome.code == 2
    assert "pip install 'dsh-prompt[watch]'" in outcome.err
