"""The settings of the figures that `benchmarks.better` compares, and the streams of each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from benchmarks.papers.admission import BEST
from benchmarks.papers.clairvoyant import Stream
from benchmarks.papers.experiments import EXPERIMENTS, WITHOUT
from benchmarks.papers.figure_files import curves_of
from dlopt.generation.paper_workloads import WORKLOADS

FIGURES = (
    *("4.6", "4.7", "4.8", "4.9a", "4.9b", "4.10-4.12", "6.10", "6.18"),
    *("R4", "R6-R9", "R10"),
)
"""Without figure 5 of the report, which is of algorithms without admission control on the streams
of figure 4."""
PAPERS = (
    "fifo-opr-mn",
    "edf-opr-mn",
    "edf-epr-mn",
    "edf-opr-an",
    "edf-epr-an",
    "mwf-opr-mn",
    "mwf-epr-mn",
    "mcdf",
    "edf-iit-2",
)
"""The sound algorithms of the papers, in addition to those that a figure compares. Without
EDF-IIT-1, which EDF-IIT-2 dominates, and those of chapter 6, which are for clusters without set-up
costs."""
SEED_DRAWN = 0
"""The seed of the plans and bounds in the pictures of the figures."""
PICTURES = Path(__file__).parent / "papers" / "figures"


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a figure, with the name and the value of what is varied in it."""

    figure: str
    parameter: str | None
    value: Any

    @property
    def values(self) -> dict[str, Any]:
        """The family of its streams, and all of their parameters."""
        it = EXPERIMENTS[self.figure]
        usual = signature(WORKLOADS[it.family]).parameters.items()
        defaults = {name: parameter.default for name, parameter in usual}
        return {"family": it.family, **defaults, **it.parameters(self.value)}

    @property
    def has_set_up(self) -> bool:
        """Whether there are set-up costs."""
        return bool(self.values["theta_cm"])

    @property
    def papers(self) -> tuple[str, ...]:
        """The algorithms that are compared."""
        return tuple(dict.fromkeys((*PAPERS, *EXPERIMENTS[self.figure].methods)))

    def loads(self, shares: Iterable[float]) -> list[float]:
        """Return shares of the largest load of the figure."""
        return [share * EXPERIMENTS[self.figure].loads[-1] for share in shares]

    @property
    def name(self) -> str:
        """The setting in words."""
        of = "" if self.parameter is None else f", {self.parameter} {self.value}"
        return f"{self.figure.replace(WITHOUT, ' (0)')}{of}"

    def drawn(self, load: float) -> tuple[float, float] | None:
        """Return the clairvoyant reject ratio and the bound of the picture of the figure, if known.

        They are those of seed `SEED_DRAWN`, of half of the papers' simulated time.
        """
        name = f"fig-{self.figure} repaired.svg".replace(" ", "-")
        of = "" if self.parameter is None else f", {self.parameter} {self.value}"
        curves = {one.name: one for one in curves_of(PICTURES / name).get(f"reject ratio{of}", ())}
        found = [
            {point.x: point.y for point in curves[label].points}.get(load)
            for label in BEST.values()
            if label in curves
        ]
        plan, bound = found if len(found) == len(BEST) else (None, None)
        return None if plan is None or bound is None else (plan, bound)

    def parameters(self, horizon: float | None) -> dict[str, Any]:
        """Return the family and the parameters of its streams, without those that are as usual.

        The horizon grows with execution times; None is half of the papers' simulated time.
        """
        found, usual = self.values, Setting("4.6", None, None).values
        family, length = found["family"], found["horizon"] / 2
        if horizon is not None:
            length = horizon * found["horizon"] / usual["horizon"]
        if horizon is not None and family == "mamat4":
            length *= found["chi"] / usual["chi"] * usual["nodes"] / found["nodes"]
            length *= min(max(found["dc_ratio"] / 5, 1), 2)
        given = {**EXPERIMENTS[self.figure].parameters(self.value), "horizon": length}
        return {"family": family, **dict(Stream.of(family, 0, 0, given).parameters)}


def settings(figures: Iterable[str]) -> list[Setting]:
    """Return all settings of figures, with set-up costs and without."""
    return [
        Setting(figure, EXPERIMENTS[figure].parameter, value)
        for suffix in ("", WITHOUT)
        for figure in (f"{name}{suffix}" for name in figures)
        if figure in EXPERIMENTS
        for value in EXPERIMENTS[figure].settings
    ]
