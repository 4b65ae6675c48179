"""Experiments on streams of divisible loads, as described in the papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.papers.clairvoyant import Bracket, Stream, bracket
from dlopt.simulation import LoadPoint, simulate_many
from dlopt.simulation.process_pool import imap_unordered

LOADS = tuple(number / 10 for number in range(1, 11))
HEAVY = tuple(number / 2 for number in range(1, 11))
_PRINTED = {"fast-edf-iit": "fast-edf-iit:literal-dispatched"}
"""What is printed, where that has a name of its own."""
VARIANTS = {"repaired": "", "as printed": ":literal"}
"""The default algorithms, and those that let tasks share the channel."""

CHAPTER = "Mamat 2011"
REPORT = "Lin et al. 2005"
WITHOUT = " without set-up costs"


@dataclass(frozen=True, slots=True)
class Experiment:
    """Some algorithms over system loads, under one or several settings.

    Parameters
    ----------
    paper, figures : str
    family : str
        Of workloads.
    methods : tuple of str
    parameter : str, optional
        What is varied beside the load.
    settings : tuple
        Its values.
    fixed : mapping
        Other parameters that differ from the family's.
    measures : tuple of str
        What the paper draws.
    loads : tuple of float
    """

    paper: str
    figures: str
    family: str
    methods: tuple[str, ...]
    parameter: str | None = None
    settings: tuple[Any, ...] = (None,)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    measures: tuple[str, ...] = ("reject_ratio", "utilization")
    loads: tuple[float, ...] = LOADS

    def otherwise(self) -> dict[str, Experiment]:
        """Return the experiment under other choices where its paper leaves something open."""
        choices = CHOICES[self.family] if self.fixed != _FREE else {}
        return {
            name: replace(self, fixed={**self.fixed, **changes})
            for name, changes in choices.items()
        }

    def brackets(
        self, seeds: int, horizon: float, processes: int, known: dict[Stream, Bracket]
    ) -> dict[tuple[Any, float], list[Bracket]]:
        """Return what is the least that plans reject, by setting and load, a stream a seed.

        Those that are known are not computed again, those that are computed become known.
        """
        streams = {
            (setting, load, seed): Stream.of(
                self.family, load, seed, {"horizon": horizon, **self.parameters(setting)}
            )
            for setting in self.settings
            for load in self.loads
            for seed in range(seeds)
        }
        asked = [stream for stream in dict.fromkeys(streams.values()) if stream not in known]
        known |= (
            {one.stream: one for one in imap_unordered(bracket, asked, processes)} if asked else {}
        )
        return {
            (setting, load): [known[streams[setting, load, seed]] for seed in range(seeds)]
            for setting in self.settings
            for load in self.loads
        }

    def parameters(self, setting: Any) -> dict[str, Any]:
        """Return what the family is given under a setting; set-up costs vary together."""
        if self.parameter is None:
            return dict(self.fixed)
        if self.parameter == "set-up costs":
            return {**self.fixed, "theta_cm": setting, "theta_cp": setting}
        return {**self.fixed, self.parameter: setting}

    def run(self, variant: str, seeds: int, horizon: float, processes: int) -> Results:
        """Simulate everything, for one of the `VARIANTS`."""
        names = {_named(method, VARIANTS[variant]): method for method in self.methods}
        points: dict[tuple[Any, str, float], LoadPoint] = {}
        for setting in self.settings:
            found = simulate_many(
                self.family,
                list(names),
                loads=self.loads,
                seeds=range(seeds),
                processes=processes,
                parameters={"horizon": horizon, **self.parameters(setting)},
            )
            for point in found:
                method = names[point.method]
                load = min(self.loads, key=lambda known: abs(known - (point.system_load or 0)))
                points[setting, method, load] = point
        return Results(self, variant, points)


def _named(method: str, suffix: str) -> str:
    """Return the name of a method, repaired or as printed."""
    if not suffix or method.endswith("-anna"):
        return method
    return _PRINTED.get(method, method + suffix)


@dataclass(frozen=True, slots=True)
class Results:
    """What an experiment gave, by setting, method and load."""

    experiment: Experiment
    variant: str
    points: Mapping[tuple[Any, str, float], LoadPoint]

    def mean(
        self, method: str, load: float, measure: str = "reject_ratio", setting: Any = None
    ) -> float:
        """Return the mean of a measure over the seeds."""
        estimate = self.points[setting, method, load].estimate(measure)
        return 0.0 if estimate is None else estimate.mean

    def by_seed(
        self, method: str, load: float, measure: str = "reject_ratio", setting: Any = None
    ) -> list[float]:
        """Return a measure of each seed."""
        outcomes = self.points[setting, method, load].outcomes
        return [float(getattr(outcome, measure) or 0.0) for outcome in outcomes]


_EDF = ("edf-opr-mn", "edf-epr-mn", "edf-opr-an", "edf-epr-an")
_ORDERS = ("fifo-opr-mn", "edf-opr-mn", "mwf-opr-mn")
_FREE = {"theta_cm": 0, "theta_cp": 0}
_SIX = {**_FREE, "nodes": 64}
_REPORT = ("mcdf", "fifo-opr-an", "fifo-opr-mn", "edf-opr-an", "edf-opr-mn")

CHOICES: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "mamat4": {
        "a load loses its sign": {"loads": "absolute"},
        "an early deadline is raised": {"deadlines": "raise"},
        "deadlines as on n* nodes": {"reference": "best"},
    },
    "lin5": {
        "a load loses its sign": {"loads": "absolute"},
        "the load as defined": {"interval": "definition"},
    },
}
"""Other choices than ours of what the papers leave open, by family of workloads.

Ours: loads that are not positive and deadlines that nobody can meet are drawn again, deadlines are
those of (4.6) on all nodes, and bursts arrive at the interval of a task.
"""

EXPERIMENTS = {
    "4.6": Experiment(CHAPTER, "4.6", "mamat4", _EDF),
    "4.7": Experiment(
        CHAPTER, "4.7", "mamat4", ("edf-opr-an", "edf-epr-an"), "dc_ratio", (2, 10, 100)
    ),
    "4.8": Experiment(
        CHAPTER, "4.8", "mamat4", ("edf-opr-mn", "edf-epr-mn"), "chi", (100, 1000, 10_000)
    ),
    "4.9a": Experiment(
        CHAPTER, "4.9a", "mamat4", ("edf-opr-mn", "edf-opr-an"), "tau", (1, 5, 10, 20)
    ),
    "4.9b": Experiment(
        CHAPTER, "4.9b", "mamat4", ("edf-opr-mn", "edf-opr-an"), "dc_ratio", (2, 4, 6, 10)
    ),
    "4.10-4.12": Experiment(CHAPTER, "4.10-4.12", "mamat4", _ORDERS, "tau", (1, 10, 20)),
    "6.10": Experiment(
        CHAPTER, "6.10", "mamat4", ("edf-iit-1", "edf-iit-2", "fast-edf-iit"), fixed=_SIX
    ),
    "6.17": Experiment(
        CHAPTER, "6.17", "mamat4", ("edf-iit-2", "fast-edf-iit", "hybrid"), fixed=_SIX
    ),
    "6.18": Experiment(
        CHAPTER,
        "6.18",
        "mamat4",
        ("edf-iit-2", "fast-edf-iit", "hybrid"),
        fixed={**_SIX, "dc_ratio": 100},
        loads=HEAVY,
    ),
    "R4": Experiment(REPORT, "4", "lin5", _REPORT, measures=("reject_ratio",)),
    "R5": Experiment(REPORT, "5", "lin5", ("fifo-anna", "edf-anna"), measures=("miss_ratio",)),
    "R6-R9": Experiment(
        REPORT, "6-9", "lin5", _REPORT, "set-up costs", (5, 10, 15, 20), measures=("reject_ratio",)
    ),
    "R10": Experiment(
        REPORT,
        "10",
        "lin5",
        ("mcdf",),
        "tau",
        (2, 5, 10, 20, 30, 50),
        measures=("reject_ratio",),
    ),
}
EXPERIMENTS |= {
    f"{name}{WITHOUT}": replace(it, figures=f"{it.figures}{WITHOUT}", fixed=_FREE)
    for name, it in EXPERIMENTS.items()
    if it.paper == CHAPTER and it.figures.startswith("4")
}
"""All of them; those of the chapter without set-up costs, too.

In figure 10 of the report ``chi`` is 10, so that ``tau`` says the ratio.
"""
