"""What a user may set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import attrs

from dsh_prompt import SectionOrder
from dsh_prompt.fields import TRUSTED, each, finite, listed, whole
from dsh_prompt.untrusted.places import about_name, about_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from dsh_prompt.fields import Validator

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB


# A checkout that could choose these would get at files it was never meant to show, stand before
# the host's rules, silence the user's own file with a budget of nothing, or fill each call.
def _setting(default: object, validator: Validator, **more: Any) -> Any:
    return attrs.field(default=default, validator=validator, metadata=TRUSTED, **more)


def _list_of(default: tuple[str, ...], complaint: Callable[[str], str]) -> Any:
    return _setting(default, each(complaint), converter=listed)


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *user_files*: paths of the user's own files, read before those of any project; each is
    absolute or begins with `~`.

    *base_names*: names of the files that are looked for in each directory of a project.

    *local_names*: names that are looked for after those, for files that are nobody else's.

    *root_markers*: names that mark the top of a project; the nearest directory upward that holds
    one of them is the top.

    *max_bytes*: how long the whole section may be, in bytes of UTF-8; 0 leaves it out.

    *max_file_bytes*: how long one file may be; a longer one is not read.

    *order*: where the section stands among the others.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect.
    """

    user_files: tuple[str, ...] = _list_of(("~/.config/AGENTS.md",), about_path)
    base_names: tuple[str, ...] = _list_of(("AGENTS.md", "CLAUDE.md"), about_name)
    local_names: tuple[str, ...] = _list_of(("AGENTS.local.md", "CLAUDE.local.md"), about_name)
    root_markers: tuple[str, ...] = _list_of((".git",), about_name)
    max_bytes: int = _setting(32 * _KIB, whole(0, 16 * _MIB))
    max_file_bytes: int = _setting(_MIB, whole(1, 16 * _MIB))
    order: float = _setting(SectionOrder.ENVIRONMENT, finite)
