"""Git's account of the files: `git status` in its second format for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterator

GROUPS: Final = ("conflicted", "staged", "changed", "untracked")

#: The arguments whose output `parse_status` reads. Renames count where the content is the same,
#: so that no content is compared for them.
STATUS: Final = (
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--ahead-behind",
    "--ignore-submodules=all",
    "--find-renames=100%",
    "--no-column",
)

_KINDS: Final = {
    b"M": "modified",
    b"T": "type changed",
    b"A": "added",
    b"D": "deleted",
    b"R": "renamed",
    b"C": "copied",
}
_CONFLICTS: Final = {
    b"DD": "both deleted",
    b"AU": "added by us",
    b"UD": "deleted by them",
    b"UA": "added by them",
    b"DU": "deleted by us",
    b"AA": "both added",
    b"UU": "both modified",
}
#: How many fields stand before the path in a record of each type.
_FIELDS: Final = {b"1": 8, b"2": 9, b"u": 10, b"?": 1}
#: Where output ends inside the records of a type, these groups may be longer than what was read.
_OPEN: Final = {b"u": ("conflicted", "untracked"), b"?": ("untracked",)}


@attrs.frozen
class Entry:
    """One file of a group: what happened to it, and where it came from if it was renamed."""

    kind: str
    path: bytes
    origin: bytes | None = None


@attrs.define
class Status:
    """What `git status` told.

    *head*: the commit checked out, None before the first one. *upstream*: its name, with *distance*
    (ahead, behind) where git knows both ends. *files*: the entries by group, in git's order.
    *open_groups*: those that may hold more than was read.
    """

    head: bytes | None = None
    upstream: bytes | None = None
    distance: tuple[int, int] | None = None
    files: dict[str, list[Entry]] = attrs.field(factory=lambda: {name: [] for name in GROUPS})
    open_groups: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Tell whether no file of any group was seen or may have been missed."""
        return not any(self.files.values()) and not self.open_groups


def parse_status(output: bytes, *, complete: bool = True) -> Status:
    """Read the output of `STATUS`; where not *complete*, its last record is cut and left out."""
    status = Status()
    records = iter(output.split(b"\0")[:-1])
    last = b""
    for record in records:
        last = record[:1]
        if last == b"#":
            _read_header(status, record[2:])
        elif last in _FIELDS:
            _read_file(status, record, origin=next(records, None) if last == b"2" else None)
    if not complete:
        status.open_groups = _OPEN.get(last, GROUPS)
    return status


def _read_header(status: Status, header: bytes) -> None:
    name, _, value = header.partition(b" ")
    if name == b"branch.oid" and value != b"(initial)":
        status.head = value
    elif name == b"branch.upstream":
        status.upstream = value
    elif name == b"branch.ab":
        status.distance = _distance(value)


def _distance(value: bytes) -> tuple[int, int] | None:
    ahead, _, behind = value.partition(b" ")
    if ahead[1:].isdigit() and behind[1:].isdigit():
        return int(ahead[1:]), int(behind[1:])
    return None


def _read_file(status: Status, record: bytes, origin: bytes | None) -> None:
    fields = record.split(b" ", _FIELDS[record[:1]])
    if len(fields) <= _FIELDS[record[:1]]:
        return
    for group, kind in _places(fields):
        renamed = origin if kind in ("renamed", "copied") else None
        status.files[group].append(Entry(kind, fields[-1], renamed))


def _places(fields: list[bytes]) -> Iterator[tuple[str, str]]:
    """Give the groups that a record belongs to, with what happened there."""
    mark, state = fields[0], fields[1]
    if mark == b"?":
        yield "untracked", "untracked"
    elif mark == b"u":
        yield "conflicted", _CONFLICTS.get(state, "conflicting")
    else:
        for group, letter in (("staged", state[:1]), ("changed", state[1:2])):
            if letter in _KINDS:
                yield group, _KINDS[letter]
