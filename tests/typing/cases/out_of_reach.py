"""Errors that no checker finds: not one line here is told. A host finds each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dsh_prompt import PromptSection, hookimpl

if TYPE_CHECKING:
    from collections.abc import Generator

    from dsh_prompt import DisposableContext, PromptAssembly


class UnknownHook:
    """The marker does not see what a function is called."""

    @hookimpl
    def contribute_section(self) -> list[PromptSection]:
        """Give none."""
        return []


class WrongArgument:
    """So it does not know which arguments there are, unless a protocol says which hook it is."""

    @hookimpl
    def contribute_sections(self, context: DisposableContext) -> list[PromptSection]:
        """Give none."""
        return []


class WrongOption:
    """Nor does it know which options go with the hook."""

    @hookimpl(wrapper=True)
    def activate(self) -> Generator[None, PromptAssembly, PromptAssembly]:
        """Do nothing."""
        return (yield)


class WrongVariable:
    """The values of variables have any type: text, nothing, or functions of many kinds."""

    @hookimpl
    def contribute_variables(self) -> dict[str, int]:
        """Give a number in place of a text."""
        return {"answer": 42}


class WrongReference:
    """What stands in a text is no type."""

    @hookimpl
    def contribute_sections(self) -> list[PromptSection]:
        """Refer to a variable that nobody has."""
        return [PromptSection(name="a", order=1, text="{{nobody}}")]
