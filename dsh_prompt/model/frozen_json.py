"""JSON values that refuse change, yet are dicts and lists to everybody who reads them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from dsh_prompt.errors import InvalidContributionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


# Levels of nesting: far more than any schema has, far fewer than Python can follow.
_DEEPEST = 100


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(f"{type(self).__name__} is immutable; build a new value instead")


class FrozenDict(dict[str, Any]):
    """A dict of JSON values that cannot be changed."""

    __slots__ = ()

    # Filling it again would be a change as well; `frozen_dict` makes one.
    __init__ = _refuse
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return frozen_dict, (dict(self),)


class FrozenList(list[Any]):
    """A list of JSON values that cannot be changed."""

    __slots__ = ()

    __init__ = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __copy__(self) -> FrozenList:
        return self

    def __deepcopy__(self, memo: object) -> FrozenList:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return frozen_list, (list(self),)


def frozen_dict(items: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> FrozenDict:
    """Make a `FrozenDict` of *items* that are frozen already."""
    made: FrozenDict = FrozenDict.__new__(FrozenDict)
    dict.__init__(made, items)
    return made


def frozen_list(items: Iterable[Any]) -> FrozenList:
    """Make a `FrozenList` of *items* that are frozen already."""
    made: FrozenList = FrozenList.__new__(FrozenList)
    list.__init__(made, items)
    return made


def freeze(value: object, where: str) -> Any:
    """Give an immutable copy of the JSON *value*; *where* names it in errors.

    Tuples count as lists. Raises `InvalidContributionError` with the path of the first
    thing that is not JSON: another type, a key that is no string, NaN, an infinity, or a
    value that holds itself.
    """
    try:
        return _freeze(value, where, "$", ())
    except RecursionError:
        raise InvalidContributionError(f"{where}: the value is nested too deeply") from None


def _freeze(value: object, where: str, path: str, parents: tuple[int, ...]) -> Any:
    if isinstance(value, FrozenDict | FrozenList):
        return value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidContributionError(f"{where}: {value} at {path} is not JSON")
        return value
    if len(parents) > _DEEPEST:
        raise InvalidContributionError(f"{where}: the value is nested too deeply")
    if id(value) in parents:
        raise InvalidContributionError(f"{where}: the value at {path} holds itself")
    if isinstance(value, dict):
        return frozen_dict(_frozen_items(value, where, path, (*parents, id(value))))
    if isinstance(value, list | tuple):
        inner = (*parents, id(value))
        return frozen_list(
            _freeze(item, where, f"{path}[{index}]", inner) for index, item in enumerate(value)
        )
    raise InvalidContributionError(
        f"{where}: {type(value).__name__} at {path} is not JSON (use dict, list, str, numbers, "
        "booleans and None)"
    )


def _frozen_items(
    value: dict[Any, Any], where: str, path: str, parents: tuple[int, ...]
) -> list[tuple[str, Any]]:
    items = []
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidContributionError(f"{where}: key {key!r} at {path} is not a string")
        items.append((key, _freeze(item, where, f"{path}.{key}", parents)))
    return items


def thaw(value: Any) -> Any:
    """Give a plain, mutable copy of a JSON value."""
    if isinstance(value, dict):
        return {key: thaw(item) for key, item in value.items()}
    if isinstance(value, list):
        return [thaw(item) for item in value]
    return value
