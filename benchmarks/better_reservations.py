"""Bid prices on logs and around reservations: ``python -m benchmarks.better_reservations``.

The reject ratio (of tasks and reservations) of the best algorithm of the papers, of ``priced`` and
``priced-multi-stage``, and of a plan that knows all tasks and reservations, on the same streams:
the workload of Mamat 2011, section 5.4, and the jobs of logs, each in windows of equal length.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.better import FORM, OURS, Comparison, Row, compared, tables
from benchmarks.better_settings import PAPERS
from benchmarks.papers.clairvoyant import PLANNERS, SHARES, substream
from benchmarks.rows import Rows, kept
from benchmarks.timing import Report
from dlopt.formats.swf import SwfLog, parse
from dlopt.generation.log_stream import stream_from_log
from dlopt.generation.multistage import reserve
from dlopt.generation.workload import Workload
from dlopt.heuristics.multistage.methods import decide_all
from dlopt.problems import admission
from dlopt.problems.multistage import Instance, Reservation, Task, violations
from dlopt.simulation import ReservationMix, simulate
from dlopt.simulation.reservations import mamat5

MULTI_STAGE = "multi-stage"
PRICED = "priced-multi-stage"


class Mix(NamedTuple):
    """Which share of the tasks become reservations, and how long before they are requested."""

    fraction: float
    advance: float


MIXES = (Mix(0.0, 0.0), Mix(0.3, 1.0), Mix(0.5, 10.0), Mix(0.8, 1.0))
"""Of the workload of the papers, with mean intervals between requests and starts."""
LOG_MIXES = (Mix(0.0, 0.0), Mix(0.3, 0.0), Mix(0.3, 3600.0))
"""Of the jobs of a log, with seconds between requests and starts."""
SET_UP = 10.0
"""Seconds to set up a transmission, and a computation, of the logs with set-up costs."""
LOADS = (0.5, 1.0)
SEEDS_FROM = 100
"""The first seed of the workload of the papers. The constants of the prices were chosen on others.
Windows of logs are counted from the first one."""
WINDOWS = 10
SHOWN = SHARES[::2]
"""Of the requests that are shown in search of a plan, the smaller ones."""


@dataclass(frozen=True, slots=True)
class MixedSetting:
    """A source of streams, and how many of their tasks become reservations.

    Parameters
    ----------
    source : str
        ``mamat5``, or the name of a log's file.
    deadlines : float
        DCRatio, or the factor of the execution time of a job.
    fraction, advance : float
    set_up : float
    """

    source: str
    deadlines: float
    fraction: float = 0.0
    advance: float = 0.0
    set_up: float = 0.0

    @property
    def is_log(self) -> bool:
        """Whether the streams are windows of a log."""
        return self.source != "mamat5"

    @property
    def has_set_up(self) -> bool:
        """Whether there are set-up costs."""
        return self.set_up > 0

    @property
    def name(self) -> str:
        """The setting in words."""
        words = [self.source.removesuffix(".swf"), f"deadlines {self.deadlines:g}"]
        if self.fraction:
            unit = " s" if self.is_log else " intervals"
            words += [f"{self.fraction:.0%} reserved", f"{self.advance:g}{unit} before"]
        return ", ".join([*words, *(["set-up costs"] if self.set_up else [])])

    @property
    def loads(self) -> tuple[float, ...]:
        """The system loads; a log has its own."""
        return (0.0,) if self.is_log else LOADS

    @property
    def compares(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The algorithms with prices, and those of the papers that each is compared with."""
        if self.fraction:
            return ((PRICED, (MULTI_STAGE,)),)
        if self.set_up:
            return ((OURS, PAPERS),)
        return ((OURS, (*PAPERS, MULTI_STAGE)), (PRICED, (*PAPERS, MULTI_STAGE)))

    def seeds(self, count: int) -> range:
        """Return so many seeds, or windows of a log."""
        return range(min(count, WINDOWS)) if self.is_log else range(SEEDS_FROM, SEEDS_FROM + count)

    def parameters(self, horizon: float) -> tuple[tuple[str, Any], ...]:
        """Return what says which streams these are."""
        found = {name: getattr(self, name) for name in MixedSetting.__dataclass_fields__}
        return tuple(sorted((found if self.is_log else {**found, "horizon": horizon}).items()))

    def tasks(self, load: float, seed: int, horizon: float, logs: Path | None) -> Workload:
        """Return a stream before tasks become reservations."""
        if not self.is_log:
            usual = {"horizon": horizon * (2 if self.deadlines > 5 else 1)}
            return mamat5(system_load=load, dc_ratio=self.deadlines, seed=seed, **usual)
        assert logs is not None  # the settings of logs are left out without
        log = _read(logs / self.source)
        submitted = [float(job.submit or 0) for job in log.jobs]
        span = (max(submitted) - min(submitted)) / WINDOWS
        costs = {"theta_cm": self.set_up, "theta_cp": self.set_up}
        factor = self.deadlines
        at = min(submitted) + span * seed
        window = stream_from_log(log, at=at, span=span, deadline_factor=factor, **costs)
        return replace(Workload.of(_in_floats(window.instance)), ids=())

    def mixed(self, workload: Workload, seed: int) -> Instance:
        """Return a stream with its reservations."""
        if not self.is_log:
            return ReservationMix(self.fraction, self.advance, intervals=True).of(workload, seed)
        stream = workload.instance()
        return reserve(stream, fraction=self.fraction, advance=self.advance, seed=seed)


@cache
def _read(path: Path) -> SwfLog:
    with path.open(errors="replace") as lines:
        return parse(lines)


def _in_floats(stream: admission.Instance) -> admission.Instance:
    """Return a stream with floats, as simulations compute in."""
    tasks = (
        replace(task, arrival=float(task.arrival), load=float(task.load)) for task in stream.tasks
    )
    return replace(stream, tasks=tuple(tasks))


def settings(logs: Path | None) -> list[MixedSetting]:
    """Return all settings: without logs those of the papers."""
    found = [MixedSetting("mamat5", ratio, *mix) for ratio in (2.0, 10.0) for mix in MIXES]
    for path in sorted(logs.glob("*.swf")) if logs else ():
        for factor in (2.0, 10.0):
            found += [MixedSetting(path.name, factor, *mix) for mix in LOG_MIXES]
            found.append(MixedSetting(path.name, factor, set_up=SET_UP))
    return found


def reject_ratio(instance: Instance, method: str) -> float:
    """Return the share of tasks and reservations that an algorithm rejects."""
    head = decide_all(method, instance)
    decided = [*head.decisions, *head.grants]
    return sum(not one.accepted for one in decided) / len(decided)


def measured(
    setting: MixedSetting, load: float, seed: int, horizon: float, logs: Path | None
) -> Row:
    """Run all methods on a stream."""
    workload = setting.tasks(load, seed, horizon, logs)
    ratios = {}
    if not setting.fraction:
        ratios = {name: simulate(workload, name).reject_ratio or 0.0 for name in (*PAPERS, OURS)}
    if not setting.set_up:
        mixed = setting.mixed(workload, seed)
        ratios |= {name: reject_ratio(mixed, name) for name in (MULTI_STAGE, PRICED)}
    return Row(setting.parameters(horizon), load, seed, ratios, None, None)


def clairvoyant_ratio(
    setting: MixedSetting, load: float, seed: int, horizon: float, logs: Path | None
) -> float:
    """Return the share of tasks and reservations that a plan rejects which knows all."""
    workload = setting.tasks(load, seed, horizon, logs)
    if not setting.fraction:
        return 1 - most_accepted(workload) / len(workload)
    mixed = setting.mixed(workload, seed)
    return 1 - most_granted(mixed) / (len(mixed.tasks) + len(mixed.reservations))


def most_accepted(workload: Workload) -> int:
    """Return how many tasks the best plan accepts that is found; it is checked.

    It is that of one of three algorithms of the papers to which the larger tasks are not shown: as
    `benchmarks.papers.clairvoyant.most_accepted`, without its slower steps.

    Raises
    ------
    RuntimeError
        If that plan breaks a rule.
    """
    order = sorted(range(len(workload)), key=workload.loads.__getitem__)
    best, chosen = 0, (workload, PLANNERS[0])
    for share in SHOWN:
        shown = substream(workload, order[: round(share * len(order))])
        for planner in PLANNERS:
            outcome = simulate(shown, planner)
            if outcome.tasks - outcome.rejected > best:
                best, chosen = outcome.tasks - outcome.rejected, (shown, planner)
        if best >= len(shown):
            break  # still fewer tasks cannot be better
    checked = simulate(*chosen, check=True)
    if checked.violations or checked.tasks - checked.rejected != best:
        raise RuntimeError(f"{chosen[1]} broke a rule: {checked}")
    return best


def most_granted(instance: Instance) -> int:
    """Return how many tasks and reservations the best plan accepts that is found; it is checked.

    It is that of `multi-stage`, to which the larger requests are not shown.

    Raises
    ------
    RuntimeError
        If that plan breaks a rule.
    """
    unit = float(instance.cluster.tau_of(0)) + float(instance.cluster.chi_of(0))

    def size(one: Task | Reservation) -> float:
        if isinstance(one, Task):
            return float(one.load) * unit
        return float(one.end - one.start) * one.count

    order = sorted((*instance.tasks, *instance.reservations), key=size)
    tried = [order[: round(share * len(order))] for share in SHOWN]
    shown = max(tried, key=lambda some: _accepted(instance, some))
    plan = decide_all(MULTI_STAGE, _of(instance, shown)).plan()
    found = violations(_of(instance, shown), plan, 1e-9)
    if found:
        raise RuntimeError(f"the plan breaks rules: {found[0]}")
    return _accepted(instance, shown)


def _accepted(instance: Instance, shown: Sequence[Task | Reservation]) -> int:
    head = decide_all(MULTI_STAGE, _of(instance, shown))
    return sum(one.accepted for one in (*head.decisions, *head.grants))


def _of(instance: Instance, shown: Sequence[Task | Reservation]) -> Instance:
    """Return an instance with some of its tasks and reservations only."""
    names = {one.id for one in shown}
    tasks = tuple(task for task in instance.tasks if task.id in names)
    wanted = tuple(one for one in instance.reservations if one.id in names)
    return Instance(instance.cluster, tasks, wanted)


def run(wanted: argparse.Namespace, rows: Rows[Row]) -> None:
    """Measure what is missing, seed by seed: first all algorithms, then the plans."""
    streams = [
        (setting, load, seed, wanted.horizon, wanted.logs, count < wanted.plans)
        for count in range(wanted.seeds)
        for setting in settings(wanted.logs)
        for seed in setting.seeds(wanted.seeds)[count : count + 1]
        for load in setting.loads
    ]
    for setting, load, seed, horizon, logs, _ in streams:
        if (setting.parameters(horizon), load, seed) not in rows.by_key:
            rows.add(measured(setting, load, seed, horizon, logs))
    for setting, load, seed, horizon, logs, planned in streams:
        known = rows.by_key[setting.parameters(horizon), load, seed]
        if planned and known.clairvoyant is None:
            lost = clairvoyant_ratio(setting, load, seed, horizon, logs)
            rows.add(replace(known, clairvoyant=lost))


def comparisons(wanted: argparse.Namespace, rows: Rows[Row]) -> Iterator[tuple[str, Comparison]]:
    """Yield the algorithms with prices, each with its comparison in each setting."""
    for setting in settings(wanted.logs):
        parameters = setting.parameters(wanted.horizon)
        keys = [
            [(parameters, load, seed) for load in setting.loads]
            for seed in setting.seeds(wanted.seeds)
        ]
        found = [
            [rows.by_key[key] for key in loads]
            for loads in keys
            if all(key in rows.by_key for key in loads)
        ]
        for priced, papers in setting.compares if found else ():
            yield priced, compared(setting, found, papers, priced)


def main() -> int:
    """Run what is missing; the exit code is 1 if a target is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.better_reservations", description=main.__doc__
    )
    parser.add_argument("--seeds", type=int, default=10, help="and windows of each log, up to 10")
    parser.add_argument("--horizon", type=float, default=3e6, help="at DCRatio 2")
    parser.add_argument("--logs", type=Path, help="folder with logs, NAME.swf")
    parser.add_argument("--plans", type=int, default=1, help="seeds with a clairvoyant plan")
    parser.add_argument("--rows", type=Path, help="keep rows here, and go on from those there")
    parser.add_argument("--stored", action="store_true", help="run nothing: judge what is there")
    parser.add_argument("--markdown", type=Path, help="write the tables here")
    wanted = parser.parse_args()
    with kept(wanted.rows, FORM) as rows:
        if not wanted.stored:
            run(wanted, rows)
        report = Report(quick=False)
        found = list(comparisons(wanted, rows))
        for priced in (OURS, PRICED):
            tables(report, [one for name, one in found if name == priced], priced)
        if wanted.markdown:
            given = f"--seeds {wanted.seeds} --horizon {wanted.horizon:g}"
            command = f"python -m benchmarks.better_reservations {given}"
            report.write_markdown(wanted.markdown, command + " --logs FOLDER" * bool(wanted.logs))
    return 0 if all(target["passed"] for target in report.targets) else 1


if __name__ == "__main__":
    sys.exit(main())
