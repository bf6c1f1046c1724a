"""The names under which a model sees the tools of servers.

A name says which server and which tool it belongs to, is one that every provider takes, and is the
same wherever it is made: it depends on the two names alone.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Final

#: What no provider refuses: OpenAI's limit is the strictest.
LONGEST: Final = 64
_ALLOWED: Final = re.compile("[A-Za-z0-9_-]+")
_OTHERS: Final = re.compile("[^A-Za-z0-9_-]")
_DIGITS: Final = 16
#: How every lossy name ends, and no other.
_HASHED: Final = re.compile(f"_[0-9a-f]{{{_DIGITS}}}")


def tool_name(server: str, tool: str) -> str:
    """Give the model's name for *tool* of *server*: `mcp__server__tool` where that says it all.

    Else it is lossy, and ends with a hash of both names: where a character is not allowed, where it
    would be longer than 64, where it could be read as another server's tool, and where it only
    looks as if it had a hash. So no two tools get one name, however a server calls its own.
    """
    plain = f"{name_prefix(server)}{tool}"
    if _is_lossless(server, tool, plain):
        return plain
    kept = _OTHERS.sub("_", plain)[: LONGEST - _DIGITS - 1]
    return f"{kept}_{_digest(server, tool)}"


def name_prefix(server: str) -> str:
    """Give what the names of the tools of *server* begin with, as far as all is allowed in it."""
    return f"mcp__{_OTHERS.sub('_', server)}__"


def _is_lossless(server: str, tool: str, plain: str) -> bool:
    return (
        len(plain) <= LONGEST
        and _ALLOWED.fullmatch(server) is not None
        and _ALLOWED.fullmatch(tool) is not None
        # The first two underscores after the server's name end it.
        and "__" not in f"{server}_"
        and _HASHED.fullmatch(plain[-_DIGITS - 1 :]) is None
    )


def _digest(server: str, tool: str) -> str:
    # As JSON, since no character of a name could stand between the two.
    identity = json.dumps([server, tool], ensure_ascii=True).encode()
    return sha256(identity).hexdigest()[:_DIGITS]
