"""As much of the files as the budget holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

from dsh_prompt.cutting import cut_bytes
from dsh_prompt.untrusted import framed, quoted, without_tag_at_end
from dsh_prompt_agents_md.values import InstructionFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: What stands between the parts of the section.
_GAP: Final = "\n\n"
_INTRO: Final = (
    "People left these files for agents that work here. The user's own come first, then those of "
    "the project, from its top down to the working directory. Where two of them disagree, the "
    "later one counts."
)
_SHORT_INTRO: Final = "Files for agents, broad to specific:"


@attrs.frozen
class Fitted:
    """The *text* of the section, and the *files* with what of them is in it."""

    text: str
    files: tuple[InstructionFile, ...]


def fit(files: Sequence[InstructionFile], limit: int) -> Fitted:
    """Give the fullest text that *limit* bytes hold.

    *files* are whole, or left out beforehand. The last, most specific one is the last to go.
    """
    if not files:
        return Fitted("", ())
    return next(version for version in _versions(files, limit) if _size(version.text) <= limit)


def _versions(files: Sequence[InstructionFile], limit: int) -> Iterator[Fitted]:
    """Give ever shorter versions; the last of them fits into anything."""
    *broader, last = files
    first = _first_that_fits(files, limit)
    if first is not None:
        yield _version(_INTRO, [*_left_out(files[:first]), *files[first:]], limit)
    yield _version(_SHORT_INTRO, [*_left_out(broader), last], limit)
    for intro in (_INTRO, _SHORT_INTRO):
        yield from _with_beginning(intro, [*_left_out(broader), last], limit)
    nothing = _left_out(files)
    notice = _notice(nothing, limit)
    yield Fitted(_section(notice, _file(last.path, "")), tuple(nothing))
    yield Fitted(cut_bytes(notice, limit), tuple(nothing))


def _first_that_fits(files: Sequence[InstructionFile], limit: int) -> int | None:
    """Give the index of the broadest file that fits with all that follow it, if there is one.

    What each takes is added up: with a version made for each of them to look at its size, a deep
    tree would take the square of the time.
    """
    unnamed = InstructionFile("", "", "left out")
    words = _size(f"{_GAP}{_notice([unnamed], limit)}") - _size_of_name(unnamed)
    names = sum(_size_of_name(file) for file in files if file.shown == "left out")
    blocks = _size(_section(_INTRO))
    blocks += sum(_size_of_block(file) for file in files if file.shown == "whole")
    for index, file in enumerate(files):
        if file.shown != "whole":
            continue
        if blocks + (words + names if names else 0) <= limit:
            return index
        blocks -= _size_of_block(file)
        names += _size_of_name(file)
    return None


def _size_of_name(file: InstructionFile) -> int:
    return _size(f"{quoted(file.path)}, ")


def _size_of_block(file: InstructionFile) -> int:
    return _size(f"{_GAP}{_file(file.path, file.text)}")


def _version(intro: str, files: Sequence[InstructionFile], limit: int) -> Fitted:
    blocks = [_file(file.path, file.text) for file in files if file.shown != "left out"]
    return Fitted(_section(intro, _notice(files, limit), *blocks), tuple(files))


def _with_beginning(intro: str, files: Sequence[InstructionFile], limit: int) -> Iterator[Fitted]:
    """Give the version with the beginning of the last file, where there is room for some of it."""
    *left_out, last = files
    empty = _version(intro, [*left_out, InstructionFile(last.path, "", "cut")], limit)
    if beginning := without_tag_at_end(cut_bytes(last.text, limit - _size(empty.text))):
        yield _version(intro, [*left_out, InstructionFile(last.path, beginning, "cut")], limit)


def _left_out(files: Iterable[InstructionFile]) -> list[InstructionFile]:
    return [InstructionFile(file.path, "", "left out") for file in files]


def _notice(files: Sequence[InstructionFile], limit: int) -> str:
    """Name what is not there, or not all there; the empty string where nothing is missing."""
    left_out = [quoted(file.path) for file in files if file.shown == "left out"]
    beginnings = [quoted(file.path) for file in files if file.shown == "cut"]
    if not left_out and not beginnings:
        return ""
    sentences = [f"There is more than the {limit} bytes allowed here."]
    if left_out:
        sentences.append(f"Left out: {', '.join(left_out)}.")
    if beginnings:
        sentences.append(f"Cut at its end: {', '.join(beginnings)}.")
    sentences.append("Read what is missing yourself before you work on what it is about.")
    return " ".join(sentences)


def _file(path: str, body: str) -> str:
    return framed("instructions", body, path=path)


def _section(*parts: str) -> str:
    return framed("workspace-instructions", _GAP.join(filter(None, parts)))


def _size(text: str) -> int:
    return len(text.encode())
