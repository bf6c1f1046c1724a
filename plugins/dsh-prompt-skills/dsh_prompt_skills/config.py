"""What a user may set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from dsh_prompt import SectionOrder
from dsh_prompt.fields import TRUSTED, each, finite, flag, listed, whole
from dsh_prompt.untrusted.places import about_name, about_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt.fields import Validator

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB


def _about_folder(path: str) -> str:
    """Say what keeps *path* from being a folder below one of the project."""
    if not path.strip("./"):
        return "names no folder"
    if path.startswith("/") or any(character in path for character in "\\\0:"):
        return "is no path below a folder, with / between its parts"
    if ".." in path.split("/"):
        return "leads upward"
    return ""


# A checkout that could choose these would have other files of the user read, hide the user's own
# skills, or fill each call.
def _setting(default: object, validator: Validator, **more: Any) -> Any:
    return attrs.field(default=default, validator=validator, metadata=TRUSTED, **more)


def _list_of(default: tuple[str, ...], complaint: Callable[[str], str]) -> Any:
    return _setting(default, each(complaint), converter=listed)


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *roots*: folders of skills that rank before all others, absolute or beginning with `~`.

    *project_roots*: folders of skills that are looked for in each folder from the working
    directory up to the top of the project.

    *user_roots*: the user's own folders of skills, absolute or beginning with `~`.

    *installed*: whether skills of installed distributions are used.

    *root_markers*: names that mark the top of a project; the nearest folder upward that holds one
    of them is the top.

    *max_catalogue_chars*: how long the catalogue may be; 0 leaves it out.

    *max_body_chars*: how much of one loaded skill is shown; *max_loaded_chars*: of all together.

    *max_file_bytes*: how long a skill's file, or a file in its folder, may be; a longer one is not
    read.

    *order*: where the catalogue stands among the sections.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect.
    """

    roots: tuple[str, ...] = _list_of((), about_path)
    project_roots: tuple[str, ...] = _list_of((".agents/skills", ".claude/skills"), _about_folder)
    user_roots: tuple[str, ...] = _list_of(("~/.agents/skills", "~/.claude/skills"), about_path)
    installed: bool = _setting(default=True, validator=flag)
    root_markers: tuple[str, ...] = _list_of((".git",), about_name)
    max_catalogue_chars: int = _setting(8000, whole(0, _MIB))
    max_body_chars: int = _setting(40_000, whole(1, _MIB))
    max_loaded_chars: int = _setting(100_000, whole(1, 4 * _MIB))
    max_file_bytes: int = _setting(256 * _KIB, whole(1, 4 * _MIB))
    order: float = _setting(SectionOrder.TOOL_GUIDANCE, finite)
