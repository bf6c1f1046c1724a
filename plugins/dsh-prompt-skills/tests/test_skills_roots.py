"""Where skills are looked for, and which of two of one name is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_skills import Skills


def test_every_kind_of_root(
    tmp_path: Path,
    project: Path,
    home: Path,
    write: Callable[..., Path],
    service: Callable[..., Skills],
) -> None:
    """Skills come from configured folders, the project and the user, in this order."""
    write(tmp_path / "more", "configured")
    write(project / ".agents/skills", "shared")
    write(project / ".claude/skills", "claude")
    write(home / ".agents/skills", "own")
    write(home / ".claude/skills", "own-claude")
    found = service(roots=[str(tmp_path / "more")]).find(str(project))
    assert [(skill.name, skill.rank) for skill in found.skills] == [
        ("configured", "configured"),
        ("shared", "project"),
        ("claude", "project"),
        ("own", "user"),
        ("own-claude", "user"),
    ]
    assert [skill.path for skill in found.skills[1:4]] == [
        ".agents/skills/shared/SKILL.md",
        ".claude/skills/claude/SKILL.md",
        "~/.agents/skills/own/SKILL.md",
    ]
    assert found.problems == ()


def test_both_layouts(
    local: Path, project: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """A folder with its file and a flat file are skills, folders first, each by name."""
    write(local, "zebra")
    write(local, "ant")
    write(local, "bee", flat=True)
    (local / "README.md").write_text("# Our skills\n")
    (local / "notes.txt").write_text("No skill.")
    (local / "empty").mkdir()
    write(local, ".hidden")
    found = service().find(str(project))
    assert [skill.name for skill in found.skills] == ["ant", "zebra", "bee"]
    assert found.problems == ()


def test_flat_file_with_the_name_of_a_skill(
    local: Path, problems: Callable[..., list[str]]
) -> None:
    """A file that is called as a skill would be is reported if it is none."""
    local.mkdir(parents=True)
    (local / "review.md").write_text("Review it.")
    assert problems() == [
        ".agents/skills/review.md is not used: it does not begin with a front matter"
    ]


@pytest.mark.parametrize("lower", ["user", "project", "outer"])
def test_duplicates(
    lower: str,
    tmp_path: Path,
    project: Path,
    home: Path,
    write: Callable[..., Path],
    service: Callable[..., Skills],
) -> None:
    """The skill of the higher rank is used, and the other one is reported."""
    folders = {
        "configured": tmp_path / "more",
        "project": project / "sub/.agents/skills",
        "outer": project / ".agents/skills",
        "user": home / ".agents/skills",
    }
    higher = {"user": "outer", "outer": "project", "project": "configured"}
    used = write(folders[higher[lower]], "one", "higher")
    write(folders[lower], "one", "lower")
    skills = service(roots=[str(tmp_path / "more")])
    workdir = str(project / "sub")
    (project / "sub").mkdir(exist_ok=True)
    assert skills.load("one", workdir=workdir).text == "higher"
    [problem] = skills.problems(workdir)
    assert problem.what.startswith('is not used: skill "one" is that of ')
    assert used.parent.parent.name in problem.what


def test_without_a_working_directory(
    local: Path, home: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """Without a working directory there are no skills of a project."""
    write(local, "theirs")
    write(home / ".agents/skills", "own")
    assert service().names() == ("own",)


def test_without_a_marker(
    tmp_path: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """Where nothing marks the top of a project, the working directory stands alone."""
    write(tmp_path / ".agents/skills", "above")
    write(tmp_path / "work/.agents/skills", "here")
    assert service(root_markers=["TOP"]).names(str(tmp_path / "work")) == ("here",)


@pytest.mark.posix
def test_one_folder_by_two_names(
    project: Path, local: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """A folder of skills, or a skill, that links lead to as well is there once."""
    write(local, "one")
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to("../.agents/skills")
    (local / "two").symlink_to("one")
    found = service().find(str(project))
    assert [skill.name for skill in found.skills] == ["one"]
    assert found.problems == ()


@pytest.mark.posix
def test_links_of_the_user(
    tmp_path: Path, home: Path, write: Callable[..., Path], service: Callable[..., Skills]
) -> None:
    """The user's own folders may be links to anywhere."""
    write(tmp_path / "dotfiles/skills", "one")
    (home / ".agents").mkdir()
    (home / ".agents/skills").symlink_to(tmp_path / "dotfiles/skills")
    assert service().names() == ("one",)
