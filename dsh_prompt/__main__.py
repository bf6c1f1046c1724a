"""``python -m dsh_prompt`` is ``dsh-prompt``."""

from __future__ import annotations

from dsh_prompt.cli import main

if __name__ == "__main__":
    main()
