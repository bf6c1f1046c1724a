"""Git's output for programs, read back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from dsh_prompt_git.commits import Commit, parse_commits
from dsh_prompt_git.status import GROUPS, Entry, parse_status
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ZEROS = b"0" * 40
_PATH = st.binary(min_size=1, max_size=30).map(lambda raw: raw.replace(b"\0", b"\n"))
_CHANGE = st.tuples(st.sampled_from(b".MTAD"), st.sampled_from(b".MTAD"), _PATH)
_KIND = {"M": "modified", "T": "type changed", "A": "added", "D": "deleted"}


def _change_record(x: int, y: int, path: bytes) -> bytes:
    state = bytes((x, y))
    return b"1 %s N... 100644 100644 100644 %s %s %s\0" % (state, _ZEROS, _ZEROS, path)


@settings(max_examples=50, deadline=None)
@given(changes=st.lists(_CHANGE), untracked=st.lists(_PATH))
def test_any_names(changes: list[tuple[int, int, bytes]], untracked: list[bytes]) -> None:
    """Whatever bytes the names have, each file is in its groups under its own name."""
    output = b"".join(_change_record(*change) for change in changes)
    output += b"".join(b"? %s\0" % path for path in untracked)
    status = parse_status(output)
    staged = [Entry(_KIND[chr(x)], path) for x, _, path in changes if chr(x) in _KIND]
    changed = [Entry(_KIND[chr(y)], path) for _, y, path in changes if chr(y) in _KIND]
    assert status.files["staged"] == staged
    assert status.files["changed"] == changed
    assert [entry.path for entry in status.files["untracked"]] == untracked


@settings(max_examples=50, deadline=None)
@given(paths=st.lists(_PATH, min_size=1), data=st.data())
def test_cut_anywhere(paths: list[bytes], data: st.DataObject) -> None:
    """Output cut at any byte gives the files before the cut and says that there may be more."""
    output = b"".join(b"? %s\0" % path for path in paths)
    cut = data.draw(st.integers(0, len(output) - 1))
    status = parse_status(output[:cut], complete=False)
    read = [entry.path for entry in status.files["untracked"]]
    assert read == paths[: output[:cut].count(b"\0")]
    assert "untracked" in status.open_groups
    assert not status.clean


@settings(max_examples=50, deadline=None)
@given(st.binary())
def test_any_bytes(output: bytes) -> None:
    """Bytes that are no output of git raise nothing."""
    assert set(parse_status(output).files) == set(GROUPS)


def test_rename_takes_two_records() -> None:
    """The name that follows a renamed file is where it came from and no file of its own."""
    record = b"2 RM N... 100644 100644 100644 %s %s R100 new\0? old\0" % (_ZEROS, _ZEROS)
    status = parse_status(record)
    assert status.files["staged"] == [Entry("renamed", b"new", b"? old")]
    assert status.files["changed"] == [Entry("modified", b"new")]
    assert status.files["untracked"] == []


@pytest.mark.parametrize(
    ("last", "groups"),
    [
        (b"? b\0", ("untracked",)),
        (b"u UU N... 1 1 1 1 a b c b\0", ("conflicted", "untracked")),
        (b"1 M. N... 1 1 1 a b b\0", GROUPS),
        (b"", GROUPS),
    ],
)
def test_groups_left_open(last: bytes, groups: tuple[str, ...]) -> None:
    """Where output was cut, what git lists later may be longer than what was read."""
    output = b"# branch.oid (initial)\0" + last + b"? cut"
    assert parse_status(output, complete=False).open_groups == groups


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"))))
def test_any_subjects(subjects: list[str]) -> None:
    """Whatever the subjects are, each commit keeps its own."""
    commits = tuple(Commit(b"%040d" % at, text.encode()) for at, text in enumerate(subjects))
    output = b"".join(b"commit %s\n%s %s\n" % (c.hash, c.hash, c.subject) for c in commits)
    assert parse_commits(output) == commits


_NAMES = {
    b"plain name.txt": "plain name.txt",
    b"-rf": "-rf",
    b"(3 more)": "(3 more)",
    b"caf\xc3\xa9": "caf\u00e9",
    b"two\nlines": r'"two\nlines"',
    b"tab\there": r'"tab\there"',
    b"\x1b[31mred\x07": r'"\x1b[31mred\x07"',
    b"\xff\xfe": r'"\xff\xfe"',
    b"\xc2\x9b31m": r'"\u009b31m"',
    b"\xe2\x80\xaegnp.exe": r'"\u202egnp.exe"',
    b"\xf3\xa0\x81\x81hidden": r'"\U000e0041hidden"',
    b" lead": '" lead"',
    b"trail ": '"trail "',
    b'quo"te': r'"quo\"te"',
    b"back\\slash": r'"back\\slash"',
    b"a -> b": '"a -> b"',
}


@pytest.mark.parametrize("name", _NAMES)
def test_real_names(name: bytes, repo: Path, lines: Callable[..., list[str]]) -> None:
    """A file's name stands on one line, and in quotes where it could deceive."""
    (repo / os.fsdecode(name)).touch()
    assert lines(repo, max_commits=0) == ["branch: main", "untracked: 1", f"- {_NAMES[name]}"]
