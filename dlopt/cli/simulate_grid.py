"""The command that simulates a grid of LANs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlopt.child_processes import processors
from dlopt.cli import simulate_grid_plots, simulate_grid_tables
from dlopt.cli.console import Exit, err, interruptible, naming_file, quiet_solvers
from dlopt.cli.help_texts import option
from dlopt.cli.input_files import read_instance
from dlopt.cli.instance_options import instance_path
from dlopt.cli.json_output import print_result
from dlopt.cli.option_values import listed, number, pairs
from dlopt.cli.options import (
    AsJson,
    Picture,
    Seed,
    Settings,
    TimeLimit,
    drawable,
    writable,
)
from dlopt.cli.picture_options import Dpi, NoTitle, PictureStyle, Width
from dlopt.cli.progress import bar, line
from dlopt.errors import NotApplicableError, known_names, printable
from dlopt.presentation.wording import counted, precision
from dlopt.result import Limits

if TYPE_CHECKING:
    from dlopt.problems.dag import Instance, Outage
    from dlopt.simulation.grid import GridRun
    from dlopt.simulation.grid.offline_optimum import OptimalityComparison
    from dlopt.simulation.grid.sweep import GridExperiment


def grid(
    file: Annotated[
        Path | None,
        option(
            "--file FILE",
            "Instance (dag) with tasks and machines: a file or a name as `dlopt instances` "
            "lists it.",
            callback=instance_path,
        ),
    ] = None,
    topology: Annotated[
        str | None,
        option(
            "--topology T",
            "Topology of the grid: mesh, tiers, waxman, flat, or a grid file (.json).",
            "that of the workload",
        ),
    ] = None,
    variants: Annotated[
        str | None,
        option(
            "--variants V,V",
            "Variants: corrected, literal, literal-NAME; with +NAME, such as +competitive.",
            "corrected",
        ),
    ] = None,
    tasks: Annotated[str | None, option("--tasks N,N", "Number of tasks.", "2000")] = None,
    intervals: Annotated[
        str | None,
        option("--intervals S,S", "Mean inter-arrival time at a LAN, in seconds.", "4000"),
    ] = None,
    failure_rates: Annotated[
        str | None,
        option("--failure-rates P,P", "Failure probability of a node per subtask.", "0.002"),
    ] = None,
    queue_sizes: Annotated[
        str | None,
        option("--queue-sizes N,N", "Length of the subtask waiting queue (SWQ) of a node.", "3"),
    ] = None,
    slowdown: Annotated[
        str | None,
        option("--slowdown X,X", "Range of the ratio of actual to estimated run time.", "1,1"),
    ] = None,
    seeds: Annotated[int, option("--seeds N", "Number of seeds.")] = 1,
    seed: Seed = 0,
    settings: Settings = None,
    processes: Annotated[
        int | None, option("--processes P", "Number of processes.", "one for each processor")
    ] = None,
    rows_to: Annotated[
        Path | None,
        option(
            "--rows FILE.jsonl",
            "Append one row per simulation; simulations that the file has are skipped.",
            callback=writable,
        ),
    ] = None,
    check: Annotated[
        bool, option("--check", "Verify the trace by the rules (one simulation).")
    ] = False,
    optimum: Annotated[
        str | None,
        option("--optimum M", "Method for the clairvoyant optimum or bound (one simulation)."),
    ] = None,
    objective: Annotated[
        str | None, option("--objective O", "Objective of --optimum.", "makespan")
    ] = None,
    time_limit: TimeLimit = None,
    failures: Annotated[
        Path | None,
        option(
            "--failures FILE",
            'More failures: [{"machine": 0, "begin": 5, "until": 9}, ...]; permanent without '
            "until (one simulation).",
        ),
    ] = None,
    period: Annotated[
        float, option("--period T", "Length of the periods of --over-time.")
    ] = 3600.0,
    window: Annotated[
        str | None, option("--window T,T", "Time window that --plot draws.", "all")
    ] = None,
    lans: Annotated[str | None, option("--lans N,N", "LANs to draw, 0-based.", "all")] = None,
    over_time: Annotated[
        Path | None,
        option(
            "--over-time FILE",
            "Draw measures of LANs over time to .svg, .png or .pdf (one simulation).",
            callback=drawable,
        ),
    ] = None,
    plot_to: Picture = None,
    width: Width = None,
    no_title: NoTitle = False,
    dpi: Dpi = None,
    as_json: AsJson = False,
) -> None:
    """Simulate task graphs that arrive at a grid of LANs.

    Nodes may fail. One simulation is reported in full; several (lists of values, seeds) as a
    table of means.
    --set takes lans, nodes, kappa, bidders, gateways, data_per (task or edge), subtask_data
    and memory, the weight of the past in the credibility of a LAN. --plot draws a Gantt chart
    of one simulation, curves of several.
    """
    from dlopt.simulation.grid import read_failures

    swept = {
        "variant": variants,
        "tasks": tasks,
        "interval": intervals,
        "failure_rate": failure_rates,
        "queue_size": queue_sizes,
    }
    if file is not None and (topology is not None or seeds != 1):
        raise NotApplicableError("--file does not go with --topology or --seeds")
    parameters = pairs(settings) | ({} if slowdown is None else {"slowdown": slowdown})
    cases = _cases(swept, topology, parameters, range(seed, seed + seeds))
    only = {
        "check": check,
        "optimum": optimum,
        "objective": objective,
        "time-limit": time_limit,
        "failures": failures,
        "window": window,
        "lans": lans,
        "over-time": over_time,
    }
    if file is None and (len(cases) > 1 or rows_to is not None):
        for name, given in only.items():
            if given:
                raise NotApplicableError(f"--{name} is for one simulation, without --rows")
        _many(cases, processes, rows_to, plot_to, PictureStyle(width, no_title, dpi), as_json)
        return
    if rows_to is not None:
        raise NotApplicableError("--rows does not go with --file")
    if optimum is None and (objective is not None or time_limit is not None):
        raise NotApplicableError("--objective and --time-limit need --optimum")
    plots = simulate_grid_plots.PlotRequest.of(plot_to, over_time, window, lans)
    instance = None if file is None else _read(file, cases, swept)
    plots.check(cases[0], instance)
    outages = () if failures is None else read_failures(failures)
    with naming_file(failures), line("simulating"):
        run = _run(
            cases[0],
            instance,
            outages,
            period,
            trace=check or optimum is not None or plot_to is not None,
            given_rate=failure_rates is not None,
        )
    standing = None if optimum is None else _standing(run, optimum, objective, time_limit)
    broken = run.check() if check else None
    if as_json:
        content = simulate_grid_tables.report_data(run.outcome, standing, broken)
        print_result("simulate grid", content)
    else:
        simulate_grid_tables.print_outcome(run.outcome, standing)
    plots.draw(run, PictureStyle(width, no_title, dpi))
    if broken is not None:
        for violation in broken[:20]:
            err.print(printable(str(violation)), markup=False)
        text = counted(len(broken), "violation")
        err.print(f"{text}, verified: {precision(run.tolerance)}", markup=False)
    raise typer.Exit(Exit.FOUND if broken else Exit.DONE)


def _cases(
    swept: dict[str, str | None],
    topology: str | None,
    given: dict[str, Any],
    seeds: Sequence[int],
) -> list[GridExperiment]:
    """Return every combination of what is swept."""
    from dlopt.simulation.grid import variant
    from dlopt.simulation.grid.sweep import GridExperiment

    if not seeds:
        raise NotApplicableError(f"--seeds must be positive, got {len(seeds)}")
    settable = [
        item.name
        for item in fields(GridExperiment)
        if item.name not in (*simulate_grid_tables.SWEPT_PARAMETERS, "topology", "seed")
    ]
    for name in given:
        if name not in settable:
            known = known_names(name, settable)
            raise NotApplicableError(f"grid has no parameter {name!r} ({known})")
    base = {name: number(text) for name, text in given.items()}
    if "slowdown" in given:
        ends = [number(word) for word in given["slowdown"].split(",")]
        if len(ends) != 2 or any(isinstance(end, str) for end in ends):
            raise NotApplicableError(f"--slowdown takes two numbers, not {given['slowdown']!r}")
        base["slowdown"] = ends
    if topology is not None:
        base["topology"] = topology
    values = []
    for name in simulate_grid_tables.SWEPT_PARAMETERS:
        text = swept[name]
        listed = [getattr(GridExperiment(), name)] if text is None else _listed(name, text)
        values.append([(name, value) for value in listed])
    cases = [
        GridExperiment.from_data({**base, **dict(picked), "seed": at})
        for picked in product(*values)
        for at in seeds
    ]
    for name in {case.variant for case in cases}:
        variant(name)
    return cases


def _listed(name: str, text: str) -> list[Any]:
    words = listed(text)
    if not words:
        raise NotApplicableError(f"--{name.replace('_', '-').removesuffix('s')}s names nothing")
    return words if name == "variant" else [number(word) for word in words]


# one --------------------------------------------------------------------------------------------


def _read(file: Path, cases: Sequence[GridExperiment], swept: dict[str, str | None]) -> Instance:
    from dlopt.problems.dag import Instance
    from dlopt.simulation.grid.execution_state import check_fits

    if len(cases) > 1 or swept["tasks"] or swept["interval"]:
        raise NotApplicableError("--file is one simulation of the tasks in the file")
    instance = read_instance(file)
    if not isinstance(instance, Instance):
        raise NotApplicableError(f"{file}: dag is simulated on a grid, not {instance.problem}")
    reason = check_fits(instance)
    if reason is not None:
        raise NotApplicableError(f"{file}: {reason}")
    return instance


def _run(
    case: GridExperiment,
    instance: Instance | None,
    failures: tuple[Outage, ...],
    period: float,
    *,
    trace: bool,
    given_rate: bool,
) -> GridRun:
    """Simulate a case, or an instance, whose machines fail only if it is asked for."""
    from dlopt.simulation.grid import FailureModel, simulate_grid

    if instance is None:
        return case.run(keep_trace=trace, period=period, failures=failures)
    return simulate_grid(
        instance,
        policy=case.policy,
        failure_model=FailureModel(
            case.failure_rate if given_rate else 0, slowdown=case.slowdown, failures=failures
        ),
        seed=case.seed,
        exact_numbers=instance.exact,
        period=period,
    )


def _standing(
    run: GridRun, method: str, objective: str | None, time_limit: float | None
) -> OptimalityComparison:
    """Compare a run with the clairvoyant optimum, or a bound."""
    from dlopt.simulation.grid.offline_optimum import compare_with_optimum

    compared = partial(
        compare_with_optimum,
        run,
        objective=objective or "makespan",
        method=method,
        limits=Limits(time_s=time_limit),
    )
    with quiet_solvers(), line(f"optimum by {method}", hint=time_limit is None):
        return interruptible(compared)


# many -------------------------------------------------------------------------------------------


def _many(
    cases: Sequence[GridExperiment],
    processes: int | None,
    path: Path | None,
    plot_to: Path | None,
    style: PictureStyle,
    as_json: bool,
) -> None:
    from dlopt.simulation.grid.sweep import sweep

    try:
        with bar() as progress:
            rows = sweep(
                cases,
                processes=processors() if processes is None else processes,
                path=path,
                progress=progress,
            )
    except KeyboardInterrupt:
        if path is not None:
            err.print(f"{path} has the rows so far; the same command resumes", markup=False)
        raise
    if as_json:
        print_result("simulate grid", {"rows": [row.to_data() for row in rows]})
    else:
        simulate_grid_tables.print_means(rows)
    if plot_to is not None:
        simulate_grid_plots.draw_rows(rows, plot_to, style)
