"""Trust: which configuration files the user has looked at and taken as their own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from dsh_prompt.config.files import read_content, user_directory

if TYPE_CHECKING:
    from collections.abc import Iterator


@attrs.frozen
class Trusted:
    """A record of trust: the file at *path*, as long as its content has this *digest*."""

    path: Path
    digest: str

    @property
    def state(self) -> str:
        """``trusted``, or why it is not in force: ``changed``, or ``gone``."""
        try:
            content = read_content(self.path)
        except (OSError, ValueError):
            return "gone"
        return "trusted" if digest_of(content) == self.digest else "changed"


@attrs.frozen
class TrustStore:
    """The records in *folder*: one small file each, so that two commands never lose one."""

    folder: Path

    @classmethod
    def of_user(cls) -> TrustStore:
        """Give the store in the user's own configuration folder."""
        return cls(user_directory() / "trusted")

    def trusts(self, path: Path, content: bytes) -> bool:
        """Tell whether the file at *path* is trusted as long as it holds *content*.

        What cannot be read trusts nothing.
        """
        return self._read(self._file(path)) == Trusted(place_of(path), digest_of(content))

    def trust(self, path: Path, content: bytes) -> Trusted:
        """Record that the file at *path* is trusted with this *content*; raises `OSError`."""
        record = Trusted(place_of(path), digest_of(content))
        text = json.dumps({"path": os.fspath(record.path), "sha256": record.digest})
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = self.folder / f".{os.urandom(8).hex()}"
        temporary.write_text(text, "ascii")
        temporary.replace(self._file(path))
        return record

    def untrust(self, path: Path) -> bool:
        """Forget the file at *path*, and tell whether it was recorded; raises `OSError`."""
        try:
            self._file(path).unlink()
        except FileNotFoundError:
            return False
        return True

    def __iter__(self) -> Iterator[Trusted]:
        records = map(self._read, self.folder.glob("*.json"))
        yield from sorted(filter(None, records), key=lambda record: record.path)

    def _file(self, path: Path) -> Path:
        return self.folder / f"{digest_of(os.fsencode(place_of(path)))}.json"

    def _read(self, file: Path) -> Trusted | None:
        try:
            data = json.loads(file.read_text("ascii"))
            return Trusted(Path(data["path"]), str(data["sha256"]))
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None


def place_of(path: Path) -> Path:
    """Give the one name of *path*; a link as the last step stays itself."""
    return path.parent.resolve() / path.name


def digest_of(content: bytes) -> str:
    """Give the SHA-256 of *content* as hex digits."""
    from hashlib import sha256  # noqa: PLC0415 - hashes on demand

    return sha256(content).hexdigest()
