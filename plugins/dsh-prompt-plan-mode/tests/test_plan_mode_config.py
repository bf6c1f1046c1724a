"""The settings and how the host takes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from dsh_prompt_plan_mode import Config, PlanMode

from dsh_prompt import Config as HostConfig
from dsh_prompt import (
    ConfigError,
    PluginLoadError,
    RuntimeState,
    SectionOrder,
    SystemPrompt,
    render_prompt,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_defaults() -> None:
    """Every setting has a default."""
    config = Config()
    assert (config.mode, config.order) == ("narrow", SectionOrder.PLAN_MODE)
    assert config.read_only == ("todo_write",)
    assert config.not_read_only == ()
    assert config.text.strip()
    assert config.reason.strip()


WRONG = [
    ("mode", "hide"),
    ("mode", None),
    ("text", ""),
    ("text", " \n\t"),
    ("text", 5),
    ("reason", ""),
    ("reason", None),
    ("order", math.nan),
    ("order", math.inf),
    ("order", True),
    ("order", "50"),
    ("read_only", "git_*"),
    ("read_only", None),
    ("read_only", [""]),
    ("read_only", ["git_*", 5]),
    ("not_read_only", {"git_push": True}),
    ("not_read_only", [" "]),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_wrong_value(field: str, value: Any) -> None:
    """A value that a field does not take raises an error that names the field."""
    with pytest.raises(ValueError, match=rf"^{field}(\[\d\])? (must be .*, not |is no)"):
        Config(**{field: value})


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_host_refuses_a_wrong_value(field: str, value: object) -> None:
    """A host that is given a wrong value names plugin and field, and the plugin stays out."""
    prompt = SystemPrompt()
    with pytest.raises(PluginLoadError, match=rf'"plan-mode".*\b{field}\b') as caught:
        prompt.load(PlanMode, name="plan-mode", config={field: value})
    assert isinstance(caught.value, ConfigError)
    assert prompt.plugins == []


def test_unknown_setting() -> None:
    """A setting that does not exist is refused with the nearest one."""
    with pytest.raises(ConfigError, match=r'readonly.*did you mean "read_only"'):
        SystemPrompt().load(PlanMode, config={"readonly": []})


def test_lists_become_fixed() -> None:
    """A list is taken as a copy, and a built configuration does not change."""
    globs = ["git_*"]
    config = Config(read_only=globs)
    globs.append("*")
    assert config.read_only == ("git_*",)
    with pytest.raises(AttributeError):
        config.mode = "mask"  # type: ignore[misc]


def test_settings_of_the_host(plan: RuntimeState) -> None:
    """The settings come from the host's configuration, under the plugin's name."""
    config = HostConfig.from_dict({"plugins": {"config": {"plan-mode": {"text": "Plan it."}}}})
    prompt = SystemPrompt(config)
    prompt.load(PlanMode, name="plan-mode")
    assert render_prompt(prompt.assemble(state=plan)).endswith("Plan it.")


def test_a_ready_configuration(plan: RuntimeState) -> None:
    """The settings can be given as an instance."""
    prompt = SystemPrompt()
    prompt.load(PlanMode, name="plan-mode", config=Config(text="Plan it."))
    assert render_prompt(prompt.assemble(state=plan)).endswith("Plan it.")


@pytest.mark.parametrize("trusted", [False, True])
def test_a_checkout_does_not_decide_what_plan_mode_does(trusted: bool, tmp_path: Path) -> None:
    """Until it is trusted, none of its settings has an effect."""
    file = tmp_path / "dsh-prompt.toml"
    file.write_text(
        "[plugins.config.plan-mode]\nmode = 'mask'\nread_only = ['*']\nnot_read_only = []\n"
        "text = 'Write freely.'\norder = -2000\nreason = 'none'\n"
    )
    prompt = SystemPrompt(HostConfig.load(file, trusted=trusted))
    prompt.tool({"name": "bash"})
    info = prompt.load(PlanMode, name="plan-mode")
    assert len(info.ignored) == (0 if trusted else 6)
    assembly = prompt.assemble(state=RuntimeState(permission_mode="plan"))
    assert (assembly.authorize("bash") is None) is trusted
    assert ("Write freely." in str(assembly.to_dict())) is trusted
