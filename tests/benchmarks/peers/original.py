"""The original, in a Node process that stays alive."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Self

from tests.benchmarks.peer import Peer, UnavailableError
from tests.benchmarks.workloads import SET

if TYPE_CHECKING:
    from types import TracebackType

    from tests.benchmarks.peer import Output
    from tests.benchmarks.workloads import Work

VERSION = "0.1.0-rc.8"
PACKAGES = tuple(
    f"@deepseek-ai/{name}@{VERSION}" for name in ("dsh-system-prompt", "dsh-invariants")
)
PATIENCE = 120
SCRIPT = Path(__file__).with_name("original.mjs")


class Node:
    """A Node process with the original's packages in a temporary folder; a context manager.

    Making one raises `UnavailableError` where Node is missing or npm cannot install.
    """

    def __init__(self) -> None:
        node, npm = shutil.which("node"), shutil.which("npm")
        if node is None or npm is None:
            raise UnavailableError("Node and npm are not installed")
        self._folder = TemporaryDirectory(prefix="dsh-prompt-bench-")
        try:
            self.versions = {"Node": _output(node, "--version").strip().removeprefix("v")}
            _install(npm, self._folder.name)
            self.versions |= _installed(self._folder.name)
            # Node looks for packages beside the script.
            script = shutil.copy(SCRIPT, self._folder.name)
            self._process = subprocess.Popen(
                [node, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
            )
        except BaseException:
            self._folder.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.communicate()
        self._folder.cleanup()

    def ask(self, **request: object) -> dict[str, Any]:
        """Send *request*, and give the answer."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            raise UnavailableError(f"the Node process ended with {process.wait()}")
        result: dict[str, Any] = json.loads(answer)
        return result


class Original(Peer):
    """The original, its guard on, and hot: it has run often before it is measured.

    *scopes* are made beside the work; with any, the first one is assembled for.
    """

    name = "original"

    def __init__(self, work: Work, node: Node, *, scopes: int = 0, guard: bool = True) -> None:
        self._node = node
        self._first = node.ask(work=_document(work), scopes=scopes, guard=guard)

    def run(self) -> Output:
        """Give what the first run gave."""
        return self._first["prompt"], self._first["snapshot"]

    def measure(self, iterations: int) -> float:
        return float(self._node.ask(iterations=iterations)["nanoseconds"]) / 1e9


def _document(work: Work) -> dict[str, Any]:
    def texts(items: Any) -> list[dict[str, Any]]:
        return [{"takes": item.takes, "isStatic": item.is_static} for item in items]

    document = {**work._asdict(), "set": SET}
    return {**document, "sections": texts(work.sections), "contexts": texts(work.contexts)}


def _install(npm: str, folder: str) -> None:
    command = (npm, "install", "--no-save", "--no-audit", "--no-fund", "--prefix", folder)
    try:
        _output(*command, *PACKAGES)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or error.stdout or "").strip().splitlines()[-1:]
        raise UnavailableError(f"npm cannot install it: {' '.join(reason)}") from error
    except subprocess.TimeoutExpired as error:
        raise UnavailableError(f"npm could not install it within {PATIENCE} seconds") from error


def _installed(folder: str) -> dict[str, str]:
    names = [package.rpartition("@")[0] for package in PACKAGES]
    manifests = [Path(folder, "node_modules", name, "package.json") for name in names]
    return {
        name: json.loads(manifest.read_text("utf-8"))["version"]
        for name, manifest in zip(names, manifests, strict=True)
    }


def _output(*command: str) -> str:
    return subprocess.run(
        command, check=True, capture_output=True, encoding="utf-8", timeout=PATIENCE
    ).stdout
