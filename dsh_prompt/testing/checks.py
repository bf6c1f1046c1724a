"""Put a plugin through the generic checks: each runs in a process of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs

from dsh_prompt.testing.determinism import differences
from dsh_prompt.testing.fresh_process import FreshProcessError, run
from dsh_prompt.testing.generic import FIRST, OTHERS
from dsh_prompt.testing.samples import sample_folder
from dsh_prompt.testing.subjects import Subject, as_json
from dsh_prompt.testing.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

_DETERMINISTIC = "deterministic"
_AT_ONCE = 2


@attrs.frozen
class CheckResult:
    """What one check found.

    *status* is ``"passed"``, ``"failed"`` or ``"skipped"``; *reasons* say why, or what else
    there is to know.
    """

    name: str
    status: Literal["passed", "failed", "skipped"]
    reasons: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Give the fields as JSON."""
        return {"name": self.name, "status": self.status, "reasons": list(self.reasons)}


def check_plugin(
    plugin: object, *, config: object = None, config_file: str | None = None
) -> list[CheckResult]:
    """Put *plugin* through all checks, and give what each found.

    *plugin* is what `assert_deterministic` takes, *config* what it is loaded with (None: what
    the configuration of a host here says, or that in *config_file*). If one of the checks up to
    the assembly fails, the others are skipped.
    """
    with sample_folder() as folder:
        settings = (str(Path.cwd()), config_file)
        subject = Subject(Target.of(plugin), folder, as_json(config), settings=settings)
        return list(_results(subject))


def _results(subject: Subject) -> Iterator[CheckResult]:
    others = (*OTHERS, _DETERMINISTIC)
    failed = None
    for name in FIRST:
        result = _skipped(name, failed) if failed else _result(subject, name)
        failed = name if result.status == "failed" else failed
        yield result
    if failed is not None:
        yield from (_skipped(name, failed) for name in others)
        return
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        yield from threads.map(partial(_result, subject), others)


def _skipped(name: str, failed: str) -> CheckResult:
    return CheckResult(name, "skipped", (f'the check "{failed}" failed',))


def _result(subject: Subject, name: str) -> CheckResult:
    try:
        if name == _DETERMINISTIC:
            problems, notes = differences(subject), []
        else:
            arguments = {"name": name, "subject": attrs.asdict(subject)}
            found = run("dsh_prompt.testing.generic:check_here", arguments)
            problems, notes = found["problems"], found["notes"]
    except FreshProcessError as error:
        problems, notes = [str(error)], []
    return CheckResult(name, "failed" if problems else "passed", tuple(problems or notes))
