"""Writes the package of a new plugin: all of it, or nothing."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

from dsh_prompt.scaffold.kinds import KINDS
from dsh_prompt.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from dsh_prompt.scaffold.names import Names

#: Ends the names of templates, so that no tool takes them for what they will become.
SUFFIX = ".in"


def write_package(names: Names, kind: str, target: Path) -> list[str]:
    """Write a package of *kind* as the folder *target*; give the names of its files.

    Raises `FileExistsError` if anything stands there.
    """
    package = package_files(names, kind)
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    beside = target.with_name(f".{target.name}-{secrets.token_hex(8)}.tmp")
    try:
        for name, text in package.items():
            file = beside / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
        beside.rename(target)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return sorted(package)


def package_files(names: Names, kind: str) -> Mapping[str, str]:
    """Give the text of each file of the package, by its name in it.

    Names and texts of the templates hold ``$placeholders``.
    """
    major, minor = (int(part) for part in VERSION.split(".")[:2])
    # What a minor version may change before 1.0, a major one may after it.
    following = f"{major + 1}" if major else f"0.{minor + 1}"
    needs = [*KINDS[kind].needs, f"dsh-prompt>={major}.{minor},<{following}"]
    values = {
        "plugin": names.plugin,
        "distribution": names.distribution,
        "module": names.module,
        "identifier": names.identifier,
        "summary": KINDS[kind].summary,
        "dependencies": ", ".join(f'"{need}"' for need in needs),
    }
    folder = files("dsh_prompt.scaffold") / "templates"
    templates = _texts(folder / "common") | _texts(folder / kind)
    return {
        Template(name).substitute(values): Template(text).substitute(values)
        for name, text in templates.items()
    }


def _texts(folder: Traversable) -> dict[str, str]:
    """Give the templates in *folder*, and below, by their names without the suffix."""
    texts: dict[str, str] = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            texts |= {f"{entry.name}/{name}": text for name, text in _texts(entry).items()}
        elif entry.name.endswith(SUFFIX):
            texts[entry.name.removesuffix(SUFFIX)] = entry.read_text(encoding="utf-8")
    return texts
