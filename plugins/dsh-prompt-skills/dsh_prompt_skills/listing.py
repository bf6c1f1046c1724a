"""What in a folder may be a skill: `NAME/SKILL.md`, and `NAME.md`."""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import Candidate, Problem, UnusableError
from dsh_prompt.untrusted.places import join
from dsh_prompt_skills.values import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dsh_prompt_skills.roots import Root

#: The name that https://agentskills.io/specification gives it, in these letters.
SKILL_FILE: Final = "SKILL.md"
FLAT: Final = ".md"
MOST_ENTRIES: Final = 500


def places_in(root: Root, seen: set[str], problems: list[Problem]) -> Iterator[Place]:
    """Give what may be a skill in *root*, by name, folders first.

    What is in *seen*, by its real path, is left out: one folder may have several names.
    """
    try:
        folder = _real(root.path, root)
        if folder is None or folder in seen:
            return
        seen.add(folder)
        folders, files = _entries(folder)
    except UnusableError as exc:
        problems.append(Problem(_shown(root.path, root), str(exc)))
        return
    for name, is_link in folders:
        path = join(folder, name)
        yield from _in_folder(path, name, root, seen, problems, is_link=is_link)
    for name in files:
        candidate = Candidate(folder, name, root.home, root.bounds)
        yield Place(root.rank, candidate, name.removesuffix(FLAT))


def _entries(folder: str) -> tuple[list[tuple[str, bool]], list[str]]:
    """Give the names of what may be folders of skills, links or not, and of flat skills."""
    try:
        with os.scandir(folder) as entries:
            found = list(islice(entries, MOST_ENTRIES + 1))
    except OSError as exc:
        raise UnusableError(f"cannot be read: {exc.strerror}") from None
    # A part of them would be another one on each system.
    if len(found) > MOST_ENTRIES:
        raise UnusableError(f"is not read: it holds more than {MOST_ENTRIES} entries")
    folders: list[tuple[str, bool]] = []
    files: list[str] = []
    for entry in found:
        if entry.name.startswith("."):
            continue
        if _is_folder(entry):
            folders.append((entry.name, entry.is_symlink()))
        elif entry.name.endswith(FLAT):
            files.append(entry.name)
    return sorted(folders), sorted(files)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A loop of links is reported where it has the name of a skill.
        return not entry.name.endswith(FLAT)


def _in_folder(
    path: str, name: str, root: Root, seen: set[str], problems: list[Problem], *, is_link: bool
) -> Iterator[Place]:
    try:
        # Below a real folder, what is no link is where it seems to be.
        folder = _real(path, root) if is_link else path
    except UnusableError as exc:
        problems.append(Problem(_shown(path, root), str(exc)))
        return
    if folder is not None and folder not in seen:
        seen.add(folder)
        candidate = Candidate(folder, SKILL_FILE, root.home, root.bounds)
        other = join(folder, SKILL_FILE.lower())
        if not os.path.lexists(candidate.path) and os.path.lexists(other):
            what = f"is not used: the file of a skill is called {SKILL_FILE}"
            problems.append(Problem(_shown(other, root), what))
        yield Place(root.rank, candidate, name, folder)


def _real(path: str, root: Root) -> str | None:
    """Give where the folder at *path* really is, None where there is none.

    Raises `UnusableError` where that is out of the bounds of *root*, or cannot be found out.
    """
    try:
        # Most of the folders that are looked for are not there.
        os.lstat(path)
        real = os.path.realpath(path, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it has no valid name"
        raise UnusableError(f"cannot be read: {reason}") from None
    if root.bounds is not None:
        root.bounds.check(real)
    return real


def _shown(path: str, root: Root) -> str:
    folder, name = os.path.split(path)
    return Candidate(folder, name, root.home, root.bounds).shown
