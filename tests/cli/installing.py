"""A folder of installed distributions, made for one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Site:
    """A folder for ``sys.path`` in which each plugin is a real, if small, distribution."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def add(self, name: str, code: str, *, version: str = "1.0") -> None:
        """Install the plugin *name*, a module with *code*, as ``dsh-prompt-NAME``."""
        module = f"{name.replace('-', '_')}_plugin"
        lines = ("from __future__ import annotations", "from dsh_prompt import *", code)
        (self.folder / f"{module}.py").write_text("\n".join(lines), "utf-8")
        info = self.folder / f"dsh_prompt_{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: dsh-prompt-{name}\nVersion: {version}\n", "utf-8"
        )
        (info / "entry_points.txt").write_text(f"[dsh_prompt]\n{name} = {module}\n", "utf-8")
