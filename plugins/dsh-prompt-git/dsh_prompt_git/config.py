"""What a user may set."""

from __future__ import annotations

import attrs

from dsh_prompt.fields import flag, seconds, whole


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *max_files*: how many names each group of files shows, 0 to 1000; 0 leaves the counts alone.

    *max_commits*: how many of the last commits are shown, 0 to 100.

    *timeout*: the seconds that one whole reading may take, up to 60; past it there is no text.

    *untracked*: whether git looks for files that it does not track, the slowest part of a reading.

    A value outside of these raises `ValueError` naming the field.
    """

    max_files: int = attrs.field(default=20, validator=whole(0, 1000))
    max_commits: int = attrs.field(default=5, validator=whole(0, 100))
    timeout: float = attrs.field(default=2.0, validator=seconds(60))
    untracked: bool = attrs.field(default=True, validator=flag)
