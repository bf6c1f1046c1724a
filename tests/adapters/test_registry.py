"""Adapters by name."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dsh_prompt import PluginLoadError, PluginNotFoundError
from dsh_prompt import adapters as package
from dsh_prompt.adapters import Adapter, adapter, openai_chat
from tests.adapters.cases import ADAPTERS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder on the path, with the metadata of a package that adds adapters."""
    info = tmp_path / "dsh_prompt_mistral-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dsh-prompt-mistral\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[dsh_prompt.adapters]\n"
        "mistral_chat = added_adapter:mistral_chat\n"
        "broken = added_adapter:nothing\n"
        "openai_chat = added_adapter:mistral_chat\n"
    )
    (tmp_path / "added_adapter.py").write_text(
        "import attrs\nfrom dsh_prompt.adapters import openai_chat\n"
        'mistral_chat = attrs.evolve(openai_chat, name="mistral_chat")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ADAPTERS)
def test_a_built_in_adapter_is_found_by_its_name(name: str) -> None:
    """Which is that of the function too."""
    assert adapter(name) is ADAPTERS[name] is getattr(package, name)
    assert adapter(name).name == name


def test_other_packages_add_adapters(site: Path) -> None:
    """By an entry point, which does not replace a built-in one."""
    found: Adapter = adapter("mistral_chat")
    assert found.name == "mistral_chat"
    assert adapter("openai_chat") is openai_chat


def test_an_unknown_name_is_an_error_with_the_nearest_one(site: Path) -> None:
    """Those of other packages included."""
    with pytest.raises(PluginNotFoundError, match='did you mean "openai_chat"'):
        adapter("openai-chat")
    with pytest.raises(PluginNotFoundError, match=r'no adapter "mistral" among .*"mistral_chat"'):
        adapter("mistral")


def test_an_adapter_that_cannot_be_imported_is_an_error(site: Path) -> None:
    """With what was to be imported."""
    with pytest.raises(PluginLoadError, match='"broken": added_adapter:nothing cannot be imp'):
        adapter("broken")


def test_no_client_is_imported() -> None:
    """Adapters are functions of the assembly; whose client is used is the caller's choice."""
    code = "import sys, dsh_prompt.adapters; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in result.stdout.split()}
    heavy = {"openai", "anthropic", "google", "httpx", "httpx2", "socket", "asyncio", "pydantic"}
    assert loaded & heavy == set()
