"""Tool schemas: immutable through and through, so that nobody needs to copy them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, cast

import attrs

from dsh_prompt.errors import InvalidContributionError, quoted, unknown_keys
from dsh_prompt.model.contributions import ProviderOf
from dsh_prompt.model.frozen_json import FrozenDict, freeze, thaw


def _text(schema: ToolSchema, attribute: Any, value: Any) -> None:
    if not isinstance(value, str):
        raise InvalidContributionError(
            f"tool {schema.name!r}: {attribute.name} must be a str, not {type(value).__name__}"
        )


def _object(value: object, schema: Any, attribute: Any) -> FrozenDict:
    if not isinstance(value, Mapping):
        raise InvalidContributionError(
            f'tool "{schema.name}": {attribute.name} must be an object, not {type(value).__name__}'
        )
    where = f'tool "{schema.name}" {attribute.name}'
    return cast("FrozenDict", freeze(value if isinstance(value, dict) else dict(value), where))


_frozen_object = attrs.Converter(_object, takes_self=True, takes_field=True)


@attrs.frozen
class ToolSchema:
    """What the model is told about one tool.

    *parameters* is a JSON Schema object; *annotations* (MCP's ``readOnlyHint`` and the
    like) inform plugins and never reach a provider. Both are frozen copies: real dicts and
    lists that refuse change. Raises `InvalidContributionError`, naming the tool and the
    path, for what is not JSON.
    """

    name: str = attrs.field(validator=_text)
    description: str = attrs.field(validator=_text)
    parameters: Mapping[str, Any] = attrs.field(converter=_frozen_object, hash=False)  # type: ignore[misc]
    annotations: Mapping[str, Any] = attrs.field(
        factory=dict,
        converter=_frozen_object,  # type: ignore[misc]
        hash=False,
        repr=False,
    )

    # Immutable through and through: a copy would only be another identity.
    def __copy__(self) -> ToolSchema:
        return self

    def __deepcopy__(self, memo: object) -> ToolSchema:
        return self

    def evolve(self, **changes: Any) -> ToolSchema:
        """Give a copy with *changes*: a listener's way to edit a tool."""
        return attrs.evolve(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Give plain, mutable JSON with all four fields."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": thaw(self.parameters),
            "annotations": thaw(self.annotations),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolSchema:
        """Build a schema from a mapping of its field names.

        Only ``name`` is needed. Raises `InvalidContributionError` for another key, with
        the nearest valid one.
        """
        if unknown := unknown_keys(data, ("name", "description", "parameters", "annotations")):
            raise InvalidContributionError(
                f"tool {data.get('name', '')!r} has unknown key {unknown[0]}"
            )
        if "name" not in data:
            raise InvalidContributionError(f"a tool has no name, only {quoted(data) or 'nothing'}")
        return cls(
            data["name"],
            data.get("description", ""),
            data.get("parameters", {}),
            data.get("annotations", {}),
        )


class CheckedTools(tuple[ToolSchema, ...]):
    """Schemas that all have names, so that the guard need not look at them again."""

    __slots__ = ()


def as_schema(tool: object) -> ToolSchema:
    """Give *tool* as a `ToolSchema`; raises `InvalidContributionError` for anything else."""
    if isinstance(tool, ToolSchema):
        return tool
    if not isinstance(tool, Mapping):
        kind = type(tool).__name__
        raise InvalidContributionError(f"a tool must be a ToolSchema or a dict, not {kind}")
    return ToolSchema.from_dict(tool)


def _schemas(tools: Iterable[ToolSchema | Mapping[str, Any]]) -> tuple[ToolSchema, ...]:
    return tuple(as_schema(tool) for tool in tools)


def _known(names: Iterable[str] | None) -> tuple[str, ...] | None:
    if isinstance(names, str):
        raise InvalidContributionError(f"known_names takes a list of names, not the str {names!r}")
    return None if names is None else tuple(names)


@attrs.frozen
class ToolProviderResult:
    """What a tool provider returns when it knows more names than it shows.

    *known_names* replaces the schemas' own names when ``tool_order`` is checked, so that
    listing a tool that is only hidden this time is no error (None: the schemas' names).
    """

    schemas: tuple[ToolSchema, ...] = attrs.field(converter=_schemas)
    known_names: tuple[str, ...] | None = attrs.field(default=None, converter=_known)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that ``tool_order`` may list."""
        if self.known_names is None:
            return tuple(schema.name for schema in self.schemas)
        return self.known_names


Tools: TypeAlias = ToolProviderResult | Iterable[ToolSchema | Mapping[str, Any]]
ToolProvider: TypeAlias = ProviderOf[Tools]
