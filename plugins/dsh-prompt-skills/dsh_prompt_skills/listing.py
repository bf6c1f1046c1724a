"""What in a folder may be a skill: `NAME/SKILL.md`, and `NAME.md`."""

from __future__ import annotations

import os
from itertools import islice, repeat
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
#: Folders on the way to a link that take as long to follow as one entry more.
_SHALLOW: Final = 16


def places_in(root: Root, seen: set[str], problems: list[Problem]) -> Iterator[Place | None]:
    """Give what may be a skill in *root*, by name, folders first, and None for all else.

    What is in *seen*, by its real path, is no other skill: one folder may have several names. As
    much of it as somebody asks for is looked at.
    """
    try:
        folder = _real(root.path, root)
        if folder is None or folder in seen:
            return
        seen.add(folder)
        folders, files, others = _entries(folder)
    except UnusableError as exc:
        problems.append(Problem(shown(root.path, root), str(exc)))
        return
    # To follow a link takes the longer the deeper it lies.
    more = folder.count(os.sep) // _SHALLOW
    for name, is_link in folders:
        yield from repeat(None, more if is_link else 0)
        path = join(folder, name)
        yield _in_folder(path, name, root, seen, problems, is_link=is_link)
    for name in files:
        candidate = Candidate(folder, name, root.home, root.bounds)
        yield Place(root.rank, candidate, name.removesuffix(FLAT))
    yield from repeat(None, others)


def _entries(folder: str) -> tuple[list[tuple[str, bool]], list[str], int]:
    """Name what may be folders of skills, links or not, and flat skills; count the others."""
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
    return sorted(folders), sorted(files), len(found) - len(folders) - len(files)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # A loop of links is reported where it has the name of a skill.
        return not entry.name.endswith(FLAT)


def _in_folder(
    path: str, name: str, root: Root, seen: set[str], problems: list[Problem], *, is_link: bool
) -> Place | None:
    try:
        # Below a real folder, what is no link is where it seems to be.
        folder = _real(path, root) if is_link else path
    except UnusableError as exc:
        problems.append(Problem(shown(path, root), str(exc)))
        return None
    if folder is None or folder in seen:
        return None
    seen.add(folder)
    candidate = Candidate(folder, SKILL_FILE, root.home, root.bounds)
    if os.path.lexists(candidate.path):
        return Place(root.rank, candidate, name, folder)
    if os.path.lexists(other := join(folder, SKILL_FILE.lower())):
        what = f"is not used: the file of a skill is called {SKILL_FILE}"
        problems.append(Problem(shown(other, root), what))
    return None


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


def shown(path: str, root: Root) -> str:
    """Give *path*, at *root* or in it, as readers see it."""
    folder, name = os.path.split(path)
    return Candidate(folder, name, root.home, root.bounds).shown
