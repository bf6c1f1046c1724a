"""What tests of plugins need: fixtures, assertions, prompt snapshots, a fake model, checks.

The pytest fixtures are in `dsh_prompt.testing.fixtures`, which pytest finds by itself. Nothing
here needs pytest but those. As in `dsh_prompt`, a name is imported when somebody asks for it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dsh_prompt.testing.assertions import assert_context, assert_section, assert_tools
    from dsh_prompt.testing.checks import CheckResult, check_plugin
    from dsh_prompt.testing.determinism import assert_deterministic
    from dsh_prompt.testing.fake_model import FakeModel, Request
    from dsh_prompt.testing.prefixes import assert_stable_prefix
    from dsh_prompt.testing.readme import Readme
    from dsh_prompt.testing.unloading import assert_unloads_clean

#: The module of each public name.
_MODULES = {
    "CheckResult": "checks",
    "FakeModel": "fake_model",
    "Readme": "readme",
    "Request": "fake_model",
    "assert_context": "assertions",
    "assert_deterministic": "determinism",
    "assert_section": "assertions",
    "assert_stable_prefix": "prefixes",
    "assert_tools": "assertions",
    "assert_unloads_clean": "unloading",
    "check_plugin": "checks",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "CheckResult",
    "FakeModel",
    "Readme",
    "Request",
    "assert_context",
    "assert_deterministic",
    "assert_section",
    "assert_stable_prefix",
    "assert_tools",
    "assert_unloads_clean",
    "check_plugin",
]
