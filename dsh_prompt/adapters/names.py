"""Names of tools as a provider takes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dsh_prompt.adapters.limits import Limits

# Of a digest, in hexadecimal: enough to tell apart what looks alike.
_DIGITS = 8


def sent_names(names: Iterable[str], limits: Limits) -> dict[str, str]:
    """Give for each of the *names* the one to send, within *limits*.

    A name that the provider takes stays. Any other has what is not allowed replaced, is cut,
    and ends in a digest of itself, so it is the same on every machine and whatever other tools
    there are. No two names become one.
    """
    takes = re.compile(_pattern(limits))
    wanted = sorted(set(names))
    sent = {name: name for name in wanted if takes.fullmatch(name)}
    taken = set(sent)
    for name in wanted:
        if name not in sent:
            sent[name] = _free(name, taken, limits)
            taken.add(sent[name])
    return sent


def _pattern(limits: Limits) -> str:
    characters, length = limits.name_characters.value, limits.name_length.value
    start = limits.name_start.value if limits.name_start else characters
    return f"[{start}][{characters}]{{0,{length - 1}}}"


def _free(name: str, taken: set[str], limits: Limits) -> str:
    from hashlib import sha256  # noqa: PLC0415 - few names need it

    readable = re.sub(f"[^{limits.name_characters.value}]", "_", name)
    if limits.name_start and not re.match(f"[{limits.name_start.value}]", readable):
        readable = f"_{readable}"
    seed = name.encode("utf-8", "surrogatepass")
    while True:
        seed = sha256(seed).digest()
        made = f"{readable[: limits.name_length.value - _DIGITS - 1]}_{seed.hex()[:_DIGITS]}"
        if made not in taken:
            return made
