"""The pictures of `dlopt simulate grid`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from dlopt.cli.option_values import number
from dlopt.cli.picture_options import PictureStyle
from dlopt.cli.simulate_grid_tables import SWEPT_PARAMETERS, groups, mean
from dlopt.errors import NotApplicableError
from dlopt.presentation.wording import counted
from dlopt.problems.validated_record import Units

if TYPE_CHECKING:
    from dlopt.problems.dag import Instance
    from dlopt.simulation.grid import GridOutcome, GridRun
    from dlopt.simulation.grid.metrics import Series
    from dlopt.simulation.grid.sweep import GridExperiment, SweepRow

_MOST_CURVES = 6
"""More LANs than these are drawn as the least and the most of any."""
_OVER_TIME = {
    "met_ratio": "deadline hit ratio",
    "response": "mean response ({time})",
    "utilization": "utilization",
    "external": "data to other LANs ({data} per LAN)",
    "internal": "data within the LAN ({data} per LAN)",
    "resent": "resubmissions (per LAN)",
}
"""What a measure is called at its axis, with the units of the instance."""
_SWEPT = {
    "met_ratio": "deadline hit ratio",
    "response": "mean response ({time})",
    "external": "data between LANs ({data})",
    "internal": "data within LANs ({data})",
}
"""The same of many simulations."""
_PARAMETERS = {
    "tasks": "number of tasks",
    "interval": "mean inter-arrival time at a LAN (s)",
    "failure_rate": "failure probability of a node per subtask",
    "queue_size": "queue length of a node (subtasks)",
}
"""What a parameter is called at the axis."""
_GENERATED = Units("s", data="KB")
"""The units of simulations without an instance."""


class PlotRequest(NamedTuple):
    """The pictures of one simulation that were asked for."""

    gantt: Path | None
    over_time: Path | None
    window: tuple[float, float] | None
    lans: tuple[int, ...] | None

    @classmethod
    def of(
        cls, gantt: Path | None, over_time: Path | None, window: str | None, lans: str | None
    ) -> PlotRequest:
        """Return the request that the texts of the options state."""
        if (window is not None or lans is not None) and gantt is None and over_time is None:
            raise NotApplicableError("--window and --lans need --plot or --over-time")
        return cls(gantt, over_time, _read_window(window), _read_lans(lans))

    def check(self, case: GridExperiment, instance: Instance | None) -> None:
        """Raise if it cannot be drawn, before anything is simulated."""
        if self.gantt is None and self.lans is None:
            return
        from dlopt.plotting.grid_trace import selected_machines

        built = case.built if instance is None else instance
        known = len(built.network.lans)
        if self.gantt is not None:
            selected_machines(built.machines, known, self.lans)
        for lan in self.lans or ():
            if lan >= known:
                raise NotApplicableError(f"no LAN {lan}: they are numbered 0 to {known - 1}")

    def draw(self, run: GridRun, style: PictureStyle) -> None:
        """Draw it."""
        if self.gantt is not None:
            _draw_gantt(run, self.gantt, self.window, self.lans, style)
        if self.over_time is not None:
            units = _GENERATED if run.instance is None else run.instance.units
            _draw_over_time(run.outcome, units, self.over_time, self.lans, style)


def _named(label: str, units: Units) -> str:
    """Return the title of an axis; what has no unit has no brackets."""
    text = label.format(time=units.time, data=units.data)
    return text.replace("( per", "(per").replace(" ()", "")


def _read_window(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    found = [number(word) for word in text.split(",")]
    if len(found) != 2 or any(isinstance(value, str) for value in found):
        raise NotApplicableError(f"--window takes two instants, not {text!r}")
    return float(found[0]), float(found[1])


def _read_lans(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    found = [number(word) for word in text.split(",") if word.strip()]
    if not found or any(not isinstance(value, int) or value < 0 for value in found):
        raise NotApplicableError(f"--lans takes numbers of LANs, not {text!r}")
    return tuple(int(value) for value in found)


def _draw_gantt(
    run: GridRun,
    path: Path,
    window: tuple[float, float] | None,
    lans: tuple[int, ...] | None,
    style: PictureStyle,
) -> None:
    """Draw what the machines of one simulation did."""
    from dlopt.plotting.grid_trace import plot_trace

    assert run.instance is not None and run.trace is not None
    plot_trace(run.instance, run.trace, path, window=window, lans=lans, **style.page())


def _draw_over_time(
    outcome: GridOutcome,
    units: Units,
    path: Path,
    lans: tuple[int, ...] | None,
    style: PictureStyle,
) -> None:
    """Draw measures of one simulation over time: of all LANs, and of some or of the extremes."""
    from dlopt.plotting.line_charts import Curve, DataPoint, plot_curves

    shown = lans
    if shown is None and 1 < len(outcome.nodes) <= _MOST_CURVES:
        shown = tuple(range(len(outcome.nodes)))
    panels = []
    for measure, label in _OVER_TIME.items():
        courses = {"all LANs": outcome.series(measure)}
        if shown is not None:
            courses |= {f"LAN {lan}": outcome.series(measure, lan) for lan in shown}
        elif len(outcome.nodes) > 1:
            single = [outcome.series(measure, lan) for lan in range(len(outcome.nodes))]
            courses |= {
                "minimum over LANs": _extreme(single, min),
                "maximum over LANs": _extreme(single, max),
            }
        curves = tuple(
            Curve(
                name,
                tuple(DataPoint(begin, value) for begin, value in course if value is not None),
            )
            for name, course in courses.items()
        )
        panels.append((_named(label, units), curves))
    note = f"{outcome.tasks:,} tasks, {len(outcome.nodes):,} LANs, {sum(outcome.nodes):,} nodes; "
    note += f"each point covers the next {outcome.period:g} {units.time}".rstrip()
    axis = _named("time ({time})", units)
    plot_curves(panels, path, note=note, axis=axis, **style.page("grid of LANs over time"))


def _extreme(courses: Sequence[Series], of: Callable[[Iterable[float]], float]) -> Series:
    """Return the least or the most of any course at each instant."""
    found = []
    for spots in zip(*courses, strict=True):
        known = [value for _, value in spots if value is not None]
        found.append((spots[0][0], of(known) if known else None))
    return tuple(found)


def draw_rows(rows: Sequence[SweepRow], path: Path, style: PictureStyle) -> None:
    """Draw measures over the queue size, or over whatever else is swept; a curve a rest."""
    from dlopt.plotting.line_charts import Curve, DataPoint, plot_curves

    grouped = groups(rows)
    differ = [at for at, _ in enumerate(SWEPT_PARAMETERS) if len({key[at] for key in grouped}) > 1]
    numeric = [at for at in differ if SWEPT_PARAMETERS[at] != "variant"]
    axis = numeric[-1] if numeric else SWEPT_PARAMETERS.index("queue_size")
    panels = []
    for measure, label in _SWEPT.items():
        curves: dict[str, list[DataPoint]] = {}
        for key, group in sorted(grouped.items(), key=lambda item: float(item[0][axis])):
            rest = [at for at in differ if at != axis]
            name = ", ".join(f"{SWEPT_PARAMETERS[at]} {key[at]}".replace("_", " ") for at in rest)
            found = mean(group, measure)
            if found is not None:
                spot = DataPoint(float(key[axis]), found[0], found[1])
                curves.setdefault(name or "all", []).append(spot)
        drawn = tuple(Curve(name, tuple(spots)) for name, spots in curves.items())
        panels.append((_named(label, _GENERATED), drawn))
    seeds = len({row.case.seed for row in rows})
    plot_curves(
        panels,
        path,
        note=counted(seeds, "seed"),
        axis=_PARAMETERS[SWEPT_PARAMETERS[axis]],
        **style.page("grid of LANs"),
    )
