"""Skills of installed packages, also of a published one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dsh_prompt_skills import Skills


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder of installed packages, the only one that there is."""
    path = tmp_path / "prefix/lib/site-packages"
    path.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(path)])
    return path


@pytest.fixture
def install(site: Path, write: Callable[..., Path]) -> Callable[..., Path]:
    """Give a function that installs a distribution with files as an installer does."""

    def put(
        name: str, *files: str, version: str = "1.0", record: bool = True, body: str = "Do it."
    ) -> Path:
        metadata = site / f"{name.replace('-', '_')}-{version}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\n")
        for file in files:
            path = site / os.path.normpath(file)
            flat = path.name != "SKILL.md"
            place = path.stem if flat else path.parent.name
            write(
                (site / file).parent if flat else (site / file).parent.parent,
                place,
                body,
                flat=flat,
            )
        if record:
            (metadata / "RECORD").write_text("".join(f"{file},,\n" for file in files))
        return metadata

    return put


@pytest.fixture
def installed(service: Callable[..., Skills]) -> Skills:
    """Give the service, with what is installed."""
    return service(installed=True)


def test_in_a_package_and_as_data(
    site: Path, install: Callable[..., Path], installed: Skills
) -> None:
    """Skills are found inside of packages and as data files, in both layouts."""
    install(
        "some-skills",
        "some_skills/skills/pdf/SKILL.md",
        "some_skills/skills/review.md",
        "../../share/some-skills/skills/release/SKILL.md",
        "some_skills/docs/notes.md",
        "some_skills/skills/README.md",
    )
    found = installed.find()
    assert {skill.name: skill.path for skill in found.skills} == {
        "release": str(site.parents[1] / "share/some-skills/skills/release/SKILL.md"),
        "pdf": str(site / "some_skills/skills/pdf/SKILL.md"),
        "review": str(site / "some_skills/skills/review.md"),
    }
    assert {(skill.rank, skill.place.distribution) for skill in found.skills} == {
        ("installed", "some-skills")
    }
    assert found.problems == ()


def test_switched_off(install: Callable[..., Path], service: Callable[..., Skills]) -> None:
    """A setting leaves out what is installed."""
    install("some-skills", "some_skills/pdf/SKILL.md")
    assert service(installed=True).names() == ("pdf",)
    assert service(installed=False).names() == ()


def test_rank(
    home: Path,
    write: Callable[..., Path],
    install: Callable[..., Path],
    installed: Skills,
) -> None:
    """An installed skill gives way to the user's own of that name; of two the first counts."""
    install("b-skills", "b_skills/pdf/SKILL.md", "b_skills/review/SKILL.md", body="b")
    install("a-skills", "a_skills/pdf/SKILL.md", "a_skills/review/SKILL.md", body="a")
    write(home / ".agents/skills", "pdf", "own")
    assert [installed.load(name).text for name in ("pdf", "review")] == ["own", "a"]
    assert len(installed.problems()) == 3


def test_resources(site: Path, install: Callable[..., Path], installed: Skills) -> None:
    """Files beside an installed skill can be had as those of any other."""
    install("some-skills", "some_skills/pdf/SKILL.md")
    (site / "some_skills/pdf/form.txt").write_bytes(b"A form.")
    assert installed.resource("pdf", "form.txt") == b"A form."


def test_nearer_on_the_path(
    site: Path,
    tmp_path: Path,
    install: Callable[..., Path],
    installed: Skills,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a distribution that is there twice the first on the path counts, as in imports."""
    install("some-skills", "some_skills/pdf/SKILL.md")
    nearer = tmp_path / "nearer/Some.Skills-2.0.dist-info"
    nearer.mkdir(parents=True)
    (nearer / "METADATA").write_text("Name: some-skills\n")
    (nearer / "RECORD").write_text("some_skills.py,,\n")
    monkeypatch.setattr(sys, "path", [str(nearer.parent), str(site)])
    assert installed.names() == ()


def test_follows_the_installer(install: Callable[..., Path], installed: Skills) -> None:
    """What is installed, finished or taken out while the host runs shows, without a restart."""
    assert installed.names() == ()
    unfinished = install("some-skills", "some_skills/pdf/SKILL.md", record=False)
    assert installed.names() == ()
    (unfinished / "RECORD").write_text("some_skills/pdf/SKILL.md,,\n")
    assert installed.names() == ("pdf",)
    install("more-skills", "more_skills/review/SKILL.md")
    assert installed.names() == ("review", "pdf")
    for file in unfinished.iterdir():
        file.unlink()
    unfinished.rmdir()
    assert installed.names() == ("review",)


def test_looked_at_once(
    install: Callable[..., Path], installed: Skills, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as nothing is installed, records are not read again."""
    from dsh_prompt_skills import installed as module  # noqa: PLC0415

    looks: list[object] = []
    real = module._look

    def counted() -> object:
        looks.append(1)
        return real()

    monkeypatch.setattr(module, "_look", counted)
    install("some-skills", "some_skills/pdf/SKILL.md")
    assert [installed.names() for _ in range(3)] == [("pdf",)] * 3
    assert len(looks) == 1
    installed.refresh()
    installed.find()
    assert len(looks) == 2


def test_broken_packages(site: Path, install: Callable[..., Path], installed: Skills) -> None:
    """A package with a broken record is reported, and hides no other."""
    install("good-skills", "good/pdf/SKILL.md")
    bad = install("bad-skills")
    (bad / "RECORD").write_bytes(b"bad/one/SKILL.md,,\n\xff\xfe")
    many = install("many-skills")
    (many / "RECORD").write_text("".join(f"many/s{n}/SKILL.md,,\n" for n in range(501)))
    for number in range(501):
        folder = site / f"many/s{number}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").touch()
    (site / "nothing.dist-info").mkdir()
    gone = install("gone-skills")
    (gone / "RECORD").write_text("gone/one/SKILL.md,,\n../SKILL.md,,\nSKILL.md,,\n")
    found = installed.find()
    assert [skill.name for skill in found.skills] == ["pdf"]
    assert [str(problem) for problem in found.problems] == [
        "bad-skills has a record of its files that cannot be read: UnicodeDecodeError",
        "many-skills has a record of its files that cannot be read: ValueError",
    ]


def test_not_from_the_working_directory(
    site: Path, tmp_path: Path, installed: Skills, write: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """What a checkout says of itself is not installed, though Python looks for modules there."""
    checkout = tmp_path / "checkout"
    write(checkout / "pkg", "evil")
    (checkout / "evil-1.dist-info").mkdir()
    (checkout / "evil-1.dist-info/RECORD").write_text("pkg/evil/SKILL.md,,\n")
    monkeypatch.setattr(sys, "path", ["", ".", str(checkout), str(site)])
    assert installed.names() == ("evil",)
    monkeypatch.chdir(checkout)
    assert installed.names() == ()
    monkeypatch.chdir(site)
    assert installed.names() == ("evil",)


def test_records_that_lead_out(
    site: Path, tmp_path: Path, install: Callable[..., Path], installed: Skills
) -> None:
    """A record names files below the prefix of its installation, and no others."""
    install("some-skills", "../../share/fine/SKILL.md", "../../../prefix/share/fine/SKILL.md")
    bad = install("bad-skills", "../../../elsewhere/one/SKILL.md")
    (bad / "RECORD").write_text(f"../../../elsewhere/one/SKILL.md,,\n{tmp_path}/two/SKILL.md,,\n")
    write_two = tmp_path / "two/SKILL.md"
    write_two.parent.mkdir()
    write_two.write_text("---\nname: two\ndescription: x\n---\n")
    found = installed.find()
    assert [skill.name for skill in found.skills] == ["fine"]
    assert [str(problem) for problem in found.problems] == [
        "bad-skills lists skills outside of where it is installed, which are not used: 2"
    ]


USE = """
    import json
    import sys

    sys.path.insert(0, sys.argv[1])
    import dsh_prompt_skills
    from dsh_prompt import RuntimeState, SystemPrompt, render_context_snapshot, render_prompt

    prompt = SystemPrompt()
    prompt.load(dsh_prompt_skills)
    skills = prompt.require(dsh_prompt_skills.SKILLS)
    found = [one for one in skills.find().skills if one.place.distribution == sys.argv[2]]
    assembly = prompt.assemble(state=RuntimeState(loaded_skills=["shell-safety"]))
    print(json.dumps({
        "skills": {skill.name: skill.path for skill in found},
        "system": render_prompt(assembly),
        "snapshot": render_context_snapshot(assembly),
        "answer": skills.call({"name": "repo-analysis"}),
        "problems": [str(problem) for problem in skills.problems()],
    }))
"""


def test_published_package(tmp_path: Path) -> None:
    """A package of skills from PyPI is installed, listed, loaded and called, with nothing to do."""
    prefix = tmp_path / "prefix"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed"]
    options = [
        "--disable-pip-version-check",
        "--retries",
        "1",
        "--no-compile",
        "--prefix",
        str(prefix),
    ]
    pip = subprocess.run(
        [*command, *options, "dsh-engineering-skills==0.1.2"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if pip.returncode:
        pytest.skip(f"pip cannot install it here: {pip.stderr.strip()[-200:]}")
    [site] = prefix.rglob("dsh_engineering_skills-*.dist-info")
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(USE), str(site.parent), "dsh-engineering-skills"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=60,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )
    told = json.loads(run.stdout)
    assert sorted(told["skills"]) == [
        "ci-diagnosis-and-fix",
        "code-review-methodology",
        "redundancy-and-boundary-audit",
        "release-engineering",
        "repo-analysis",
        "shell-safety",
    ]
    share = str(prefix.resolve() / "share")
    assert all(path.startswith(share) for path in told["skills"].values())
    assert "\n- shell-safety: Prevent interactive CLI commands" in told["system"]
    assert '<skill name="shell-safety" root="installed"' in told["snapshot"]
    assert "\n# Shell-Safety\n" in told["snapshot"]
    assert "# Repo Analysis" not in told["snapshot"]
    assert told["answer"].startswith('<skill name="repo-analysis" root="installed"')
    assert "# Repo Analysis" in told["answer"]
    assert [one for one in told["problems"] if "dsh-engineering-skills" in one] == []
