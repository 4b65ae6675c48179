"""The command that simulates a grid of LANs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from dlopt.arithmetic import shown
from dlopt.cli.console import Exit, err, out, print_json
from dlopt.cli.making import number
from dlopt.cli.options import AsJson, Picture, Seed, Settings, TimeLimit, pairs, writable
from dlopt.errors import NotApplicableError
from dlopt.problems.records import plain
from dlopt.result import Limits

if TYPE_CHECKING:
    from dlopt.simulation.grid import GridRun, Outcome
    from dlopt.simulation.grid.optimum import Standing
    from dlopt.simulation.grid.sweep import Case, Row

_SWEPT = ("variant", "tasks", "interval", "failure_rate", "queue_size")
_NO_EDGE = 1000
_MEASURES = ("met_ratio", "response", "external", "internal", "utilization", "resent")


def _several(option: str, metavar: str, text: str) -> Any:
    return typer.Option(option, metavar=metavar, help=text)


def grid(
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="The tasks and machines of a dag instance."),
    ] = None,
    topology: Annotated[
        str | None,
        typer.Option(
            "--topology", metavar="T", help="mesh, tiers, waxman, flat, or a grid file (.json)."
        ),
    ] = None,
    variants: Annotated[
        str | None,
        _several("--variants", "V,V", "corrected, literal, literal-SLIP; by default corrected."),
    ] = None,
    tasks: Annotated[str | None, _several("--tasks", "N,N", "How many arrive; 2000.")] = None,
    intervals: Annotated[
        str | None, _several("--intervals", "S,S", "Mean seconds between two at a LAN; 4000.")
    ] = None,
    failure_rates: Annotated[
        str | None, _several("--failure-rates", "P,P", "Of a node during a subtask; .002.")
    ] = None,
    queue_sizes: Annotated[
        str | None, _several("--queue-sizes", "N,N", "Subtasks that a node may hold (SWQ); 3.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", metavar="N", help="How many.")] = 1,
    seed: Seed = 0,
    settings: Settings = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="P", help="By default as many as processors."),
    ] = None,
    rows_to: Annotated[
        Path | None,
        typer.Option(
            "--rows",
            metavar="FILE.jsonl",
            callback=writable,
            help="Append a row a simulation; those that stand there are not simulated again.",
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Hold the trace against the rules (one simulation).")
    ] = False,
    optimum: Annotated[
        str | None,
        typer.Option(
            "--optimum", metavar="M", help="Solve it, too: exact, or a bound (one simulation)."
        ),
    ] = None,
    objective: Annotated[
        str, typer.Option("--objective", metavar="O", help="Of --optimum.")
    ] = "makespan",
    time_limit: TimeLimit = None,
    window: Annotated[
        str | None, typer.Option("--window", metavar="T,T", help="What --plot draws.")
    ] = None,
    plot_to: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Simulate task graphs that arrive at a grid of LANs whose nodes fail.

    One simulation is told in full; several (lists of values, seeds) as a table of means. --set
    takes lans, nodes, kappa, bidders, gateways. With --plot, one simulation is drawn as a Gantt
    chart, several as curves. Needs SimPy (pip install 'dlopt[sim]').
    """
    swept = {
        "variant": variants,
        "tasks": tasks,
        "interval": intervals,
        "failure_rate": failure_rates,
        "queue_size": queue_sizes,
    }
    if file is not None and (topology is not None or seeds != 1):
        raise NotApplicableError("--file does not go with --topology or --seeds")
    cases = _cases(swept, topology, pairs(settings), range(seed, seed + seeds))
    one = file is not None or (len(cases) == 1 and rows_to is None)
    if not one:
        for name, given in (("check", check), ("optimum", optimum), ("window", window)):
            if given:
                raise NotApplicableError(f"--{name} is for one simulation, without --rows")
        _many(cases, processes, rows_to, plot_to, as_json)
        return
    if rows_to is not None:
        raise NotApplicableError("--rows does not go with --file")
    shown_in = _window(window)
    needs_trace = check or optimum is not None or plot_to is not None
    run = cases[0].run(keep_trace=needs_trace) if file is None else _of_file(file, cases, swept)
    standing = None
    if optimum is not None:
        from dlopt.simulation.grid.optimum import beside_optimum

        limits = Limits(time_s=time_limit)
        standing = beside_optimum(run, objective=objective, method=optimum, limits=limits)
    broken = run.check() if check else ()
    if as_json:
        data = _data(run.outcome) | ({"violations": plain_all(broken)} if check else {})
        print_json(data if standing is None else data | {"optimum": plain_all([standing])[0]})
    else:
        _tell(run.outcome, standing)
    if plot_to is not None:
        from dlopt.plotting.grid import plot_trace

        assert run.instance is not None and run.trace is not None
        plot_trace(run.instance, run.trace, plot_to, window=shown_in)
    for violation in broken[:20]:
        err.print(str(violation), markup=False)
    if check:
        told = f"{len(broken)} violation{'s' * (len(broken) != 1)}" if broken else "no violation"
        err.print(f"{told}, checked to {run.tolerance:g}", markup=False)
    raise typer.Exit(Exit.FOUND if broken else Exit.DONE)


def _cases(
    swept: dict[str, str | None],
    topology: str | None,
    given: dict[str, Any],
    seeds: Sequence[int],
) -> list[Case]:
    """Return every combination of what is swept."""
    from dlopt.simulation.grid import variant
    from dlopt.simulation.grid.sweep import Case

    if not seeds:
        raise NotApplicableError(f"--seeds must be positive, got {len(seeds)}")
    settable = [
        item.name for item in fields(Case) if item.name not in (*_SWEPT, "topology", "seed")
    ]
    for name in given:
        if name not in settable:
            known = ", ".join(settable)
            raise NotApplicableError(f"grid has no parameter {name!r} (known: {known})")
    base = {name: number(text) for name, text in given.items()}
    if topology is not None:
        base["topology"] = topology
    values = []
    for name in _SWEPT:
        text = swept[name]
        listed = [getattr(Case(), name)] if text is None else _listed(name, text)
        values.append([(name, value) for value in listed])
    cases = [
        Case.from_data({**base, **dict(picked), "seed": at})
        for picked in product(*values)
        for at in seeds
    ]
    for name in {case.variant for case in cases}:
        variant(name)
    return cases


def _listed(name: str, text: str) -> list[Any]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise NotApplicableError(f"--{name.replace('_', '-').removesuffix('s')}s names nothing")
    return words if name == "variant" else [number(word) for word in words]


def _of_file(file: Path, cases: Sequence[Case], swept: dict[str, str | None]) -> GridRun:
    from dlopt import io
    from dlopt.problems.dag import Instance
    from dlopt.simulation.grid import Hazards, Policy, simulate_grid, variant

    if len(cases) > 1 or swept["tasks"] or swept["interval"]:
        raise NotApplicableError("--file is one simulation of the tasks that stand there")
    case, instance = cases[0], io.read(file)
    if not isinstance(instance, Instance):
        raise NotApplicableError(f"{file}: dag is simulated on a grid, not {instance.problem}")
    rate = case.failure_rate if swept["failure_rate"] is not None else 0
    return simulate_grid(
        instance,
        policy=variant(case.variant, Policy(queue_size=case.queue_size, bidders=case.bidders)),
        hazards=Hazards(failure_rate=rate),
        seed=case.seed,
        exact_numbers=instance.exact,
    )


# one --------------------------------------------------------------------------------------------


def _tell(outcome: Outcome, standing: Standing | None) -> None:
    lines = [
        f"{outcome.returned} of {outcome.tasks} tasks came home, {outcome.met} by their deadlines",
        f"mean response {_number(outcome.response)}, {outcome.remote} ran in another LAN",
        f"traffic between LANs {outcome.external:.6g}, within {outcome.internal:.6g}",
        f"utilization {_number(outcome.utilization)}, {outcome.sent} subtasks sent, "
        f"{outcome.resent} of them again",
        f"{outcome.failures} failures, {outcome.traps} nodes presumed dead, "
        f"{outcome.false_alarms} of them up",
        f"{outcome.events} events in {outcome.seconds:.3g} s",
    ]
    for line in lines:
        out.print(line, markup=False, soft_wrap=True)
    if standing is not None:
        text = f"{standing.objective}: simulated {_value(standing.simulated)}"
        text += f", {standing.method} {_value(standing.value)}, bound {_value(standing.bound)}"
        out.print(f"{text} ({standing.status})", markup=False, soft_wrap=True)
    stuck = [fate for fate in outcome.fates if fate.reason]
    for fate in stuck[:20]:
        out.print(f"{fate.id} never came home: {fate.reason}", markup=False, soft_wrap=True)
    if len(stuck) > 20:
        out.print(f"and {len(stuck) - 20} more", markup=False)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _value(value: Any) -> str:
    parts = value if isinstance(value, tuple) else (value,)
    return ", ".join(shown(part) for part in parts)


def _data(outcome: Outcome) -> dict[str, Any]:
    data = asdict(replace(outcome, lans=(), periods=()))
    data["lans"] = [tally.to_data() for tally in outcome.lans]
    data["periods"] = [{"begin": at, **tally.to_data()} for at, tally in outcome.periods]
    return data


def plain_all(items: Sequence[Any]) -> list[Any]:
    """Return dataclasses as plain data that JSON can hold."""
    return [{key: plain(value) for key, value in _fields(item).items()} for item in items]


def _fields(item: Any) -> dict[str, Any]:
    return {one.name: getattr(item, one.name) for one in fields(item)}


def _window(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    found = [number(word) for word in text.split(",")]
    if len(found) != 2 or any(isinstance(value, str) for value in found):
        raise NotApplicableError(f"--window takes two instants, not {text!r}")
    return float(found[0]), float(found[1])


# many -------------------------------------------------------------------------------------------


def _many(
    cases: Sequence[Case],
    processes: int | None,
    path: Path | None,
    plot_to: Path | None,
    as_json: bool,
) -> None:
    from dlopt.simulation.grid.sweep import sweep

    with _bar() as progress:
        rows = sweep(
            cases,
            processes=_processors() if processes is None else processes,
            path=path,
            progress=progress,
        )
    if as_json:
        print_json({"rows": [row.to_data() for row in rows]})
    else:
        table = _table(rows)
        if not out.is_terminal:  # a file has no edge
            options = out.options.update(max_width=_NO_EDGE)
            out.width = max(out.width, out.measure(table, options=options).maximum)
        out.print(table)
    if plot_to is not None:
        _draw(rows, plot_to)


def _groups(rows: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows of each combination, one a seed."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(tuple(getattr(row.case, name) for name in _SWEPT), []).append(row)
    return found


def _mean(rows: Sequence[Row], measure: str) -> tuple[float, float | None] | None:
    from dlopt.simulation.many import estimate

    values = [getattr(row, measure) for row in rows]
    known = [float(value) for value in values if value is not None]
    return estimate(known) if known else None


def _table(rows: Sequence[Row]) -> Table:
    """Return a row a combination; what is the same in all stands in the title."""
    groups = _groups(rows)
    differ = [at for at, _ in enumerate(_SWEPT) if len({key[at] for key in groups}) > 1]
    first = next(iter(groups))
    told = [f"{_SWEPT[at]} {first[at]}" for at in range(len(_SWEPT)) if at not in differ]
    seeds = len({row.case.seed for row in rows})
    told.append(f"{seeds} seed{'s' * (seeds > 1)}")
    title = ", ".join(told).replace("_", " ")
    table = Table(box=box.SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    for name in (*(_SWEPT[at] for at in differ), *_MEASURES):
        left = name == "variant"
        head = name.replace("_", " ")
        table.add_column(head, justify="left" if left else "right", no_wrap=True)
    for key, group in groups.items():
        cells = [_cell(_mean(group, measure)) for measure in _MEASURES]
        table.add_row(*(str(key[at]) for at in differ), *cells)
    return table


def _cell(found: tuple[float, float | None] | None) -> str:
    if found is None:
        return "-"
    mean, half = found
    return f"{mean:.4g}" if half is None else f"{mean:.4g} ± {half:.2g}"


def _draw(rows: Sequence[Row], path: Path) -> None:
    """Draw measures over the queue size, or over whatever else is swept; a curve a rest."""
    from dlopt.plotting.curves import Curve, Spot, plot_curves

    groups = _groups(rows)
    differ = [at for at, _ in enumerate(_SWEPT) if len({key[at] for key in groups}) > 1]
    numeric = [at for at in differ if _SWEPT[at] != "variant"]
    axis = numeric[-1] if numeric else _SWEPT.index("queue_size")
    panels = []
    for measure in ("met_ratio", "response", "external", "internal"):
        curves: dict[str, list[Spot]] = {}
        for key, group in sorted(groups.items(), key=lambda item: float(item[0][axis])):
            rest = [at for at in differ if at != axis]
            name = ", ".join(f"{_SWEPT[at]} {key[at]}".replace("_", " ") for at in rest)
            found = _mean(group, measure)
            if found is not None:
                spot = Spot(float(key[axis]), found[0], found[1])
                curves.setdefault(name or "all", []).append(spot)
        drawn = tuple(Curve(name, tuple(spots)) for name, spots in curves.items())
        panels.append((measure.replace("_", " "), drawn))
    seeds = len({row.case.seed for row in rows})
    plot_curves(
        panels,
        path,
        title="grid of LANs",
        note=f"{seeds} seed{'s' * (seeds > 1)}",
        axis=_SWEPT[axis].replace("_", " "),
    )


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # pragma: no cover - not on Linux


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None] | None]:
    """Give what shows progress on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns: Sequence[Any] = (
        TextColumn("simulating"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("")
        yield lambda done, total: bar.update(task, completed=done, total=total)
