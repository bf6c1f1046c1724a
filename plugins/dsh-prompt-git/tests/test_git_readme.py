"""The README shows what the plugin says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_README = Path(__file__).parents[1] / "README.md"


@pytest.mark.skipif(not _README.exists(), reason="the tests stand alone")
def test_example(
    empty: Path,
    git: Callable[..., str],
    write: Callable[..., Path],
    commit: Callable[..., None],
    lines: Callable[..., list[str]],
) -> None:
    """The example in the README is the text of a repository such as it describes."""
    for name in ("lexer.py", "notes.txt"):
        write(name, f"{name}\n")
    commit("parser.py", "one\n", "First parser")
    git("checkout", "-q", "-b", "parser")
    commit("parser.py", "two\n", "Parse words")
    commit("words.py", "words\n", "Add words")
    git("checkout", "-q", "main")
    commit("parser.py", "three\n", "Read numbers")
    git("rebase", "-q", "main", "parser", check=False)
    git("mv", "lexer.py", "scanner.py")
    write("notes.txt", "more\n")
    for name in ("build/out", "draft.txt", "extra.txt"):
        write(name)
    shown = os.linesep.join(lines(empty, max_files=2))
    assert f"## Git repository\n\n{shown}\n```" in _README.read_text()
