"""The commands that simulate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlopt.arithmetic import FLOATING
from dlopt.child_processes import processors
from dlopt.cli import simulate_cluster_plots, simulate_cluster_tables
from dlopt.cli.console import Exit, err
from dlopt.cli.help_texts import add_command, option
from dlopt.cli.instance_options import StreamFile, StreamTimeLimit
from dlopt.cli.json_output import print_result
from dlopt.cli.option_values import listed, method_names, number, pairs
from dlopt.cli.options import AsJson, Imports, Picture, Seed, Settings
from dlopt.cli.picture_options import Dpi, NoTitle, PictureStyle, Width
from dlopt.cli.progress import bar
from dlopt.cli.simulate_feedback import WithFeedback, feedback
from dlopt.cli.simulate_file_runs import runs_of
from dlopt.cli.simulate_grid import grid
from dlopt.cli.simulate_scenarios import (
    Factors,
    FactorShare,
    MeanTimeBetweenFailures,
    MeanTimeToRepair,
    ScenarioFile,
    random_scenario,
)
from dlopt.errors import NotApplicableError
from dlopt.presentation.wording import counted, precision

if TYPE_CHECKING:
    from dlopt.cli.simulate_cluster_plots import Runs
    from dlopt.simulation import (
        LoadPoint,
        ReservationMix,
    )

MAX_SHOWN_VIOLATIONS = 10
"""So many violations of a run are printed at the most; their number is printed in any case."""

app = typer.Typer(
    name="simulate",
    cls=WithFeedback,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Simulate streams of tasks.",
)


def cluster(
    workload: Annotated[
        str | None,
        option(
            "--workload W",
            "Workload: mamat4 (Mamat 2011, 4.5), lin5 (Lin et al. 2005, 6.1), waiting (Mamat "
            "2011, 6.4.2), or mamat5 (Mamat 2011, 5.4, with reservations).",
            "mamat4; mamat5 with reservations",
        ),
    ] = None,
    file: StreamFile = None,
    windows: Annotated[
        int | None,
        option(
            "--windows K",
            "With --file: cut the stream into K windows of equal length, each from an idle "
            "cluster, for confidence intervals. No picture is drawn of them: not with --plot.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        option("--method -m M", "Admission algorithm.", "edf-iit-2; multi-stage with reservations"),
    ] = None,
    methods: Annotated[
        str | None, option("--methods M,M", "Several algorithms, on the same tasks.")
    ] = None,
    load: Annotated[str | None, option("--load L", "System load.", "0.5")] = None,
    loads: Annotated[str | None, option("--loads L,L", "Several system loads.")] = None,
    seeds: Annotated[int | None, option("--seeds N", "Number of seeds.", "10")] = None,
    seed: Seed = 0,
    settings: Settings = None,
    imports: Imports = None,
    reserve_fraction: Annotated[
        str | None,
        option(
            "--reserve-fraction F",
            "Fraction of tasks that become advance reservations.",
            "0.3 with multi-stage, else 0",
        ),
    ] = None,
    advance: Annotated[
        str | None,
        option(
            "--advance T",
            "Lead time of reservations: units of time, or X/lambda, mean inter-arrival times.",
            "0",
        ),
    ] = None,
    scenario: ScenarioFile = None,
    mtbf: MeanTimeBetweenFailures = None,
    mttr: MeanTimeToRepair = None,
    factors: Factors = None,
    factor_share: FactorShare = None,
    check: Annotated[
        bool,
        option(
            "--check",
            "Verify every plan, or with a scenario what was executed, by the rules; slow.",
        ),
    ] = False,
    plot_to: Picture = None,
    width: Width = None,
    no_title: NoTitle = False,
    dpi: Dpi = None,
    processes: Annotated[
        int | None, option("--processes P", "Number of processes.", "one for each processor")
    ] = None,
    time_limit: StreamTimeLimit = None,
    as_json: AsJson = False,
) -> None:
    """Simulate admission of a stream of divisible loads to a cluster.

    The table has means over the seeds or windows, with 95 % confidence intervals. All algorithms
    get the same tasks. `dlopt generate admission` lists the parameters of --set, for mamat5
    `dlopt generate multistage`. --plot draws means over the system load. With --file it draws
    the schedule of one algorithm, with a scenario what was executed and what was planned, or
    rejections and queue lengths of several over time.

    With --scenario, --mtbf or --factors, nodes fail and tasks take less or more time than
    estimated: a second table counts the promises that had to be broken. That is for algorithms
    that keep what they promise.
    """
    drawn_scenario = random_scenario(mtbf, mttr, factors, factor_share)
    reserved = {"reserve-fraction": reserve_fraction, "advance": advance}
    names = _names(method, methods)
    if file is not None:
        drawn: dict[str, object] = {"workload": workload, "load": load, "loads": loads}
        drawn |= {"seeds": seeds, "set": settings, "processes": processes, **reserved}
        for option, given in drawn.items():
            if given is not None:
                raise NotApplicableError(f"--file and --{option} do not go together")
        _require_plain(windows, plot_to, scenario, drawn_scenario)
        runs = runs_of(file, names, scenario, drawn_scenario, seed, windows, time_limit)
        points: Sequence[LoadPoint] = _points(runs, check)
    else:
        for option, value in (("scenario", scenario), ("windows", windows)):
            if value is not None:
                raise NotApplicableError(f"--{option} needs --file")
        from dlopt.simulation import simulate_many
        from dlopt.simulation.replications import MIXED_ALGORITHMS

        if not names:
            names = ["edf-iit-2" if reserve_fraction is advance is None else "multi-stage"]
        mixed = not MIXED_ALGORITHMS.isdisjoint(names)
        workload = workload or ("mamat5" if mixed else "mamat4")
        runs = []
        parameters = {name: number(value) for name, value in pairs(settings).items()}
        if seeds is not None and seeds < 1:
            raise NotApplicableError(f"--seeds must be positive, got {seeds}")
        wanted = range(seed, seed + (10 if seeds is None else seeds))
        with bar() as progress:
            points = simulate_many(
                workload,
                names,
                loads=_loads(load, loads),
                seeds=wanted,
                processes=processors() if processes is None else processes,
                check=check,
                progress=progress,
                parameters=parameters,
                reservation_mix=_reserving(reserve_fraction, advance, mixed),
                scenario=drawn_scenario,
                imports=imports or (),
                time_limit_s=time_limit,
            )
    what = file.name if file is not None else workload or ""
    if as_json:
        print_result(
            "simulate cluster", {"points": [*map(simulate_cluster_tables.to_data, points)]}
        )
    else:
        sample = "window" if windows is not None else None if file is not None else "seed"
        simulate_cluster_tables.print_points(what, points, sample)
    style = PictureStyle(width, no_title, dpi)
    if plot_to is not None and file is not None:
        simulate_cluster_plots.draw_runs(runs[0].workload.name or file.name, runs, plot_to, style)
    elif plot_to is not None:
        simulate_cluster_plots.draw_points(what, points, plot_to, style)
    raise typer.Exit(_print_violations(points, runs) if check else Exit.DONE)


def _require_plain(windows: int | None, *others: object) -> None:
    """Refuse windows together with what is for one run of a stream.

    Raises
    ------
    NotApplicableError
        If windows are asked for, and anything else.
    """
    if windows is not None and any(other is not None for other in others):
        text = "--windows does not go together with --plot, --scenario, --mtbf or --factors"
        raise NotApplicableError(text)


def _print_violations(points: Sequence[LoadPoint], runs: Runs) -> Exit:
    """Print on standard error what the checks found; of a file, the first violations, too."""
    for run in runs:
        for violation in run.violations[:MAX_SHOWN_VIOLATIONS]:
            err.print(f"{run.algorithm.name}: {violation}", markup=False)
    found: Counter[str] = Counter()
    for point in points:
        found[point.method] += sum(outcome.violations or 0 for outcome in point.outcomes)
    for method, count in found.items():
        text = counted(count, "violation")
        err.print(f"{method}: {text}, verified: {precision(FLOATING)}", markup=False)
    return Exit.FOUND if any(found.values()) else Exit.DONE


def _reserving(fraction: str | None, advance: str | None, mixed: bool) -> ReservationMix:
    """Return which tasks become reservations: none if nobody asks for them."""
    from dlopt.simulation import ReservationMix

    if fraction is None:
        fraction = ".3" if mixed or advance is not None else "0"
    times, _, unit = ("0" if advance is None else advance).partition("/")
    if unit not in ("", "lambda"):
        raise NotApplicableError(f"--advance takes units of time or X/lambda, got {advance!r}")
    share, before = number(fraction), number(times)
    if isinstance(share, str) or not 0 <= share <= 1:
        raise NotApplicableError(f"--reserve-fraction takes a number from 0 to 1, not {fraction!r}")
    if isinstance(before, str) or before < 0:
        raise NotApplicableError(f"--advance takes a number that is not negative, not {advance!r}")
    return ReservationMix(share, before, intervals=bool(unit))


def _points(runs: Runs, check: bool) -> list[LoadPoint]:
    """Return what each algorithm did: one run of a stream, or one of each of its windows."""
    from dlopt.simulation import LoadPoint

    outcomes: dict[str, list[Any]] = {}
    for run in runs:
        outcome = run.checked() if check else run.outcome
        outcomes.setdefault(run.algorithm.name, []).append(outcome)
    return [LoadPoint(name, None, tuple(found)) for name, found in outcomes.items()]


def _names(method: str | None, methods: str | None) -> list[str]:
    if method is not None and methods is not None:
        raise NotApplicableError("--method and --methods do not go together")
    names = method_names(methods)
    if names is None:
        return [] if method is None else [method]
    if len(set(names)) < len(names):
        raise NotApplicableError("--methods names a method twice")
    return names


def _loads(load: str | None, loads: str | None) -> list[float] | None:
    if load is not None and loads is not None:
        raise NotApplicableError("--load and --loads do not go together")
    if load is None and loads is None:
        return None
    found = []
    for text in listed(load if load is not None else loads or ""):
        value = number(text)
        if isinstance(value, str) or value <= 0:
            raise NotApplicableError(f"a system load is a positive number, not {text!r}")
        found.append(float(value))
    if not found:
        raise NotApplicableError("--loads names no load")
    return found


add_command(
    app,
    cluster,
    "simulate cluster --methods edf-iit-2,edf-opr-mn --loads 0.4,0.8",
    options={
        "Workload": ("workload", "file", "windows", "load", "loads", "seeds"),
        "Advance reservations": ("reserve_fraction", "advance"),
        "Failures and true costs": ("scenario", "mtbf", "mttr", "factors", "factor_share"),
    },
)
add_command(
    app,
    grid,
    "simulate grid --tasks 500 --queue-sizes 1,3 --seeds 3",
    options={
        "Grid, tasks and failures": (
            *("file", "topology", "tasks", "intervals", "failure_rates", "queue_sizes"),
            *("slowdown", "failures"),
        ),
        "Verification (one simulation)": ("check", "optimum", "objective", "time_limit"),
        "Pictures": ("period", "window", "lans", "over_time", "plot_to"),
    },
)
add_command(app, feedback, "simulate feedback --load 0.8 --plot feedback.svg")
