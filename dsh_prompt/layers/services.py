"""Services: values that one plugin provides and others look up, by typed keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dsh_prompt.errors import InvalidContributionError, PluginNotFoundError, nearest
from dsh_prompt.layers.entry import Entry
from dsh_prompt.model.keys import Key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt.layers.entry import Unique
    from dsh_prompt.layers.layers import Layer
    from dsh_prompt.lifecycle.lifecycle import Lifetime


def service_entry(owner: Lifetime, key: Key[Any], value: object) -> Entry:
    """Make the entry of a service; like other typed extensions it is known by its key alone."""
    _check(key)
    entry = Entry(owner, "service", key.name, value)
    entry.key = ("service", key)
    return entry


def find_service(owner: Lifetime, key: Key[Any]) -> Entry | None:
    """Give the entry of the nearest service of *key* that *owner* sees.

    While plugins are loaded together they see each other's, and nothing of what they replace.
    """
    _check(key)
    with owner._layers.lock:
        for layer in reversed(owner._layers.chain(owner._layer)):
            for entry in _offers(owner, layer, ("service", key)):
                return entry
    return None


def missing_service(owner: Lifetime, key: Key[Any]) -> PluginNotFoundError:
    """Give the error for a service that *owner* needs and nobody provides."""
    with owner._layers.lock:
        layers = owner._layers.chain(owner._layer)
        names = {entry.name for layer in layers for entry in layer.holds("service")}
    hint = nearest(key.name, names)
    if key.name in names:
        hint = "; a service of that name has another Key: import the one that its provider uses"
    scope = owner._layer.scope
    where = "" if scope is None else f" for {scope!r}"
    return PluginNotFoundError(
        f'no loaded plugin provides the service "{key.name}"{where}; load one that does{hint}'
    )


def _offers(owner: Lifetime, layer: Layer, key: Unique) -> Iterator[Entry]:
    loading = owner._loading
    visible = layer.entries.get(key)
    if loading is not None and loading.entries is not None:
        reserved = (layer.reserved or {}).get(key)
        if reserved is not None and reserved.owner._loading in loading.batch:
            yield reserved
        if visible is not None and any(one.gives_way(visible) for one in loading.batch):
            return
    if visible is not None:
        yield visible


def _check(key: object) -> None:
    if not isinstance(key, Key):
        raise InvalidContributionError(f"services are known by a dsh_prompt.Key, not by {key!r}")
