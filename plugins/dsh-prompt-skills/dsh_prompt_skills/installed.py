"""Skills of installed distributions, found in the records of their files.

A wheel may bring `NAME/SKILL.md` inside of its packages, or as a data file that is installed below
`share`. Both are in its record (https://packaging.python.org/en/latest/specifications/
recording-installed-packages/), and so are files called `skills/NAME.md`.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import distributions
from typing import TYPE_CHECKING, Any, Final

import attrs

from dsh_prompt.untrusted import Candidate, Problem, visible_name
from dsh_prompt.untrusted.places import is_inside
from dsh_prompt_skills.listing import FLAT, MOST_ENTRIES, SKILL_FILE
from dsh_prompt_skills.rules import is_name
from dsh_prompt_skills.values import Place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import Distribution

#: The files that say what a distribution has installed, and whether it is worth reading them.
_RECORDS: Final = ("RECORD", "installed-files.txt", "SOURCES.txt")
_WORTH_IT: Final = re.compile(r"[\\/](?:SKILL|skills[\\/][^\\/\n]+)\.md\b")
#: A folder that installers put packages into, and what leads to it from where they put data files.
_SITE: Final = re.compile(
    r"(?:[\\/]lib(?:64)?)?(?:[\\/]python[\d.]*t?)?[\\/](?:site|dist)-packages$", re.IGNORECASE
)


@attrs.frozen
class Scan:
    """What one look at the installed distributions found.

    *watched* are folders of metadata without a record: an installer writes it last.
    """

    places: tuple[Place, ...] = ()
    problems: tuple[Problem, ...] = ()
    watched: tuple[str, ...] = ()


class Installed:
    """Looks at the installed distributions, and again when some are put in or taken out."""

    def __init__(self) -> None:
        self._scan = Scan()
        self._signature: tuple[object, ...] | None = None

    def forget(self) -> None:
        """Look anew the next time."""
        self._signature = None

    def scan(self) -> Scan:
        """Give what is installed now."""
        if self._signature is None or self._signature != _signature(self._scan.watched):
            # Taken before the look: what comes meanwhile is seen the next time.
            folders = _signature(())
            self._scan = _look()
            self._signature = folders + _signature(self._scan.watched)[len(folders) :]
        return self._scan


def _signature(watched: Iterable[str]) -> tuple[object, ...]:
    return tuple((path, _changed(path)) for path in (*_folders(), *watched))


def _folders() -> list[str]:
    """Give the folders of packages.

    Python looks for modules in the working directory as well: what lies there is what a checkout
    says of itself, and was not installed by anybody.
    """
    here = _status(os.curdir)
    # A relative one is there, too.
    paths = [path for path in sys.path if os.path.isabs(path)]  # noqa: PTH117
    return [path for path in paths if _SITE.search(path) or not _is_same(_status(path), here)]


def _is_same(one: os.stat_result | None, other: os.stat_result | None) -> bool:
    return one is not None and other is not None and os.path.samestat(one, other)


def _changed(path: str) -> int:
    status = _status(path)
    return 0 if status is None else status.st_mtime_ns


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None


def _look() -> Scan:
    places: list[Place] = []
    problems: list[Problem] = []
    watched: list[str] = []
    for name, distribution in sorted(_in_use().items()):
        try:
            records = [text for text in map(distribution.read_text, _RECORDS) if text]
            if not records:
                watched.append(str(_metadata_of(distribution)))
            elif any(map(_WORTH_IT.search, records)):
                places += _places(name, distribution, problems)
        except Exception as exc:  # noqa: BLE001 - one broken package must not hide the others
            what = f"has a record of its files that cannot be read: {type(exc).__name__}"
            problems.append(Problem(visible_name(name), what))
    return Scan(tuple(places), tuple(problems), tuple(watched))


def _in_use() -> dict[str, Distribution]:
    """Give one distribution of each name: as imports do, the first on the path."""
    found: dict[str, Distribution] = {}
    for entry in _folders():
        here = distributions(path=[entry])
        # The order of a folder is another one on each system.
        for distribution in sorted(here, key=lambda one: str(_metadata_of(one)), reverse=True):
            found.setdefault(_name_of(distribution), distribution)
    return found


def _metadata_of(distribution: Any) -> object:
    return getattr(distribution, "_path", None) or distribution.locate_file("")


def _name_of(distribution: Distribution) -> str:
    # To parse the metadata of everything that is installed would take long.
    folder = os.path.basename(str(_metadata_of(distribution)))  # noqa: PTH119
    if folder.endswith((".dist-info", ".egg-info")):
        name = folder.rpartition(".")[0].partition("-")[0]
    else:
        try:
            name = distribution.metadata["Name"] or folder
        except Exception:  # noqa: BLE001 - one broken package must not hide the others
            name = folder
    return re.sub(r"[-_.]+", "-", name).lower()


def _places(name: str, distribution: Distribution, problems: list[Problem]) -> list[Place]:
    found: dict[str, Place] = {}
    prefix, outside = _prefix(distribution), 0
    for file in distribution.files or ():
        if not _is_skill(file.parts):
            continue
        # Installers record a relative path by its text, without a look at links.
        path = os.path.normpath(str(distribution.locate_file(file)))
        if not is_inside(path, prefix):
            outside += 1
            continue
        folder, base = os.path.split(path)
        folder = os.path.realpath(folder)
        own = base == SKILL_FILE
        expected = os.path.basename(folder) if own else base.removesuffix(FLAT)  # noqa: PTH119
        candidate = Candidate(folder, base)
        found[path] = Place("installed", candidate, expected, folder if own else "", name)
    if len(found) > MOST_ENTRIES:
        raise ValueError("too many skills")
    if outside:
        what = f"lists skills outside of where it is installed, which are not used: {outside}"
        problems.append(Problem(visible_name(name), what))
    return [found[path] for path in sorted(found)]


def _prefix(distribution: Distribution) -> str:
    """Give the folder below which an installer puts all files of a distribution."""
    return _SITE.sub("", os.path.normpath(str(distribution.locate_file(""))))


def _is_skill(parts: tuple[str, ...]) -> bool:
    if len(parts) < 2 or parts[-2] == os.pardir:  # noqa: PLR2004 - a folder, and a file
        return False
    if parts[-1] == SKILL_FILE:
        return True
    return parts[-2] == "skills" and parts[-1].endswith(FLAT) and is_name(parts[-1][: -len(FLAT)])
