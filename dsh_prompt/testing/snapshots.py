"""Prompt snapshots: what a model is told, kept by syrupy as one readable file for each test."""

from __future__ import annotations

from typing import Any

from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from dsh_prompt.model.prompt_assembly import PromptAssembly
from dsh_prompt.testing.documents import document


class PromptSnapshotExtension(SingleFileSnapshotExtension):
    """Keeps an assembly, or a text, in a file that ends with ``.prompt.txt``."""

    file_extension = "prompt.txt"
    _write_mode = WriteMode.TEXT

    def serialize(self, data: Any, **_: Any) -> str:
        """Give the text to keep."""
        if isinstance(data, PromptAssembly):
            data = document(data)
        if isinstance(data, str):
            # Text files do not keep it, and nobody would see it.
            return data.replace("\r", "\N{SYMBOL FOR CARRIAGE RETURN}")
        kind = type(data).__name__
        raise TypeError(f"a prompt snapshot is of a PromptAssembly or a str, not {kind}")
