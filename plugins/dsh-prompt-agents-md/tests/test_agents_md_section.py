"""What a host gets from the plugin."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from typing import TYPE_CHECKING

import dsh_prompt_agents_md
import pytest
from dsh_prompt_agents_md import Config, read_instructions

from dsh_prompt import AssembleContext, RuntimeState, SectionOrder, SystemPrompt, render_prompt
from dsh_prompt.testing import (
    assert_deterministic,
    assert_section,
    assert_stable_prefix,
    assert_unloads_clean,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def host(dsh_prompt_host: SystemPrompt) -> SystemPrompt:
    """Give a host with the plugin."""
    dsh_prompt_host.load(dsh_prompt_agents_md, name="agents-md")
    return dsh_prompt_host


@pytest.fixture
def warned(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Give a function that gives the files that were warned of since it was last asked."""
    caplog.set_level(logging.WARNING, "dsh_prompt_agents_md")

    def ask() -> list[str]:
        names = [message.split()[0] for message in caplog.messages]
        caplog.clear()
        return names

    return ask


def test_section(project: Path, write: Callable[..., Path], host: SystemPrompt) -> None:
    """There is one section: literal, part of the stable prefix, below the rules."""
    write("AGENTS.md", "Keep {{this}} and {that}.")
    assembly = host.assemble(state=RuntimeState(workdir=str(project)))
    text = read_instructions(project).text
    section = assert_section(assembly, "workspace-instructions", text, plugin="agents-md")
    assert section.literal
    assert section.cacheable
    assert section.order == SectionOrder.ENVIRONMENT
    assert "Keep {{this}} and {that}." in text


@pytest.mark.parametrize("state", [None, RuntimeState(), RuntimeState(workdir="")])
def test_without_a_working_directory(
    state: RuntimeState | None,
    home: Path,
    write: Callable[..., Path],
    host: SystemPrompt,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nobody says where the agent works, nothing is read, and nothing is rendered."""
    monkeypatch.chdir(write("AGENTS.md").parent)
    (home / ".config").mkdir()
    (home / ".config/AGENTS.md").write_text("Mine.")
    assert render_prompt(host.assemble(state=state)) == render_prompt(SystemPrompt().assemble())


def test_without_files(project: Path, rendered: Callable[..., str]) -> None:
    """Without instruction files there is no text at all, frame included."""
    assert rendered(project) == ""


def test_order_is_a_setting(dsh_prompt_host: SystemPrompt) -> None:
    """The section stands where the settings say."""
    dsh_prompt_host.load(dsh_prompt_agents_md, config={"order": 12.5})
    assert assert_section(dsh_prompt_host.assemble(), "workspace-instructions").order == 12.5


def test_prefix_stays_until_a_file_changes(
    project: Path, write: Callable[..., Path], host: SystemPrompt
) -> None:
    """The bytes are the same in each assembly, and other ones at once after an edit."""
    context = AssembleContext(state=RuntimeState(workdir=str(project)))
    file = write("AGENTS.md", "One.")
    assert_stable_prefix(lambda _: host.assemble(context), 3)
    first = host.assemble(context).fingerprint().prefix
    status = file.stat()
    file.write_text("Two.")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert host.assemble(context).fingerprint().prefix != first
    file.write_text("One.")
    assert host.assemble(context).fingerprint().prefix == first


def test_read_in_a_worker_thread(
    project: Path, write: Callable[..., Path], host: SystemPrompt
) -> None:
    """An async host is not kept waiting by the file system."""
    write("AGENTS.md", "Found.")
    state = RuntimeState(workdir=str(project))
    assembly = asyncio.run(host.assemble_async(state=state))
    assert "Found." in render_prompt(assembly)


def test_each_problem_is_logged_once(
    write: Callable[..., Path], project: Path, host: SystemPrompt, warned: Callable[[], list[str]]
) -> None:
    """A warning comes once for a file, and again when the file has changed and is still wrong."""
    state = RuntimeState(workdir=str(project))
    write("AGENTS.md", b"\xff")
    write("CLAUDE.md", b"\0")
    for _ in range(3):
        host.assemble(state=state)
    assert warned() == ["AGENTS.md", "CLAUDE.md"]
    write("AGENTS.md", b"\xff\xff")
    for _ in range(3):
        host.assemble(state=state)
    assert warned() == ["AGENTS.md"]


def test_each_problem_is_logged_once_in_threads(
    write: Callable[..., Path], project: Path, host: SystemPrompt, warned: Callable[[], list[str]]
) -> None:
    """Assemblies that run at the same time do not repeat each other."""
    write("AGENTS.md", b"\xff")
    state = RuntimeState(workdir=str(project))
    threads = [threading.Thread(target=lambda: host.assemble(state=state)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warned() == ["AGENTS.md"]


def test_problems_leave_the_section_alone(
    write: Callable[..., Path], project: Path, rendered: Callable[..., str]
) -> None:
    """What is wrong with a file is for people: the model is not told."""
    write("AGENTS.md", "Fine.")
    before = rendered(project)
    write("CLAUDE.md", b"\xff")
    assert rendered(project) == before


def test_unload(project: Path, write: Callable[..., Path]) -> None:
    """After it is unloaded, nothing of it is left."""
    write("AGENTS.md")
    assert_unloads_clean(dsh_prompt_agents_md, state=RuntimeState(workdir=str(project)))


def test_deterministic(project: Path, write: Callable[..., Path]) -> None:
    """Of one project it says the same in every process."""
    for name in ("AGENTS.md", "CLAUDE.md", "src/AGENTS.md"):
        write(name, "Größe zählt.\n")
    state = RuntimeState(workdir=str(project / "src"))
    assert_deterministic(dsh_prompt_agents_md, state=state)


def test_same_text_for_the_same_files(write: Callable[..., Path], project: Path) -> None:
    """A copy of the project elsewhere gives the same bytes."""
    write("src/AGENTS.md", "Of the source.")
    first = read_instructions(project / "src", Config())
    project.rename(project.with_name("moved"))
    assert read_instructions(project.with_name("moved") / "src", Config()) == first
