"""Every error that dsh_prompt raises on purpose: one root, small leaves.

Messages name the thing, its owner and the way out; the same facts are attributes
where a program may want them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class PromptError(Exception):
    """Root of all errors of this package.

    Attributes have defaults, so that errors can be pickled, as process pools do.
    """


class DuplicateContributionError(PromptError):
    """Raised when a layer already holds a contribution of that kind and name."""

    def __init__(
        self, message: str, *, kind: str = "", name: str = "", plugin: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name
        self.plugin = plugin


class InvalidContributionError(PromptError, ValueError):
    """Raised when what is registered could never be assembled."""


class DisposedError(PromptError):
    """Raised when something is registered through a context that is gone or going."""


class ScopeError(PromptError):
    """Raised for a parent cycle, or for a scope that belongs to another host."""


class MultipleCompleteSectionsError(PromptError):
    """Raised when more than one ``complete`` section is in effect."""

    def __init__(self, message: str, *, names: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.names = names


class ReservedToolNameError(PromptError):
    """Raised when a tool is named like the marker for unlisted tools."""


class ProviderError(PromptError):
    """Raised when contributed code fails or returns the wrong type.

    *kind* and *name* tell which provider or hook, *plugin* who owns it (None: the host), and
    *scope* the name of the scope that it belongs to (None: global).
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "",
        name: str | None = None,
        plugin: str | None = None,
        scope: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name
        self.plugin = plugin
        self.scope = scope


class AsyncProviderError(PromptError):
    """Raised when a synchronous call meets something asynchronous."""


class AssemblyCancelledError(PromptError):
    """Raised when the ``cancel`` event of the assemble context is set."""


class InterpolationError(PromptError):
    """Raised when a section or context cannot be interpolated.

    *kind* is ``"section"`` or ``"context"``, *name* which one.
    """

    def __init__(self, message: str, *, kind: str = "", name: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name


class UnknownVariableError(InterpolationError):
    """Raised for a reference to a variable that nobody registered."""


class UndefinedVariableError(InterpolationError):
    """Raised for a reference to a variable that has no value in this assembly."""


class MalformedReferenceError(InterpolationError):
    """Raised for double braces that are no complete ``{{name}}``."""


class InvariantError(PromptError):
    """Raised by the guard when a finished assembly is not well formed.

    *plugin* and *scope* (its name) tell who put in what broke a rule.
    """

    def __init__(
        self, message: str, *, plugin: str | None = None, scope: str | None = None
    ) -> None:
        super().__init__(message)
        self.plugin = plugin
        self.scope = scope


class BudgetError(PromptError):
    """Raised for a text that takes more than its budget, where that is to be an error.

    *kind* (``"section"`` or ``"context"``) and *name* tell which one, *plugin* and *scope* (its
    name) whose it is; *limit* is the field of the `Budget`, *allowed* what that allows, *taken*
    what the text takes.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "",
        name: str = "",
        plugin: str | None = None,
        scope: str | None = None,
        limit: str = "",
        allowed: int = 0,
        taken: int = 0,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name
        self.plugin = plugin
        self.scope = scope
        self.limit = limit
        self.allowed = allowed
        self.taken = taken


class ConfigError(PromptError, ValueError):
    """Raised for a configuration or state document that is not what it should be.

    *path* is the dotted path of the offending key, *file* the document it stands in, *line*
    its line there, from 1, where that is known.
    """

    def __init__(
        self, message: str, *, path: str = "", file: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(message)
        self.path = path
        self.file = file
        self.line = line
        #: The paths of all that is wrong, *path* first.
        self.paths: tuple[str, ...] = (path,)


class ToolOrderError(ConfigError):
    """Raised for a malformed ``tool_order``, or for one that lists unknown tools."""


class PluginLoadError(PromptError):
    """Raised when a plugin cannot be imported, is not valid, or fails to activate."""

    def __init__(self, message: str, *, plugin: str = "", distribution: str | None = None) -> None:
        super().__init__(message)
        self.plugin = plugin
        self.distribution = distribution


class PluginConfigError(PluginLoadError, ConfigError):
    """Raised when a plugin refuses its configuration: a load error and a config error."""

    def __init__(
        self,
        message: str,
        *,
        plugin: str = "",
        distribution: str | None = None,
        path: str = "",
        file: str | None = None,
        line: int | None = None,
    ) -> None:
        ConfigError.__init__(self, message, path=path, file=file, line=line)
        self.plugin = plugin
        self.distribution = distribution


class PluginNotFoundError(PromptError, LookupError):
    """Raised when no plugin of that name is loaded there, or installed."""


class PluginConflictError(PromptError):
    """Raised when a plugin's name is taken, or its order constraints form a cycle."""


def text_of(error: BaseException) -> str:
    """Give the text of *error*, also of one of somebody else's that cannot tell its own."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever it raises, there is no text
        return "(it has no text)"


def place_of(error: BaseException) -> str:
    """Tell where *error* was raised, `` (FILE, line N)``.

    That is the last line that is neither of this package nor of Python's own library; ``""``
    where there is none.
    """
    try:
        return _place_of(error)
    except Exception:  # noqa: BLE001 - somebody else's error may not tell even that
        return ""


def _place_of(error: BaseException) -> str:
    import os  # noqa: PLC0415 - only for errors
    import traceback  # noqa: PLC0415

    if isinstance(error, SyntaxError) and error.filename and not error.filename.startswith("<"):
        return f" in {shown(error.filename)}"  # its text has the line
    package, library = (f"{os.path.dirname(file)}{os.sep}" for file in (__file__, os.__file__))  # noqa: PTH120
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        file = frame.filename
        is_library = file.startswith(library) and "site-packages" not in file
        if file and not is_library and not file.startswith((package, "<")):
            return f" ({shown(file)}, line {frame.lineno})"
    return ""


#: Longer than any path that somebody could read, and than a name that somebody mistyped.
LONGEST_NAME = 4096
LONGEST_GUESS = 100


def shown(name: str) -> str:
    """Give *name*, somebody else's choice: what is not printable escaped, not too long."""
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}..."
    if name.isprintable():
        return name
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in name
    )


def short(value: object) -> str:
    """Give *value* as code, cut where it is long: an error is no place for a whole file."""
    from reprlib import Repr  # noqa: PLC0415 - only for an error

    brief = Repr()
    brief.maxstring = brief.maxother = 80
    try:
        return brief.repr(value)
    except ValueError:  # a number of more digits than Python writes
        return f"<{type(value).__name__}>"


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.5) -> str:
    """Give ``; did you mean "x"?`` for the closest of the *known* names, or ``""``.

    *cutoff* is how similar it has to be, from 0 to 1, as `difflib` counts it.
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    if len(name) > LONGEST_GUESS:
        return ""
    close = get_close_matches(name, sorted(known), n=1, cutoff=cutoff)
    return f'; did you mean "{close[0]}"?' if close else ""


def quoted(names: Iterable[str]) -> str:
    """Join *names* in double quotes, as the error texts list them."""
    return ", ".join(f'"{name}"' for name in names)


def raise_all(errors: Sequence[BaseException], message: str) -> None:
    """Raise the one error there is, or all of them in an exception group."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise BaseExceptionGroup(message, errors)


def unknown_keys(keys: Mapping[str, object], known: Iterable[str]) -> list[str]:
    """List the *keys* that are not *known*, each with its nearest known name."""
    allowed = tuple(known)
    return [f'"{key}"{nearest(key, allowed)}' for key in keys if key not in allowed]
