"""A process that adds notes and says which are kept: `writer.py FILE NAME COUNT`.

It begins when a line comes in, so that several can begin together.
"""

from __future__ import annotations

import sys

from dsh_prompt_memory import Config, Memories


def main() -> None:
    file, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Memories(Config(path=file, timeout=60.0)) as memories:
        say("ready")
        sys.stdin.readline()
        for number in range(count):
            say(f"{memories.add(f'{name} {number}')} {name} {number}")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
