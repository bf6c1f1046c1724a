"""The pytest plugin, in runs of pytest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

# A run in this process forgets the modules that it imports: these it has to share with others.
import dsh_prompt.system_prompt
import dsh_prompt.testing.documents
import dsh_prompt.testing.loops  # noqa: F401

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ("pytester",)

HEAD = """
import pytest
from dsh_prompt import *

class Rules:
    @hookimpl
    def contribute_sections(self, ctx):
        return [PromptSection(name="rules", order=10, text="Be precise.")]
"""


@pytest.fixture
def run(pytester: pytest.Pytester, kit: list[str]) -> Run:
    """Give a function that runs tests in this process, with the pytest plugin."""
    return Run(pytester, kit)


class Run:
    """Runs tests."""

    def __init__(self, pytester: pytest.Pytester, arguments: list[str]) -> None:
        self.pytester = pytester
        self.arguments = ["-W", "error", *arguments]

    def __call__(self, code: str, *arguments: str) -> pytest.RunResult:
        """Run the tests in *code*."""
        self.pytester.makepyfile(HEAD + code)
        return self.again(*arguments)

    def again(self, *arguments: str) -> pytest.RunResult:
        """Run them once more."""
        return self.pytester.runpytest_inprocess(*self.arguments, *arguments)


def test_a_fresh_host_for_each_test(run: Run) -> None:
    """It has no plugins, and is disposed after the test."""
    result = run("""
hosts = []

@pytest.mark.parametrize("number", [1, 2])
def test_host(dsh_prompt_host, dsh_prompt_load, number):
    assert dsh_prompt_host.plugins == []
    info = dsh_prompt_load(Rules, name="rules")
    assert info.name == "rules"
    hosts.append(dsh_prompt_host)

def test_disposed():
    for host in hosts:
        with pytest.raises(DisposedError):
            host.assemble()
""")
    result.assert_outcomes(passed=3)


def test_load_takes_what_the_host_takes(run: Run) -> None:
    """Configuration and scope."""
    result = run("""
class Configured:
    @hookimpl
    def contribute_variables(self, ctx):
        return {"tone": ctx.config["tone"]}

def test_load(dsh_prompt_host, dsh_prompt_load):
    scope = dsh_prompt_host.create_scope("agent")
    dsh_prompt_load(Configured, config={"tone": "dry"}, scope=scope)
    assert dsh_prompt_host.assemble(scope=scope).variables == {"tone": "dry"}
    assert dsh_prompt_host.assemble().variables == {}
""")
    result.assert_outcomes(passed=1)


ASYNC = """
import anyio
from contextlib import asynccontextmanager

left = []

class Async:
    @hookimpl
    async def activate(self, ctx):
        await ctx.enter_async_context(self.held())

    @asynccontextmanager
    async def held(self):
        try:
            yield
        finally:
            left.append("held")

    @hookimpl
    async def deactivate(self, ctx):
        await anyio.sleep(0)
        left.append("deactivated")
"""


def test_load_names_the_way_for_async_plugins(run: Run) -> None:
    """The error says what to write."""
    result = run(
        ASYNC
        + """
def test_load(dsh_prompt_load):
    dsh_prompt_load(Async)
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ['*activate of plugin "Async" is async; *write: await dsh_prompt_host.load_async(...)']
    )


def test_the_host_is_disposed_with_async_cleanups(run: Run) -> None:
    """Also where the loop of the test has ended."""
    result = run(
        ASYNC
        + """
def test_load(dsh_prompt_host):
    anyio.run(dsh_prompt_host.load_async, Async)

def test_disposed():
    assert left == ["held", "deactivated"]
"""
    )
    result.assert_outcomes(passed=2)


def test_states_have_a_folder(run: Run) -> None:
    """That is the test's own, unless another one is given."""
    result = run("""
def test_state(dsh_prompt_state, tmp_path):
    assert dsh_prompt_state() == RuntimeState(workdir=str(tmp_path))
    state = dsh_prompt_state(permission_mode="plan", workdir="/work")
    assert (state.workdir, state.permission_mode) == ("/work", "plan")
""")
    result.assert_outcomes(passed=1)


SNAPSHOT = """
def test_prompt(dsh_prompt_host, dsh_prompt_load, dsh_prompt_snapshot):
    dsh_prompt_load(Rules)
    dsh_prompt_host.context(name="clock", order=1, text="It is noon.")
    dsh_prompt_host.tool(ToolSchema("read", "Reads.", {"type": "object"}))
    dsh_prompt_host.on_assemble(lambda assembly: assembly.deny("read", "not now"))
    assembly = dsh_prompt_host.assemble()
    assert assembly == dsh_prompt_snapshot
    assert render_prompt(assembly) == dsh_prompt_snapshot
"""
KEPT = """\
======== system prompt ========
You are an AI agent powered by DeepSeek Harness.

Be precise.

======== context snapshot ========
Current runtime context. This snapshot supersedes earlier runtime-context snapshots.

It is noon.

======== tool read, denied: not now ========
{
  "description": "Reads.",
  "parameters": {
    "type": "object"
  }
}
"""


def test_snapshots_are_readable_files(run: Run, pytester: pytest.Pytester) -> None:
    """One for each assembly or text; what has changed fails the test, and is shown."""
    pytest.importorskip("syrupy")
    run(SNAPSHOT, "--snapshot-update").assert_outcomes(passed=1)
    files = sorted(file for file in pytester.path.rglob("*.prompt.txt"))
    assert [file.name for file in files] == ["test_prompt.1.prompt.txt", "test_prompt.prompt.txt"]
    assert files[1].read_text("utf-8") == KEPT
    run.again().assert_outcomes(passed=1)
    edit(files[1], "It is noon.", "It is one.")
    result = run.again()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*It is one.*", "*It is noon.*"])


def edit(file: Path, old: str, new: str) -> None:
    """Replace text in a file."""
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")


def test_carriage_returns_are_kept_in_snapshots(run: Run) -> None:
    """As a sign that people see: text files do not keep them."""
    pytest.importorskip("syrupy")
    source = """
def test_prompt(dsh_prompt_snapshot):
    assert "one\\r\\ntwo" == dsh_prompt_snapshot
"""
    run(source, "--snapshot-update").assert_outcomes(passed=1)
    run.again().assert_outcomes(passed=1)
    run(source.replace("\\r", "")).assert_outcomes(failed=1)


def test_snapshots_of_other_things_are_refused(run: Run) -> None:
    """A prompt snapshot holds a prompt."""
    pytest.importorskip("syrupy")
    result = run("""
def test_prompt(dsh_prompt_snapshot):
    assert 3 == dsh_prompt_snapshot
""")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*a prompt snapshot is of a PromptAssembly or a str, not int*"])


def test_without_syrupy_the_message_says_what_to_install(run: Run) -> None:
    """The other fixtures work without it."""
    code = """
import sys

@pytest.fixture(autouse=True)
def _without(monkeypatch):
    monkeypatch.setitem(sys.modules, "syrupy", None)
    monkeypatch.setitem(sys.modules, "syrupy.extensions", None)
    monkeypatch.setitem(sys.modules, "syrupy.extensions.single_file", None)
    monkeypatch.delitem(sys.modules, "dsh_prompt.testing.snapshots", raising=False)

def test_prompt(dsh_prompt_snapshot):
    pass
"""
    result = run(code)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(['*needs syrupy: pip install "dsh-prompt?testing?"*'])


def test_the_pytest_plugin_imports_nothing_of_the_core(run: Run) -> None:
    """So the coverage of a project that tests it is complete."""
    result = run.pytester.run(
        sys.executable,
        "-c",
        "import sys, dsh_prompt.testing.fixtures; "
        "print(sorted(name for name in sys.modules if name.startswith('dsh_prompt')))",
    )
    result.stdout.fnmatch_lines(
        ["['dsh_prompt', 'dsh_prompt.testing', 'dsh_prompt.testing.fixtures']"]
    )
