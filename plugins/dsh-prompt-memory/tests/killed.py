"""Rounds of processes that add notes until they are killed: `killed.py FILE`.

For each line of names that comes in, one process for each name begins to write. Each says
`ID NAME NUMBER` of a note that is kept. When the last of them is dead, there is a line `dead`.
"""

from __future__ import annotations

import os
import sys

from dsh_prompt_memory import Config, Memories


def write(file: str, name: str) -> None:
    memories = Memories(Config(path=file, timeout=60.0))
    for number in range(100_000):
        note_id = memories.add(f"{name} {number} ".ljust(1000, "x"))
        # One call for one line: it is there whole or not at all.
        os.write(1, f"{note_id} {name} {number}\n".encode())


def main() -> None:
    for line in sys.stdin:
        processes = []
        for name in line.split():
            process = os.fork()
            if not process:
                write(sys.argv[1], name)
            processes.append(process)
        os.write(1, f"{' '.join(map(str, processes))}\n".encode())
        for process in processes:
            os.waitpid(process, 0)
        os.write(1, b"dead\n")


if __name__ == "__main__":
    main()
