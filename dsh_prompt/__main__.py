"""``python -m dsh_prompt``, which is ``dsh-prompt``."""

from __future__ import annotations

import sys

from dsh_prompt.version import VERSION


def run() -> None:
    """Run the command; the version is told without importing what all the rest needs."""
    if sys.argv[1:] == ["--version"]:
        print(f"dsh-prompt {VERSION}")  # noqa: T201 - click would take longer than all the rest
        return
    from dsh_prompt.cli import main  # noqa: PLC0415 - takes longer than all of the above

    main(prog_name="dsh-prompt")


if __name__ == "__main__":
    run()
