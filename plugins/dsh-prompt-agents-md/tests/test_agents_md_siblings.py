"""Files of one directory that say the same are shown once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_agents_md import Instructions


def test_equal_after_trimming(write: Callable[..., Path], paths: Callable[..., list[str]]) -> None:
    """Space around a text and the kind of its newlines make no difference."""
    write("AGENTS.md", "One.\nTwo.\n")
    write("CLAUDE.md", "\r\n  One.\r\nTwo.\r\n\r\n")
    write("CLAUDE.local.md", "One.\nTwo!\n")
    assert paths() == ["AGENTS.md", "CLAUDE.local.md"]


def test_equal_in_two_directories(
    write: Callable[..., Path], paths: Callable[..., list[str]]
) -> None:
    """A directory that repeats what the one above says has a reason to."""
    write("AGENTS.md")
    write("src/AGENTS.md")
    assert paths("src") == ["AGENTS.md", "src/AGENTS.md"]


@pytest.mark.posix
@pytest.mark.parametrize(("link", "file"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_link_to_a_sibling(
    link: str, file: str, write: Callable[..., Path], paths: Callable[..., list[str]]
) -> None:
    """A file and a link to it are one, whichever is the link."""
    write(file).with_name(link).symlink_to(file)
    assert paths() == ["AGENTS.md"]


@pytest.mark.posix
def test_hard_link(write: Callable[..., Path], paths: Callable[..., list[str]]) -> None:
    """Two names of one file are one."""
    os.link(write("AGENTS.md"), write("x").with_name("CLAUDE.md"))
    assert paths() == ["AGENTS.md"]


@pytest.mark.parametrize("pointer", ["@AGENTS.md\n", "@./AGENTS.md", "AGENTS.md", "./AGENTS.md"])
def test_pointer_to_a_sibling(
    pointer: str, write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """A file that only imports another, or is what became of a link, adds nothing."""
    write("AGENTS.md", "The text.")
    write("CLAUDE.md", pointer)
    assert shown() == [("AGENTS.md", "The text.")]


def test_pointer_to_a_later_sibling(
    write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """It may point to one that comes later."""
    write("AGENTS.md", "@CLAUDE.md")
    write("CLAUDE.md", "The text.")
    assert shown() == [("CLAUDE.md", "The text.")]


@pytest.mark.parametrize(
    "text", ["@AGENTS.md and more", "@AGENTS.md\n@README.md", "@../AGENTS.md", "@CLAUDE.md"]
)
def test_what_is_more_than_a_pointer(
    text: str, write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """Whatever says more than the name of a sibling is shown as it is."""
    write("AGENTS.md", "The text.")
    write("CLAUDE.md", text)
    assert shown() == [("AGENTS.md", "The text."), ("CLAUDE.md", text)]


def test_pointer_to_nothing(
    write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """A pointer to a file that is not shown stays: it is all that there is."""
    write("CLAUDE.md", "@AGENTS.md")
    assert shown() == [("CLAUDE.md", "@AGENTS.md")]


@pytest.mark.parametrize(
    "texts",
    [
        {"AGENTS.md": "@CLAUDE.md", "CLAUDE.md": "@AGENTS.md"},
        {"AGENTS.md": "CLAUDE.md", "CLAUDE.md": "@./AGENTS.md"},
        {
            "AGENTS.md": "@CLAUDE.md",
            "CLAUDE.md": "@AGENTS.local.md",
            "AGENTS.local.md": "@CLAUDE.local.md",
            "CLAUDE.local.md": "@CLAUDE.md",
        },
    ],
)
def test_pointers_in_a_circle(
    texts: dict[str, str], write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """Files that only point to each other add nothing, and are reported."""
    for name, text in texts.items():
        write(name, text)
    write("src/AGENTS.md")
    instructions = reading("src")
    assert [file.path for file in instructions.files] == ["src/AGENTS.md"]
    assert list(map(str, instructions.problems)) == [
        f"{name} is not shown: what it points to only points on, in a circle" for name in texts
    ]


def test_user_files_are_siblings(home: Path, paths: Callable[..., list[str]]) -> None:
    """The user's files collapse too, though they lie in several directories."""
    for name in ("codex", "claude"):
        (home / name).write_text("Be brief.")
    assert paths(user_files=("~/codex", "~/claude")) == ["~/codex"]
