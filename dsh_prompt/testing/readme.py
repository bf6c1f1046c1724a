"""The README of a plugin, as its tests read it."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

from dsh_prompt.config.config import Config

if TYPE_CHECKING:
    from pathlib import Path


class Readme:
    """A document at *path* with fenced blocks: code, what it prints, and settings."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")

    def blocks(self, language: str) -> list[str]:
        """Give the contents of the blocks that begin with ```` ```language ````."""
        pattern = rf"^```{re.escape(language)}\n(.*?)^```$"
        found: list[str] = re.findall(pattern, self.text, re.DOTALL | re.MULTILINE)
        return found

    def run(self, code: str | None = None) -> dict[str, Any]:
        """Run *code*, or all blocks of Python as one program; gives the names it has set."""
        program = "\n".join(self.blocks("python")) if code is None else code
        names: dict[str, Any] = {"__name__": "readme"}
        exec(compile(program, "README.md", "exec"), names)  # noqa: S102 - a test's own document
        return names

    def config(self) -> Config:
        """Give the settings of the one block of TOML, as a host takes them."""
        (toml,) = self.blocks("toml")
        return Config.from_dict(tomllib.loads(toml))

    def settings(self, plugin: str) -> dict[str, Any]:
        """Give what that block says of *plugin*."""
        (toml,) = self.blocks("toml")
        settings: dict[str, Any] = tomllib.loads(toml)["plugins"]["config"][plugin]
        return settings
