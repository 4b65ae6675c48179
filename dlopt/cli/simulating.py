"""The commands that simulate."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlopt.cli import pictures
from dlopt.cli.console import Exit, err, out, print_json
from dlopt.cli.feedback import WithFeedback, feedback
from dlopt.cli.making import number
from dlopt.cli.options import AsJson, Picture, Seed, Settings, pairs
from dlopt.errors import NotApplicableError

if TYPE_CHECKING:
    from rich.table import Table

    from dlopt.simulation import Point, Run

app = typer.Typer(
    name="simulate",
    cls=WithFeedback,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run streams of tasks.",
)
app.command()(feedback)

_ESTIMATES = ("reject_ratio", "utilization", "miss_ratio", "mean_queue", "drain", "realised_load")
_NO_EDGE = 1000
_Progress = Callable[[int, int], None]


@app.command()
def cluster(
    workload: Annotated[
        str | None, typer.Option("--workload", metavar="W", help="mamat4, lin5 or waiting.")
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="The tasks of an instance instead."),
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", "-m", metavar="M", help="By default edf-iit-2.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option("--methods", metavar="M,M", help="Several, on the same tasks.")
    ] = None,
    load: Annotated[
        str | None, typer.Option("--load", metavar="L", help="System load, by default 0.5.")
    ] = None,
    loads: Annotated[str | None, typer.Option("--loads", metavar="L,L")] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", help="How many; by default 10.")
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    check: Annotated[
        bool, typer.Option("--check", help="Hold every plan against the rules; slow.")
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="P", help="By default as many as processors."),
    ] = None,
    plot_to: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Admit a stream of divisible loads to a cluster, and say what became of it.

    Means over the seeds, with 95 % confidence intervals. All methods see the same tasks. What
    --set takes is listed by `dlopt generate admission`. With --file, --plot draws the schedule
    of one method, or rejections and queues of several over time.
    """
    names = _names(method, methods)
    if file is not None:
        drawn: dict[str, object] = {
            "workload": workload,
            "load": load,
            "loads": loads,
            "seeds": seeds,
        }
        drawn |= {"set": settings, "processes": processes}
        for option, given in drawn.items():
            if given is not None:
                raise NotApplicableError(f"--file and --{option} do not go together")
        runs = _runs_of(file, names)
        points: Sequence[Point] = _points(runs, check)
    else:
        from dlopt.simulation import simulate_many

        runs = []
        parameters = {name: number(value) for name, value in pairs(settings).items()}
        if seeds is not None and seeds < 1:
            raise NotApplicableError(f"--seeds must be positive, got {seeds}")
        wanted = range(seed, seed + (10 if seeds is None else seeds))
        with _bar() as progress:
            points = simulate_many(
                workload or "mamat4",
                names,
                loads=_loads(load, loads),
                seeds=wanted,
                processes=_processors() if processes is None else processes,
                check=check,
                progress=progress,
                parameters=parameters,
            )
    if as_json:
        print_json({"points": [_to_data(point) for point in points]})
    else:
        what = str(file) if file is not None else workload or "mamat4"
        table = _table(what, points)
        if not out.is_terminal:  # a file has no edge
            options = out.options.update(max_width=_NO_EDGE)
            out.width = max(out.width, out.measure(table, options=options).maximum)
        out.print(table)
    if plot_to is not None and file is not None:
        pictures.draw_runs(runs[0].workload.name or file.name, runs, plot_to)
    elif plot_to is not None:
        pictures.draw_points(workload or "mamat4", points, plot_to)
    raise typer.Exit(_checked(points) if check else Exit.DONE)


def _checked(points: Sequence[Point]) -> Exit:
    """Tell on standard error what the checks found."""
    found: Counter[str] = Counter()
    for point in points:
        found[point.method] += sum(outcome.violations or 0 for outcome in point.outcomes)
    for method, count in found.items():
        told = f"{count} violation{'s' * (count != 1)}" if count else "no violation"
        err.print(f"{method}: {told}, checked to 1e-09", markup=False)
    return Exit.FOUND if any(found.values()) else Exit.DONE


def _runs_of(file: Path, names: Sequence[str]) -> list[Run]:
    from dlopt import io
    from dlopt.heuristics.admission.cores import parse
    from dlopt.problems.admission import Instance
    from dlopt.simulation import Run

    algorithms = [parse(name) for name in names]
    instance = io.read(file)
    if not isinstance(instance, Instance):
        raise NotApplicableError(f"{file}: admission is simulated, not {instance.problem}")
    return [Run(instance, algorithm) for algorithm in algorithms]


def _points(runs: Sequence[Run], check: bool) -> list[Point]:
    from dlopt.simulation import Point

    return [
        Point(run.algorithm.name, None, (run.checked() if check else run.outcome,)) for run in runs
    ]


def _names(method: str | None, methods: str | None) -> list[str]:
    if method is not None and methods is not None:
        raise NotApplicableError("--method and --methods do not go together")
    if methods is None:
        return [method or "edf-iit-2"]
    names = _listed(methods)
    if not names:
        raise NotApplicableError("--methods names no method")
    if len(set(names)) < len(names):
        raise NotApplicableError("--methods names a method twice")
    return names


def _loads(load: str | None, loads: str | None) -> list[float] | None:
    if load is not None and loads is not None:
        raise NotApplicableError("--load and --loads do not go together")
    if load is None and loads is None:
        return None
    found = []
    for text in _listed(load if load is not None else loads or ""):
        value = number(text)
        if isinstance(value, str) or value <= 0:
            raise NotApplicableError(f"a system load is a positive number, not {text!r}")
        found.append(float(value))
    if not found:
        raise NotApplicableError("--loads names no load")
    return found


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


@contextmanager
def _bar() -> Iterator[_Progress | None]:
    """Give what shows progress on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("simulating"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("")
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _table(what: str, points: Sequence[Point]) -> Table:
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    seeds = len(points[0].outcomes)
    title = f"{escape(what)}, {seeds} seed{'s' * (seeds > 1)}"
    table = Table(box=box.SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    heads = ["asked\nload", "method", "reject ratio", "utilization", "misses", "queue\nmean"]
    heads += ["queue\nmax", "drain", "decisions\nper s", "drawn\nload"]
    for head in heads:
        left = head == "method"
        table.add_column(head, justify="left" if left else "right", no_wrap=True)
    before = points[0].system_load
    for point in points:
        if point.system_load != before:
            table.add_section()
        before = point.system_load
        table.add_row(
            "-" if before is None else f"{before:g}",
            point.method,
            _spread(point, "reject_ratio"),
            _spread(point, "utilization"),
            str(sum(outcome.misses for outcome in point.outcomes)),
            _mean(point, "mean_queue", ".3g"),
            str(max(outcome.longest_queue for outcome in point.outcomes)),
            _mean(point, "drain", ".3g"),
            _mean(point, "decisions_per_second", ",.0f"),
            _mean(point, "realised_load", ".3f"),
        )
    return table


def _spread(point: Point, measure: str) -> str:
    found = point.estimate(measure)
    if found is None:
        return "-"
    width = "" if found.half_width is None else f" ± {found.half_width:.3f}"
    return f"{found.mean:.3f}{width}"


def _mean(point: Point, measure: str, form: str) -> str:
    found = point.estimate(measure)
    return "-" if found is None else format(found.mean, form)


def _to_data(point: Point) -> dict[str, Any]:
    data: dict[str, Any] = {"system_load": point.system_load, "method": point.method}
    for measure in _ESTIMATES:
        found = point.estimate(measure)
        data[measure] = found and {"mean": found.mean, "ci95": found.half_width}
    return data | {"outcomes": [asdict(outcome) for outcome in point.outcomes]}
