"""What cannot be seen is made visible, where it is not part of the writing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from dsh_prompt.untrusted.tables import (
    AFTER_JOINER,
    BEFORE_JOINER,
    INVISIBLE,
    JOINING,
    STANDARD,
    TEXT_OR_EMOJI,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_agents_md import Instructions

HIDDEN = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("a\u200bb", r"a\u200bb"),
        ("a\xadb", r"a\xadb"),
        ("a\u202eb\u202c", r"a\u202eb\u202c"),
        ("a\u2066b\u2069", r"a\u2066b\u2069"),
        ("a\u200fb", r"a\u200fb"),
        (f"a{HIDDEN}", r"a\U000e006f\U000e0062\U000e0065\U000e0079"),
        ("a\x1b[2Kb\x08", r"a\x1b[2Kb\x08"),
        ("a\u2028b", r"a\u2028b"),
        ("a\ufeffb", r"a\ufeffb"),
        ("a\u2800\u3164b", r"a\u2800\u3164b"),
        ("\U0001d159\U00016fe4", r"\U0001d159\U00016fe4"),
        ("\U0001107f\U00013440", r"\U0001107f\U00013440"),
        ("a\U0001fffe\U0010ffff\ufdd0", r"a\U0001fffe\U0010ffff\ufdd0"),
        ("\ue0b0\U000f1234\U00101234", r"\ue0b0\U000f1234\U00101234"),
    ],
)
def test_hidden_characters_are_escaped(
    text: str, visible: str, write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """A character that shows nothing, or turns the line around, is written as its number."""
    write("AGENTS.md", text)
    assert shown() == [("AGENTS.md", visible)]


@pytest.mark.parametrize(
    "text",
    [
        "plain\ttext\nwith ünïcödé",
        "joined 👩🏽‍🤝‍👨🏻 ❤️‍🔥 🐻‍❄️ 👁️‍🗨️ 🏃‍♀️‍➡️",
        "name 葛\U000e0100城, 辻\U000e0101, 芦\U000e0100, 葛\U000e0100城 again",
        "compatible \u5ca9 \u8c48\ufe00 \u66f4\ufe00 \u5099\ufe00",
        "set \u2229\ufe00, \u3002\ufe01, \u1000\ufe00",
        "family 👨‍👩‍👧‍👦, rainbow 🏳️‍🌈, doctor 🧑🏽‍⚕️",
        "keycap 1️⃣, heart ❤️, copyright ©️",
        "flags 🇩🇪 🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "Persian می‌خواهم",
        "Hindi क्‌ष and क्‍ष",
        "variant of an ideograph 葛\U000e0100",
        "Mongolian \u1820\u180b",
    ],
    ids=[
        *("plain", "joined", "names", "compatible", "standard"),
        *("emoji", "variants", "flags", "persian", "hindi", "ideograph", "mongolian"),
    ],
)
def test_writing_that_needs_them_stays(
    text: str, write: Callable[..., Path], reading: Callable[..., Instructions]
) -> None:
    """Joiners and selectors stay where the character before them is seen in another shape."""
    write("AGENTS.md", text)
    (file,) = reading().files
    assert file.text == text
    assert reading().problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "a\u200db",
        "a\ufe0fb",
        "👍\ufe0f\ufe0f\ufe0e",
        "👨\u200d\u200d👩",
        "👨\u200dx",
        "می\u200c\u200cخ",
        "می\u200c x",
        "🏴\U000e0067\U000e0062\U000e0061",
        "葛\U000e0100\U000e0101",
        "葛\U000e0100 and 葛\U000e0101",
        "葛\U000e0100辻\U000e0101芦\U000e0102城\U000e0103",
        "あ\u200dい",
        "→\u200d→",
        "│\u200d│",
        "😀\u200d😀",
        "🔥\u200d❤️",
        *("1\ufe0f", "#\ufe0f", "1\ufe0e\u20e3", "あ\ufe0e", "→\ufe0f", "葛\ufe01", "∩\ufe01"),
        *("❤\ufe0f\ufe0f", "❤\ufe0f\ufe0e", "❤\ufe00", "1\ufe0f\ufe0f\u20e3"),
        "a\U000e0100",
    ],
)
def test_the_same_characters_elsewhere_do_not(
    text: str, write: Callable[..., Path], problems: Callable[..., list[str]]
) -> None:
    """Between other characters, or in a row, they could carry a message, and are escaped."""
    write("AGENTS.md", text)
    (problem,) = problems()
    assert "invisible, direction-changing or private-use" in problem


@pytest.mark.parametrize(
    "text",
    [
        "a\ufe0f\u200d😀",
        "a\ufe0f\u200d🔥",
        "\u3164\ufe0f",
        "\u2060\ufe0f",
        "\u2060\u200d",
        "\U0002fffe\U000e0100",
    ],
)
def test_nothing_stays_behind_what_is_escaped(
    text: str, write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """What could be part of a character is not, where that is none that stays."""
    write("AGENTS.md", text)
    ((_, visible),) = shown()
    assert not re.search("[\u2060\u3164\u200d\ufe0f\U000e0100]", visible)


@pytest.mark.parametrize("text", ["✅\ufe0f", "❌\ufe0f no", "🚀\ufe0f"])
def test_an_emoji_keeps_the_selector_that_editors_write(
    text: str, write: Callable[..., Path], shown: Callable[..., list[tuple[str, str]]]
) -> None:
    """Also where Unicode has no variant of it: many lists in real files begin with one."""
    write("AGENTS.md", text)
    ((_, visible),) = shown()
    assert visible == text


def test_what_may_stay_is_seen() -> None:
    """No character that is itself escaped counts as one of which another may be part."""
    everything = "".join(map(chr, range(0x110000)))
    hidden = "".join(re.findall(f"[{INVISIBLE}]", everything))
    for bases in (BEFORE_JOINER, AFTER_JOINER, JOINING, TEXT_OR_EMOJI, *STANDARD.values()):
        assert re.search(f"[{bases}]", everything)
        assert not re.search(f"[{bases}]", hidden)


def test_report(write: Callable[..., Path], problems: Callable[..., list[str]]) -> None:
    """The report names the file, the characters and how often each is there."""
    write("AGENTS.md", "a\u202eb\u202e\u200b")
    (problem,) = problems()
    what = "holds invisible, direction-changing or private-use characters, shown escaped"
    assert problem == f"AGENTS.md {what}: U+200B (1), U+202E (2)"


def test_long_report(write: Callable[..., Path], problems: Callable[..., list[str]]) -> None:
    """Of very many characters the first are named."""
    write("AGENTS.md", "".join(map(chr, range(0xE0041, 0xE0061))))
    (problem,) = problems()
    assert problem.endswith("U+E004A (1) and 22 others")
