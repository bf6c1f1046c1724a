"""What a user may set."""

from __future__ import annotations

import attrs

from dsh_prompt.fields import TRUSTED, whole


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *max_chars*: how many characters the summary may take, frame and notice included, 500 to
    100,000.

    A value outside of these raises `ValueError` naming the field. It needs trust: in the settings
    that a checkout brings along it has no effect, or each call could be filled with text.
    """

    max_chars: int = attrs.field(default=3_000, validator=whole(500, 100_000), metadata=TRUSTED)
