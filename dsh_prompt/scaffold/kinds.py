"""What a new plugin can be made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping


@attrs.frozen
class Kind:
    """One kind: what such a plugin does, and which packages it needs besides this one."""

    summary: str
    needs: tuple[str, ...] = ()


#: In the order of the hooks. Each name is a folder in ``templates``, beside ``common``.
KINDS: Mapping[str, Kind] = {
    "section": Kind("puts a section into the system prompt", needs=("attrs>=24.1",)),
    "context": Kind("shows the model a part of the agent's state"),
    "tools": Kind("offers a tool, and tells the model when to use it"),
    "filter": Kind("denies tools, as the agent's permission mode wants it"),
    "mode": Kind("gives a permission mode its instructions, and denies tools in it"),
}
