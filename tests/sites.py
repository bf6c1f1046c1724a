"""A folder on ``sys.path`` into which distributions are installed by hand."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The code of a plugin module that contributes its own name as a variable.
CODE = """
from dsh_prompt import hookimpl

@hookimpl
def contribute_variables():
    return {__name__: "value"}
"""


class Site:
    """A folder of modules and real, if small, distributions."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)

    def module(self, name: str, code: str = CODE) -> Path:
        """Write a module; a name that ends with ``__init__`` is a package's."""
        path = self.folder / Path(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
        importlib.invalidate_caches()
        return path

    def distribution(
        self, name: str, version: str = "1.0", metadata: str | None = None, **points: str
    ) -> Path:
        """Write a dist-info folder with entry points, and give it."""
        folder = self.folder / f"{name.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        lines = [f"{point} = {value}" for point, value in points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[dsh_prompt]", *lines]) + "\n")
        if metadata is None:
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        (folder / "METADATA").write_text(metadata)
        importlib.invalidate_caches()
        return folder

    def plugin(self, name: str, code: str = CODE, version: str = "1.0") -> Path:
        """Install the distribution ``dsh-NAME`` with the plugin *name*, a module of its own."""
        self.module(f"dsh_test_{name}", code)
        return self.distribution(f"dsh-{name}", version, **{name: f"dsh_test_{name}"})

    # As an installer does it

    def install(self, name: str, version: str, code: Mapping[str, str], **points: str) -> Path:
        """Install distribution *name* in the place of another version, its record last.

        *code* maps the names of its modules to what stands in them.
        """
        self.uninstall(name)
        files = [self.module(module, text) for module, text in code.items()]
        folder = self.distribution(name, version, **points)
        record(folder, *(file.relative_to(self.folder).as_posix() for file in files))
        return folder

    def uninstall(self, name: str) -> None:
        """Remove all that distribution *name* has recorded, and its dist-info folder."""
        for folder in self.folder.glob(f"{name.replace('-', '_')}-*.dist-info"):
            for line in (folder / "RECORD").read_text().splitlines():
                (self.folder / line.partition(",")[0]).unlink(missing_ok=True)
            for file in folder.iterdir():
                file.unlink()
            folder.rmdir()
        importlib.invalidate_caches()

    def editable(self, name: str, version: str, project: Path, **points: str) -> Path:
        """Install distribution *name* as a link to the folder *project*."""
        folder = self.distribution(name, version, **points)
        origin = {"url": project.as_uri(), "dir_info": {"editable": True}}
        (folder / "direct_url.json").write_text(json.dumps(origin))
        record(folder, f"{folder.name}/METADATA", f"{folder.name}/entry_points.txt")
        return folder


def record(folder: Path, *files: str) -> None:
    """Write the RECORD of a dist-info *folder*: which files are the distribution's."""
    (folder / "RECORD").write_text("".join(f"{file},,\n" for file in files))
