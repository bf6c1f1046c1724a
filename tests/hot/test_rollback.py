"""Rollback: an operation that fails, at whichever step, leaves everything as it was before."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Iterable
from itertools import count
from types import ModuleType
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given, settings, strategies

from dsh_prompt import PluginLoadError, ToolSchema, hookimpl
from tests.hot.states import Host, InjectedError, Wire, install, modules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites import Site

NAMES = ("alpha", "beta", "gamma", "delta")


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """Give what the steps of all plugins come by."""
    made, module = Wire(), ModuleType("dsh_test_wire")
    module.wire = made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dsh_test_wire", module)
    logger = logging.getLogger("dsh_prompt.plugins")
    monkeypatch.setattr(logger, "disabled", True)
    yield made
    made.disarm()


Operate = Callable[..., Any]


@attrs.frozen
class Scenario:
    """What there is before, the operation, and which plugins it brings or renews."""

    prepare: Callable[[Host, Site], object]
    operate: Callable[[Host, Operate], Any]
    names: tuple[str, ...]
    #: Whether what was imported for the first time stays imported.
    keeps_modules: bool = False


CONFIG = {"tone": "dry", "limit": {"most": 2}}


def _one(host: Host, site: Site) -> None:
    install(site, "alpha", "1")
    install(site, "beta", "1", requires=("alpha",))
    host.prompt.load("alpha", config=CONFIG)
    host.watch()


def _none(host: Host, site: Site) -> None:
    install(site, "alpha", "1")
    install(site, "beta", "1", requires=("alpha",))
    host.watch()


def _upgraded(host: Host, site: Site) -> None:
    _one(host, site)
    host.prompt.load("beta")
    upgrade(site)


def _upgraded_in_scope(host: Host, site: Site) -> None:
    _one(host, site)
    host.prompt.load("alpha", scope=host.scope)
    host.prompt.load("beta", scope=host.child)
    upgrade(site)


releases = count(2)


def upgrade(site: Site) -> None:
    """Install yet another version of alpha: what failed once is not tried again by itself."""
    install(site, "alpha", "2", release=str(next(releases)))


SCENARIOS = {
    "load": Scenario(
        _one,
        lambda host, call: call("load", "beta", config=CONFIG),
        names=("beta",),
        keeps_modules=True,
    ),
    "load into a scope": Scenario(
        _one,
        lambda host, call: call("load", "beta", scope=host.child),
        names=("beta",),
        keeps_modules=True,
    ),
    "load_entry_points": Scenario(
        _none, lambda host, call: call("load_entry_points", strict=True), names=("alpha", "beta")
    ),
    "reload": Scenario(
        _upgraded, lambda host, call: call("reload", "alpha"), names=("alpha", "beta")
    ),
    "reload in a scope": Scenario(
        _upgraded_in_scope,
        lambda host, call: call("reload", "alpha", scope=host.scope),
        names=("alpha", "beta"),
    ),
    "sync": Scenario(_upgraded, lambda host, call: call("sync"), names=("alpha", "beta")),
}


class Trial:
    """One host on which an operation is tried again and again."""

    def __init__(self, scenario: Scenario, wire: Wire, site: Site, *, is_async: bool) -> None:
        self.scenario = scenario
        self.wire = wire
        self.site = site
        self.is_async = is_async
        self.steps: list[str] = []
        forget(modules(*NAMES))
        for name in NAMES:
            site.uninstall(f"dsh-{name}")
        self.host = Host(wire)
        scenario.prepare(self.host, site)

    def call(self, operation: str, *args: Any, **options: Any) -> Any:
        """Call an operation of the host, in the form that is tried."""
        if not self.is_async:
            return getattr(self.host.prompt, operation)(*args, **options)
        twin = getattr(self.host.prompt, f"{operation}_async")
        return asyncio.run(twin(*args, **options))

    def run(
        self, fails: Callable[[int], bool], error: type[BaseException] = InjectedError
    ) -> BaseException | None:
        """Try it, with failures: gives what was raised, or the first that was reported."""
        self.wire.arm(fails, error)
        try:
            report = self.scenario.operate(self.host, self.call)
        except BaseException as raised:  # noqa: BLE001 - that is what is tried
            return raised
        finally:
            self.steps = self.wire.disarm()
        return next(iter(getattr(report, "failed", {}).values()), None)

    def state(self) -> dict[str, Any]:
        """Give the state of the host and of what is imported."""
        return {**self.host.state(), "modules": modules(*NAMES)}


def forget(names: Iterable[str]) -> None:
    """Let modules be imported for the first time again."""
    for name in list(names):
        sys.modules.pop(name, None)


def dry_run(scenario: Scenario, wire: Wire, site: Site, *, is_async: bool) -> tuple[Any, list[str]]:
    """Give the state after the operation, and the steps that it takes."""
    trial = Trial(scenario, wire, site, is_async=is_async)
    assert trial.run(lambda _: False) is None
    return comparable(trial), trial.steps


def comparable(trial: Trial) -> dict[str, Any]:
    """Give what two hosts in one state have in common."""
    state = trial.state()
    infos = [
        attrs.evolve(
            info,
            version=None,
            scope=None,
            contributions=tuple((kind, name, None) for kind, name, _ in info.contributions),
        )
        for info in state["plugins"]
    ]
    balance = sorted(
        (number, kind, name, "" if scope is None else scope.name)
        for (kind, name, scope), number in state["balance"].items()
    )
    return {
        **without_versions(state),
        "plugins": infos,
        "balance": balance,
        "modules": sorted(name for name, module in state["modules"].items() if module),
    }


def without_versions(state: Any) -> Any:
    """Leave out the versions of distributions, which count on."""
    if isinstance(state, dict):
        return {key: without_versions(value) for key, value in state.items() if key != "version"}
    return [*map(without_versions, state)] if isinstance(state, list) else state


def steps_before_the_end(steps: list[str]) -> int:
    """Count the steps in which a failure takes everything back: those before any cleanup."""
    return next((i for i, step in enumerate(steps) if step.startswith("cleanup")), len(steps))


def expect_as_before(trial: Trial, before: dict[str, Any], label: str) -> None:
    """Compare the whole state."""
    after = trial.state()
    if trial.scenario.keeps_modules:
        after["modules"] = {name: after["modules"].get(name) for name in before["modules"]}
        forget([name for name in modules(*NAMES) if name not in before["modules"]])
    for key, value in before.items():
        assert after[key] == value, f"{key} differs after a failure in {label}"


FAILURES: dict[str, tuple[Callable[[int], Callable[[int], bool]], type[BaseException]]] = {
    "one": (lambda k: lambda step: step == k, InjectedError),
    "interrupt": (lambda k: lambda step: step == k, KeyboardInterrupt),
    "everything": (lambda k: lambda step: step >= k, InjectedError),
}

ALL = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


@ALL
@pytest.mark.parametrize(
    ("failure", "is_async"),
    [("one", False), ("one", True), ("interrupt", False), ("everything", False)],
    ids=["one", "one, async", "interrupt", "everything"],
)
def test_a_failure_at_any_step_leaves_everything_as_it_was(
    scenario: Scenario, failure: str, is_async: bool, wire: Wire, site: Site
) -> None:
    """Whatever raises; and the next try, in which nothing fails, succeeds."""
    fails, error = FAILURES[failure]
    end, steps = dry_run(scenario, wire, site, is_async=is_async)
    trial = Trial(scenario, wire, site, is_async=is_async)
    before = trial.state()
    number = steps_before_the_end(steps)
    assert number > 10
    for k in range(1, number + 1):
        label = f"step {k}, {steps[k - 1]}"
        raised = trial.run(fails(k), error)
        assert raised is not None, label
        expect_as_before(trial, before, label)
        if scenario is SCENARIOS["sync"]:
            upgrade(site)
    assert trial.run(lambda _: False) is None
    assert comparable(trial) == end


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_failure_in_one_part_of_a_sync_stops_that_part_alone(
    is_async: bool, wire: Wire, site: Site
) -> None:
    """What changed together stays as it was, whichever step fails; the rest goes on."""
    trial = Trial(SCENARIOS["sync"], wire, site, is_async=is_async)
    prompt = trial.host.prompt
    install(site, "gamma", "1")
    assert trial.run(lambda _: False) is None
    steps = trial.steps[: trial.steps.index("listener: first")]
    before = part_of(trial, "alpha", "beta")
    for label in dict.fromkeys(step for step in steps if not step.startswith("gamma")):
        upgrade(site)
        install(site, "gamma", "1", release=(release := str(next(releases))))
        raised = trial.run(lambda step, label=label: wire.steps[step - 1] == label)  # type: ignore[misc]
        assert isinstance(raised, PluginLoadError), label
        assert ("gamma", release) in [(info.name, info.version) for info in prompt.plugins]
        assert part_of(trial, "alpha", "beta") == before, label


def part_of(trial: Trial, *names: str) -> Any:
    """Give the state as far as the plugins *names* are concerned."""
    infos = [info for info in trial.host.prompt.plugins if info.name in names]
    return infos, modules(*names), without_versions(trial.state()["global"])


@ALL
def test_any_number_of_failures_is_as_good_as_one(
    scenario: Scenario, wire: Wire, site: Site
) -> None:
    """Also when what takes it back fails as well."""
    _, steps = dry_run(scenario, wire, site, is_async=False)
    number = steps_before_the_end(steps)
    trial = Trial(scenario, wire, site, is_async=False)
    before = trial.state()
    some = strategies.sets(strategies.integers(1, 2 * number), min_size=1, max_size=8)
    kinds = strategies.sampled_from([InjectedError, KeyboardInterrupt])

    @given(failing=some.filter(lambda ks: min(ks) <= number), error=kinds)
    @settings(max_examples=10, deadline=None, database=None)
    def check(failing: set[int], error: type[BaseException]) -> None:
        assert trial.run(failing.__contains__, error) is not None
        expect_as_before(trial, before, str(sorted(failing)))
        if scenario is SCENARIOS["sync"]:
            upgrade(site)

    check()


@ALL
def test_after_a_failure_no_name_is_taken(scenario: Scenario, wire: Wire, site: Site) -> None:
    """Once all is unloaded, others may register whatever the plugins had, or would have had."""
    _, steps = dry_run(scenario, wire, site, is_async=False)
    trial = Trial(scenario, wire, site, is_async=False)
    k = steps.index("listener: last") + 1
    assert isinstance(trial.run(lambda step: step == k), InjectedError)
    prompt = trial.host.prompt
    while plugins := prompt.plugins:
        prompt.unload(plugins[0].name, scope=plugins[0].scope)
    for ctx in (prompt, trial.host.scope, trial.host.child):
        for name in ("alpha", "beta"):
            for part in ("one", "two", "three", "four", "own"):
                ctx.section(name=f"{name}_{part}", order=1, text="free")
            for tool in ("tool", "tool_v1", "tool_v2", "other"):
                ctx.tool(ToolSchema(f"{name}_{tool}", "free", {}))
            ctx.context(name=f"{name}_context", order=1, text="free")
            ctx.variable(name, "free")
            ctx.provide(wire.keys[name], "free")
            prompt.load(object_plugin(name), name=name, scope=ctx.scope)
    assert prompt.assemble().variables["trace"] == ", host, behind"


def object_plugin(name: str) -> object:
    """Make a plugin that registers nothing."""

    class Plugin:
        @hookimpl
        def activate(self) -> None:
            pass

    return Plugin()


# What cannot be refused


def _disposed(host: Host, call: Operate) -> Any:
    host.scope.dispose()


def _unloaded(host: Host, call: Operate) -> Any:
    call("unload", "alpha")


def _to_dispose(host: Host, site: Site) -> None:
    install(site, "alpha", "1")
    install(site, "beta", "1", requires=("alpha",))
    host.prompt.load("alpha")
    host.watch()
    wire = host.wire
    host.scope.callback(wire.step, "cleanup: the scope's first")
    host.prompt.load("alpha", scope=host.scope)
    host.scope.on_change(lambda _: wire.step("listener: of the scope"))
    host.prompt.load("beta", scope=host.scope)
    host.scope.section(name="own", order=1, text="own")
    host.scope.callback(wire.step, "cleanup: the scope's last")


def _much_to_unload(host: Host, site: Site) -> None:
    _to_dispose(host, site)
    host.prompt.load("beta")


WITHDRAWALS = {
    "scope disposal": Scenario(_to_dispose, _disposed, names=()),
    "unload": Scenario(_much_to_unload, _unloaded, names=()),
    "reload": SCENARIOS["reload"],
    "sync": SCENARIOS["sync"],
}


@pytest.mark.parametrize("name", WITHDRAWALS)
@pytest.mark.parametrize("failure", FAILURES)
def test_a_withdrawal_is_completed_whatever_raises(
    name: str, failure: str, wire: Wire, site: Site
) -> None:
    """All cleanups run, all listeners are told, and the error comes at the end."""
    scenario, (fails, error) = WITHDRAWALS[name], FAILURES[failure]
    end, steps = dry_run(scenario, wire, site, is_async=False)
    start = steps_before_the_end(steps)
    assert len(steps) - start > 3
    for k in range(start + 1, len(steps) + 1):
        trial = Trial(scenario, wire, site, is_async=False)
        raised = type(trial.run(fails(k), error))
        assert trial.steps == steps, steps[k - 1]
        assert comparable(trial) == end, steps[k - 1]
        # Sync reports what failed.
        assert raised in {error, ExceptionGroup} or (name == "sync" and error is InjectedError)
