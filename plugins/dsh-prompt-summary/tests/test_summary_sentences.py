"""Where a text is cut."""

from __future__ import annotations

import pytest
from dsh_prompt_summary.sentences import cut_at_sentence
from hypothesis import given
from hypothesis import strategies as st

from dsh_prompt.cutting import cut


@pytest.mark.parametrize(
    ("text", "end", "kept"),
    [
        ("First one. Second one. Third", 26, "First one. Second one."),
        ("First one. Second one. Third", 22, "First one. Second one."),
        ("First one! Really?! Third goes on", 25, "First one! Really?!"),
        ('She said "done." Then it went on', 25, 'She said "done."'),
        ("It was **fixed.** Then it went on", 25, "It was **fixed.**"),
        ("修复了测试。还有一个没有修复", 9, "修复了测试。"),
        ("「直した。」次は", 7, "「直した。」"),
        ("正しい！次のテストは", 6, "正しい！"),  # noqa: RUF001
        ("परीक्षण ठीक हुआ। दूसरा नहीं हुआ", 22, "परीक्षण ठीक हुआ।"),
        ("هل نجح؟ لا نعرف بعد", 12, "هل نجح؟"),
        ("Version 3.14 is out and it works", 24, "Version 3.14 is out and "),
        ("Use a tool, e.g. the linter, for it", 28, "Use a tool, e.g. the linter,"),
        ("See notes.md for the rest of it all", 20, "See notes.md for the"),
        ("- one thing\n- another thing\n- third", 32, "- one thing\n- another thing"),
        ("1. one thing\n2. another\n3. Third", 27, "1. one thing\n2. another"),
        ("A paragraph here\n\nAnother one here", 27, "A paragraph here"),
        ("Fixed it. Then a wrapped\nline goes on", 30, "Fixed it. Then a wrapped"),
        ("One. " + "x" * 50, 40, "One. " + "x" * 35),
        ("short.", 100, "short."),
        ("No room. At all", 0, ""),
        ("x" * 30, 10, "x" * 10),
    ],
)
def test_cuts(text: str, end: int, kept: str) -> None:
    """A text is cut behind a sentence or an item, unless that loses more than half."""
    assert cut_at_sentence(text, end) == kept


#: What sentences and items are made of, and what joins characters.
TEXT = st.text(st.sampled_from("aB1 .!?\n-*)\u3002\u0301\u200d\U0001f469"))


@given(text=TEXT, end=st.integers(0, 60))
def test_what_holds_for_every_cut(text: str, end: int) -> None:
    """The result is a beginning that fits, and all of the text where that fits."""
    kept = cut_at_sentence(text, end)
    assert text.startswith(kept)
    assert len(kept) <= end or kept == text
    if len(text) <= end:
        assert kept == text
    assert len(kept) * 2 > end or kept == cut(text, end)


@pytest.mark.parametrize("piece", [".", ". ", "\n", " \n", ".)", "1. ", "- ", '."', ".  a", "\t"])
def test_time_grows_with_the_length(piece: str) -> None:
    """No text of one piece repeated takes long: with a backtracking search these would hang."""
    text = piece * (400_000 // len(piece))
    assert len(cut_at_sentence(text, len(text) - 10)) <= len(text) - 10
