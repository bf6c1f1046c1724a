"""The architecture: one reading direction, small files and functions, a light import."""

from __future__ import annotations

import ast
import io
import itertools
import os
import subprocess
import sys
import tokenize
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import dsh_prompt
from dsh_prompt import SectionOrder

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(dsh_prompt.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

#: From the leaves to the command. A module, or a package with all that is in it, imports at
#: module level from its own rank and lower ones only.
RANKS: tuple[tuple[str, ...], ...] = (
    ("version", "errors", "coroutines", "event_loops", "fields", "cutting"),
    ("untrusted", "structuring", "hookspecs", "hook_shapes", "typing", "render.template"),
    ("model",),
    ("render", "tool_mentions"),
    ("layers",),
    ("config", "assembly"),
    ("lifecycle",),
    ("plugins", "scaffold"),
    ("system_prompt", "adapters"),
    ("conversation", "loop"),
    ("",),
    ("testing",),
    ("cli", "__main__"),
)

LONGEST_FILE = 400
LONGEST_FUNCTION = 50
LIGHT = (
    "anyio",
    "asyncio",
    "cattrs",
    "click",
    "hashlib",
    "importlib_metadata",
    "rich",
    "tomllib",
    "trio",
)


def module_name(file: Path) -> str:
    """Give the name of a module within the package: ``""`` for the package itself."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts).removesuffix("__init__").removesuffix(".")


MODULES = {module_name(file): file for file in FILES}


def rank(module: str) -> int:
    """Give the rank of *module*: that of the longest entry that is a part of its name."""
    found = [
        (len(entry), number)
        for number, entries in enumerate(RANKS)
        for entry in entries
        if module == entry or (entry and module.startswith(f"{entry}."))
    ]
    assert found, f"{module} has no rank: give it one"
    return max(found)[1]


@cache
def imports(module: str) -> frozenset[str]:
    """Give the modules of the package that *module* imports when it is imported."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return frozenset(itertools.chain.from_iterable(map(imported, executed(tree.body))))


def executed(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Give the statements that run at import: not those of functions or type checkers."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from executed(statement.orelse)
            continue
        yield statement
        for _, value in ast.iter_fields(statement):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from executed(value)


def imported(statement: ast.stmt) -> Iterator[str]:
    """Give the modules of the package that *statement* imports."""
    names: list[str] = []
    if isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    elif isinstance(statement, ast.ImportFrom):
        assert statement.level == 0, "imports are absolute"
        base = statement.module or ""
        inner = [f"{base}.{alias.name}" for alias in statement.names]
        modules = [name for name in inner if name.removeprefix("dsh_prompt.") in MODULES]
        names = modules or [base]
    for name in names:
        if name == "dsh_prompt" or name.startswith("dsh_prompt."):
            yield name.removeprefix("dsh_prompt").removeprefix(".")


def test_every_module_has_a_rank_and_every_rank_has_modules() -> None:
    """The list above is the architecture, so it has to be complete and true."""
    for module in MODULES:
        if module not in ("model", "render", "plugins", "cli"):
            rank(module)
    for entry in itertools.chain.from_iterable(RANKS):
        assert any(name == entry or name.startswith(f"{entry}.") for name in MODULES), entry


def test_no_module_imports_a_higher_rank() -> None:
    """Reading goes in one direction; what is for type checkers only is free."""
    upward = {
        (module, name)
        for module in MODULES
        for name in imports(module)
        if rank(name) > rank(module)
    }
    assert upward == set()


def test_there_is_no_cycle_of_imports() -> None:
    """Not within a rank either."""
    graph = {module: imports(module) - {module} for module in MODULES}
    assert len(list(TopologicalSorter(graph).static_order())) == len(MODULES)


def late_imports(module: str) -> set[str]:
    """Give the modules of the package that functions of *module* import."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    return {
        name
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in ast.walk(function)
        if isinstance(statement, ast.stmt)
        for name in imported(statement)
    }


def test_the_core_does_not_import_its_frame_even_late() -> None:
    """Nothing but the command knows the command; nothing below the host knows the host."""
    frame = rank("system_prompt")
    upward = {
        (module, name)
        for module in MODULES
        if module and rank(module) < frame
        for name in late_imports(module)
        if rank(name) >= frame
    }
    assert upward == set()


def code_lines(source: str) -> set[int]:
    """Give the numbers of the lines that hold code: no blanks, comments or docstrings."""
    quiet = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in quiet and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        holders = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        if isinstance(node, holders) and ast.get_docstring(node, clean=False) is not None:
            doc = node.body[0]
            lines.difference_update(range(doc.lineno, (doc.end_lineno or doc.lineno) + 1))
    return lines


def function_lengths(file: Path) -> Iterator[tuple[str, int]]:
    """Give (name, code lines) of every function in *file*."""
    source = file.read_text(encoding="utf-8")
    lines = code_lines(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            end = node.end_lineno or node.lineno
            yield node.name, sum(node.lineno <= line <= end for line in lines)


def test_no_function_is_long() -> None:
    """Docstrings, comments and blank lines are not counted."""
    lengths = {
        (module, name): length
        for module, file in MODULES.items()
        for name, length in function_lengths(file)
        if length > LONGEST_FUNCTION
    }
    assert lengths == {}


def test_no_file_is_long() -> None:
    """One idea, readable in a sitting."""
    lengths = {
        module: len(file.read_text(encoding="utf-8").splitlines())
        for module, file in MODULES.items()
    }
    assert {module for module, length in lengths.items() if length > LONGEST_FILE} == set()


def test_first_party_orders_leave_room_between_them() -> None:
    """So that sections of others fit in between."""
    orders = sorted(SectionOrder)
    assert all(after - before >= 10 for before, after in itertools.pairwise(orders))
    assert (SectionOrder.IDENTITY, SectionOrder.PERSONA) == (-1000, 0)


def test_first_party_orders_are_distinct() -> None:
    """No name is another name of the same order."""
    assert len(SectionOrder.__members__) == len(set(SectionOrder))


def new_modules(statement: str) -> set[str]:
    """Give the top-level modules that *statement* imports in a fresh process."""
    code = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return set(result.stdout.split())


def test_the_import_is_light() -> None:
    """What only some need is imported where it is needed."""
    assert new_modules("from dsh_prompt import *") & set(LIGHT) == set()


def test_importing_the_package_alone_imports_no_other_module_of_it() -> None:
    """Nor any package: a name is imported when somebody asks for it."""
    new = new_modules("import dsh_prompt")
    assert {name for name in new if name.partition(".")[0] in ("dsh_prompt", "attr", "pluggy")} == {
        "dsh_prompt"
    }


ASSEMBLY = """
from dsh_prompt import *
import dsh_prompt
before = set(sys.modules)
prompt = dsh_prompt.SystemPrompt()
prompt.section(name="a", order=1, text="{{v}}")
prompt.variable("v", lambda: "value")
prompt.on_assemble(lambda assembly, call_next: call_next())
dsh_prompt.render_prompt(prompt.assemble(scope=prompt.create_scope("x")))
"""


def test_a_synchronous_assembly_imports_nothing_more() -> None:
    """No event loop, no metadata, no documents, unless somebody asks for them."""
    assert new_modules(ASSEMBLY) - {"encodings"} == set()
