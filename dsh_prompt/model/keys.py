"""Typed keys: how plugins extend a context or an assembly without untyped extras."""

from __future__ import annotations

from typing import Any, Generic, Protocol, TypeVar, overload

T = TypeVar("T")
D = TypeVar("D")


class Codec(Protocol[T]):
    """Turns a key's value into JSON and back."""

    def encode(self, value: T, /) -> Any:
        """Give a JSON value for *value*."""
        ...

    def decode(self, data: Any, /) -> T:
        """Give the value that `encode` was given."""
        ...


class Key(Generic[T]):
    """A typed key of an `AssembleContext` or a `PromptAssembly`.

    Keys compare by identity: two keys of one *name* are two keys. Values of a key without
    a *codec* stay in the process; ``to_dict`` leaves them out and says so.
    """

    __slots__ = ("__weakref__", "codec", "name")

    def __init__(self, name: str, codec: Codec[T] | None = None) -> None:
        self.name = name
        self.codec = codec

    def __repr__(self) -> str:
        return f"Key({self.name!r})"

    # A copy would be another key.
    def __copy__(self) -> Key[T]:
        return self

    def __deepcopy__(self, memo: object) -> Key[T]:
        return self


class Keyed:
    """What can be extended with typed keys: ``x[KEY] = value``, ``x[KEY]``, ``KEY in x``."""

    __slots__ = ("_values",)

    _values: dict[Key[Any], Any] | None

    def __getitem__(self, key: Key[T]) -> T:
        try:
            return (self._values or {})[key]  # type: ignore[no-any-return]
        except KeyError:
            message = f'no value for the key "{getattr(key, "name", key)}"'
            raise KeyError(message) from None

    def __setitem__(self, key: Key[T], value: T) -> None:
        if not isinstance(key, Key):
            raise TypeError(f"extensions are set by a dsh_prompt.Key, not by {key!r}")
        if self._values is None:
            self._values = {}
        self._values[key] = value

    def __delitem__(self, key: Key[Any]) -> None:
        self[key]
        (self._values or {}).pop(key)

    def __contains__(self, key: object) -> bool:
        return self._values is not None and key in self._values

    # Without it Python would try x[0], x[1], ... to iterate.
    __iter__ = None

    @overload
    def get(self, key: Key[T]) -> T | None: ...
    @overload
    def get(self, key: Key[T], default: D) -> T | D: ...
    def get(self, key: Key[Any], default: object = None) -> object:
        """Give the value of *key*, or *default*."""
        return default if self._values is None else self._values.get(key, default)
