"""Typed keys: how plugins extend contexts and assemblies."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from dsh_prompt import AssembleContext, Key, PromptAssembly, SystemPrompt

every_holder = pytest.mark.parametrize("holder", [AssembleContext, PromptAssembly])

WHO = Key[str]("who")


@every_holder
def test_a_value_is_set_and_read_by_its_key(holder: Any) -> None:
    """``x[KEY] = value``, ``x[KEY]``, ``KEY in x``; a second value replaces the first."""
    x = holder()
    assert WHO not in x
    x[WHO] = "first"
    x[WHO] = "second"
    assert WHO in x
    assert x[WHO] == "second"


@every_holder
def test_get_gives_a_default_for_what_is_not_set(holder: Any) -> None:
    """None, unless another one is given."""
    x = holder()
    assert x.get(WHO) is None
    assert x.get(WHO, "nobody") == "nobody"
    x[WHO] = "somebody"
    assert x.get(WHO, "nobody") == "somebody"


@every_holder
def test_a_value_that_is_not_set_is_a_key_error(holder: Any) -> None:
    """The error names the key."""
    x = holder()
    with pytest.raises(KeyError, match='no value for the key "who"'):
        x[WHO]
    with pytest.raises(KeyError, match='no value for the key "who"'):
        del x[WHO]


@every_holder
def test_a_value_can_be_deleted(holder: Any) -> None:
    """Afterwards it is as if it had never been set."""
    x = holder()
    x[WHO] = "somebody"
    del x[WHO]
    assert WHO not in x


@every_holder
def test_keys_compare_by_identity(holder: Any) -> None:
    """Two keys of one name are two keys, so that plugins cannot collide."""
    x, other = holder(), Key[int]("who")
    x[WHO] = "somebody"
    assert other not in x
    x[other] = 1
    assert (x[WHO], x[other]) == ("somebody", 1)
    assert len({WHO, other}) == 2


@every_holder
def test_values_belong_to_one_object(holder: Any) -> None:
    """Another context or assembly knows nothing of them."""
    x = holder()
    x[WHO] = "somebody"
    assert WHO not in holder()


@every_holder
def test_there_are_no_untyped_extras(holder: Any) -> None:
    """Neither by a string, nor by an attribute."""
    x = holder()
    with pytest.raises(TypeError, match=r"extensions are set by a dsh_prompt\.Key, not by 'who'"):
        x["who"] = "somebody"
    with pytest.raises(AttributeError):
        x.who = "somebody"
    with pytest.raises(KeyError):
        x["who"]
    assert "who" not in x


@every_holder
def test_what_is_extended_is_no_collection(holder: Any) -> None:
    """Iterating makes no sense, and does not count upwards for a key that fits."""
    with pytest.raises(TypeError, match="not iterable"):
        iter(holder())


def test_a_key_says_its_name() -> None:
    """For whoever debugs."""
    assert (WHO.name, WHO.codec, repr(WHO)) == ("who", None, "Key('who')")


def test_values_reach_providers_listeners_and_the_caller() -> None:
    """A caller puts one into the context; a listener passes it on in the assembly."""
    prompt = SystemPrompt()
    context = AssembleContext()
    context[WHO] = "Ann"

    def listener(assembly: PromptAssembly, context: AssembleContext) -> None:
        assembly[WHO] = context[WHO]

    prompt.variable("who", lambda context: context[WHO])
    prompt.on_assemble(listener)
    assembly = prompt.assemble(context)
    assert (assembly.variables["who"], assembly[WHO]) == ("Ann", "Ann")


@every_holder
def test_a_deep_copy_has_the_values_under_the_same_keys(holder: Any) -> None:
    """A key is an identity: a copy of it would be of no use to anybody."""
    x = holder()
    x[WHO] = "somebody"
    assert copy.deepcopy(x)[WHO] == "somebody"
    assert copy.copy(WHO) is WHO
    assert copy.deepcopy(WHO) is WHO
