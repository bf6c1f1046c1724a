"""Find the git to run: never one that the repository brings along."""

from __future__ import annotations

import os
from typing import Final

from dsh_prompt_git.errors import NothingToReadError

_NAME: Final = "git.exe" if os.name == "nt" else "git"


def safe_path(root: str, search_path: str) -> str:
    """Give *search_path* without relative folders and without those that lie in *root*."""
    folders = search_path.split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if _is_safe(folder, root))


def find_git(root: str, search_path: str) -> str:
    """Give the absolute path of the first git in *search_path* that lies outside of *root*.

    Raises `NothingToReadError` where there is none.
    """
    for folder in filter(None, search_path.split(os.pathsep)):
        candidate = os.path.join(folder, _NAME)  # noqa: PTH118 - PATH is made of strings
        runnable = os.path.isfile(candidate) and os.access(candidate, os.X_OK)  # noqa: PTH113
        if runnable and _is_safe(candidate, root):
            return candidate
    raise NothingToReadError("there is no git on the search path")


def _is_safe(path: str, root: str) -> bool:
    """Tell whether *path* is absolute and leads, links followed, out of *root*."""
    if not os.path.isabs(path):  # noqa: PTH117
        return False
    real = os.path.realpath(path)
    try:
        return os.path.commonpath((real, root)) != root
    except ValueError:  # another drive
        return True
