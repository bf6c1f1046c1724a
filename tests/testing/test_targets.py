"""How a fresh process finds a plugin, and what becomes of one that does not answer."""

from __future__ import annotations

import sys
import threading
import time
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import anyio
import attrs
import pytest

from dsh_prompt import PluginNotFoundError, RuntimeState, SystemPrompt, hookimpl
from dsh_prompt.plugins.discovery import discover
from dsh_prompt.testing import assert_deterministic, assert_unloads_clean, check_plugin
from dsh_prompt.testing.fresh_process import FreshProcessError, run
from dsh_prompt.testing.subjects import as_json
from dsh_prompt.testing.targets import Target
from tests.testing import bad_plugins

if TYPE_CHECKING:
    from pathlib import Path

    from dsh_prompt import DisposableContext


class Tone:
    """A plugin with a setting, in a test file."""

    Config = bad_plugins.Settings

    @hookimpl
    def activate(self, ctx: DisposableContext) -> None:
        ctx.section(name="tone", order=10, text=f"Be {ctx.config.tone}.")


def make_tone() -> Tone:
    """Make a plugin."""
    return Tone()


class Inner:
    """Holds a plugin class."""

    class Tone(Tone):
        """A plugin."""


KINDS = ("class", "function", "inner class", "module")


@pytest.mark.parametrize("plugin", [Tone, make_tone, Inner.Tone, bad_plugins], ids=KINDS)
def test_a_target_is_found_again(plugin: Any) -> None:
    """A module, or a class or function at the top of one; a function gives the plugin."""
    found = Target.of(plugin).found()
    assert isinstance(found, Tone) if plugin is make_tone else found is plugin


def test_a_target_by_reference() -> None:
    """As an entry point writes it."""
    reference = f"{__name__}:Inner.Tone"
    assert Target.of(reference).found() is Inner.Tone


@pytest.mark.parametrize(
    "plugin", [Tone(), lambda: None, 3, None], ids=["object", "lambda", "int", "None"]
)
def test_what_cannot_be_found_again_is_refused(plugin: object) -> None:
    """The error says what can be."""
    with pytest.raises(TypeError, match="cannot be found by a fresh process; give the name of an"):
        assert_deterministic(plugin)


def test_a_local_class_is_refused() -> None:
    """It exists while its function runs."""

    class Local(Tone):
        pass

    with pytest.raises(TypeError, match="cannot be found"):
        check_plugin(Local)


def test_a_name_of_nothing_is_told() -> None:
    """As the host tells it."""
    with pytest.raises(PluginNotFoundError, match='no plugin "not-there" is installed'):
        assert_deterministic("not-there")


def test_a_file_that_cannot_be_imported_by_name(tmp_path: Path) -> None:
    """As pytest imports test files, of which Python knows nothing."""
    file = tmp_path / "test_file.py"
    file.write_text("class Plugin:\n    pass\n")
    target = Target("Plugin", "test_folder.test_file", "Plugin", str(file))
    try:
        assert target.found().__module__ == "test_folder.test_file"
    finally:
        del sys.modules["test_folder.test_file"]
    with pytest.raises(ModuleNotFoundError, match="test_folder"):
        attrs.evolve(target, file=None).found()


def test_a_module_that_lacks_what_it_imports(tmp_path: Path) -> None:
    """The error is the module's own."""
    sys.path.insert(0, str(tmp_path))
    (tmp_path / "dsh_test_lacking.py").write_text("import dsh_test_not_there\n")
    try:
        with pytest.raises(ModuleNotFoundError, match="dsh_test_not_there"):
            Target("x", "dsh_test_lacking", "", str(tmp_path / "dsh_test_lacking.py")).found()
    finally:
        sys.path.remove(str(tmp_path))


def test_configuration_and_state_are_sent_along() -> None:
    """A mapping, or an attrs instance; anything else is refused."""
    assert as_json(bad_plugins.Settings("dry")) == {"tone": "dry"}
    assert as_json({"list": (1, 2)}) == {"list": [1, 2]}
    state = RuntimeState(task="count")
    assert_deterministic(make_tone, config=bad_plugins.Settings("dry"), state=state)
    with pytest.raises(TypeError, match="config is sent to fresh processes, so it must be JSON"):
        assert_deterministic(Tone, config={"tone": object()})


def test_a_plugin_that_cannot_be_rendered() -> None:
    """Is not deterministic, for the reason that it gives."""
    with pytest.raises(AssertionError, match="it cannot be rendered in a fresh process: plugin"):
        assert_deterministic(bad_plugins.FailsToLoad)


# Fresh processes


def sleep(seconds: float) -> None:
    """Do not answer."""
    time.sleep(seconds)


def answer() -> dict[str, Any]:
    """Answer, and print what is no answer; a thread goes on."""
    sys.stdout.write("printed")
    threading.Thread(target=time.sleep, args=(60,)).start()
    return {"path": len(sys.path)}


def test_a_process_that_does_not_answer_is_ended() -> None:
    """After some time."""
    with pytest.raises(FreshProcessError, match=r"it did not end within 0\.1 seconds"):
        run(f"{__name__}:sleep", {"seconds": 60}, timeout=0.1)


def test_a_process_with_a_thread_that_goes_on_has_answered() -> None:
    """Nobody waits for the thread."""
    start = time.monotonic()
    assert run(f"{__name__}:answer", {})["path"] > 1
    assert time.monotonic() - start < 50


def test_the_error_of_a_process_is_told() -> None:
    """With its type, where it is none of ours."""
    with pytest.raises(FreshProcessError, match=r"TypeError: .*unexpected keyword argument"):
        run(f"{__name__}:answer", {"seconds": 1})


# Loading


async def _inside_a_loop() -> None:
    assert_unloads_clean(bad_plugins.Good)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_leaks_are_looked_for_inside_of_a_loop(backend: str) -> None:
    """Async tests call the assertion as others do."""
    anyio.run(_inside_a_loop, backend=backend)


def test_a_plugin_that_does_not_load_is_told_as_it_is() -> None:
    """That is no leak."""
    with pytest.raises(Exception, match="no network"):
        assert_unloads_clean(bad_plugins.FailsToLoad)


@pytest.mark.parametrize("with_another_host", [False, True])
def test_tests_keep_the_modules_of_an_installed_plugin(with_another_host: bool) -> None:
    """They are imported anew for the assertion, and put back, whoever else uses them."""
    if "git" not in discover().plugins:
        pytest.skip("dsh-prompt-git is not installed")
    module = import_module("dsh_prompt_git")
    host = SystemPrompt()
    if with_another_host:
        host.load("git")
    assert_unloads_clean("git")
    assert sys.modules["dsh_prompt_git"] is module
    assert sys.modules["dsh_prompt_git.config"] is module.config
    host.dispose()


def test_a_module_is_a_plugin() -> None:
    """Its functions are the hooks."""
    module = ModuleType("dsh_test_module")
    module.activate = hookimpl(lambda ctx: ctx.variable("one", "1"))  # type: ignore[attr-defined]
    assert_unloads_clean(module, name="module", state=RuntimeState())
