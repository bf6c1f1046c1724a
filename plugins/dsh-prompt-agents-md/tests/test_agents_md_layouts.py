"""Instruction files as they lie in well-known public repositories.

The layouts are facts; the texts are not theirs. Beside each stands where it can be looked up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_agents_md import Instructions

pytestmark = pytest.mark.posix


def link(target: str) -> tuple[str]:
    """Mark a file as a link to *target*; a plain `str` is a text."""
    return (target,)


LAYOUTS: dict[str, tuple[dict[str, str | tuple[str]], str, list[str]]] = {
    # AGENTS.md at the top, and one deep in the tree without any in between
    "openai/codex": (
        {"AGENTS.md": "Top.", "codex-rs/tui/src/bottom_pane/AGENTS.md": "Pane."},
        "codex-rs/tui/src/bottom_pane",
        ["AGENTS.md", "codex-rs/tui/src/bottom_pane/AGENTS.md"],
    ),
    # AGENTS.md for the two halves of one application
    "getsentry/sentry": (
        {"AGENTS.md": "Top.", "src/AGENTS.md": "Back.", "static/AGENTS.md": "Front."},
        "static/app/views",
        ["AGENTS.md", "static/AGENTS.md"],
    ),
    # pull request 62443: CLAUDE.md is a link at the top; AGENTS.md of single parts
    "apache/airflow": (
        {
            "AGENTS.md": "Top.",
            "CLAUDE.md": link("AGENTS.md"),
            "dev/AGENTS.md": "Dev.",
            "providers/AGENTS.md": "Providers.",
        },
        "providers",
        ["AGENTS.md", "providers/AGENTS.md"],
    ),
    # pull request 88105: CLAUDE.md became AGENTS.md with a link in its old place
    "vercel/next.js": (
        {"AGENTS.md": "Top.", "CLAUDE.md": link("AGENTS.md")},
        "packages/next/src",
        ["AGENTS.md"],
    ),
    # pull request 3098: a link beside each of the files
    "getsentry/sentry-cli": (
        {
            "AGENTS.md": "Top.",
            "CLAUDE.md": link("AGENTS.md"),
            "lib/AGENTS.md": "Lib.",
            "lib/CLAUDE.md": link("AGENTS.md"),
            "src/AGENTS.md": "Source.",
            "src/CLAUDE.md": link("AGENTS.md"),
        },
        "src/commands",
        ["AGENTS.md", "src/AGENTS.md"],
    ),
    # pull request 818: the other way round, AGENTS.md is the link
    "apache/tsfile": (
        {
            "CLAUDE.md": "Top.",
            "AGENTS.md": link("CLAUDE.md"),
            "java/CLAUDE.md": "Java.",
            "java/AGENTS.md": link("CLAUDE.md"),
        },
        "java",
        ["AGENTS.md", "java/AGENTS.md"],
    ),
    # AGENTS.md and CLAUDE.md are copies of each other
    "langchain-ai/langchain": (
        {"AGENTS.md": "Top.\n", "CLAUDE.md": "Top.\n"},
        "libs/core",
        ["AGENTS.md"],
    ),
    # pull request 6310: CLAUDE.md holds nothing but an import
    "eclipse-kura/kura": (
        {"AGENTS.md": "Top.", "CLAUDE.md": "@AGENTS.md\n"},
        "kura",
        ["AGENTS.md"],
    ),
    # pull request 1574: CLAUDE.md holds the bare name, as a link does that was checked out as text
    "koobiq/angular-components": (
        {"AGENTS.md": "Top.", "CLAUDE.md": "AGENTS.md\n"},
        "packages",
        ["AGENTS.md"],
    ),
    # pull request 64: links to the CLAUDE.md at the top, also from further down
    "monorepo-labs/dray": (
        {
            "CLAUDE.md": "Top.",
            "AGENTS.md": link("CLAUDE.md"),
            "apps/desktop/AGENTS.md": link("../../CLAUDE.md"),
        },
        "apps/desktop",
        ["AGENTS.md", "apps/desktop/AGENTS.md"],
    ),
    # pull request 10628: links to the README of a directory
    "oxidecomputer/omicron": (
        {
            "CLAUDE.md": "Top.",
            "nexus/README.adoc": "= Nexus",
            "nexus/CLAUDE.md": link("README.adoc"),
        },
        "nexus",
        ["CLAUDE.md", "nexus/CLAUDE.md"],
    ),
    # AGENTS.local.md, made from a template that is checked in
    "mui/mui-x": (
        {"AGENTS.md": "Top.", "CLAUDE.md": link("AGENTS.md"), "AGENTS.local.md": "Mine."},
        "packages",
        ["AGENTS.md", "AGENTS.local.md"],
    ),
}


@pytest.mark.parametrize("repository", LAYOUTS)
def test_layout(
    repository: str,
    project: Path,
    write: Callable[..., Path],
    reading: Callable[..., Instructions],
) -> None:
    """Each text of a real layout is shown once, under the name that comes first."""
    files, folder, expected = LAYOUTS[repository]
    for name, content in files.items():
        if isinstance(content, str):
            write(name, content)
        else:
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).symlink_to(*content)
    (project / folder).mkdir(parents=True, exist_ok=True)
    instructions = reading(folder)
    assert [file.path for file in instructions.files] == expected
    assert instructions.problems == ()
