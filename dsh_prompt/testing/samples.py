"""What a plugin is tried with: states, tools, and a folder with files to look at."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dsh_prompt.model.state import RuntimeState
from dsh_prompt.model.tools import ToolSchema

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILES = {
    "README.md": "# Sample\n\nA sample project.\n",
    "AGENTS.md": "Be kind.\n",
    "notes/todo.txt": "Nothing.\n",
    "src/app.py": "print('hello')\n",
    "src/util.py": "ANSWER = 42\n",
}


def sample_tools() -> list[ToolSchema]:
    """Give tools of the host for plugins that filter: one that only reads, two that do not."""
    path = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return [
        ToolSchema("sample_read", "Reads a file.", path, annotations={"readOnlyHint": True}),
        ToolSchema("sample_run", "Runs a command.", {"type": "object"}),
        ToolSchema("sample_write", "Writes a file.", path, annotations={"destructiveHint": True}),
    ]


@contextmanager
def sample_folder() -> Iterator[str]:
    """Give a folder for an agent to work in, for a while."""
    with TemporaryDirectory(prefix="dsh-prompt-") as folder:
        for name, text in _FILES.items():
            file = Path(folder, name)
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        yield folder


def rich_state(workdir: str, step: int = 0, *, permission_mode: str = "default") -> RuntimeState:
    """Give the state of an agent at work in *workdir*, another one for each *step*."""
    return RuntimeState(
        workdir=workdir,
        model="sample-model",
        provider="sample-provider",
        permission_mode=permission_mode,
        task=f"Task {step}: answer the question.",
        enabled_tools=("sample_read",),
        open_files=tuple(f"{workdir}/src/{name}" for name in ("app.py", "util.py")[: step + 1]),
        todos=[{"content": f"Step {step}", "status": "in_progress"}, {"content": "Report"}],
        loaded_skills=("reviewing",),
        memories=[{"content": f"Asked {step} times.", "score": 0.5}],
        summary=f"Done so far: {step} steps.",
        project_notes=("It is a sample.",),
        discovered_tools=("sample_search",),
    )
