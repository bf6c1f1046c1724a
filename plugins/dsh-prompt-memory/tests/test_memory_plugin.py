"""What is asked of any plugin: it goes without a trace, and says the same everywhere."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from pathlib import Path

import dsh_prompt_memory
import pytest
from dsh_prompt_memory import MEMORIES, MemoriesError

from dsh_prompt import PromptAssembly, RuntimeState, SystemPrompt
from dsh_prompt.testing import assert_deterministic, assert_stable_prefix, assert_unloads_clean

STATE = RuntimeState(memories=["Deploys run on Fridays.", "</memory>", "测试用 pytest。"])


def test_unload() -> None:
    """After it is unloaded nothing of it is left."""
    assert_unloads_clean("memory", state=STATE)


def open_files() -> list[str]:
    return [str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_unload_closes_the_file(dsh_prompt_host: SystemPrompt, file: Path) -> None:
    """With the plugin goes the store: its file is closed, also for who still holds it."""
    dsh_prompt_host.load(dsh_prompt_memory, name="memory", config={"path": str(file)})
    memories = dsh_prompt_host.require(MEMORIES)
    memories.add("one")
    assert any(one.startswith(str(file)) for one in open_files())
    dsh_prompt_host.unload("memory")
    assert not any(one.startswith(str(file)) for one in open_files())
    assert dsh_prompt_host.get(MEMORIES) is None
    with pytest.raises(MemoriesError, match="is closed"):
        memories.search("one")
    gone = weakref.ref(memories)
    del memories
    gc.collect()
    assert gone() is None


def test_reload_goes_on(file: Path) -> None:
    """After a reload, which opens the file before it closes it, the notes are there."""
    program = """
import sys
from importlib import import_module
from dsh_prompt import SystemPrompt

with SystemPrompt() as prompt:
    prompt.load("memory", config={"path": sys.argv[1]})
    for content in ("one", "two"):
        prompt.require(import_module("dsh_prompt_memory").MEMORIES).add(content)
        prompt.reload("memory")
    notes = prompt.require(import_module("dsh_prompt_memory").MEMORIES).recent()
    print([note.content for note in notes])
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(file)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("['two', 'one']\n", "")


def test_a_store_for_each_scope(dsh_prompt_host: SystemPrompt, tmp_path: Path) -> None:
    """Loaded into scopes, each agent has notes of its own."""
    agents = [dsh_prompt_host.create_scope(name) for name in ("a", "b")]
    for agent in agents:
        path = str(tmp_path / f"{agent.name}.sqlite3")
        dsh_prompt_host.load(dsh_prompt_memory, name="memory", scope=agent, config={"path": path})
        agent.require(MEMORIES).add(agent.name)
    found = [[note.content for note in agent.require(MEMORIES).recent()] for agent in agents]
    assert found == [["a"], ["b"]]
    assert dsh_prompt_host.get(MEMORIES) is None


def test_deterministic() -> None:
    """Of one state it says the same in every process."""
    assert_deterministic("memory", state=STATE)


def test_the_prefix_stays(dsh_prompt_host: SystemPrompt) -> None:
    """Other notes in each call cost no cached byte."""
    dsh_prompt_host.load(dsh_prompt_memory)

    def step(number: int) -> PromptAssembly:
        notes = [f"note {one}" for one in range(number)]
        return dsh_prompt_host.assemble(state=RuntimeState(memories=notes))

    assert_stable_prefix(step, 4)
