"""Text of others: visible, framed, and read within bounds."""

from __future__ import annotations

import codecs
import logging
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt.untrusted import (
    FRAMES,
    Bounds,
    Candidate,
    Problem,
    Reader,
    Reports,
    UnusableError,
    clean,
    decode,
    framed,
    quoted,
    signature,
    visible_name,
    without_tag_at_end,
)
from dsh_prompt.untrusted.places import way_up

#: Seen as it is: joined emoji, a flag of regions, one of tags, a selector, joiners in Persian.
HARMLESS = [
    "\U0001f469\u200d\U0001f4bb",
    "\U0001f1e9\U0001f1ea",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "\u2764\ufe0f",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
]
HIDDEN = {
    "a\u200bb": r"a\u200bb",
    "a\u202eb": r"a\u202eb",
    "a\x00b": r"a\x00b",
    "a\U000e0041b": r"a\U000e0041b",
    "a\u200db": r"a\u200db",
    "a\x1b[2J": r"a\x1b[2J",
    "\ue000": r"\ue000",
    "half \ud83d": r"half \ud83d",
    "a byte \udc80": r"a byte \x80",
}
TEXTS = st.text(
    st.sampled_from("ab </>&\u200b\u200d\u202e\ufeff\U0001f469\U0001f4bb\ufe0fskil-memory\n"),
    max_size=60,
)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_seen_stays(text: str) -> None:
    """Joiners and selectors stay where they are part of a character."""
    assert clean(text).text == text
    assert not list(clean(text).findings())


@pytest.mark.parametrize(("text", "shown"), HIDDEN.items())
def test_what_is_hidden_is_shown_and_told(text: str, shown: str) -> None:
    """It could carry words that nobody but the model reads."""
    cleaned = clean(text)
    assert cleaned.text == shown
    [finding] = cleaned.findings()
    assert finding.startswith("holds invisible, direction-changing or private-use characters")


def test_many_hidden_characters_are_listed_in_short() -> None:
    [finding] = clean("".join(map(chr, range(0xE000, 0xE020)))).findings()
    assert finding.endswith("U+E009 (1) and 22 others")


@pytest.mark.parametrize("tag", FRAMES)
@pytest.mark.parametrize("form", ["</{}>", "< / {} >", "<{} x=1>", "\uff1c/{}>", "<\u200b/{}>"])
def test_a_tag_of_a_frame_is_made_harmless(tag: str, form: str) -> None:
    """In whatever form somebody could read it as one."""
    cleaned = clean(form.format(tag.upper()))
    assert "&lt;" in cleaned.text
    assert cleaned.tags == 1


def test_tags_of_your_own_are_known_by_name() -> None:
    assert clean("</ticket>").text == "</ticket>"
    assert clean("</ticket>", ("ticket",)).text == "&lt;/ticket>"
    assert clean("<skillful> x < y").text == "<skillful> x < y"


@given(TEXTS)
def test_cleaning_again_changes_nothing(text: str) -> None:
    """Law: what was cleaned is clean."""
    once = clean(text).text
    assert clean(once).text == once
    assert not list(clean(once).findings())


@given(TEXTS)
def test_a_frame_ends_at_its_end(text: str) -> None:
    """Law: no content closes it before."""
    made = framed("memory", clean(text).text, source="x")
    assert made.startswith('<memory source="x">\n')
    assert made.index("</memory>") == len(made) - len("</memory>")


def test_a_cut_makes_no_tag() -> None:
    """What is left of a longer word at the end goes; a bracket that is none of a tag stays."""
    assert without_tag_at_end("1 < 2 </memorybook </memory") == "1 < 2 </memorybook "
    assert without_tag_at_end("1 < 2 </memorybook") == "1 < 2 </memorybook"
    assert without_tag_at_end("a </ticket", ("ticket",)) == "a "


@given(TEXTS, st.integers(0, 60))
def test_a_beginning_of_a_clean_text_holds_no_tag(text: str, end: int) -> None:
    """Law: wherever it was cut; and what was taken away was all of it a tag's."""
    cleaned = clean(text).text
    left = without_tag_at_end(cleaned[:end])
    assert clean(left).tags == 0
    assert cleaned[:end].startswith(left)
    assert len(left) == len(cleaned[:end]) or cleaned[len(left)] == "<"


@given(st.text(max_size=20))
def test_a_quoted_value_ends_at_its_end(value: str) -> None:
    """Law: between the quotes there is neither a quote nor a bracket."""
    assert not set(quoted(value)[1:-1]) & set('"<>')


def test_a_problem_is_reported_once(caplog: pytest.LogCaptureFixture) -> None:
    """As long as it is the same; of very many, some are forgotten."""
    reports = Reports(logging.getLogger("dsh_prompt.tests"))
    reports.give(["a", ("b", 1)])
    reports.give(["a", ("b", 2)])
    assert [record.getMessage() for record in caplog.records] == ["a", "('b', 1)", "('b', 2)"]
    reports.give(range(5000))
    reports.give(["a"])
    assert caplog.records[-1].getMessage() == "a"


def test_a_problem_of_a_changed_file_is_another(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is told again; as long as the file is what it was, it is not."""
    reports = Reports(logging.getLogger("dsh_prompt.tests"))
    file = tmp_path / "a.md"
    for text in ("1", "1", "22"):
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
        reports.give([Problem("a.md", "is odd", signature(str(file)))])
    assert [record.getMessage() for record in caplog.records] == ["a.md is odd"] * 2


def test_a_link_that_leads_nowhere_has_a_signature(tmp_path: Path) -> None:
    """It is that of the link; without one there is none."""
    link = tmp_path / "link"
    link.symlink_to("nowhere")
    assert signature(str(link))
    assert signature(str(tmp_path / "nowhere")) == signature("a\0b") == ()


def test_a_name_is_one_visible_line() -> None:
    assert visible_name("a\nb\u202e\udc80\\") == r"a\nb\u202e\x80\\"


# Files


@pytest.fixture
def bounds(tmp_path: Path) -> Bounds:
    """Give the bounds of a project, with a file and a folder in it."""
    root = tmp_path / "project"
    (root / "docs" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "docs" / "deep" / "a.md").write_text("A.")
    (root / ".git" / "config").write_text("password")
    (tmp_path / "keys").write_text("secret")
    return Bounds(os.path.realpath(root), (".git",))


def inside(bounds: Bounds, folder: str) -> str:
    return str(Path(bounds.root, folder))


def read(bounds: Bounds, folder: str, name: str, limit: int = 100) -> bytes | None:
    with Reader() as reader:
        return reader.read(Candidate(inside(bounds, folder), name, bounds=bounds), limit)


def test_a_file_is_read(bounds: Bounds) -> None:
    assert read(bounds, "docs/deep", "a.md") == b"A."
    assert read(bounds, "docs", "none.md") is None


def test_one_reader_reads_many(bounds: Bounds) -> None:
    """It goes on from the folder that it was in, and back up."""
    places = [("docs/deep", "a.md"), ("docs", "none"), (".git", "config"), ("docs/deep", "a.md")]
    with Reader() as reader:
        found = [
            reader.read(Candidate(inside(bounds, folder), name, bounds=bounds), 9)
            for folder, name in places
        ]
    assert found == [b"A.", None, b"password", b"A."]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("../../keys", "it leads out of the project"),
        ("../.git/config", "it leads into .git"),
        ("nowhere", "a link that leads nowhere"),
        ("link", "Too many levels of symbolic links"),
        (".", "it is not a regular file"),
    ],
)
def test_a_link_is_followed_within_the_bounds(bounds: Bounds, target: str, reason: str) -> None:
    Path(bounds.root, "docs", "link").symlink_to(target)
    with pytest.raises(UnusableError, match=reason):
        read(bounds, "docs", "link")


def test_bounds_say_what_they_are_of(bounds: Bounds) -> None:
    with pytest.raises(UnusableError, match=r"^is not read: it leads out of the skill$"):
        Bounds(inside(bounds, "docs"), whole="the skill").check(inside(bounds, "docs.md"))


def test_a_project_ends_at_its_marker(bounds: Bounds) -> None:
    """Without any, the folder stands alone."""
    deep, docs = inside(bounds, "docs/deep"), inside(bounds, "docs")
    assert way_up(deep, (".git",)) == [deep, docs, bounds.root]
    assert way_up(deep, ("no-such-marker",)) == way_up(deep, ()) == [deep]


def test_a_link_inside_is_followed(bounds: Bounds) -> None:
    Path(bounds.root, "docs", "link").symlink_to("deep/a.md")
    assert read(bounds, "docs", "link") == b"A."


def test_a_pipe_and_a_large_file_are_not_read(bounds: Bounds) -> None:
    os.mkfifo(Path(bounds.root, "pipe"))
    with pytest.raises(UnusableError, match="it is not a regular file"):
        read(bounds, "", "pipe")
    with pytest.raises(UnusableError, match="it has more than 1 bytes"):
        read(bounds, "docs/deep", "a.md", 1)


def test_without_bounds_any_path_is_read(bounds: Bounds, tmp_path: Path) -> None:
    """That is for files of the user's own."""
    link = tmp_path / "own"
    link.symlink_to(tmp_path / "keys")
    with Reader() as reader:
        assert reader.read(Candidate(str(tmp_path), "own"), 100) == b"secret"


def test_a_candidate_is_shown_from_its_top(bounds: Bounds) -> None:
    folder = inside(bounds, "docs")
    assert Candidate(folder, "a.md", bounds=bounds).shown == "docs/a.md"
    assert Candidate(folder, "a.md", home=bounds.root).shown == "~/docs/a.md"
    assert Candidate("/etc", "a\u202e").shown == r"/etc/a\u202e"


@pytest.mark.parametrize(
    "data",
    [b"A\r\nB\n", codecs.BOM_UTF8 + b"A\nB", codecs.BOM_UTF16_LE + "A\rB".encode("utf-16-le")],
)
def test_text_is_decoded_with_plain_newlines(data: bytes) -> None:
    assert decode(data) == "A\nB"


@pytest.mark.parametrize(("data", "reason"), [(b"\xff\x00a", "neither UTF-8"), (b"a\0", "a NUL")])
def test_what_is_no_text_says_so(data: bytes, reason: str) -> None:
    with pytest.raises(UnusableError, match=reason):
        decode(data)
