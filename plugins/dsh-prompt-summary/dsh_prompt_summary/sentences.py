"""Where a sentence ends, in the scripts that say so."""

from __future__ import annotations

import re
from typing import Final

from dsh_prompt.cutting import cut

#: Quotes and brackets that close with the sentence.
_CLOSERS: Final = "[\"'\u2019\u201d\u00bb)\\]*_`\uff09\u300d\u300f\u3011\u300b\u3009]*"
#: A full stop also ends abbreviations: it counts where no small letter follows. Others are plain,
#: those of East Asia, India, Ethiopia and the Khmer even without a space behind them.
_END: Final = re.compile(
    rf"[.\u2026]{_CLOSERS}(?=\s+[^\sa-z]|\s*\Z)"
    rf"|[!?\u061f\u06d4\u203c\u2047-\u2049]{_CLOSERS}(?=\s|\Z)"
    rf"|[\u3002\uff01\uff1f\uff61\u0964\u0965\u1362\u1367\u1368\u17d4\u17d5]{_CLOSERS}"
    # The end of a paragraph, of an item of a list, of what stands before a heading.
    r"|(?<=\S)(?=[ \t]*\n(?:[ \t]*\n|[ \t]*(?:[-*+\u2022#]|\d{1,9}[.)])[ \t#]))"
)
#: What is nothing but the number of an item, or a mark, is no sentence.
_NO_SENTENCE: Final = re.compile(r"(?:^|\n)[ \t]*(?:\d{1,9}|[-*+\u2022#]*)[.)]?\Z")
_LONGEST_NUMBER: Final = 20


def cut_at_sentence(text: str, end: int) -> str:
    """Give the beginning of *text*, of at most *end* code points.

    It ends with a sentence, unless more than half would be lost that way, else as `cut` does.
    """
    if len(text) <= end:
        return text
    # What follows decides whether a full stop ends a sentence.
    beginning = text[: end + 2]
    ends = [found.end() for found in _END.finditer(beginning)]
    best = next((one for one in reversed(ends) if one <= end and _is_sentence(text, one)), 0)
    return text[:best] if best * 2 > end else cut(text, end)


def _is_sentence(text: str, end: int) -> bool:
    return _NO_SENTENCE.search(text[max(0, end - _LONGEST_NUMBER) : end]) is None
