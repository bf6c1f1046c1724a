"""What a user may set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from dsh_prompt.fields import TRUSTED, flag, whole

if TYPE_CHECKING:
    from dsh_prompt.fields import Validator


# A checkout that could choose these would hide the plan, or fill each call with it.
def _setting(default: object, validator: Validator) -> Any:
    return attrs.field(default=default, validator=validator, metadata=TRUSTED)


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *max_items*: how many of the todos that are not in progress the model is shown, 0 to 1000.

    *max_chars*: how many characters these take together, 0 to 100000; 0 leaves them out.

    *max_content*: how many characters the text of one todo may have, 1 to 2000. The store refuses
    a longer one; of one that comes from elsewhere, the beginning is shown.

    *max_in_progress*: how many todos may be in progress at once, 1 to 20. The store refuses more.

    *max_todos*: how many todos the store takes, 1 to 1000.

    *tool*: whether the schema of `todo_write` is contributed; false where the harness has its own.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect.
    """

    max_items: int = _setting(20, whole(0, 1000))
    max_chars: int = _setting(4000, whole(0, 100_000))
    max_content: int = _setting(500, whole(1, 2000))
    max_in_progress: int = _setting(1, whole(1, 20))
    max_todos: int = _setting(100, whole(1, 1000))
    tool: bool = _setting(default=True, validator=flag)
