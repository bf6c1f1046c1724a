"""Files in the folder of a skill, and nothing outside of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from dsh_prompt.untrusted import Bounds, Candidate, Reader, UnusableError, visible_name
from dsh_prompt_skills.errors import SkillError

if TYPE_CHECKING:
    from dsh_prompt_skills.values import Skill

_LONGEST: Final = 4096
_LONGEST_SHOWN: Final = 1000


def read_resource(skill: Skill, path: str, limit: int) -> bytes:
    """Give what is in the file at *path*, which is relative to the folder of *skill*.

    Raises `SkillError` for a path that is absolute, leads upward, or through a link out of the
    folder; for what is no regular file; and for more than *limit* bytes.
    """
    shown = visible_name(path[:_LONGEST_SHOWN])
    if not skill.place.folder:
        raise SkillError(f'skill "{skill.name}" is a single file and has no others')
    if _wrong(path):
        raise SkillError(f'"{shown}" is no path in the folder of skill "{skill.name}"')
    try:
        data = _read(skill, path, limit)
    except UnusableError as exc:
        raise SkillError(f'"{shown}" {exc}') from None
    except (OSError, ValueError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it has no valid name"
        raise SkillError(f'"{shown}" cannot be read: {reason}') from None
    if data is None:
        raise SkillError(f'"{shown}" cannot be read: it is not there any more')
    return data


def _read(skill: Skill, path: str, limit: int) -> bytes | None:
    folder = skill.place.folder
    real = os.path.realpath(os.path.join(folder, *path.split("/")), strict=True)  # noqa: PTH118
    own = Bounds(folder, whole="the skill")
    own.check(real)
    parent, name = os.path.split(real)
    # Whoever puts a link there now gets nothing: on the way down none is followed.
    bounds = skill.place.candidate.bounds or own
    with Reader() as reader:
        return reader.read(Candidate(parent, name, bounds=bounds), limit)


def _wrong(path: str) -> bool:
    parts = path.split("/")
    # A colon is a drive, or a stream of a file, on Windows.
    unusual = "\\" in path or "\0" in path or (os.name == "nt" and ":" in path)
    return (
        len(path) > _LONGEST
        or unusual
        or not path.strip("./")
        or path.startswith("/")
        or os.pardir in parts
    )
