"""What a user may set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import attrs

from dsh_prompt import SectionOrder
from dsh_prompt.fields import TRUSTED, each, finite, flag, listed, one_of, seconds, whole, words
from dsh_prompt.untrusted import visible_name
from dsh_prompt_mcp.variables import of_header, of_variable

if TYPE_CHECKING:
    from dsh_prompt.fields import Validator

_KIB: Final = 1024
_MIB: Final = 1024 * _KIB
_HOUR: Final = 3600
_LONGEST_NAME: Final = 200
_VARIABLE: Final = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def _optional(validator: Validator) -> Validator:
    def check(instance: object, field: attrs.Attribute[Any], value: object) -> None:
        if value is not None:
            validator(instance, field, value)

    return check


def _no_nul(text: str) -> str:
    return "holds a NUL" if "\0" in text else ""


def _about_glob(glob: str) -> str:
    return "" if glob else "is empty"


def _about_variable(name: str) -> str:
    return "" if _VARIABLE.fullmatch(name) else "is not the name of a variable"


def _texts(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what is no table of texts; no error holds a value, which may be a secret."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{field.name} must be a table")  # noqa: TRY004
    for name, text in value.items():
        if not isinstance(name, str):
            raise ValueError(f"{field.name} has a name that is no string")  # noqa: TRY004
        if field.name == "env" and (not name or set("=\0") & set(name)):
            raise ValueError("env has a name that is empty or holds an equals sign or a NUL")
        if field.name == "headers" and not _HEADER.fullmatch(name):
            raise ValueError("headers has a name that no header can have")
        if not isinstance(text, str):
            raise ValueError(f"{field.name}.{name} must be a string")  # noqa: TRY004
        if wrong := (of_variable if field.name == "env" else of_header)(text):
            raise ValueError(f"{field.name}.{name} {wrong}")


def _web_address(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    """Refuse what no server could be reached by; no error holds the address."""
    if value is None:
        return
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        usable = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        parts, usable = None, False
    if not usable or parts is None:
        raise ValueError(f"{field.name} must be an address that begins with http:// or https://")
    if parts.username is not None:
        raise ValueError(f"{field.name} must hold no user: credentials belong into headers")


def _strings(complaint: Any, default: tuple[str, ...] = (), **more: Any) -> Any:
    return attrs.field(default=default, converter=listed, validator=each(complaint), **more)


@attrs.frozen(kw_only=True)
class Server:
    """One MCP server: a *command* to start, or the *url* of one that runs.

    *args*, *cwd*: the command's arguments, and the directory that it is started in.

    *env*: variables of its environment, besides the few that every program needs; *pass_env*: names
    of variables of this process that it gets as well. *headers*: what each HTTP request carries.
    `${NAME}` in a value of *env* or *headers* stands for a variable of this process. These values
    are never shown.

    *allow*, *deny*: globs for the server's own names of its tools; without *allow* all are allowed,
    and *deny* wins.

    *enabled*: whether it is started at all.

    *connect_timeout*: the seconds for connecting and the first list of tools, and for each later
    list. *timeout*: the seconds for one call of a tool.

    *instructions*: whether the model gets the server's instructions. *hints*: whether other plugins
    get what the server says about its tools (`readOnlyHint` and the like).

    *stderr*: `discard`, or `inherit`: what the command writes there goes where the host's goes.

    *handshake*: `auto`, or `initialize` for a server that cannot bear to be asked for its version
    first.

    A value outside of these raises `ValueError` naming the field.
    """

    command: str | None = attrs.field(default=None, validator=_optional(words))
    args: tuple[str, ...] = _strings(_no_nul, repr=False)
    cwd: str | None = attrs.field(default=None, validator=_optional(words))
    # Not said to be tables: the host's own error would quote what stands there instead.
    env: Any = attrs.field(factory=dict, validator=_texts, repr=False)
    pass_env: tuple[str, ...] = _strings(_about_variable)
    url: str | None = attrs.field(default=None, validator=_web_address, repr=False)
    headers: Any = attrs.field(factory=dict, validator=_texts, repr=False)
    allow: tuple[str, ...] | None = attrs.field(
        default=None, converter=listed, validator=_optional(each(_about_glob))
    )
    deny: tuple[str, ...] = _strings(_about_glob)
    enabled: bool = attrs.field(default=True, validator=flag)
    connect_timeout: float = attrs.field(default=30.0, validator=seconds(_HOUR))
    timeout: float = attrs.field(default=60.0, validator=seconds(24 * _HOUR))
    instructions: bool = attrs.field(default=True, validator=flag)
    hints: bool = attrs.field(default=True, validator=flag)
    stderr: str = attrs.field(default="discard", validator=one_of("discard", "inherit"))
    handshake: str = attrs.field(default="auto", validator=one_of("auto", "initialize"))

    def __attrs_post_init__(self) -> None:
        if (self.command is None) == (self.url is None):
            raise ValueError("a server has a command or a url, and not both")
        if self.url is not None and (self.args or self.cwd or self.env or self.pass_env):
            raise ValueError("args, cwd, env and pass_env are for a server with a command")
        if self.command is not None and self.headers:
            raise ValueError("headers are for a server with a url")


def _named_servers(_instance: object, field: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, Mapping):
        raise ValueError(f"{field.name} must be a table of servers")  # noqa: TRY004
    for name, server in value.items():
        if not isinstance(name, str) or not isinstance(server, Server):
            raise ValueError(f"{field.name}.{name} must be a server")  # noqa: TRY004
        if not name.strip() or len(name) > _LONGEST_NAME or visible_name(name) != name:
            raise ValueError(
                f"{field.name} has a name that is blank, longer than {_LONGEST_NAME} characters "
                f"or not to be seen: {visible_name(name[:_LONGEST_NAME])!r}"
            )


def _setting(default: object, validator: Validator) -> Any:
    return attrs.field(default=default, validator=validator, metadata=TRUSTED)


@attrs.frozen(kw_only=True)
class Config:
    """The plugin's settings; each has a default that works.

    *servers*: the MCP servers, by the names that their tools get.

    *startup_timeout*: the most seconds that loading the plugin waits for its servers. Those that
    are not there by then come later.

    *retry_after*, *retry_longest*: the seconds until a server that broke is tried again; they
    double with each try, up to the longest.

    *ping_interval*, *ping_timeout*: how often a server is asked whether it lives, and how long its
    answer may take.

    *max_tools*: how many tools one server may have. *max_message_bytes*: how long one message of a
    server may be. *max_schema_bytes*: how long the schema of one tool may be, as JSON.
    *max_description_chars*, *max_instructions_chars*: where the description of a tool and the
    instructions of a server are cut. *max_result_chars*: where the text of a result is cut.

    *order*: where the section with the instructions stands.

    A value outside of these raises `ValueError` naming the field. All need trust: in the settings
    that a checkout brings along they have no effect. A checkout that could add a server would start
    programs and open connections.
    """

    servers: Mapping[str, Server] = attrs.field(
        factory=dict, validator=_named_servers, metadata=TRUSTED
    )
    startup_timeout: float = _setting(10.0, seconds(_HOUR))
    retry_after: float = _setting(1.0, seconds(_HOUR))
    retry_longest: float = _setting(60.0, seconds(24 * _HOUR))
    ping_interval: float = _setting(30.0, seconds(_HOUR))
    ping_timeout: float = _setting(10.0, seconds(_HOUR))
    max_tools: int = _setting(1000, whole(1, 10_000))
    max_message_bytes: int = _setting(8 * _MIB, whole(_KIB, 256 * _MIB))
    max_schema_bytes: int = _setting(64 * _KIB, whole(2, 4 * _MIB))
    max_description_chars: int = _setting(4096, whole(0, _MIB))
    max_instructions_chars: int = _setting(4096, whole(0, _MIB))
    max_result_chars: int = _setting(100_000, whole(1, 64 * _MIB))
    order: float = _setting(SectionOrder.TOOL_GUIDANCE, finite)
