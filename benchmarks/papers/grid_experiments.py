"""Experiments of Chen 2001 for its figures 7 to 13: their parameters, and their results by seed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dlopt.simulation.grid.sweep import GridExperiment, SweepRow
from dlopt.simulation.replications import estimate

SIZES = (1, 2, 3, 4, 5, 10, 15, 20)
TASKS = (1000, 1500, 2000, 2500, 3000)
INTERVALS = (1000, 2000, 3000, 4000, 5000)
RATES = (0.0, 0.0005, 0.001, 0.0015, 0.002)
PHASES: dict[str, tuple[float, ...]] = {
    "tasks": TASKS,
    "interval": INTERVALS,
    "failure_rate": RATES,
}
KAPPA = 2
"""The thesis does not say which deadlines it used: twice the critical path at power 1."""
LOAD = (0.3, 1.95)
"""Nor how CPUs are loaded: a run takes its estimate times a number between these, evenly. Twice
the estimate is a failure in the thesis, so factors end below. The thesis contradicts itself on
where they begin: it says that no run takes more than its estimate, which is that of a machine
wholly free, so that none can take less (docs/errata.md, chen-5). The reference is the thesis'
setting and has both sides; the setting "load 1 to 1.95" has the sound side alone."""


@dataclass(frozen=True, slots=True)
class OpenChoice:
    """A choice where the thesis leaves something open, by its differences from the reference."""

    name: str
    changes: tuple[tuple[str, Any], ...] = ()
    added: str = ""
    times: int = 1
    flat: bool = False


REFERENCE = OpenChoice("reference")
"""LANs on ten routers, CPUs that are loaded, as much data for all subtasks of a task."""
SETTINGS = (
    OpenChoice("no load", (("slowdown", (1, 1)),), flat=True),
    OpenChoice("a full mesh", (("topology", "mesh"),)),
    OpenChoice("load 1 to 1.95", (("slowdown", (1, 1.95)),), flat=True),
    OpenChoice("deadlines twice as far", (("kappa", 2 * KAPPA),), flat=True),
    OpenChoice("ten times the subtask data", (("subtask_data", 2000),)),
    OpenChoice("ALC weight .9, data per edge", (("memory", 0.9), ("data_per", "edge"))),
    OpenChoice(
        "other readings",
        added="+eq3-corrected+eq5-instant+eq6-not-advanced+pull-back-keeps",
        flat=True,
    ),
    OpenChoice("twice the LANs", times=2),
)
"""Other choices, and what may not matter: one thing differs from the reference in each."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of the thesis is simulated: LANs, and tasks in proportion."""

    lans: int
    sizes: tuple[int, ...]
    seeds: int
    ends: bool
    """Whether only the first, second and last value of a parameter are simulated."""
    setting: OpenChoice = REFERENCE

    def of(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the values of a parameter that are simulated."""
        if not self.ends:
            return tuple(values)
        return tuple(dict.fromkeys((values[0], values[1], values[-1])))

    def case(self, name: str, **changes: float | str) -> GridExperiment:
        """Return a case of the thesis, with so many LANs and tasks in proportion."""
        lans = self.lans * self.setting.times
        tasks = int(changes.pop("tasks", 2000)) * lans // 100
        base = GridExperiment(
            variant=name + self.setting.added,
            topology="tiers",
            lans=lans,
            kappa=KAPPA,
            tasks=tasks,
            slowdown=LOAD,
        )
        return replace(base, **dict(self.setting.changes) | changes)  # type: ignore[arg-type]


FULL = Scale(100, SIZES, 10, ends=False)
USUAL = Scale(20, (1, 2, 3, 5, 20), 5, ends=True)
QUICK = Scale(20, (1, 2, 3, 20), 2, ends=True)


class MissingCaseError(LookupError):
    """A case was not simulated."""


class Results:
    """Rows by case and seed."""

    def __init__(self, scale: Scale, rows: Iterable[SweepRow]) -> None:
        self.scale = scale
        self._rows: dict[GridExperiment, dict[int, SweepRow]] = {}
        for row in rows:
            self._rows.setdefault(replace(row.case, seed=0), {})[row.case.seed] = row

    def has(self, case: GridExperiment) -> bool:
        """Tell whether a case was simulated."""
        return case in self._rows

    def seeds(self) -> tuple[int, int]:
        """Return the fewest and the most seeds of a case."""
        counts = [len(rows) for rows in self._rows.values()]
        return min(counts), max(counts)

    def spread(self, measure: str, case: GridExperiment) -> tuple[float, float | None]:
        """Return the mean of a measure, and half the width of its confidence interval."""
        return estimate([float(getattr(row, measure)) for row in self._of(case).values()])

    def mean(self, measure: str, name: str, **changes: float | str) -> float:
        """Return the mean of a measure, of a case of the thesis."""
        return self.spread(measure, self.scale.case(name, **changes))[0]

    def gain(
        self, measure: str, first: GridExperiment, last: GridExperiment, *, relative: bool = False
    ) -> tuple[float, float | None]:
        """Return by how much a measure is higher in the last case, seed by seed."""
        before, after = self._of(first), self._of(last)
        found = []
        for seed in before.keys() & after.keys():
            low, high = (float(getattr(rows[seed], measure)) for rows in (before, after))
            found.append(high / low - 1 if relative else high - low)
        if not found:
            raise MissingCaseError(first)
        return estimate(found)

    def _of(self, case: GridExperiment) -> dict[int, SweepRow]:
        if case not in self._rows:
            raise MissingCaseError(case)
        return self._rows[case]


def flat_cases(scale: Scale, name: str) -> list[GridExperiment]:
    """Return the cases of figure 13: one LAN of all nodes, and many."""
    many = scale.case(name, topology="flat", failure_rate=0.0)
    many = replace(many, gateways=many.lans)
    one = replace(many, lans=1, nodes=10 * many.lans)
    return [replace(case, queue_size=size) for case in (one, many) for size in scale.sizes]
