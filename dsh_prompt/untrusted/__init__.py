"""Text that somebody else wrote: read within bounds, made visible, kept in its frame.

For plugins that show a model what they found in a checkout, a database or another process.
`clean` escapes what cannot be seen and what could be taken for the end of a frame, and tells what
it found; `framed` puts a frame around it; `Reader` reads files that may have been put there to do
harm. None of this makes a text true or its wishes harmless: the model still reads it.
"""

from __future__ import annotations

from dsh_prompt.untrusted.cleaning import Clean, clean
from dsh_prompt.untrusted.decoding import decode
from dsh_prompt.untrusted.errors import UnusableError
from dsh_prompt.untrusted.frame import FRAMES, framed, quoted, without_tag_at_end
from dsh_prompt.untrusted.invisible import visible_name
from dsh_prompt.untrusted.places import Bounds, Candidate
from dsh_prompt.untrusted.problems import Problem, signature
from dsh_prompt.untrusted.reading import Reader
from dsh_prompt.untrusted.reports import Reports

__all__ = [
    "FRAMES",
    "Bounds",
    "Candidate",
    "Clean",
    "Problem",
    "Reader",
    "Reports",
    "UnusableError",
    "clean",
    "decode",
    "framed",
    "quoted",
    "signature",
    "visible_name",
    "without_tag_at_end",
]
