"""How many tokens a text takes, told from its bytes: no model's own tokenizer is asked."""

from __future__ import annotations

from typing import Final

#: English has about four characters to a token, of a byte each; vendors of models say so, and one
#: counts 0.3 tokens for an English character and 0.6 for a Chinese one, which has three bytes.
BYTES_PER_TOKEN: Final = 4


def approximate_tokens(text: str) -> int:
    """Count the bytes of *text* in UTF-8, four to a token, rounded up.

    The same for every model and on every machine, and cheap. Code and rare scripts take more
    tokens than this says, a third more for example; a limit that must hold needs room for that.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)
