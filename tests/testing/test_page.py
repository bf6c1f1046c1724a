"""The page on testing: its tests pass, and it names all that is public."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import dsh_prompt
import dsh_prompt.testing
from dsh_prompt.testing.generic import FIRST, OTHERS
from tests.sites import Site

pytest_plugins = ("pytester",)

ROOT = Path(dsh_prompt.__file__).parents[1]
PAGE = ROOT.joinpath("docs", "testing.md").read_text("utf-8")
PLUGIN = """
import attrs
from dsh_prompt import PromptSection, hookimpl

@attrs.frozen
class Config:
    tone: str = "kind"

@hookimpl
def contribute_sections():
    return [PromptSection(name="rules", order=10, text="Be precise.")]
"""
README = """
```python
print("Be precise.")
```

```text
Be precise.
```

```toml
[plugins.config.my-plugin]
tone = "kind"
```
"""


def test_every_public_name_fixture_and_check_is_on_the_page() -> None:
    """In backticks, or in the table of checks."""
    fixtures = re.findall(r"^def (dsh_prompt_\w+)\(", source("fixtures"), re.MULTILINE)
    assert len(fixtures) == 4
    for name in (*dsh_prompt.testing.__all__, *fixtures):
        assert re.search(rf"`{name}[`(]", PAGE), name
    last_part = PAGE.partition("## All generic checks")[2]
    table = re.findall(r"^\| (\w[\w ]*) \|", last_part, re.MULTILINE)
    assert table == ["check", *FIRST, *OTHERS, "deterministic"]


def source(module: str) -> str:
    """Give the code of a module of the kit."""
    return ROOT.joinpath("dsh_prompt", "testing", f"{module}.py").read_text("utf-8")


def test_the_tests_on_the_page_pass(
    pytester: pytest.Pytester, kit: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are those of a plugin that is installed as ``my-plugin``."""
    pytest.importorskip("syrupy")
    site = Site(pytester.path / "site")
    site.module("my_plugin_module", PLUGIN)
    site.distribution("my-plugin-distribution", **{"my-plugin": "my_plugin_module"})
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    tests = [block for block in blocks if "def test_" in block]
    assert len(tests) == 5
    pytester.path.joinpath("README.md").write_text(README)
    pytester.makepyfile(test_page="\n\n".join(tests))
    path = os.pathsep.join([str(site.folder), str(ROOT)])
    monkeypatch.setenv("PYTHONPATH", path)
    result = pytester.runpytest_subprocess(*kit, "--snapshot-update")
    result.assert_outcomes(passed=7)
