"""Several processes at one file, and processes that die in the middle of a write."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from dsh_prompt_memory import Memories

    Writers = Callable[..., list[subprocess.Popen[str]]]

_WRITER = Path(__file__).with_name("writer.py")
_KILLED = Path(__file__).with_name("killed.py")
_PIDS = re.compile(r"\d+ \d+\n")


@contextmanager
def started(*command: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that is asked and answers in lines; it does not outlive the block."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def writers(file: Path) -> Iterator[Writers]:
    """Give a function that starts processes which add notes, all at the same moment."""
    with ExitStack() as stack:

        def start(names: str, count: int) -> list[subprocess.Popen[str]]:
            processes = [
                stack.enter_context(
                    started(sys.executable, str(_WRITER), str(file), name, str(count))
                )
                for name in names
            ]
            for process in processes:
                assert answer(process) == "ready\n"
            for process in processes:
                assert process.stdin is not None
                process.stdin.write("go\n")
                process.stdin.flush()
            return processes

        yield start


def acknowledged(process: subprocess.Popen[str]) -> set[tuple[int, str]]:
    """Read the ids and the beginnings of the notes that *process* still says it has kept."""
    assert process.stdout is not None
    return {kept(line) for line in process.stdout if line.endswith("\n")}


def kept(line: str) -> tuple[int, str]:
    note_id, _, beginning = line.strip().partition(" ")
    return int(note_id), beginning


def stored(memories: Memories) -> set[tuple[int, str]]:
    return {(note.id, note.content.rstrip("x").strip()) for note in memories.recent(100_000)}


def assert_sound(file: Path) -> None:
    """Check the file, its index, and that each note is in the index."""
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.execute("INSERT INTO terms (terms) VALUES ('integrity-check')")
        notes, terms = (
            [row[0] for row in connection.execute(f"SELECT {column} FROM {table} ORDER BY 1")]
            for table, column in (("notes", "id"), ("terms", "rowid"))
        )
    assert notes == terms


def test_nothing_is_lost_at_the_same_time(writers: Writers, memories: Memories, file: Path) -> None:
    """Processes that make the file and add notes together lose none, while others read."""
    processes = writers("abc", 30)
    sizes = [len(memories.find("a b c", limit=1000))]
    while any(process.poll() is None for process in processes):
        sizes.append(len(memories.find("a b c", limit=1000)))
    said = set().union(*map(acknowledged, processes))
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(said) == len({note_id for note_id, _ in said}) == 90
    assert stored(memories) == said
    assert sizes == sorted(sizes)
    assert_sound(file)


def test_equal_notes_of_two_processes_are_one(writers: Writers, memories: Memories) -> None:
    """Processes that add the same notes at the same time get the same ids."""
    first, second = writers("aa", 20)
    assert acknowledged(first) == acknowledged(second) == stored(memories)
    assert memories.count() == 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_killed_in_the_middle(store: Callable[..., Memories], file: Path) -> None:
    """However often writers are killed, the file is sound and holds what they said it holds."""
    said: set[tuple[int, str]] = set()
    with started(sys.executable, str(_KILLED), str(file)) as parent:
        for turn in range(20):
            said |= one_round(parent, turn)
            memories = store()
            there = stored(memories)
            assert said <= there
            # What died between its writing and its word may be there: one note of each writer.
            assert len(there - said) <= 2 * (turn + 1)
            beginning = f"after {turn}"
            note_id = memories.add(beginning)
            assert note_id > max(one for one, _ in there)
            said.add((note_id, beginning))
            memories.close()
            assert_sound(file)


FORKS = """
import os, signal, sys, threading
from dsh_prompt_memory import Config, Memories

memories = Memories(Config(path=sys.argv[1]))
done = False

def write():
    number = 0
    while not done:
        memories.add(f"note {number}")
        memories.search("note")
        number += 1

thread = threading.Thread(target=write)
thread.start()
for number in range(5):
    child = os.fork()
    if not child:
        signal.alarm(10)
        memories.add(f"child {number}")
        os._exit(0)
    print(os.waitpid(child, 0)[1], end=" ", flush=True)
done = True
thread.join()
print(len(memories.find("child", limit=100)))
memories.close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_writes(file: Path) -> None:
    """No lock that another thread held at that moment is held for ever in the child."""
    ignored = ["-W", "error", "-W", "ignore::DeprecationWarning"]  # a fork with threads is unusual
    done = subprocess.run(
        [sys.executable, *ignored, "-c", FORKS, str(file)],
        capture_output=True, text=True, check=False, timeout=150,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("0 " * 5 + "5\n", "")
    assert_sound(file)


def one_round(parent: subprocess.Popen[str], turn: int) -> set[tuple[int, str]]:
    """Let two processes write, kill both, and give what they said they had kept."""
    assert parent.stdin is not None
    parent.stdin.write(f"a{turn} b{turn}\n")
    parent.stdin.flush()
    # The writers may be faster than the one that says who they are.
    said: list[str] = []
    pids: list[str] = []
    while not pids or len(said) <= turn % 5:
        line = answer(parent)
        if _PIDS.fullmatch(line):
            pids = line.split()
        else:
            said.append(line)
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    said += iter(lambda: answer(parent), "dead\n")
    return set(map(kept, said))


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "it ended"
    return line
