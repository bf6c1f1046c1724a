"""The public surface: the names that the contract promises, with its signatures, documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from types import FunctionType
from typing import TYPE_CHECKING, Any

import pytest

import dsh_prompt
from dsh_prompt import (
    DisposableContext,
    PromptAssembly,
    RuntimeContextProjection,
    Scope,
    SystemPrompt,
    ToolRegistry,
    hookspecs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

NAMES = """
SystemPrompt Config PluginsConfig Scope DisposableContext Registration PluginInfo LoadReport
SyncReport hookspec hookimpl PromptSection PromptContext ToolSchema ToolProviderResult ToolRegistry
AssembleContext RuntimeState PromptAssembly AssembledSection AssembledContext Source Fingerprint
Budget Priority ChangeEvent Key CallNext AsyncCallNext render_prompt render_context_snapshot
render_context_sections join_context_sections RuntimeContextProjection SectionOrder
ContextOrder
PERSONA_SECTION IDENTITY_SECTION TOOL_ORDER_REST
"""
ERRORS = """
PromptError DuplicateContributionError InvalidContributionError DisposedError ScopeError
MultipleCompleteSectionsError ToolOrderError ReservedToolNameError ProviderError
AsyncProviderError AssemblyCancelledError InterpolationError UnknownVariableError
UndefinedVariableError MalformedReferenceError InvariantError BudgetError ConfigError
PluginLoadError PluginNotFoundError PluginConflictError
"""
PUBLIC = sorted([*NAMES.split(), *ERRORS.split()])

#: Every hook, with its parameters.
HOOKS = {
    "activate": ("ctx",),
    "contribute_sections": ("ctx",),
    "contribute_contexts": ("ctx",),
    "contribute_tools": ("ctx",),
    "contribute_variables": ("ctx",),
    "system_prompt_assemble": ("assembly", "context", "call_next"),
    "system_prompt_change": ("event",),
    "deactivate": ("ctx",),
}


def modules() -> Iterator[ModuleType]:
    """Give every module of the library."""
    yield dsh_prompt
    for info in pkgutil.walk_packages(dsh_prompt.__path__, "dsh_prompt."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def members(cls: type[Any]) -> Iterator[tuple[str, Any]]:
    """Give the public functions and properties that *cls* has from this library."""
    for base in cls.__mro__:
        if base.__module__.startswith("dsh_prompt"):
            for name, member in vars(base).items():
                value = getattr(member, "__func__", member)
                if not name.startswith("_") and isinstance(value, property | FunctionType):
                    yield f"{base.__name__}.{name}", value


def test_the_public_names_are_those_of_the_contract() -> None:
    """No more and no fewer."""
    assert sorted(dsh_prompt.__all__) == PUBLIC


def test_every_public_name_can_be_imported() -> None:
    """From the package itself."""
    assert [name for name in PUBLIC if getattr(dsh_prompt, name, None) is None] == []


def test_the_constants_have_the_values_of_the_contract() -> None:
    """They stand in prompts and configurations of others."""
    assert dsh_prompt.PERSONA_SECTION == "deployment:persona"
    assert dsh_prompt.IDENTITY_SECTION == "harness:identity"
    assert dsh_prompt.TOOL_ORDER_REST == "<unlisted-tools>"


def test_what_a_module_exports_exists_and_what_the_package_imports_is_exported() -> None:
    """`__all__` is right in both directions."""
    for module in modules():
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{module.__name__}.{name}"
    assert len(set(dsh_prompt.__all__)) == len(dsh_prompt.__all__)
    assert set(dsh_prompt._MODULES) == set(dsh_prompt.__all__)
    assert dir(dsh_prompt) == sorted(dsh_prompt.__all__)


def test_a_type_checker_sees_each_name_where_it_is_imported_from() -> None:
    """What is imported when it is asked for is written down a second time, for type checkers."""
    tree = ast.parse(inspect.getsource(dsh_prompt))
    imported = {
        alias.name: str(node.module).removeprefix("dsh_prompt.")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dsh_prompt.")
        for alias in node.names
    }
    assert imported == dsh_prompt._MODULES


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    """As for every module."""
    with pytest.raises(AttributeError, match="no attribute 'Sections'"):
        _ = dsh_prompt.Sections


def test_every_module_says_what_it_is_for() -> None:
    """Packages that only hold modules need not."""
    silent = [m.__name__ for m in modules() if not m.__doc__ and not hasattr(m, "__path__")]
    assert silent == []


def documented() -> Iterator[tuple[str, Any]]:
    """Give every public class and function, and every public member of a class."""
    for name in PUBLIC:
        value = getattr(dsh_prompt, name)
        if not isinstance(value, str):
            yield name, value
        if isinstance(value, type):
            yield from members(value)


def test_every_public_class_function_and_method_is_documented() -> None:
    """With a docstring of its own."""
    assert [label for label, value in documented() if not inspect.getdoc(value)] == []


def test_every_public_function_and_method_is_annotated() -> None:
    """Parameters and result, so that a type checker knows them."""
    bare = {
        (label, parameter.name)
        for label, function in documented()
        if inspect.isfunction(function)
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in ("self", "cls") and parameter.annotation is parameter.empty
    }
    assert bare == set()
    functions = [function for _, function in documented() if inspect.isfunction(function)]
    assert all("return" in function.__annotations__ for function in functions)


# Hooks


@pytest.mark.parametrize(("name", "parameters"), HOOKS.items(), ids=HOOKS)
def test_every_hook_has_the_signature_of_the_contract(
    name: str, parameters: tuple[str, ...]
) -> None:
    """Names in order, none with a default."""
    signature = inspect.signature(getattr(hookspecs, name))
    assert tuple(signature.parameters) == parameters
    assert all(p.default is p.empty for p in signature.parameters.values())


def test_there_are_no_other_hooks() -> None:
    """Every function that is marked as a specification is in the list."""
    marked = [name for name, value in vars(hookspecs).items() if hasattr(value, "dsh_prompt_spec")]
    assert sorted(marked) == sorted(HOOKS)


@pytest.mark.parametrize("name", HOOKS)
def test_every_hook_says_when_it_is_called(name: str) -> None:
    """Its specification is its documentation."""
    doc = getattr(hookspecs, name).__doc__
    assert "Called" in doc


# Signatures

SIGNATURES: dict[str, str] = {
    "assemble": "(self, context=None, /, *, scope=None, state=None)",
    "load": "(self, plugin, name=None, config=None, scope=None)",
    "load_entry_points": "(self, only=None, block=(), strict=False)",
    "unload": "(self, name, *, scope=None, purge=False, urgent=False)",
    "suppress_runtime_context": "(self)",
    "on_assemble": "(self, listener, prepend=False, before=(), after=())",
    "dispose": "(self)",
}


def shape(function: Any) -> str:
    """Give the signature of *function* without its annotations."""
    signature = inspect.signature(function)
    empty = inspect.Signature.empty
    parameters = [p.replace(annotation=empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=parameters, return_annotation=empty))


@pytest.mark.parametrize(("name", "signature"), SIGNATURES.items(), ids=SIGNATURES)
def test_a_method_has_the_signature_of_the_contract(name: str, signature: str) -> None:
    """Positions, keywords and defaults."""
    assert shape(getattr(SystemPrompt, name)) == signature


@pytest.mark.parametrize("name", ["assemble", "load", "load_entry_points", "unload", "dispose"])
def test_the_async_twin_of_a_method_has_its_signature(name: str) -> None:
    """It is the same call, awaited."""
    plain, twin = getattr(SystemPrompt, name), getattr(SystemPrompt, f"{name}_async")
    assert shape(plain) == shape(twin)
    assert inspect.iscoroutinefunction(twin)
    assert not inspect.iscoroutinefunction(plain)


@pytest.mark.parametrize(
    ("cls", "names"),
    [
        (
            DisposableContext,
            """section context tools tool variable suppress_runtime_context on_assemble on_change
            callback enter_context enter_async_context host scope plugin config dispose
            dispose_async create_scope""",
        ),
        (Scope, "name parent rebind restrict"),
        (SystemPrompt, "assemble assemble_async load unload plugins registry config"),
        (ToolRegistry, "schemas get"),
        (RuntimeContextProjection, "project accept forget from_messages"),
        (
            PromptAssembly,
            """sections contexts tools variables source_of deny denied authorize fingerprint
            to_dict from_dict generation get trimmed""",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_class_has_the_members_of_the_contract(cls: type[Any], names: str) -> None:
    """Those of an instance included."""
    instance = SystemPrompt() if cls is SystemPrompt else None
    for name in names.split():
        assert hasattr(cls, name) or hasattr(instance, name), name


def test_a_scope_and_a_host_are_disposable_contexts() -> None:
    """One registering interface for all."""
    assert issubclass(Scope, DisposableContext)
    assert issubclass(SystemPrompt, DisposableContext)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("ChangeEvent", "kind plugin scope added removed generation"),
        ("PluginInfo", "name distribution version scope state contributions"),
        ("LoadReport", "loaded failed"),
        ("Source", "plugin distribution version scope how"),
        ("Fingerprint", "prefix system tools contexts all"),
        ("ToolSchema", "name description parameters annotations"),
        ("ToolProviderResult", "schemas known_names"),
        ("PluginsConfig", "autoload enable disable config"),
        (
            "RuntimeState",
            """workdir model provider permission_mode task enabled_tools open_files todos
            loaded_skills memories summary project_notes discovered_tools extra""",
        ),
        (
            "PromptSection",
            """name order text complete literal cacheable title strategy when requires_tools
            budget blocking""",
        ),
        ("PromptContext", "name order text literal title when requires_tools budget blocking"),
        (
            "AssembledSection",
            "name text order title literal cacheable requires_tools budget source",
        ),
        ("AssembledContext", "name text order title literal requires_tools budget source"),
        ("Budget", "max_chars max_tokens max_items overflow priority"),
    ],
)
def test_a_value_has_the_fields_of_the_contract(name: str, fields: str) -> None:
    """Under these names, as attributes and as keywords."""
    parameters = inspect.signature(getattr(dsh_prompt, name)).parameters
    assert set(fields.split()) <= set(parameters)
