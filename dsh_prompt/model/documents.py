"""Assemblies as JSON documents and back."""

from __future__ import annotations

from collections import Counter
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal

import attrs

from dsh_prompt.errors import ConfigError
from dsh_prompt.model.assembled import AssembledContext, AssembledSection, complaint
from dsh_prompt.model.budget import Budget, Trimmed
from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.model.provenance import Provenance
from dsh_prompt.model.source import Source
from dsh_prompt.model.tools import ToolSchema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from dsh_prompt.model.keys import Key

# A budget is written where there is one, and so is what was trimmed.
_SECTION_FIELDS, _CONTEXT_FIELDS = (
    tuple(field.name for field in attrs.fields(cls) if field.init and field.name != "budget")
    for cls in (AssembledSection, AssembledContext)
)


def assembly_to_dict(assembly: PromptAssembly) -> dict[str, Any]:
    """Give *assembly* as JSON with a stable key order."""
    provenance = assembly._provenance or Provenance()
    encoded, left_out = _encode(assembly._values or {})
    variables = assembly._variables
    trimmed = [attrs.asdict(one) for one in assembly._trimmed]
    return {
        "sections": [_block_to_dict(item, _SECTION_FIELDS) for item in assembly.sections],
        "contexts": [_block_to_dict(item, _CONTEXT_FIELDS) for item in assembly.contexts],
        "tools": [
            tool.to_dict() | {"source": None if source is None else source.to_dict()}
            for tool, source in zip(
                assembly.tools, provenance.tool_sources(assembly.tools), strict=True
            )
        ],
        "variables": {name: variables[name] for name in sorted(variables)},
        "variable_sources": {
            name: source.to_dict()
            for name in sorted(variables)
            if (source := assembly.source_of("variable", name)) is not None
        },
        "denied": {name: assembly.denied[name] for name in sorted(assembly.denied)},
        "generation": assembly.generation,
        "keys": dict(sorted({**assembly._encoded, **encoded}.items())),
        "left_out": sorted({*assembly._left_out, *left_out}),
        **({"trimmed": trimmed} if trimmed else {}),
    }


def _encode(values: Mapping[Key[Any], Any]) -> tuple[dict[str, Any], set[str]]:
    """Give the encoded values by name, and the names of those that cannot be written."""
    counts = Counter(key.name for key in values)
    left_out = {key.name for key in values if key.codec is None or counts[key.name] > 1}
    encoded = {
        key.name: key.codec.encode(value)
        for key, value in values.items()
        if key.codec is not None and key.name not in left_out
    }
    return encoded, left_out


def _block_to_dict(
    block: AssembledSection | AssembledContext, fields: tuple[str, ...]
) -> dict[str, Any]:
    values = {name: getattr(block, name) for name in fields}
    values["requires_tools"] = list(block.requires_tools)
    values["source"] = None if block.source is None else block.source.to_dict()
    if block.budget is not None:
        budget = attrs.asdict(block.budget)
        values["budget"] = {**budget, "priority": int(block.budget.priority)}
    return values


def assembly_from_dict(data: Mapping[str, Any], keys: Iterable[Key[Any]] = ()) -> PromptAssembly:
    """Build an assembly from the JSON that `assembly_to_dict` gave."""
    try:
        return _assembly_from_dict(data, {key.name: key for key in keys})
    except Exception as error:
        raise ConfigError(f"not an assembly as to_dict gives it: {error!r}") from error


def _assembly_from_dict(data: Mapping[str, Any], keys: dict[str, Key[Any]]) -> PromptAssembly:
    tools = [(ToolSchema.from_dict(_without_source(item)), item) for item in data["tools"]]
    assembly = PromptAssembly(
        [AssembledSection(**_built(item)) for item in data["sections"]],
        [AssembledContext(**_built(item)) for item in data["contexts"]],
        [tool for tool, _ in tools],
        data["variables"],
    )
    owned = [(tool, source) for tool, item in tools if (source := _source(item)) is not None]
    assembly._provenance = Provenance(
        [tool for tool, _ in owned],
        [source for _, source in owned],
        assembly._variables,
        {name: Source(**source) for name, source in data["variable_sources"].items()},
    )
    assembly._denied = dict(data["denied"])
    assembly.generation = data["generation"]
    decoded = {keys[name]: value for name, value in data["keys"].items() if name in keys}
    for key, value in decoded.items():
        assembly[key] = value if key.codec is None else key.codec.decode(value)
    assembly._encoded = {name: v for name, v in data["keys"].items() if name not in keys}
    assembly._left_out = tuple(data["left_out"])
    assembly._trimmed = tuple(Trimmed(**one) for one in data.get("trimmed", ()))
    _check(assembly)
    return assembly


def _check(assembly: PromptAssembly) -> None:
    """Raise `TypeError` for fields that `assembly_to_dict` would not have given."""
    for kind, items in _BLOCKS:
        for item in items(assembly):
            if wrong := complaint(kind, item):
                raise TypeError(wrong)
    texts = [*assembly.variables, *assembly.denied, *assembly.denied.values(), *assembly._left_out]
    texts += [value for value in assembly.variables.values() if value is not None]
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("variables, denied and left_out hold strings")
    if type(assembly.generation) not in (int, type(None)):
        raise TypeError(f"generation must be an integer or None, not {assembly.generation!r}")


_BLOCKS: tuple[tuple[Literal["section", "context"], Callable[[PromptAssembly], Any]], ...] = (
    ("section", attrgetter("sections")),
    ("context", attrgetter("contexts")),
)


def _source(item: Mapping[str, Any]) -> Source | None:
    return None if item["source"] is None else Source(**item["source"])


def _built(item: Mapping[str, Any]) -> dict[str, Any]:
    budget = {"budget": Budget(**item["budget"])} if "budget" in item else {}
    return {**item, "source": _source(item), **budget}


def _without_source(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "source"}
