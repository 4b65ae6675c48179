"""What the simulating commands draw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from dlopt.cli.picture_options import PictureStyle
from dlopt.presentation.wording import counted
from dlopt.result import Result, Status

if TYPE_CHECKING:
    from dlopt.simulation import (
        ExecutedMixedRun,
        ExecutedRun,
        LoadPoint,
        MixedRun,
        PolicyRun,
        StreamRun,
    )

    Runs: TypeAlias = (
        Sequence[StreamRun | PolicyRun]
        | Sequence[MixedRun]
        | Sequence[ExecutedRun]
        | Sequence[ExecutedMixedRun]
    )


def draw_points(what: str, points: Sequence[LoadPoint], path: Path, style: PictureStyle) -> None:
    """Draw means over the system load, or side by side if the workload knows none."""
    from dlopt.cli.simulate_cluster_tables import is_mixed
    from dlopt.plotting.line_charts import Curve, DataPoint, plot_curves

    measures = [("reject_ratio", "reject ratio"), ("utilization", "utilization")]
    if any(map(is_mixed, points)):
        measures.insert(1, ("reservation_reject_ratio", "reservation reject ratio"))
    names = list(dict.fromkeys(point.method for point in points))
    without = any(point.system_load is None for point in points)
    panels = []
    for measure, label in measures:
        curves = []
        for number, name in enumerate(names):
            spots = [
                DataPoint(point.system_load or 0.0, found.mean, found.half_width)
                for point in points
                if point.method == name
                and hasattr(point.outcomes[0], measure)
                and (found := point.estimate(measure)) is not None
            ]
            if without:
                spots = [spot._replace(x=float(number)) for spot in spots]
            curves.append(Curve(name, tuple(spots)))
        panels.append((label, tuple(curves)))
    seeds = len(points[0].outcomes)
    note = f"means over {counted(seeds, 'seed')}" + ", 95 % intervals" * (seeds > 1)
    axis = "method" if without else "system load"
    words = names if without else ()
    plot_curves(panels, path, note=note, axis=axis, words=words, **style.page(what))


def draw_runs(what: str, runs: Runs, path: Path, style: PictureStyle) -> None:
    """Draw the schedule of one run, or how several of them fare on the same tasks."""
    if len(runs) == 1:
        _draw_schedule(runs[0], path, style)
        return
    from dlopt.plotting.line_charts import Curve, DataPoint, plot_curves

    stream = runs[0].workload
    begin, end = float(stream.begin), float(stream.horizon)
    end = max(end, *(instant for run in runs for instant, _ in run.waiting()), begin)
    end += (end - begin or 1.0) / 40
    panels = []
    for label, course in (("tasks rejected", "rejected"), ("tasks waiting", "waiting")):
        curves = []
        for run in runs:
            counts: list[tuple[float, int]] = getattr(run, course)()
            last = counts[-1][1] if counts else 0
            spots = [
                DataPoint(begin, 0),
                *(DataPoint(*count) for count in counts),
                DataPoint(end, last),
            ]
            curves.append(Curve(run.algorithm.name, tuple(spots)))
        panels.append((label, tuple(curves)))
    tasks = len(stream) - stream.promised
    note = f"{counted(tasks, 'task')} on {counted(stream.cluster.nodes, 'node')}"
    if stream.promised:
        note += f", {stream.promised:,} accepted before"
    unit = runs[0].instance.units.time
    axis = f"time ({unit})" if unit else "time"
    plot_curves(panels, path, note=note, axis=axis, steps=True, **style.page(what))


def _draw_schedule(
    run: StreamRun | PolicyRun | MixedRun | ExecutedRun | ExecutedMixedRun,
    path: Path,
    style: PictureStyle,
) -> None:
    from dlopt.plotting import plot, plot_executed
    from dlopt.simulation import ExecutedMixedRun, ExecutedRun, MixedRun, StreamRun

    name, page = run.algorithm.name, style.page()
    if isinstance(run, ExecutedRun):
        planned = StreamRun(run.instance, run.algorithm).solution
        plot_executed(
            run.instance, planned, run.trace, path, scenario=run.scenario, note=name, **page
        )
    elif isinstance(run, ExecutedMixedRun):
        mixed = MixedRun(run.instance, name).solution
        plot_executed(
            run.instance, mixed, run.trace, path, scenario=run.scenario, note=name, **page
        )
    else:
        status = Status.UNSOUND if run.violations else Status.FEASIBLE
        plan = Result(status, run.solution, method=name, violations=run.violations)
        plot(run.instance, plan, path, **page)
