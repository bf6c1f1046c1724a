"""The section never takes more bytes than it may, and says what is missing."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_agents_md import Config, fitting, read_instructions
from hypothesis import given, settings
from hypothesis import strategies as st

from dsh_prompt.untrusted import framed

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt_agents_md import Instructions

LINE = "Say what you do.\n"


@pytest.fixture
def nested(
    write: Callable[..., Path], reading: Callable[..., Instructions]
) -> Callable[..., Instructions]:
    """Give a function that reads three files, one below the other, of 10, 20 and 30 lines."""
    for folder, lines in (("a/b", 30), ("a", 20), (".", 10)):
        write(f"{folder}/AGENTS.md", LINE * lines)
    return lambda limit: reading("a/b", max_bytes=limit)


def states(instructions: Instructions) -> list[str]:
    return [file.shown for file in instructions.files]


def test_all_fit(nested: Callable[..., Instructions]) -> None:
    """Where all fit, to the byte, nothing is missing and nothing is said about it."""
    size = len(nested(30_000).text.encode())
    assert states(nested(size)) == ["whole"] * 3
    assert "There is more" not in nested(size).text
    assert nested(size).problems == ()


def test_broader_files_go_first(nested: Callable[..., Instructions]) -> None:
    """One byte less, and the broadest file goes, whole."""
    size = len(nested(30_000).text.encode())
    assert states(nested(size - 1)) == ["left out", "whole", "whole"]
    assert 'Left out: "AGENTS.md". Read' in nested(size - 1).text


def test_most_specific_file_stays_whole(nested: Callable[..., Instructions]) -> None:
    """As long as it fits alone, the file that is nearest to the work is whole."""
    instructions = nested(950)
    assert states(instructions) == ["left out", "left out", "whole"]
    assert 'Left out: "AGENTS.md", "a/AGENTS.md". Read' in instructions.text
    assert (LINE * 30).strip() in instructions.text


def test_shorter_words_before_a_cut(nested: Callable[..., Instructions]) -> None:
    """The words around the file become fewer before the file does."""
    instructions = nested(820)
    assert states(instructions)[-1] == "whole"
    assert "\nFiles for agents, broad to specific:\n" in instructions.text


def test_most_specific_file_is_cut(nested: Callable[..., Instructions]) -> None:
    """Where it alone is too long, its beginning is shown, up to the end of a line."""
    instructions = nested(700)
    assert states(instructions) == ["left out", "left out", "cut"]
    assert 'Cut at its end: "a/b/AGENTS.md".' in instructions.text
    text = instructions.files[-1].text
    assert text.splitlines() == [LINE.strip()] * (len(text) // len(LINE) + 1)


def test_heading_alone(nested: Callable[..., Instructions]) -> None:
    """With less, the notice and the name of the file are left."""
    instructions = nested(290)
    assert states(instructions) == ["left out"] * 3
    assert instructions.text.startswith(
        "<workspace-instructions>\nThere is more than the 290 bytes"
    )
    assert '<instructions path="a/b/AGENTS.md">\n\n</instructions>' in instructions.text


@pytest.mark.parametrize(("limit", "text"), [(0, ""), (1, "T"), (12, "There is mor")])
def test_notice_cut(limit: int, text: str, nested: Callable[..., Instructions]) -> None:
    """With hardly anything, there is as much of the notice as fits."""
    assert nested(limit).text == text


def test_problems_say_what_is_missing(nested: Callable[..., Instructions]) -> None:
    """What the budget leaves out is among the problems, too."""
    assert list(map(str, nested(700).problems)) == [
        "AGENTS.md is left out: all files together exceed 700 bytes",
        "a/AGENTS.md is left out: all files together exceed 700 bytes",
        "a/b/AGENTS.md is cut: all files together exceed 700 bytes",
    ]


@pytest.mark.parametrize(
    "cluster", ["é" * 2, "e\u0301\u0323", "👨‍👩‍👧", "👍🏽", "🇩🇪", "\u1100\u1161\u11a8", "1️⃣"]
)
def test_cut_between_characters(
    cluster: str, write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """A line too long to be shown is cut between what readers take for characters."""
    write("AGENTS.md", cluster * 1000)
    whole = cluster if cluster != "éé" else "é"
    for limit in range(700, 700 + len(cluster.encode())):
        text = reading(max_bytes=limit).files[0].text
        assert text
        assert text == whole * (len(text) // len(whole))


def test_one_endless_character(
    write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """A heap of marks on one letter is cut all the same."""
    write("AGENTS.md", "e" + "\u0301" * 5000)
    instructions = reading(max_bytes=1000)
    assert states(instructions) == ["cut"]
    assert len(instructions.text.encode()) > 990


def test_a_cut_makes_no_tag(
    write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """Wherever the text is cut, what is left of a longer word does not end the frame."""
    write("AGENTS.md", "</instructionsbook " * 100)
    texts = [reading(max_bytes=limit).text for limit in range(340, 380)]
    assert all("</instructionsb" in text for text in texts)
    assert [len(re.findall(r"</instructions(?![\w-])", text)) for text in texts] == [1] * 40


def test_endless_hostile_file_costs_little(
    write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """What cannot be shown is not looked through: the report covers what is shown."""
    write("AGENTS.md", "\u200b" * 300_000)
    write("src/AGENTS.md", "\u200b" * 300_000)
    found = [str(problem) for problem in reading("src", max_bytes=1000).problems]
    assert found == [
        (
            "src/AGENTS.md holds invisible, direction-changing or private-use characters, "
            "shown escaped: U+200B (1001)"
        ),
        "AGENTS.md is left out: all files together exceed 1000 bytes",
        "src/AGENTS.md is cut: all files together exceed 1000 bytes",
    ]


def test_deep_tree_costs_little(
    write: Callable[..., Path],
    reading: Callable[..., Instructions],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each file is put into its frame a few times, however many of them are left out."""
    made: list[str] = []

    def counted(tag: str, body: str, **attributes: str) -> str:
        made.extend(attributes.values())
        return framed(tag, body, **attributes)

    monkeypatch.setattr(fitting, "framed", counted)
    folder = "/".join("d" * 60)
    for depth in range(1, 61):
        write(f"{'/'.join('d' * depth)}/AGENTS.md", LINE * depth)
    instructions = reading(folder, max_bytes=20_000)
    assert set(states(instructions)) == {"whole", "left out"}
    assert len(made) < 4 * 60


TEXTS = st.text(st.sampled_from("ab \n<é🙂\u0301\u200b\u202e"), max_size=60)


@given(
    folders=st.lists(st.sampled_from(["a", "ö", "<q>"]), max_size=3),
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    limit=st.integers(0, 1200),
)
@settings(max_examples=80, deadline=None)
def test_never_more_than_allowed(folders: list[str], texts: list[str], limit: int) -> None:
    """Law: whatever the files and the budget, the section fits, and accounts for each file."""
    with TemporaryDirectory() as top:
        folder = Path(top).resolve()
        (folder / ".git").mkdir()
        for depth, text in enumerate(texts):
            name = ("AGENTS.md", "CLAUDE.md")[depth % 2]
            (folder / name).write_bytes(text.encode())
            if depth % 2 and len(folders) > depth // 2:
                folder /= folders[depth // 2]
                folder.mkdir()
        instructions = read_instructions(folder, Config(max_bytes=limit, user_files=()))
    text = instructions.text
    assert len(text.encode()) <= limit
    for file in instructions.files:
        assert (file.shown == "left out") == (not file.text)
        assert file.text in text
    kept = [file.shown for file in instructions.files if file.shown != "left out"]
    assert kept in ([], ["cut"], ["whole"] * len(kept))
    assert states(instructions)[: len(instructions.files) - len(kept)] == ["left out"] * (
        len(instructions.files) - len(kept)
    )
