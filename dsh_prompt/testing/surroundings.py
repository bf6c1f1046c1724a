"""What may differ from one process to the next, and must not show in a prompt."""

from __future__ import annotations

import os
import subprocess
from functools import cache

import attrs


@attrs.frozen
class Surroundings:
    """Where a process runs: *folder* names its working directory.

    With *turned*, the environment and the listings of folders come the other way round.
    """

    hash_seed: str = "0"
    locale: str = "C"
    zone: str = "UTC0"
    user: str = "ada"
    folder: str = "one"
    turned: bool = False

    def environment(self) -> dict[str, str]:
        """Give the environment of such a process: that of this one, changed."""
        own = {
            "PYTHONHASHSEED": self.hash_seed,
            "LC_ALL": self.locale,
            "LANG": self.locale,
            "TZ": self.zone,
            "USER": self.user,
            "LOGNAME": self.user,
            "USERNAME": self.user,
            # Without this, Python hides that the C locale has an encoding of its own.
            "PYTHONUTF8": "0",
            "PYTHONCOERCECLOCALE": "0",
        }
        environment = {**os.environ, **own}
        return dict(sorted(environment.items(), reverse=self.turned))


#: What each field is called where a prompt depends on it.
CAUSES = {
    "hash_seed": "the hash seed (the order of a set, or hash() of a text)",
    "locale": "the locale (LC_ALL)",
    "zone": "the time zone (TZ)",
    "user": "the user's name in the environment",
    "folder": "the working directory",
    "turned": "the order of the environment, or of what lists a folder",
}


def several() -> list[Surroundings]:
    """Give some that differ in everything."""
    locales = _locales()
    return [
        Surroundings(),
        Surroundings("1", locales[0], "EAST-13", "grace", "two", turned=True),
        Surroundings("2", locales[-1], "WEST+11", "alan", "three"),
        Surroundings("3", locales[0], "HALF-5:45", "edsger", "four", turned=True),
    ]


@cache
def _locales() -> list[str]:
    """Give locales beside C that there are here, one in another language last."""
    try:
        done = subprocess.run(["locale", "-a"], capture_output=True, check=False, timeout=10)  # noqa: S607 - it is where the system has it
        names = done.stdout.decode("utf-8", "replace").split()
    except (OSError, subprocess.SubprocessError):
        names = []
    utf8 = [name for name in names if name.lower().replace("-", "").endswith(".utf8")]
    plain = [name for name in utf8 if name.startswith("C.")]
    others = [name for name in utf8 if not name.startswith(("C.", "en"))]
    return [*plain[:1], *others[:1]] or ["C"]
