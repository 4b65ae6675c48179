"""Experiments: identification, controller design, and comparison of strategies."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from dlopt.errors import NotApplicableError
from dlopt.generation.uncertain_times import mamat7, outage
from dlopt.generation.workload import Workload
from dlopt.problems.admission import Scenario
from dlopt.simulation.feedback.controller import Controller
from dlopt.simulation.feedback.identification import Model, excitation, identify
from dlopt.simulation.feedback.monitor import merged_periods
from dlopt.simulation.feedback.policy import STRATEGIES, Policy, Strategy, strategy_of
from dlopt.simulation.feedback.root_locus import Design, Specification, design
from dlopt.simulation.feedback.run import FeedbackRun
from dlopt.simulation.replications import MeanEstimate, estimate

Progress = Callable[[int, int], None]

MAX_HOLD_PERIODS = 3
"""Each random bound of an identification run is kept for 1 to 3 periods; chosen by hand."""

IDENTIFICATION_SEED_OFFSET = 1000
"""Added to a seed for the run to which a model is fitted, and one more for the validation
run, so that they use other tasks than the comparison."""


@dataclass(frozen=True, slots=True)
class ExperimentSetting:
    """An experiment of chapter 7: what arrives, how it is measured, what is wanted.

    Parameters
    ----------
    period : float, default 100_000
        Sampling period, in the time units of the workload.
    periods : int, default 180
        Number of sampling periods. Figure 7.5 fails nodes in the 90th, in the middle.
    set_point : float, default 0.05
        Wanted miss ratio, between 0 and 1.
    least_bound, most_bound : float
        The controller keeps the utilization bound between these two.
    load_from, load_to : float
        See `mamat7`.
    failing : float, default 0
        Share of the nodes that fails in the middle of the time.
    recovery : float, optional
        Part of the time after which they are back, such as 0.75; by default never.
    order : int, default 1
        Order of the identified model.
    excited_from, excited_to : float
        Utilization bounds of the identification run, from the least to the largest.
    identified_at : float, default 1.2
        System load of the identification run, constant.
    parameters : mapping
        Others of `mamat7`.
    policy : Policy
    specification : Specification
    given : tuple of Workload and Scenario, optional
        Instead of `mamat7`, whatever the seed, also for the identification run.

    Raises
    ------
    NotApplicableError
        If a number is out of its range.
    """

    period: float = 100_000
    periods: int = 180
    set_point: float = 0.05
    least_bound: float = 0.05
    most_bound: float = 1.5
    load_from: float = 0.3
    load_to: float = 1.5
    failing: float = 0.0
    recovery: float | None = None
    order: int = 1
    excited_from: float = 0.3
    excited_to: float = 1.2
    identified_at: float = 1.2
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    policy: Policy = dataclasses.field(default_factory=Policy)
    specification: Specification = dataclasses.field(default_factory=Specification)
    given: tuple[Workload, Scenario] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.periods, bool) or not isinstance(self.periods, int) or self.periods < 2:
            raise NotApplicableError(f"periods must be an integer from 2 on, got {self.periods!r}")
        for name, least in (("set_point", 0.0), ("recovery", 0.5)):
            value = getattr(self, name)
            if value is not None and not least < value < 1:
                raise NotApplicableError(f"{name} must lie between {least:g} and 1, got {value}")
        if not 0 <= self.failing <= 1:
            raise NotApplicableError(f"failing must lie between 0 and 1, got {self.failing}")
        for low_name, high_name in (
            ("least_bound", "most_bound"),
            ("excited_from", "excited_to"),
        ):
            low, high = getattr(self, low_name), getattr(self, high_name)
            if not 0 < low < high:
                text = f"{low_name} must be positive and below {high_name}, got {low} and {high}"
                raise NotApplicableError(text)

    @property
    def horizon(self) -> float:
        """The time during which tasks arrive."""
        return self.periods * self.period if self.given is None else self.given[0].horizon

    def stream(self, seed: int) -> tuple[Workload, Scenario]:
        """Return random tasks, their true costs, and the failures."""
        workload, scenario = self._drawn(self.load_from, self.load_to, seed)
        if self.failing:
            middle = self.horizon / 2
            back = None if self.recovery is None else self.recovery * self.horizon
            failures = outage(workload.cluster.nodes, middle, back, share=self.failing)
            scenario = dataclasses.replace(scenario, failures=(*scenario.failures, *failures))
        return workload, scenario

    def identification_run(self, seed: int) -> FeedbackRun:
        """Run tasks of a constant load under random bounds."""
        workload, scenario = self._drawn(self.identified_at, self.identified_at, seed)
        count = self.periods if self.given is None else math.ceil(self.horizon / self.period) + 1
        bounds = excitation(
            count, self.excited_from, self.excited_to, hold=MAX_HOLD_PERIODS, seed=seed
        )
        return FeedbackRun(
            workload, scenario, "feedback", policy=self.policy, period=self.period, bounds=bounds
        )

    def run(self, strategy: str | Strategy, found: Design | None, seed: int) -> FeedbackRun:
        """Run a strategy on the tasks of a seed; a controlled one needs a design."""
        strategy = strategy_of(strategy)
        controller = None
        if strategy.controlled and found is not None:
            first = min(max(1.0, self.least_bound), self.most_bound)
            controller = Controller(
                found.gains, self.set_point, first, self.least_bound, self.most_bound
            )
        return FeedbackRun(
            *self.stream(seed),
            strategy,
            controller=controller,
            policy=self.policy,
            period=self.period,
        )

    def _drawn(self, first: float, last: float, seed: int) -> tuple[Workload, Scenario]:
        if self.given is not None:
            return self.given
        return mamat7(
            load_from=first, load_to=last, horizon=self.horizon, seed=seed, **self.parameters
        )


@dataclass(frozen=True, slots=True)
class StrategyComparison:
    """The identified model, the controller designed for it, and the runs of the strategies.

    Parameters
    ----------
    setting : ExperimentSetting
    model : Model
    validation : float
        Share of variance that the model explains in a validation run.
    design : Design
    runs : dict
        By the name of the strategy, one run per seed.
    """

    setting: ExperimentSetting
    model: Model
    validation: float
    design: Design
    runs: Mapping[str, tuple[FeedbackRun, ...]]


def compare_strategies(
    setting: ExperimentSetting | None = None,
    strategies: Iterable[str] = tuple(STRATEGIES),
    *,
    seeds: Iterable[int] = (0,),
    progress: Progress | None = None,
) -> StrategyComparison:
    """Identify a system, design its controller, and compare strategies on the same tasks.

    Parameters
    ----------
    setting : ExperimentSetting, optional
    strategies : iterable of str
        Names in `STRATEGIES`.
    seeds : iterable of int
    progress : callable, optional
        Called with the numbers of completed and of all runs.

    Returns
    -------
    StrategyComparison

    Raises
    ------
    NotApplicableError
        If a parameter is out of its range, or no controller meets the specification.
    MissingExtraError
        If python-control is not installed.

    Examples
    --------
    >>> comparison = compare_strategies(ExperimentSetting(periods=40), ["feedback", "no-feedback"])
    >>> comparison.design.stable, comparison.design.settling <= 10, list(comparison.runs)
    (True, True, ['feedback', 'no-feedback'])
    """
    setting, wanted, names = setting or ExperimentSetting(), tuple(seeds), tuple(strategies)
    if not wanted or not names:
        raise NotApplicableError("at least one strategy and one seed are needed")
    for name in names:
        strategy_of(name)
    total, report = 2 + len(names) * len(wanted), progress or (lambda done, total: None)
    report(0, total)
    fitted = setting.identification_run(wanted[0] + IDENTIFICATION_SEED_OFFSET)
    model = identify(fitted.inputs, fitted.outputs, setting.order)
    try:
        found = design(model, setting.specification)
    except NotApplicableError as error:
        gain = f"{model.gain:.3g} with a standard error of {model.gain_error:.2g}"
        raise NotApplicableError(f"{error}; the identified gain is {gain}") from error
    report(1, total)
    other = setting.identification_run(wanted[0] + IDENTIFICATION_SEED_OFFSET + 1)
    validation = model.explained_variance(other.inputs, other.outputs)
    report(2, total)
    runs: dict[str, list[FeedbackRun]] = {name: [] for name in names}
    for index, seed in enumerate(wanted):
        for place, name in enumerate(names, start=1):
            runs[name].append(setting.run(name, found, seed))
            report(2 + index * len(names) + place, total)
    kept = {name: tuple(of_seeds) for name, of_seeds in runs.items()}
    return StrategyComparison(setting, model, validation, found, kept)


def measure_over_time(
    runs: Sequence[FeedbackRun], measure: str, pieces: int = 20
) -> tuple[tuple[float, MeanEstimate], ...]:
    """Return a measure over time, in intervals of equally many periods.

    Parameters
    ----------
    runs : sequence of FeedbackRun
        With equally many periods, one per seed.
    measure : {"miss_ratio", "reject_ratio", "utilization", "bound"}
    pieces : int, default 20
        Number of intervals.

    Returns
    -------
    tuple of (float, MeanEstimate)
        The middle of each interval, in periods, and the mean over the seeds with its confidence
        interval. Intervals without data are omitted.

    Examples
    --------
    >>> runs = [FeedbackRun(*mamat7(horizon=1_000_000), "no-feedback")]
    >>> [(middle, value.mean) for middle, value in measure_over_time(runs, "bound", 2)]
    [(2.5, 1.0), (7.5, 1.0)]
    """
    count = len(runs[0].periods)
    edges = sorted({round(piece * count / pieces) for piece in range(pieces + 1)})
    found = []
    for first, last in pairwise(edges):
        values = [getattr(merged_periods(run.periods[first:last]), measure) for run in runs]
        known = [value for value in values if value is not None]
        if known:
            found.append(((first + last) / 2, estimate(known)))
    return tuple(found)
