"""Services: what one plugin provides and others look up, by typed keys."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import pytest

from dsh_prompt import (
    DisposableContext,
    DuplicateContributionError,
    InvalidContributionError,
    Key,
    PluginLoadError,
    PluginNotFoundError,
    SystemPrompt,
    hookimpl,
)

if TYPE_CHECKING:
    from dsh_prompt import ChangeEvent


class Store:
    """A service."""


STORE: Key[Store] = Key("store")


class Provider:
    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.provide(STORE, Store())


class Consumer:
    store: Store

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        self.store = ctx.require(STORE)


def test_a_host_looks_up_what_a_plugin_provides_until_it_is_gone() -> None:
    prompt = SystemPrompt()
    assert prompt.get(STORE) is None
    prompt.load(Provider)
    store = prompt.get(STORE)
    assert isinstance(store, Store)
    assert store is prompt.require(STORE)
    prompt.unload("Provider")
    assert prompt.get(STORE) is None


def test_without_a_service_there_is_a_default() -> None:
    assert SystemPrompt().get(STORE, "none") == "none"


def test_keys_are_compared_by_identity() -> None:
    prompt = SystemPrompt()
    other: Key[str] = Key("store")
    prompt.provide(STORE, Store())
    prompt.provide(other, "other")
    assert isinstance(prompt.require(STORE), Store)
    assert prompt.get(other) == "other"


def test_a_registration_withdraws_its_service() -> None:
    prompt = SystemPrompt()
    registration = prompt.provide(STORE, Store())
    registration.dispose()
    registration.dispose()
    assert prompt.get(STORE) is None
    prompt.provide(STORE, Store())


def test_a_layer_holds_a_key_once_and_the_error_names_the_owner() -> None:
    prompt = SystemPrompt()
    prompt.load(Provider)
    match = 'service "store" is already registered .*it belongs to plugin "Provider"'
    with pytest.raises(DuplicateContributionError, match=match):
        prompt.provide(STORE, Store())


def test_the_nearest_layer_counts() -> None:
    prompt = SystemPrompt()
    outer = prompt.create_scope("outer")
    inner = prompt.create_scope("inner", parent=outer)
    names: Key[str] = Key("names")
    prompt.provide(names, "global")
    outer.provide(names, "outer")
    assert (prompt.get(names), outer.get(names), inner.get(names)) == ("global", "outer", "outer")
    inner.provide(names, "inner")
    assert (outer.get(names), inner.get(names)) == ("outer", "inner")
    inner.rebind(None)
    outer.dispose()
    assert (outer.get(names), inner.get(names)) == ("global", "inner")


def test_an_absent_service_that_is_required_fails_the_load() -> None:
    prompt = SystemPrompt()
    with pytest.raises(PluginLoadError, match='no loaded plugin provides the service "store"'):
        prompt.load(Consumer)
    assert prompt.plugins == []
    with pytest.raises(PluginNotFoundError, match="the service \"store\" for <Scope 'agent'>"):
        prompt.create_scope("agent").require(STORE)


def test_a_service_of_a_load_that_fails_is_never_seen() -> None:
    prompt = SystemPrompt()
    seen: list[Store | None] = []

    class Broken:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            ctx.provide(STORE, Store())
            seen.append(ctx.get(STORE))
            seen.append(prompt.get(STORE))
            raise ValueError("no")

    with pytest.raises(PluginLoadError):
        prompt.load(Broken)
    assert isinstance(seen[0], Store)
    assert (seen[1], prompt.get(STORE)) == (None, None)


def test_services_are_told_and_listed_like_all_that_is_registered() -> None:
    prompt = SystemPrompt()
    events: list[ChangeEvent] = []
    prompt.on_change(events.append)
    info = prompt.load(Provider)
    assert info.contributions == (("service", "store", None),)
    prompt.unload("Provider")
    assert [(e.kind, e.added, e.removed) for e in events] == [
        ("loaded", info.contributions, ()),
        ("unloaded", (), info.contributions),
    ]


def test_a_reload_replaces_a_service_and_what_requires_its_plugin_gets_the_new_one() -> None:
    prompt = SystemPrompt()
    consumers: list[Consumer] = []

    class Dependent(Consumer):
        requires = ("Local",)

        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            super().activate(ctx)
            consumers.append(self)

    class Local(Provider):
        """One whose module, and with it the key, stays when it is reloaded."""

    prompt.load(Local)
    prompt.load(Dependent)
    old = weakref.ref(prompt.require(STORE))
    prompt.reload("Local")
    assert consumers[-1].store is prompt.get(STORE)
    consumers.clear()
    gc.collect()
    assert old() is None


def test_a_service_that_the_new_code_drops_is_not_offered_to_those_that_are_made_anew() -> None:
    prompt = SystemPrompt()
    offers = [True]

    class Sometimes:
        @hookimpl
        def activate(self, ctx: DisposableContext) -> None:
            if offers.pop():
                ctx.provide(STORE, Store())

    class Dependent(Consumer):
        requires = ("Sometimes",)

    prompt.load(Sometimes)
    prompt.load(Dependent)
    before = prompt.get(STORE)
    offers.append(False)
    with pytest.raises(PluginLoadError, match='no loaded plugin provides the service "store"'):
        prompt.reload("Sometimes")
    assert prompt.get(STORE) is before
    assert [info.name for info in prompt.plugins] == ["Sometimes", "Dependent"]


def test_services_are_known_by_keys() -> None:
    prompt = SystemPrompt()
    for act in (lambda: prompt.provide("store", 1), lambda: prompt.get("store")):  # type: ignore[call-overload,arg-type]
        with pytest.raises(InvalidContributionError, match=r"by a dsh_prompt\.Key"):
            act()


def test_none_is_a_service_too() -> None:
    prompt = SystemPrompt()
    nothing: Key[None] = Key("nothing")
    prompt.provide(nothing, None)
    assert prompt.get(nothing, "default") is None
    prompt.require(nothing)
