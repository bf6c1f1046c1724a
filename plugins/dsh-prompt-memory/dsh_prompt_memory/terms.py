"""The terms that a text is found by, in every script, and the expression that looks for them.

The full-text index holds terms that are made here, so that what is found does not depend on the
release of SQLite, and no text of a user is ever read as the syntax of a query.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Of a longer query, the beginning and the end are read, and of its terms the first and the last:
#: a question stands before or after what was pasted.
_MOST_READ: Final = 10_000
_MOST_TERMS: Final = 128

_ACCENTS: Final = re.compile("[\u0300-\u036f]")
#: Scripts without spaces between words (Thai, Lao, Burmese, Khmer, kana, ideographs), and Hangul,
#: where endings stick to words.
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]"
)
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")

_Kind = Literal["unspaced", "spaced", "between", "nothing"]


def index_terms(text: str) -> str:
    """Give the terms of *text* with spaces between them, as the index holds them.

    In scripts without spaces each character is a term.
    """
    return " ".join(" ".join(run) if unspaced else run for run, unspaced in _runs(text))


def match_expression(query: str) -> str:
    """Give the full-text expression for what shares a term with *query*; empty without terms.

    In scripts without spaces, two characters side by side are what has to be shared.
    """
    # A dict keeps the order, so that equal queries are equal expressions.
    terms = list(dict.fromkeys(_query_terms(_ends(query, _MOST_READ))))
    half = _MOST_TERMS // 2
    if len(terms) > _MOST_TERMS:
        terms = terms[:half] + terms[-half:]
    return " OR ".join(f'"{term}"' for term in terms)


def _ends(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} {text[-most // 2 :]}"


def _query_terms(query: str) -> Iterator[str]:
    for run, unspaced in _runs(query):
        if unspaced and len(run) > 1:
            yield from map(" ".join, pairwise(run))
        else:
            yield run


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Give the words of *text*, folded, and for each whether its script has no spaces."""
    seen = (character for character in _folded(text) if _kind(character) != "nothing")
    for kind, characters in groupby(seen, _kind):
        if kind != "between":
            yield "".join(characters), kind == "unspaced"


def _folded(text: str) -> str:
    """Give *text* without case, accents and fancy shapes."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", plain))


@lru_cache(maxsize=4096)
def _kind(character: str) -> _Kind:
    if _UNSPACED.match(character):
        return "unspaced"
    category = unicodedata.category(character)
    if category == "Cf" or _SELECTORS.match(character):
        return "nothing"
    return "spaced" if category[0] in "LMN" else "between"
