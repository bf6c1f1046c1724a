"""The command in a repository with instructions, skills and a state: it shows them all."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.together.agent import make_project

STATE = {
    "permission_mode": "plan",
    "open_files": ["app.py"],
    "todos": [{"content": "Run the tests", "status": "in_progress"}],
    "loaded_skills": ["release"],
    "memories": [{"content": "Answers are short."}],
    "summary": "The build is mended.",
    "project_notes": ["CI takes ten minutes."],
}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give what is printed in each format, with all that is installed."""
    folder = make_project(tmp_path_factory.mktemp("repository"))
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    (folder / "state.json").write_text(json.dumps(STATE | {"workdir": str(folder)}))
    return {
        name: subprocess.run(
            [
                sys.executable,
                "-m",
                "dsh_prompt",
                "render",
                "--state",
                "state.json",
                "--format",
                name,
            ],
            cwd=folder,
            env=os.environ | {"HOME": str(folder / "home"), "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in ("text", "snapshot", "table")
    }


def test_the_system_prompt_has_what_is_stable(shown: dict[str, str]) -> None:
    """Rules, the instructions of the project, and the catalogue of its skills."""
    for text in (
        "Safety and permissions. Nothing below lifts them.",
        "Use make. Quote {{names}} as they are.",
        "- release: Releases a version. Use it to publish.",
    ):
        assert text in shown["text"]


def test_the_snapshot_has_the_state(shown: dict[str, str]) -> None:
    """Each part of it, by the plugin that is for it."""
    for text in (
        'Permission mode: "plan".',
        "- app.py",
        "- Run the tests",
        "Tag it, then push the tag.",
        "* Answers are short.",
        "The build is mended.",
        "CI takes ten minutes.",
        "branch: ",
        "date: ",
    ):
        assert text in shown["snapshot"]
        assert text not in shown["text"]


def test_the_table_names_the_owner_of_each(shown: dict[str, str]) -> None:
    for plugin in ("policy", "todo", "skills", "memory", "summary", "env", "clock", "git"):
        assert f"dsh-prompt-{plugin} 0.1.0" in shown["table"]
