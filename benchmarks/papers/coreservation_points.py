"""Parameters of Min's figures 4.3-4.7 and 5.9-5.13: instances, methods, measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

from dlopt.generation.coreservation import min4, min5
from dlopt.problems.coreservation import Instance

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "RB": ("rb", {}),
    "RB by priority": ("rb", {"order": "priority"}),
    "RSPB": ("rspb", {}),
    "Co-RSPB": ("co-rspb", {}),
    "Co-RSBF": ("co-rsbf", {}),
    "Co-RSBFR": ("co-rsbfr", {}),
    "bound": ("bound-aggregated-lp", {}),
    "clairvoyant": ("lns", {}),
    "exact per batch": ("rolling-exact", {}),
}
"""By what the curves are called."""
PRINTED = " as printed"
"""What is added to a name for the algorithm as printed."""
METHODS |= {
    f"RB{PRINTED}": ("rb:literal-slots", {}),
    f"RB by priority{PRINTED}": ("rb:literal-slots", {"order": "priority"}),
    f"RSPB{PRINTED}": ("rspb:literal", {}),
    f"Co-RSPB{PRINTED}": ("co-rspb:literal", {}),
    f"Co-RSBF{PRINTED}": ("co-rsbf:literal", {}),
    f"Co-RSBFR{PRINTED}": ("co-rsbfr:literal", {}),
}
EXACT = ("bound", "clairvoyant", "exact per batch")
BOUND = "bound"
"""A single linear program. To branch (`bound-aggregated`) brings half a percent at 300 requests."""
OBJECTIVES = ("benefit", "rejections", "rejected-priority")
"""Measures that an exact method can be asked for."""

FAMILIES: Mapping[str, Callable[..., Instance]] = {"min4": min4, "min5": min5}
_AHEAD = 4320
"""Windows start within so many units of their requests' arrivals."""
_FOUR = ("RB", "RSPB")
"""The algorithms of chapter 4."""
_FIVE = ("Co-RSPB", "Co-RSBF", "Co-RSBFR")
"""The algorithms of chapter 5."""

Parameters = Mapping[str, float | str]

CHOICES: Mapping[str, Mapping[str, Parameters]] = {
    "batches of 10 units": {"min4": {"batch": 10}},
    "batches of 500 units": {"min4": {"batch": 500}},
    "priorities 1 to 10": {"min4": {"most_priority": 10}},
    "a request every unit": {"min5": {"mean_interval": 1}},
    "a request every 50 units": {"min5": {"mean_interval": 50}},
    "linear benefits": {"min4": {"shapes": "linear"}, "min5": {"shapes": "linear"}},
    "benefits in stairs": {"min4": {"shapes": "stairs"}, "min5": {"shapes": "stairs"}},
}
"""Other choices than ours where the thesis leaves something open, by family.

Ours: batches of 50 units and priorities to 100 in chapter 4 too, in chapter 5 a request every 9.52
units, as in chapter 4, and each of four benefit functions for a quarter of the requests.
"""

NARROWER = {
    "CPU within 15 points of its mean": 15.0,
    "CPU within 7 points of its mean": 7.0,
}
"""Figure 4.6 otherwise: ours is as wide as the thesis draws requests; it gives means alone."""
EVERY_CHOICE = (*CHOICES, *NARROWER)
_OPEN = {"min4": "batches, priorities, benefits", "min5": "arrivals, benefits"}
_REQUESTED = (20, 25, 30, 35, 40, 45, 47.5, 50, 52.5, 56, 63)


@dataclass(frozen=True, slots=True)
class Experiment:
    """A figure: what is varied, on which methods, and what is measured.

    Parameters
    ----------
    axis : str
    family : str
        One of `FAMILIES`; it makes the instances.
    points : mapping of float to dict
        Parameters by abscissa.
    methods : tuple of str
    measures : tuple of str
    exact : tuple of str
        Methods that are asked for the best of each measure.
    proven : tuple of float, optional
        Where; by default at all points.
    """

    axis: str
    family: str
    points: Mapping[float, Parameters]
    methods: tuple[str, ...] = _FIVE
    measures: tuple[str, ...] = ("benefit", "rejections")
    exact: tuple[str, ...] = EXACT
    proven: tuple[float, ...] | None = None

    def best(self, measure: str, x: float | None = None) -> tuple[str, ...]:
        """Return the exact methods that are asked for a measure, at one point or anywhere."""
        asked = self.proven is None or (x in self.proven if x is not None else bool(self.proven))
        return self.exact if asked and measure in OBJECTIVES else ()


def _horizons(shorter: float, *lengths: int, **others: float) -> dict[float, Parameters]:
    """Return simulated times, without those too short for windows to lie side by side."""
    return {
        length: {"horizon": length / shorter, **others}
        for length in lengths
        if length / shorter > _AHEAD
    }


def _around(cpu: float, half: float | None = None) -> Parameters:
    """Return bounds of CPU around a mean, as far as 70 % is not exceeded.

    Parameters
    ----------
    cpu : float
    half : float, optional
        Points to both sides; by default as many as the range of the thesis leaves, 20 to 70 %.
    """
    width = min(cpu - 20 if half is None else half, 70 - cpu)
    return {"least_cpu": ceil(cpu - width), "most_cpu": floor(cpu + width)}


def _scaled(duration: int, least: int, most: int) -> Parameters:
    """Return bounds of durations in the proportion of the defaults, around another mean."""
    middle = (least + most) / 2
    return {
        "least_duration": max(1, round(least * duration / middle)),
        "most_duration": round(most * duration / middle),
    }


def experiments(shorter: float) -> dict[str, Experiment]:
    """Return all experiments, those of chapter 4 over so much less simulated time."""
    day = 100_000 / shorter
    four: dict[str, Any] = {
        "family": "min4",
        "methods": _FOUR,
        "measures": ("rejections",),
        "exact": (BOUND,),
    }
    return {
        "4.3": Experiment(
            "simulated time of the thesis",
            points=_horizons(shorter, 10_000, 40_000, 80_000, 120_000),
            **{**four, "measures": ("rejections", "benefit")},
        ),
        "4.4": Experiment(
            "machines",
            points={m: {"horizon": day, "machines": m} for m in (2, 5, 10, 15, 20)},
            **four,
        ),
        "4.5": Experiment(
            "mean duration",
            points={d: {"horizon": day, **_scaled(d, 20, 300)} for d in (30, 100, 160, 250, 350)},
            **four,
        ),
        "4.6": Experiment(
            "mean of requested CPU, %",
            points={c: {"horizon": day, **_around(c)} for c in _REQUESTED},
            **{**four, "measures": ("reserved",)},
        ),
        "4.7": Experiment(
            "simulated time of the thesis",
            points=_horizons(shorter, 10_000, 50_000, 100_000, lead=300),
            **{
                **four,
                "methods": ("RB", "RB by priority", "RSPB"),
                "measures": ("rejected-priority", "rejections"),
            },
        ),
        "5.9": Experiment(
            "requests", "min5", {n: {"requests": n} for n in (100, 300, 700, 1300, 1900)}
        ),
        "5.10": Experiment("machines", "min5", {m: {"machines": m} for m in (4, 10, 20, 30, 40)}),
        "5.11": Experiment(
            "mean duration", "min5", {d: _scaled(d, 20, 180) for d in (24, 60, 100, 130, 159)}
        ),
        "5.12": Experiment(
            "share of floating requests",
            "min5",
            {share: {"floating": share} for share in (0, 0.25, 0.5, 0.75, 1)},
        ),
        "5.13": Experiment(
            "highest priority", "min5", {top: {"most_priority": top} for top in (10, 40, 70, 100)}
        ),
        "5.9 at once": Experiment(
            "mean time between requests",
            "min5",
            {gap: {"mean_interval": gap} for gap in (0.5, 1, 2, 5, 10, 20)},
            exact=(BOUND,),
        ),
    }


def left_open(figure: str, it: Experiment) -> str:
    """Return in words what the thesis leaves open of a figure."""
    if figure == "5.9 at once":
        return "benefits"
    return _OPEN[it.family] + (", width of CPU" if figure == "4.6" else "")


def under(choice: str, chosen: Mapping[str, Experiment]) -> dict[str, Experiment]:
    """Return the experiments that a choice is about, with it, without exact methods.

    Parameters
    ----------
    choice : str
        One of `EVERY_CHOICE`.
    chosen : mapping of str to Experiment
    """
    found = {}
    for figure, it in chosen.items():
        if choice in NARROWER:
            changes = {x: _around(x, NARROWER[choice]) for x in it.points if figure == "4.6"}
        else:
            change = CHOICES[choice].get(it.family, {})
            varied = {name for point in it.points.values() for name in point}
            changes = {x: change for x in it.points if change and not varied & change.keys()}
        if changes:
            points = {x: {**it.points[x], **change} for x, change in changes.items()}
            found[figure] = replace(it, points=points, exact=())
    return found


def quick(chosen: Mapping[str, Experiment]) -> dict[str, Experiment]:
    """Return the experiments without the largest points; exact methods where there are fewest."""
    return {
        figure: replace(
            it,
            points={x: p for x, p in it.points.items() if p.get("requests", 0) <= 700},
            proven=(100,) if figure == "5.9" else (),
        )
        for figure, it in chosen.items()
    }


def sparse(chosen: Mapping[str, Experiment]) -> dict[str, Experiment]:
    """Return the experiments with every second point up to the last, figure 4.6 where it matters.

    What is claimed of that figure is about less than 25 %, 50 % among its neighbours, and 63 %.
    """
    found = {}
    for figure, it in chosen.items():
        kept = [20, *_REQUESTED[5:]] if figure == "4.6" else list(it.points)[::-2]
        found[figure] = replace(it, points={x: p for x, p in it.points.items() if x in kept})
    return found
