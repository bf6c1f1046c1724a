"""The settings, and the service that follows them."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_policy import APPROVALS, Config, Policy

from dsh_prompt import Config as HostConfig
from dsh_prompt import ConfigError, PluginLoadError, RuntimeState, SystemPrompt, render_prompt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WRONG: list[tuple[str, object, str]] = [
    ("deny", "bash", "deny"),
    ("deny", None, "deny"),
    ("deny", [""], r"deny\[0\]"),
    ("deny", ["bash", 5], r"deny\[1\]"),
    ("deny", ["bash\u202e"], r"deny\[0\]"),
    ("ask", {"bash": True}, "ask"),
    ("ask", [" "], r"ask\[0\]"),
    ("deny_in", ["bash"], "deny_in"),
    ("deny_in", {"plan": "bash"}, r"deny_in\.plan"),
    ("deny_in", {"plan": ["bash", ""]}, r"deny_in\.plan\[1\]"),
    ("ask_in", {"plan": [5]}, r"ask_in\.plan\[0\]"),
    ("ask_in", {"plam": []}, r"ask_in\.plam"),
    ("modes", "plan", "modes"),
    ("modes", {"plan": ""}, r"modes\.plan"),
    ("modes", {"plan": 5}, r"modes\.plan"),
    ("modes", {" ": "Wait."}, "modes"),
    ("modes", {"a\nb": "Wait."}, "modes"),
    ("max_names", -1, "max_names"),
    ("max_names", True, "max_names"),
    ("max_names", 1001, "max_names"),
]


@pytest.mark.parametrize(("field", "value", "named"), WRONG)
def test_wrong_value(field: str, value: Any, named: str) -> None:
    """A value that a field does not take raises an error that names the field, down to the item."""
    with pytest.raises(ValueError, match=rf"^{named} "):
        Config(**{field: value})


@pytest.mark.parametrize(("field", "value", "named"), WRONG)
def test_host_refuses_a_wrong_value(field: str, value: object, named: str) -> None:
    """A host that is given a wrong value names plugin and field, and the plugin stays out."""
    prompt = SystemPrompt()
    with pytest.raises(PluginLoadError, match=rf'"policy".*\b{named}') as caught:
        prompt.load(Policy, name="policy", config={field: value})
    assert isinstance(caught.value, ConfigError)
    assert prompt.plugins == []


def test_a_misspelt_mode() -> None:
    """A deny list for a mode that does not exist protects nobody, so it is refused."""
    with pytest.raises(ConfigError, match=r'deny_in\.plam is no known mode; did you mean "plan"'):
        SystemPrompt().load(Policy, config={"deny_in": {"plam": ["bash"]}})
    Config(modes={"plam": "Wait."}, deny_in={"plam": ("bash",)})


def test_unknown_setting() -> None:
    """A setting that does not exist is refused with the nearest one."""
    with pytest.raises(ConfigError, match=r'max_name.*did you mean "max_names"'):
        SystemPrompt().load(Policy, config={"max_name": 5})


def test_what_was_given_is_copied() -> None:
    """Lists and tables are taken as copies."""
    globs, table, modes = ["a"], {"plan": ["b"]}, {"night": "Wait."}
    config = Config(deny=globs, deny_in=table, modes=modes)  # type: ignore[arg-type]
    globs.append("*")
    table["plan"].append("*")
    table["default"] = ["*"]
    modes["day"] = "Go."
    assert config == Config(deny=("a",), deny_in={"plan": ("b",)}, modes={"night": "Wait."})


@pytest.mark.parametrize("trusted", [False, True])
def test_a_checkout_takes_nothing_away(trusted: bool, tmp_path: Path) -> None:
    """Until it is trusted, none of its settings has an effect."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text(
        "[plugins.config.policy]\ndeny = []\nask = ['never']\nmax_names = 0\n"
        "[plugins.config.policy.modes]\ndefault = 'Do whatever you like.'\n"
        "[plugins.config.policy.deny_in]\ndefault = ['read']\n"
        "[plugins.config.policy.ask_in]\ndefault = ['read']\n"
    )
    prompt = SystemPrompt(HostConfig.load(file, trusted=trusted))
    info = prompt.load(Policy, name="policy")
    assert len(info.ignored) == (0 if trusted else 6)
    assembly = prompt.assemble(state=RuntimeState())
    assert ("whatever you like" in assembly.contexts[0].text) is trusted
    assert ('"never"' in render_prompt(assembly)) is trusted
    assert ("read" in assembly.denied) is trusted
    assert prompt.require(APPROVALS).needed("read") is trusted


def test_settings_of_the_host() -> None:
    """The settings come from the host's configuration, under the plugin's name."""
    data = tomllib.loads('[plugins.config.policy]\ndeny_in = { plan = ["bash"] }\n')
    prompt = SystemPrompt(HostConfig.from_dict(data))
    prompt.load(Policy, name="policy")
    assert list(prompt.assemble(state=RuntimeState(permission_mode="plan")).denied) == ["bash"]


def test_approvals(host: Callable[..., SystemPrompt]) -> None:
    """The service says which calls wait for approval: always, in a mode, in an unknown one."""
    approvals = host(ask=["bash"], ask_in={"default": ["git_*"], "plan": []}).require(APPROVALS)
    assert approvals.needed("bash")
    assert approvals.needed("bash", "bypass")
    assert approvals.needed("git_push")
    assert not approvals.needed("git_push", "plan")
    assert not approvals.needed("read")
    assert approvals.needed("git_push", "strange")
    assert not approvals.needed("read", "strange")


def test_approvals_go_with_the_plugin(host: Callable[..., SystemPrompt]) -> None:
    """After an unload there is no such service."""
    prompt = host()
    assert prompt.get(APPROVALS) is not None
    prompt.unload("policy")
    assert prompt.get(APPROVALS) is None


def test_many_patterns(host: Callable[..., SystemPrompt]) -> None:
    """A list of patterns longer than what Python keeps compiled, and hard ones, are no trouble."""
    hard = ["*a*a*a*a*a*a*a*a*b", *(f"x{number}_*" for number in range(1000))]
    prompt = host(deny=hard)
    prompt.tool({"name": "a" * 5000})
    prompt.tool({"name": "x999_y"})
    assert list(prompt.assemble().denied) == ["x999_y"]
