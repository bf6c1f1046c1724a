"""Bytes into text, and what is no text."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_agents_md import Instructions

TEXT = "Grüße, 世界 🙂"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
    ],
    ids=["utf-8", "utf-8 with mark", "utf-16-le", "utf-16-be"],
)
def test_known_encodings(
    data: bytes, write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """UTF-8 is read with a mark and without, UTF-16 with one."""
    write("AGENTS.md", data)
    assert shown() == [("AGENTS.md", TEXT)]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (TEXT.encode("latin-1", "replace"), "it is neither UTF-8 nor UTF-16"),
        (b"\x80 only a stray byte", "it is neither UTF-8 nor UTF-16"),
        (b"\xed\xa0\x80 half a pair", "it is neither UTF-8 nor UTF-16"),
        (codecs.BOM_UTF16_LE + b"a", "it is neither UTF-8 nor UTF-16"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8a\x00", "it is neither UTF-8 nor UTF-16"),
        (b"text\0more", "it holds a NUL"),
        ("no mark".encode("utf-16-le"), "it holds a NUL"),
        (codecs.BOM_UTF32_LE + "x".encode("utf-32-le"), "it holds a NUL"),
    ],
)
def test_what_is_no_text(
    data: bytes, what: str, write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """What cannot be decoded is reported, not shown in wrong letters, and the others are shown."""
    write("AGENTS.md", data)
    write("CLAUDE.md", "Fine.")
    instructions = reading()
    assert [file.path for file in instructions.files] == ["CLAUDE.md"]
    (problem,) = instructions.problems
    assert problem.path == "AGENTS.md"
    assert problem.what.startswith(f"is not shown: {what}")


def test_newlines(write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]) -> None:
    """Newlines of all systems become those of the prompt."""
    write("AGENTS.md", b"one\r\ntwo\rthree\nfour\r\n")
    assert shown() == [("AGENTS.md", "one\ntwo\nthree\nfour")]
