"""Where things come from: the code of functions, frames and tasks, and who holds an object."""

from __future__ import annotations

import gc
import sys
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: How far to look for a holder, and at how many objects.
_DEEPEST, _MOST = 6, 5000


def code_place(thing: Any) -> str:
    """Give `` (FILE:LINE)`` for a function, partial, coroutine or frame; ``""`` for others."""
    while isinstance(thing, partial):
        thing = thing.func
    for name in ("__code__", "cr_code", "f_code"):
        code = getattr(thing, name, None)
        if code is not None:
            return f" ({code.co_filename}:{code.co_firstlineno})"
    return ""


def name_of(thing: Any) -> str:
    """Name a function, or the class of anything else."""
    while isinstance(thing, partial):
        thing = thing.func
    name: str = getattr(thing, "__qualname__", None) or f"a {type(thing).__qualname__}"
    return name


def holder_of(thing: object) -> str:
    """Tell who holds *thing*: the global of a module that leads to it, else what it is in."""
    globals_ = {id(vars(module)): name for name, module in list(sys.modules.items()) if module}
    ours: list[Any] = [thing]
    seen = {id(ours), id(globals_)}
    level: list[Any] = [thing]
    for _ in range(_DEEPEST):
        above: list[Any] = []
        for held in level:
            for referrer in _referrers(held):
                if id(referrer) in globals_:
                    return f"{globals_[id(referrer)]}.{_key(referrer, held)}"
                if id(referrer) not in seen and referrer is not level and referrer is not above:
                    seen.add(id(referrer))
                    above.append(referrer)
        if not above or len(seen) > _MOST:
            break
        seen |= {id(above), id(level)}
        level = above
    direct = sorted({type(one).__name__ for one in _referrers(thing) if one is not ours})
    return f"an object that no module leads to ({', '.join(direct) or 'unknown'})"


def _referrers(held: object) -> Iterator[Any]:
    for referrer in gc.get_referrers(held):
        if not isinstance(referrer, FrameType) and type(referrer).__name__ != "list_iterator":
            yield referrer


def _key(namespace: dict[str, Any], value: object) -> str:
    return next((key for key, one in list(namespace.items()) if one is value), "?")
