"""Tool lists as other programs write them: each item becomes the `ToolSchema` it stands for.

An item is taken for that of a provider, or of MCP, by a key or a ``type`` that only it has:

- OpenAI: ``type: "function"``, with the fields in ``function`` (Chat Completions) or beside it
  (Responses);
- Anthropic: ``input_schema``; MCP: ``inputSchema``;
- Gemini: ``functionDeclarations``, or one declaration by itself, with ``parametersJsonSchema``,
  ``response``, ``responseJsonSchema`` or ``behavior``, or with ``parameters`` of type ``OBJECT``
  (every key in snake case too, as the Python SDK has it).

Any other item is in this package's own spelling and stays as it is. What a foreign item states
(null states nothing) beyond name, description and parameters goes into the annotations, under
its own key; where the item's own annotations say otherwise there, theirs are kept under
``annotations.KEY`` (MCP lets a tool's two titles differ).

Sources: the API references of OpenAI (Chat Completions and Responses: tools), Anthropic
(Messages: tools) and Gemini (Tool, FunctionDeclaration), and MCP 2025-11-25 (Tools).
"""

from __future__ import annotations

from reprlib import repr as short_repr
from typing import TYPE_CHECKING, Any, TypeVar

from dsh_prompt.errors import InvalidContributionError, quoted
from dsh_prompt.model.gemini_schemas import is_gemini_schema, json_schema
from dsh_prompt.model.tools import ToolSchema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

T = TypeVar("T")

_MARKS = ("function", "custom")
_ANTHROPIC_OR_MCP = ("input_schema", "inputSchema")
_GEMINI_JSON_SCHEMA = ("parametersJsonSchema", "parameters_json_schema")
_GEMINI = (
    *_GEMINI_JSON_SCHEMA,
    "response",
    "responseJsonSchema",
    "response_json_schema",
    "behavior",
)
_GEMINI_LISTS = ("functionDeclarations", "function_declarations")
_PARAMETERS = ("parameters", *_ANTHROPIC_OR_MCP, *_GEMINI_JSON_SCHEMA)
# In lower case and without underscores.
_BUILT_INTO_GEMINI = (
    *("codeexecution", "computeruse", "enterprisewebsearch", "filesearch", "googlemaps"),
    *("googlesearch", "googlesearchretrieval", "mcpservers", "retrieval", "urlcontext"),
)
_WITHOUT_SCHEMA = {
    "custom": 'takes free text instead of parameters (Anthropic\'s have an "input_schema")',
    "namespace": "groups other tools; list those instead",
}
_KINDS: dict[type, str] = {dict: "an object", list: "a list", str: "a string"}


def read_tools(data: object) -> list[ToolSchema]:
    """Give the tools in the JSON *data*: a list, or an object with the list under ``tools``.

    The object may be MCP's result or a request to a provider; its other keys are not read.
    Raises `InvalidContributionError`, with the place in *data*, for what is no tool, has no
    schema to read, contradicts itself, or has the name of an earlier tool.
    """
    where, items = _listed(data)
    found: dict[str, tuple[str, ToolSchema]] = {}
    try:
        for index, item in enumerate(items):
            for at, tool in _read(item, f"{where}[{index}]"):
                if tool.name in found:
                    first = found[tool.name][0]
                    raise InvalidContributionError(
                        f'{at}: a second tool "{tool.name}" (the first is {first})'
                    )
                found[tool.name] = (at, tool)
    except RecursionError:
        raise InvalidContributionError("the tools are nested too deeply") from None
    return [tool for _, tool in found.values()]


def _listed(data: object) -> tuple[str, list[Any]]:
    if isinstance(data, list):
        return "", data
    if isinstance(data, dict):
        if isinstance(data.get("result"), dict):  # an answer in JSON-RPC, as MCP's
            where, items = _listed(data["result"])
            return f"result.{where}", items
        if isinstance(data.get("tools"), list):
            return "tools", data["tools"]
        if _has_any(data, _GEMINI_LISTS):
            return "", [data]
    raise InvalidContributionError(
        f'expected a list of tools, got {short_repr(data)}; in an object it stands under "tools"'
    )


def _read(item: object, at: str) -> Iterator[tuple[str, ToolSchema]]:
    """Give the tools in one item of the list, each with its place."""
    tool = _object(item, at)
    if not _has_any(_stated(tool), _GEMINI_LISTS):
        yield at, _single(tool, at)
        return
    for key, value in _stated(tool).items():
        # All else that such an object can hold are tools that Google runs.
        if key not in _GEMINI_LISTS:
            raise _unreadable(key, at)
        for index, declared in enumerate(_typed(value, list, f"{at}.{key}")):
            place = f"{at}.{key}[{index}]"
            yield place, _foreign(_stated(_object(declared, place)), place, gemini=True)


def _single(item: dict[str, Any], at: str) -> ToolSchema:
    """Read an item that is one tool, by the spelling that it shows."""
    fields = _stated(item)
    kind = fields.get("type")
    if "function" in fields:
        return _foreign(_joined(fields, at), f"{at}.function")
    if isinstance(kind, str) and kind != "function" and not _has_any(fields, _PARAMETERS):
        raise _unreadable(kind, at)
    if "name" not in fields:
        for key in fields:
            if key.replace("_", "").lower() in _BUILT_INTO_GEMINI:
                raise _unreadable(key, at)
    gemini = _has_any(item, _GEMINI) or is_gemini_schema(fields.get("parameters"))
    if kind in _MARKS or _has_any(item, _ANTHROPIC_OR_MCP) or gemini:
        return _foreign(fields, at, gemini=gemini and kind != "function")
    return _built(item, at)


def _joined(fields: dict[str, Any], at: str) -> dict[str, Any]:
    """Give the fields of a Chat Completions tool: those in ``function`` and those beside it."""
    inner = _stated(_typed(fields["function"], dict, f"{at}.function"))
    outer = {key: value for key, value in fields.items() if key != "function"}
    return _merged(inner, outer, f'{at}: "{{0}}" in "function" and beside it')


def _foreign(fields: dict[str, Any], at: str, *, gemini: bool = False) -> ToolSchema:
    """Read the *fields* of one tool in whatever spelling; what is left over are annotations."""
    schemas = [key for key in _PARAMETERS if key in fields]
    if len(schemas) > 1:
        raise InvalidContributionError(f"{at}: {quoted(schemas)} mean the same; keep one of them")
    if "name" not in fields:
        raise InvalidContributionError(f"{at}.name: missing, but every tool needs a name")
    key = schemas[0] if schemas else "parameters"
    parameters = _typed(fields.get(key, {}), dict, f"{at}.{key}")
    annotations = _typed(fields.get("annotations", {}), dict, f"{at}.annotations")
    used = ("name", "description", "annotations", key)
    extra = {name: value for name, value in fields.items() if name not in used}
    if extra.get("type") in _MARKS:
        del extra["type"]
    tool = {
        "name": _typed(fields["name"], str, f"{at}.name"),
        "description": _typed(fields.get("description", ""), str, f"{at}.description"),
        "parameters": json_schema(parameters) if gemini and key == "parameters" else parameters,
        "annotations": _both(annotations, extra),
    }
    return _built(tool, at)


def _built(tool: dict[str, Any], at: str) -> ToolSchema:
    try:
        return ToolSchema.from_dict(tool)
    except InvalidContributionError as error:
        raise InvalidContributionError(f"{at}: {error}") from error


def _both(own: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    """Give the item's *own* annotations and what is *extra*, without losing either."""
    kept = {
        f"annotations.{key}" if extra.get(key, value) != value else key: value
        for key, value in own.items()
    }
    if len(kept) < len(own):
        raise InvalidContributionError("annotations: a key is there twice in the end; rename one")
    return kept | extra


def _merged(first: dict[str, Any], second: dict[str, Any], both: str) -> dict[str, Any]:
    for key, value in first.items():
        if second.get(key, value) != value:
            raise InvalidContributionError(f"{both.format(key)} differ; keep one of them")
    return first | second


def _unreadable(kind: str, at: str) -> InvalidContributionError:
    hosted = "is the provider's own, run or defined there, and has no schema; leave it out here"
    return InvalidContributionError(
        f'{at}: a tool of type "{kind}" {_WITHOUT_SCHEMA.get(kind, hosted)}'
    )


def _stated(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _has_any(fields: Mapping[str, Any], keys: Iterable[str]) -> bool:
    return any(key in fields for key in keys)


def _object(item: object, at: str) -> dict[str, Any]:
    if isinstance(item, dict):
        return item
    raise InvalidContributionError(
        f"{at}: a tool must be an object, got {short_repr(item)}: name, description, parameters "
        "and annotations, or what OpenAI, Anthropic, Gemini or MCP have for them"
    )


def _typed(value: object, kind: type[T], at: str) -> T:
    if isinstance(value, kind):
        return value
    raise InvalidContributionError(f"{at}: must be {_KINDS[kind]}, got {short_repr(value)}")
