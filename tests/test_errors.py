"""Errors: one root, small leaves, messages that name the party and the way out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dsh_prompt
from dsh_prompt import (
    AsyncProviderError,
    Config,
    ConfigError,
    DuplicateContributionError,
    InterpolationError,
    InvalidContributionError,
    MalformedReferenceError,
    MultipleCompleteSectionsError,
    PluginLoadError,
    PluginNotFoundError,
    PromptError,
    ProviderError,
    ReservedToolNameError,
    SystemPrompt,
    ToolOrderError,
    UndefinedVariableError,
    UnknownVariableError,
    hookimpl,
    render_prompt,
)
from dsh_prompt.errors import nearest, raise_all, short, unknown_keys

if TYPE_CHECKING:
    from collections.abc import Callable

#: Every error of the contract that is built, with the ones that it derives from.
ERRORS: dict[str, tuple[type[BaseException], ...]] = {
    "DuplicateContributionError": (),
    "InvalidContributionError": (ValueError,),
    "DisposedError": (),
    "ScopeError": (),
    "MultipleCompleteSectionsError": (),
    "ToolOrderError": (),
    "ReservedToolNameError": (),
    "ProviderError": (),
    "AsyncProviderError": (),
    "AssemblyCancelledError": (),
    "InterpolationError": (),
    "UnknownVariableError": (InterpolationError,),
    "UndefinedVariableError": (InterpolationError,),
    "MalformedReferenceError": (InterpolationError,),
    "InvariantError": (),
    "BudgetError": (),
    "ConfigError": (),
    "PluginLoadError": (),
    "PluginNotFoundError": (),
    "PluginConflictError": (),
}


@pytest.mark.parametrize(("name", "bases"), ERRORS.items(), ids=ERRORS)
def test_every_error_derives_from_one_root(
    name: str, bases: tuple[type[BaseException], ...]
) -> None:
    """And from the closest built-in or other error, where there is one."""
    error = getattr(dsh_prompt, name)
    assert issubclass(error, PromptError)
    assert issubclass(error, bases or PromptError)
    assert error.__doc__


def test_there_are_no_other_errors() -> None:
    """What the library raises on purpose is in the list, or derives from what is."""
    public = {
        name
        for name in dsh_prompt.__all__
        if isinstance(getattr(dsh_prompt, name), type)
        and issubclass(getattr(dsh_prompt, name), BaseException)
    }
    assert public == {*ERRORS, "PromptError"}


# Messages


def sections(*texts: str) -> Callable[[SystemPrompt], object]:
    """Give a use of a host that renders sections of *texts*."""

    def use(prompt: SystemPrompt) -> object:
        prompt.variable("known", "value")
        prompt.variable("absent", lambda: None)
        for number, text in enumerate(texts):
            prompt.section(name=f"s{number}", order=number + 1, text=text)
        return render_prompt(prompt.assemble())

    return use


def two_complete(prompt: SystemPrompt) -> object:
    """Assemble with two complete sections."""
    for name in ("a", "b"):
        prompt.section(name=name, order=1, text="", complete=True)
    return prompt.assemble()


def failing_provider(prompt: SystemPrompt) -> object:
    """Assemble with a section whose provider raises."""
    prompt.section(name="rules", order=1, text=lambda: str(1 / 0))
    return prompt.assemble()


def wrong_type(prompt: SystemPrompt) -> object:
    """Assemble with a section whose provider gives no text."""
    provider: Any = lambda: 5  # noqa: E731 - it is one
    prompt.section(name="rules", order=1, text=provider)
    return prompt.assemble()


def async_provider(prompt: SystemPrompt) -> object:
    """Assemble synchronously with an async provider."""

    async def text() -> str:
        return ""

    prompt.section(name="rules", order=1, text=text)
    return prompt.assemble()


def reserved(prompt: SystemPrompt) -> object:
    """Assemble with a tool named like the marker."""
    prompt.tools(lambda: [{"name": "<unlisted-tools>"}])
    return prompt.assemble()


def registered_twice(prompt: SystemPrompt) -> object:
    """Register two sections of a name."""
    prompt.section(name="rules", order=1, text="")
    return prompt.section(name="rules", order=1, text="")


MESSAGES: dict[str, tuple[Callable[[SystemPrompt], object], type[PromptError], list[str]]] = {
    "duplicate": (
        registered_twice,
        DuplicateContributionError,
        ['prompt section "rules" is already registered (for a per-agent override', "the host"],
    ),
    "order": (
        lambda prompt: prompt.section(name="a", order=float("nan"), text=""),
        InvalidContributionError,
        ['prompt section "a" order must be a finite number'],
    ),
    "variable name": (
        lambda prompt: prompt.variable("X", ""),
        InvalidContributionError,
        ['invalid prompt variable name "X" (must match /^[a-z][a-z0-9_]*$/)'],
    ),
    "complete": (
        two_complete,
        MultipleCompleteSectionsError,
        ['multiple complete prompt sections are active: "a", "b"'],
    ),
    "provider": (failing_provider, ProviderError, ["section", "rules", "ZeroDivisionError"]),
    "type": (wrong_type, ProviderError, ["section", "rules", "int", "str"]),
    "async": (async_provider, AsyncProviderError, ["section", "rules", "assemble_async()"]),
    "reserved": (
        reserved,
        ReservedToolNameError,
        ['tool provider returned reserved tool name "<unlisted-tools>"', "the host"],
    ),
    "unknown": (
        sections("{{x}}"),
        UnknownVariableError,
        [
            'unknown prompt variable "{{x}}" in section "s0"; registered variables: absent, known',
            "the host",
        ],
    ),
    "undefined": (
        sections("{{absent}}"),
        UndefinedVariableError,
        ['prompt variable "{{absent}}" has no value for this assembly (section "s0")', "the host"],
    ),
    "malformed": (
        sections("{{ known }}"),
        MalformedReferenceError,
        ['malformed prompt variable reference "{{ known }}" in section "s0"', "the host"],
    ),
    "unloaded": (lambda prompt: prompt.unload("p"), PluginNotFoundError, ['"p"']),
    "plugin": (
        lambda prompt: prompt.load(hookimpl(lambda: None), name="p", config=5),
        PluginLoadError,
        ['plugin "p"'],
    ),
}


@pytest.mark.parametrize(("use", "kind", "words"), MESSAGES.values(), ids=MESSAGES)
def test_a_message_names_the_thing_its_owner_and_the_way_out(
    use: Callable[[SystemPrompt], object], kind: type[PromptError], words: list[str]
) -> None:
    """In one sentence that means something by itself."""
    with pytest.raises(kind) as caught:
        use(SystemPrompt())
    for word in words:
        assert word in str(caught.value)


def test_the_first_bad_reference_of_the_first_bad_section_is_reported() -> None:
    """Others may be wrong too; this is the one to look at."""
    with pytest.raises(UndefinedVariableError):
        sections("fine", "{{known}} {{absent}} {{x}}", "{{y}}")(SystemPrompt())


# Attributes


def test_errors_carry_what_a_program_may_want() -> None:
    """The same facts as in the message."""
    with pytest.raises(MultipleCompleteSectionsError) as complete:
        two_complete(SystemPrompt())
    assert complete.value.names == ("a", "b")
    with pytest.raises(ProviderError) as provider:
        failing_provider(SystemPrompt())
    assert (provider.value.kind, provider.value.name, provider.value.plugin) == (
        "section",
        "rules",
        None,
    )
    assert isinstance(provider.value.__cause__, ZeroDivisionError)
    with pytest.raises(InterpolationError) as interpolation:
        sections("{{x}}")(SystemPrompt())
    assert (interpolation.value.kind, interpolation.value.name) == ("section", "s0")


def test_an_error_of_a_plugin_carries_the_plugin() -> None:
    """For providers and for loads."""

    class Plugin:
        @hookimpl
        def contribute_variables(self) -> dict[str, Any]:
            return {"v": lambda: 1 / 0}

    prompt = SystemPrompt()
    prompt.load(Plugin(), name="p")
    with pytest.raises(ProviderError, match='plugin "p"') as caught:
        prompt.assemble()
    assert (caught.value.plugin, caught.value.kind, caught.value.name) == ("p", "variable", "v")


def test_a_lookup_error_has_a_plain_message() -> None:
    """Without the quotes that a `KeyError` puts around it."""
    with pytest.raises(LookupError) as caught:
        SystemPrompt().unload("p")
    assert str(caught.value).startswith("no plugin")


def test_a_tool_order_error_is_told_apart_from_other_config_errors() -> None:
    """Both are `ValueError`, since a value is wrong."""
    with pytest.raises(ToolOrderError):
        Config(tool_order=())
    with pytest.raises(ConfigError) as caught:
        Config(hook_timeout=-1)
    assert not isinstance(caught.value, ToolOrderError)
    assert isinstance(caught.value, ValueError)


# Helpers


def test_the_nearest_name_is_proposed() -> None:
    """Only where one is near."""
    assert nearest("persoan", ["persona", "plugins"]) == '; did you mean "persona"?'
    assert nearest("xyz", ["persona", "plugins"]) == ""
    assert nearest("x", []) == ""


def test_unknown_keys_are_listed_with_their_nearest() -> None:
    """In the order in which they were given."""
    unknown = unknown_keys({"naem": 1, "name": 1, "xyz": 1}, ["name", "text"])
    assert unknown == ['"naem"; did you mean "name"?', '"xyz"']


def test_one_error_is_raised_as_it_is_and_several_in_a_group() -> None:
    """And none not at all."""
    one, other = ValueError("1"), KeyError("2")
    raise_all([], "none")
    with pytest.raises(ValueError, match="1") as single:
        raise_all([one], "one")
    assert single.value is one
    with pytest.raises(ExceptionGroup, match="two") as several:
        raise_all([one, other], "two")
    assert several.value.exceptions == (one, other)


def test_a_value_that_cannot_be_written_is_named_by_its_type() -> None:
    """Python writes no number of more than 4300 digits."""
    assert short(10**5000) == "<int>"
    assert short("x" * 1000).startswith("'xxx")
