"""Foreign text made safe to show: what a terminal would obey, or hide, becomes visible."""

from __future__ import annotations

import json
import re
from typing import Any

#: Controls (C0 without tab and newline, DEL, C1), invisible and bidirectional format characters,
#: line separators, lone surrogates, tags and the other specials of plane 14.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    r"""Give *text* with unsafe characters as ``\x1b`` or ``\u202e``; tab and newline stay."""
    return _UNSAFE.sub(_escaped, text)


def visible_line(text: str) -> str:
    """Give *text* as `visible` does, in one line: tab and newline are escaped too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def json_text(value: Any) -> str:
    """Give *value* as JSON lines that are safe to show, and mean exactly what it meant."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return _UNSAFE.sub(lambda match: json.dumps(match[0])[1:-1], text) + "\n"
