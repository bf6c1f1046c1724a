"""The pages in docs/ say what is true: they are executed, and compared with the code.

Run as a program, this file writes the help texts of the command into cli.md.
"""

from __future__ import annotations

import ast
import configparser
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from inspect import getmembers, isclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import attrs
import pytest
from click.testing import CliRunner
from sybil import Document
from sybil.parsers.markdown import PythonCodeBlockParser

import dsh_prompt
from dsh_prompt import hookspecs
from dsh_prompt.cli import main
from dsh_prompt.lifecycle.changes import ChangeEvent, ChangeKind
from dsh_prompt.structuring import document_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^File `([^`]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GENERATED = re.compile(r"^Open `([^`]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HELP = re.compile(
    r"(?<=^<!-- help:)( ?[\w-]*) -->\n(.*?)^(?=<!-- end of help -->$)", re.MULTILINE | re.DOTALL
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


every_page = pytest.mark.parametrize(
    "path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix()
)


def page(name: str) -> str:
    """Give the text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def table_rows(name: str) -> set[str]:
    """Give what stands in backticks in the first column of the tables of a page."""
    cells = re.findall(r"^\| ([^|]+) \|", page(name), re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


def part(text: str, heading: str) -> str:
    """Give the part of a page under a heading of the second level."""
    return f"\n{text}".split(f"\n## {heading}\n")[1].split("\n## ")[0]


def without_code(text: str) -> str:
    """Take the fenced blocks out of a page, so that comments are no headings."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


@every_page
def test_the_examples_run(
    path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The Python blocks of a page run from top to bottom, and print what the page says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DSH_PROMPT_PLUGINS", raising=False)
    for example in Document.parse(str(path), PythonCodeBlockParser()):
        example.evaluate()
    shown = re.findall(
        r"^It prints:\n\n```text\n(.*?)^```$", path.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert not shown or capsys.readouterr().out == "".join(shown)


def specified_hooks() -> Iterator[ast.FunctionDef]:
    """Give the definitions of all hook specifications, without decorators and bodies."""
    tree = ast.parse(Path(hookspecs.__file__).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and "hookspec" in map(
            ast.unparse, node.decorator_list
        ):
            node.decorator_list = []
            node.body = [ast.Expr(ast.Constant(...))]
            yield node


HOOKS = list(specified_hooks())


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.name)
def test_each_hook_has_a_heading_and_its_exact_signature(hook: ast.FunctionDef) -> None:
    """Under the heading stands the definition as it is in the specifications."""
    [(_, signature)] = [
        fence
        for fence in FENCE.findall(part(page("hooks.md"), f"`{hook.name}`"))
        if fence[0] == "py"
    ]
    assert ast.unparse(ast.parse(signature)) == ast.unparse(hook)


def test_no_hook_is_described_that_does_not_exist() -> None:
    """The headings in backticks are the hooks, in the order of the specifications."""
    headings = re.findall(r"^## `(.+)`$", page("hooks.md"), re.MULTILINE)
    assert headings == [hook.name for hook in HOOKS]


def test_each_hook_tells_the_same_facts() -> None:
    """Who calls it, when, sync or async, what it returns and what an error does."""
    for hook in HOOKS:
        text = part(page("hooks.md"), f"`{hook.name}`")
        for fact in ("called by", "when", "sync or async", "returns", "raises"):
            assert f"| {fact} |" in text, f"{hook.name} does not say: {fact}"


def test_each_error_is_in_the_table_of_errors() -> None:
    """All public errors, and no others."""
    public = {
        name
        for name, cls in getmembers(dsh_prompt, isclass)
        if issubclass(cls, dsh_prompt.PromptError) and name in dsh_prompt.__all__
    }
    assert table_rows("errors.md") == public - {"PromptError"}
    assert "`PromptError`" in page("errors.md")


def test_each_attribute_of_an_error_is_named() -> None:
    """The page names what a handler can read from an error."""
    for name in ("kind", "name", "plugin", "names", "path", "file", "distribution"):
        assert f"`{name}`" in page("errors.md")


@pytest.mark.parametrize("name", dsh_prompt.__all__)
def test_each_public_name_is_in_a_page(name: str) -> None:
    """Whatever can be imported is mentioned, in a text or in an example."""
    assert any(re.search(rf"\b{name}\b", page.read_text(encoding="utf-8")) for page in PAGES)


def test_each_configuration_key_has_a_row() -> None:
    """The keys of the two tables are the fields of the two classes."""
    own = set(document_keys(dsh_prompt.Config))
    plugins = {f"plugins.{field.name}" for field in attrs.fields(dsh_prompt.PluginsConfig)}
    keys = {row for row in table_rows("configuration.md") if not row.startswith("dsh_prompt.")}
    assert keys == own | plugins


def test_each_kind_of_change_event_has_a_row() -> None:
    """The table of kinds and the table of fields are complete."""
    rows = table_rows("lifecycle.md")
    assert {*get_args(ChangeKind)} <= rows
    assert {field.name for field in attrs.fields(ChangeEvent)} <= rows


@pytest.mark.parametrize(
    ("name", "cls"),
    [("state.md", dsh_prompt.RuntimeState), ("caching.md", dsh_prompt.Fingerprint)],
    ids=["state", "fingerprint"],
)
def test_each_field_of_a_value_has_a_row(name: str, cls: type[attrs.AttrsInstance]) -> None:
    """The tables of fields are complete."""
    assert {field.name for field in attrs.fields(cls)} <= table_rows(name)


def anchors(path: Path) -> set[str]:
    """Give the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(
        r"^#+ (.+)$", without_code(path.read_text(encoding="utf-8")), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-") for heading in headings}


@every_page
def test_each_relative_link_leads_somewhere(path: Path) -> None:
    """The file exists, and so does the heading."""
    for link in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        if link.startswith(("https://", "http://")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_each_page_is_linked_from_the_index() -> None:
    """A page that nobody finds might as well not exist."""
    linked = {link.partition("#")[0] for link in LINK.findall(page("index.md"))}
    assert linked == {path.name for path in DOCS.glob("*.md")} - {"index.md"} | {
        "changelog/README.md"
    }


def test_only_signatures_are_not_executed() -> None:
    """Python that is not executed can only stand among the hooks, where it is compared."""
    languages = {
        (path.name, language)
        for path in PAGES
        for language, _ in FENCE.findall(path.read_text(encoding="utf-8"))
    }
    assert {name for name, language in languages if language in ("py", "pycon", "python3")} == {
        "hooks.md"
    }


def test_contributing_lists_the_environments_of_tox() -> None:
    """Each command exists, and each environment is listed."""
    tox = configparser.ConfigParser()
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    listed = re.findall(r"tox -e (\w+)|`(py\d+)`", page("contributing.md"))
    environments = re.split(r"[,\s]+", tox["tox"]["env_list"].strip())
    assert {first or second for first, second in listed} == set(environments)


def test_changelog_fragments_are_named_as_their_page_says() -> None:
    """A number or a plus, and one of the types in the table."""
    types = "|".join(table_rows("changelog/README.md"))
    for path in (DOCS / "changelog").iterdir():
        if path.name != "README.md":
            assert re.fullmatch(rf"(\d+|\+[\w-]+)\.({types})\.md", path.name), path.name


def with_help(text: str) -> str:
    """Give the page on the command with the help texts that the command gives now."""

    def block(match: re.Match[str]) -> str:
        arguments = [*match[1].split(), "--help"]
        result = CliRunner().invoke(main, arguments, prog_name="dsh-prompt", terminal_width=78)
        command = " ".join(["dsh-prompt", *arguments])
        return f"{match[1]} -->\n\n```console\n$ {command}\n{result.output.rstrip()}\n```\n\n"

    return HELP.sub(block, text)


def test_the_help_texts_are_those_of_the_command() -> None:
    """If this fails, run this file: ``python tests/test_docs.py``."""
    text = page("cli.md")
    assert {match[1].strip() for match in HELP.finditer(text)} == {"", *main.commands}
    assert text == with_help(text)


COMMAND = re.compile(r"^\$ \.venv/bin/dsh-prompt ([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = ("-m", "dsh_prompt")


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Follow the tutorial: give its folder, with its package built and unpacked in ``site``.

    The page shows what each command prints, and what a generated file holds.
    """
    folder = tmp_path_factory.mktemp("tutorial")
    package = folder / "dsh-prompt-open-files"
    for step in re.split(r"(?=^## )", page("tutorial.md"), flags=re.MULTILINE):
        for name, text in GENERATED.findall(step):
            assert text == (folder / name).read_text("utf-8")
        for name, text in FILE.findall(step):
            (folder / name).write_text(text, encoding="utf-8")
        if package.exists():
            unpack_wheel(package, folder / "site")
        for command, output in COMMAND.findall(step):
            if output:
                printed = run(folder, *PROGRAM, *shlex.split(command))
                assert printed.rstrip("\n") == output.rstrip("\n")
    return folder


def unpack_wheel(package: Path, site: Path) -> None:
    """Build a package, and let what it installs be all that is in *site*."""
    shutil.rmtree(site, ignore_errors=True)
    run(package, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist")
    [wheel] = (package / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)


def run(folder: Path, *arguments: str) -> str:
    """Run Python in *folder*, where the plugin is installed, and give what it prints."""
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTEST", "DSH_PROMPT"))
    } | {"PYTHONPATH": os.pathsep.join([str(folder / "site"), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tutorial_makes_a_plugin_that_passes_its_tests(tutorial: Path) -> None:
    """Those that were generated, and the one that the page adds."""
    plugin = "dsh_prompt.testing.fixtures"
    is_found = plugin in {point.value for point in entry_points(group="pytest11")}
    fixtures = () if is_found else ("-p", plugin)
    tests = ("-q", "-p", "no:cacheprovider", "dsh-prompt-open-files")
    assert "6 passed" in run(tutorial, "-m", "pytest", *fixtures, *tests)


if __name__ == "__main__":
    (DOCS / "cli.md").write_text(with_help(page("cli.md")), encoding="utf-8")
