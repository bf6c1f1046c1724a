"""What each provider accepts, as data: one table a provider, each figure with its source.

A provider that changes a figure changes a line here. Until it has, or for a server of your own,
a changed adapter takes other ones::

    limits = attrs.evolve(openai_chat.limits, max_tools=Figure(256, "our own server"))
    mine = attrs.evolve(openai_chat, limits=limits)

What has no source is not checked.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import attrs

T = TypeVar("T")


@attrs.frozen
class Figure(Generic[T]):
    """A *value*, where it stands, and when that was last read."""

    value: T
    source: str
    read: str = "2026-11-30"


@attrs.frozen
class Limits:
    """What a provider accepts; None: no limit that anybody wrote down."""

    #: The characters of a tool's name, as inside the brackets of a regular expression.
    name_characters: Figure[str]
    #: How long the name may be.
    name_length: Figure[int]
    #: Whether two tools may not have one name: then a call could not be told from the other's.
    unique_names: Figure[bool]
    #: The characters that the name may start with; None: any of its characters.
    name_start: Figure[str] | None = None
    #: How many tools a request may hold.
    max_tools: Figure[int] | None = None
    #: Keywords that the schema of the parameters may not have at its root.
    root_refuses: Figure[tuple[str, ...]] | None = None
    #: The names of parameters, as a regular expression.
    parameter_name: Figure[str] | None = None
    #: Whether an array in the schema must say what its items are.
    items_required: Figure[bool] | None = None
    #: The keywords of a schema whose lists may not be empty.
    not_empty: Figure[tuple[str, ...]] | None = None
    #: How many characters the system prompt may have.
    system_characters: Figure[int] | None = None
    #: How many bytes the request may have.
    request_bytes: Figure[int] | None = None
    #: How many places of a request may be marked for the cache.
    breakpoints: Figure[int] | None = None
    #: Whether a text in a message may not be blank.
    no_blank_text: Figure[bool] | None = None


JSON_SCHEMA: Figure[tuple[str, ...]] = Figure(
    ("allOf", "anyOf", "enum", "oneOf", "prefixItems", "type"),
    "https://json-schema.org/draft/2020-12/schema (enum: SHOULD; in draft 4 MUST)",
)

_OURS = Figure(True, "ours: a call has to lead back to one tool")

# The API itself said so, with code "invalid_function_parameters" and "array_above_max_length".
_OPENAI_ROOT = "https://github.com/goruck/home-generative-agent/pull/545"
_OPENAI_TOOLS = "https://github.com/musistudio/claude-code-router/issues/686"
_OPENAI_ITEMS = "https://github.com/PrefectHQ/fastmcp/issues/2464"
_OPENAI_TEXT = "https://github.com/VectorlyApp/bluebox/issues/31"

OPENAI = Limits(
    name_characters=Figure("a-zA-Z0-9_-", "openai 3.57: FunctionDefinition.name"),
    name_length=Figure(64, "openai 3.57: FunctionDefinition.name"),
    unique_names=_OURS,
    max_tools=Figure(128, _OPENAI_TOOLS),
    root_refuses=Figure(("allOf", "anyOf", "const", "enum", "not", "oneOf"), _OPENAI_ROOT),
    items_required=Figure(True, _OPENAI_ITEMS),
    not_empty=JSON_SCHEMA,
    system_characters=Figure(10_485_760, _OPENAI_TEXT),
)

_ANTHROPIC = "https://platform.claude.com/docs/en"
_ANTHROPIC_TOOLS = f"{_ANTHROPIC}/agents-and-tools/tool-use/define-tools"
# The API's own messages; the same stands in managed-agents/self-hosted-sandboxes.
_ANTHROPIC_ROOT = "https://github.com/anthropics/claude-code/issues/40075"
_ANTHROPIC_UNIQUE = "https://github.com/anthropics/claude-code/issues/10687"
_ANTHROPIC_KEYS = "https://github.com/ComposioHQ/composio/pull/3067"

ANTHROPIC = Limits(
    name_characters=Figure("a-zA-Z0-9_-", _ANTHROPIC_TOOLS),
    name_length=Figure(128, _ANTHROPIC_TOOLS),
    unique_names=Figure(True, _ANTHROPIC_UNIQUE),
    root_refuses=Figure(("allOf", "anyOf", "oneOf"), _ANTHROPIC_ROOT),
    parameter_name=Figure(r"[a-zA-Z0-9_.-]{1,64}", _ANTHROPIC_KEYS),
    not_empty=JSON_SCHEMA,
    request_bytes=Figure(32_000_000, f"{_ANTHROPIC}/api/errors"),
    no_blank_text=Figure(True, "https://github.com/anomalyco/opencode/issues/35101"),
    breakpoints=Figure(4, f"{_ANTHROPIC}/build-with-claude/prompt-caching"),
)

_GEMINI_UNIQUE = "https://github.com/rikkahub/rikkahub/issues/1311"
# The Gemini API's own message. Vertex AI, and google-genai 3.6, say 128 for the length.
_GEMINI_NAMES = "https://github.com/kaitranntt/ccs/issues/25"

GEMINI = Limits(
    name_characters=Figure("a-zA-Z0-9_.:-", _GEMINI_NAMES),
    name_length=Figure(64, _GEMINI_NAMES),
    unique_names=Figure(True, _GEMINI_UNIQUE),
    name_start=Figure("a-zA-Z_", _GEMINI_NAMES),
    max_tools=Figure(512, "google-genai 3.6: Tool.function_declarations"),
    not_empty=JSON_SCHEMA,
)

_DEEPSEEK = "https://api-docs.deepseek.com/api/create-chat-completion"

DEEPSEEK = Limits(
    name_characters=Figure("a-zA-Z0-9_-", _DEEPSEEK),
    name_length=Figure(64, _DEEPSEEK),
    unique_names=_OURS,
    max_tools=Figure(128, _DEEPSEEK),
    not_empty=JSON_SCHEMA,
)
