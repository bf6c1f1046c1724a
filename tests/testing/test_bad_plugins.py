"""Each bad plugin is caught by the check that is meant for it, and the good ones pass all."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from dsh_prompt.plugins.discovery import discover
from dsh_prompt.testing import assert_deterministic, assert_unloads_clean, check_plugin
from dsh_prompt.testing.checks import _result
from dsh_prompt.testing.subjects import Subject
from dsh_prompt.testing.targets import Target
from tests.testing import bad_plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _cleaned_up() -> Iterator[None]:
    """Leave no thread, file or object of a bad plugin behind."""
    yield
    bad_plugins.clean_up()


def named(thing: Any) -> str:
    """Name a parameter."""
    return getattr(thing, "__name__", "")


@pytest.mark.parametrize("plugin", bad_plugins.LEAKS, ids=named)
def test_each_leak_is_caught(plugin: type) -> None:
    """The message says what is left, and where it was made or who holds it."""
    said = bad_plugins.LEAKS[plugin]
    if plugin is bad_plugins.FileLeft and not sys.platform.startswith("linux"):
        pytest.skip("open files are seen on Linux alone")
    with pytest.raises(AssertionError, match="leaves something behind") as caught:
        assert_unloads_clean(plugin)
    assert said in str(caught.value)


@pytest.mark.parametrize("plugin", bad_plugins.CHANCES, ids=named)
def test_each_chance_is_caught(plugin: Callable[[], bad_plugins.Chances]) -> None:
    """The message names what it depends on, the owner, and shows each difference."""
    with pytest.raises(AssertionError, match="is not deterministic") as caught:
        assert_deterministic(plugin)
    told = str(caught.value)
    assert bad_plugins.CHANCES[plugin] in told
    for text in plugin().texts:
        assert f'context "{text.__name__}" of plugin "Chances" has changed:' in told


@pytest.mark.parametrize("plugin", bad_plugins.WRONG, ids=named)
def test_each_wrong_plugin_is_caught(plugin: type, tmp_path: Path) -> None:
    """By the check that is meant for it, with the reason."""
    check, said = bad_plugins.WRONG[plugin]
    result = _result(Subject(Target.of(plugin), str(tmp_path)), check)
    assert result.status == "failed"
    assert said in "\n".join(result.reasons)


@pytest.mark.parametrize("plugin", ["git", "plan-mode", "agents-md"])
def test_the_plugins_of_this_project_pass_everything(plugin: str) -> None:
    """They are what the checks call good."""
    if plugin not in discover().plugins:
        pytest.skip("it is not installed")
    results = check_plugin(plugin)
    assert {result.name: result.reasons for result in results if result.status != "passed"} == {}
    assert len(results) == 10


def test_a_good_plugin_that_does_everything_passes_everything() -> None:
    """It is async, has tasks, threads and files, and takes all of it back."""
    results = check_plugin(bad_plugins.Good)
    assert {result.name: result.reasons for result in results if result.status != "passed"} == {}


@pytest.mark.parametrize(
    "plugin",
    [
        bad_plugins.Good,
        bad_plugins.KeepsItsContext,
        bad_plugins.KeepsItsContext(),
        bad_plugins.UsesTypeHints,
    ],
    ids=["everything", "class", "object", "type hints"],
)
def test_good_plugins_unload_clean(plugin: object) -> None:
    """What holds only itself, or holds others weakly, is no leak."""
    assert_unloads_clean(plugin)


def test_text_that_people_see_is_no_hidden_text(tmp_path: Path) -> None:
    """Flags of regions, joined emoji, and letters that need a joiner."""
    result = _result(Subject(Target.of(bad_plugins.SeenByAll), str(tmp_path)), "visible text")
    assert result.reasons == ()


def test_a_plugin_that_fails_elsewhere_is_told_with_its_error() -> None:
    """With what it depends on; what it gives where it works is of no interest then."""
    with pytest.raises(AssertionError) as caught:
        assert_deterministic(bad_plugins.plugin_that_fails_elsewhere)
    told = str(caught.value)
    assert "it depends on the user's name" in told
    assert "  there it cannot be rendered: OSError: nobody of that name" in told
    assert "has changed" not in told
    assert "Part(" not in told


def test_denials_in_any_order_are_deterministic() -> None:
    """The order of denials is not sent to a model."""
    assert_deterministic(bad_plugins.OrderOfDenials)
