"""What this process finds out about the machine, the same for as long as it runs."""

from __future__ import annotations

import ntpath
import platform
import posixpath
from typing import TYPE_CHECKING, Final

from dsh_prompt_env.showing import shown_line

if TYPE_CHECKING:
    from collections.abc import Mapping

_LONGEST: Final = 200
_SYSTEMS: Final = {"Darwin": "macOS"}


def platform_name() -> str:
    """Give operating system and processor, such as `Linux x86_64`."""
    system = platform.system()
    parts = (_SYSTEMS.get(system, system), platform.machine())
    return shown_line(" ".join(filter(None, parts)) or "unknown", _LONGEST).text


def shell_name(environment: Mapping[str, str], *, windows: bool) -> str:
    """Give the name of the user's shell, such as `bash`; else that of the system's own."""
    path = environment.get("SHELL") or (environment.get("COMSPEC", "") if windows else "")
    name = ntpath.basename(path) if windows else posixpath.basename(path)
    if windows and name.lower().endswith(".exe"):
        name = name[: -len(".exe")]
    return shown_line(name, _LONGEST).text.strip() or ("cmd" if windows else "sh")
