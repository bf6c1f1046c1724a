"""The environment and the settings under which git runs nothing but itself.

What a repository configures is read by git before the command line, so each setting that names a
program is overridden there, whatever file it comes from. Filter drivers have names of the
repository's choice and are looked up first.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from dsh_prompt_git.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: An empty value is no program for git of any version; "false" was one before 2.36.
_OVERRIDES: Final = (
    "core.fsmonitor=",
    "core.useBuiltinFSMonitor=false",
    "core.virtualFilesystem=",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.editor=true",
    "core.askPass=",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=",
    "credential.helper=",
    "diff.external=",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "safe.bareRepository=explicit",
)

_ENVIRONMENT: Final = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}

_DROPPED: Final = frozenset({"LANGUAGE", "SSH_ASKPASS"})

#: Finds what names a filter driver; the answer goes to `filter_overrides`.
FILTER_SETTINGS: Final = ("config", "-z", "--name-only", "--get-regexp", r"^filter\.")


def sealed_environment(environ: Mapping[str, str], search_path: str) -> dict[str, str]:
    """Give *environ* with *search_path*, without all that would redirect git or make it ask."""
    kept = {name: value for name, value in environ.items() if not _redirects(name)}
    return kept | _ENVIRONMENT | {"PATH": search_path}


def _redirects(name: str) -> bool:
    return name.upper().startswith("GIT_") or name.upper() in _DROPPED


def sealed_options() -> list[str]:
    """Give the options that stand before the name of every git command."""
    return ["--no-pager", "--no-optional-locks", *_settings(_OVERRIDES)]


def filter_overrides(names: bytes) -> list[str]:
    """Give the options that switch off the filter drivers in *names*, git's list of settings.

    Raises `RefusedError` for a driver whose name holds an equals sign: an option cannot name it.
    """
    drivers = sorted({driver for name in names.split(b"\0") if (driver := _driver(name))})
    if any("=" in driver for driver in drivers):
        raise RefusedError("a filter driver has a name that cannot be switched off")
    return _settings(setting for driver in drivers for setting in _switched_off(driver))


def _driver(name: bytes) -> str:
    """Give NAME of `filter.NAME.clean`; nothing for `filter.clean`, which is no driver's."""
    return os.fsdecode(name).removeprefix("filter.").rpartition(".")[0]


def _switched_off(driver: str) -> Iterator[str]:
    for setting in ("clean", "smudge", "process"):
        yield f"filter.{driver}.{setting}="
    yield f"filter.{driver}.required=false"


def _settings(settings: Iterator[str] | tuple[str, ...]) -> list[str]:
    return [part for setting in settings for part in ("-c", setting)]
