"""The reader of READMEs: blocks, a program of them, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dsh_prompt.testing import Readme

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
# A plugin

```python
x = 1
```

```toml
[plugins.config.tide]
depth = 3
```

```python
print(x + 1)
```

```text
2
```
"""


@pytest.fixture
def readme(tmp_path: Path) -> Readme:
    path = tmp_path / "README.md"
    path.write_text(TEXT)
    return Readme(path)


def test_all_code_is_one_program(readme: Readme, capsys: pytest.CaptureFixture[str]) -> None:
    assert readme.run()["x"] == 1
    assert capsys.readouterr().out == "".join(readme.blocks("text"))


def test_code_of_your_own_choice_is_run(readme: Readme) -> None:
    assert readme.run(readme.blocks("python")[0])["x"] == 1


def test_settings_are_those_of_a_host(readme: Readme) -> None:
    assert readme.config().plugins.config["tide"] == {"depth": 3}
    assert readme.settings("tide") == {"depth": 3}
