"""The README tells the truth."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from dsh_prompt_plan_mode import Config, PlanMode

from dsh_prompt import Config as HostConfig
from dsh_prompt import SystemPrompt

if TYPE_CHECKING:
    import pytest

README = Path(__file__).parent.parent.joinpath("README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return found


def test_code_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    """The code, run as one program, prints the output that is shown."""
    exec(compile("\n".join(blocks("python")), "README.md", "exec"), {})
    assert capsys.readouterr().out == "".join(blocks("text"))


def test_settings_are_taken() -> None:
    """The settings shown are valid, and all that there are."""
    (toml,) = blocks("toml")
    prompt = SystemPrompt(HostConfig.from_dict(tomllib.loads(toml)))
    prompt.load(PlanMode, name="plan-mode")
    shown = tomllib.loads(toml)["plugins"]["config"]["plan-mode"]
    assert set(shown) == {field.name for field in attrs.fields(Config)}
