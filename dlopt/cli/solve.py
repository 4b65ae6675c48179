"""The command that solves an instance."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlopt.cli.console import (
    Exit,
    err,
    exit_code,
    interruptible,
    out,
    quiet_solvers,
    warn_of_long_numbers,
)
from dlopt.cli.help_texts import option
from dlopt.cli.input_files import STANDARD, read_instance
from dlopt.cli.instance_options import instance_path
from dlopt.cli.json_output import envelope, print_document
from dlopt.cli.memory import bounded
from dlopt.cli.option_values import pairs, solver_parameters, target_value
from dlopt.cli.options import (
    AsJson,
    Certificate,
    Certified,
    Exactly,
    Floating,
    Fractions,
    Gap,
    Goal,
    Imports,
    ListSolverParameters,
    Memory,
    NoImprovement,
    Out,
    Picture,
    ProgressPicture,
    Seed,
    Settings,
    SolverLog,
    SolverParameters,
    Target,
    Threads,
    TimeLimit,
    Work,
    refuse_shared_files,
)
from dlopt.cli.picture_options import Dpi, NoTitle, PictureStyle, Width
from dlopt.cli.progress import line, search_text
from dlopt.errors import printable

if TYPE_CHECKING:
    from dlopt.problems.validated_record import Header
    from dlopt.result import Result


def solve(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            callback=instance_path,
            help="The instance to solve: a file, a name as `dlopt instances` lists it, or - for "
            "standard input.",
        ),
    ],
    method: Annotated[str, option("--method -m M", "Method, see `dlopt methods`.")] = "exact",
    objective: Goal = None,
    settings: Settings = None,
    imports: Imports = None,
    time_limit: TimeLimit = None,
    work: Work = None,
    threads: Threads = 1,
    gap: Gap = 0.0,
    target: Target = None,
    no_improvement: NoImprovement = None,
    solver_log: SolverLog = False,
    parameters: SolverParameters = None,
    _list_parameters: ListSolverParameters = False,
    memory: Memory = None,
    certified: Certified = False,
    seed: Seed = 0,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    write_to: Out = None,
    plot_to: Picture = None,
    progress_to: ProgressPicture = None,
    width: Width = None,
    no_title: NoTitle = False,
    dpi: Dpi = None,
    certificate_to: Certificate = None,
    fractions: Fractions = False,
    as_json: AsJson = False,
) -> None:
    """Solve an instance and verify the solution.

    Status, value, bound and gap are printed; the gap is |value - bound| / |value|. By default there
    is no time limit. The status says by what optimality is proven; with --certified, what a solver
    only claims is feasible, with the best certified bound. After Ctrl-C, what is known of the best
    verified solution so far is printed.

    `dlopt methods` lists the methods, their objectives and the options that --set takes.
    """
    from dlopt import api, certificate_files, io
    from dlopt.result import Limits

    written = {"--out": write_to, "--plot": plot_to, "--plot-progress": progress_to}
    refuse_shared_files(file, written | {"--certificate": certificate_to})
    if write_to == STANDARD:
        write_to, as_json = None, True
    wanted = target_value(target)
    limits = Limits(time_limit, work, threads, gap, wanted, no_improvement)
    stop = threading.Event()
    bounded(memory)
    instance = read_instance(file, exact_numbers=exact_numbers, float_numbers=float_numbers)
    warn_of_long_numbers([instance])
    with quiet_solvers(), line(method, hint=time_limit is None and work is None) as show:
        options = pairs(settings) | {"objective": objective, "limits": limits, "seed": seed}
        reports: list[Result[object]] = []
        if show is not None or progress_to is not None:
            options["progress"] = partial(_on_progress, show, reports)
        options |= {"solver_log": solver_log, "solver_parameters": solver_parameters(parameters)}
        options["certified"] = certified
        result = interruptible(lambda: api.solve(instance, method, stop=stop, **options), stop)
    if stop.is_set() and result.solution is None and result.bound is None:
        raise KeyboardInterrupt
    # The hash of an instance is computed only where it is stored or printed: it may take seconds.
    data = _to_data(instance, result) if write_to is not None or as_json else {}
    if write_to is not None:
        io.write(data, write_to)
    if as_json:
        print_document(data)
    else:
        _print_result(instance, result, fractions=fractions)
    style = PictureStyle(width, no_title, dpi)
    if plot_to is not None:
        _draw_plan(instance, result, plot_to, style)
    if progress_to is not None:
        _draw_progress(reports, result, progress_to, style)
    code = exit_code(result)
    if certificate_to is not None and result.certificate is None:
        reason = certificate_files.reason_for_no_certificate(result)
        err.print(f"{certificate_to} is not written: {reason}", markup=False)
        code = code or Exit.NO_ANSWER
    elif certificate_to is not None:
        certificate_files.write_certificate(result, certificate_to)
    raise typer.Exit(Exit.INTERRUPTED if stop.is_set() else code)


def _on_progress(
    show: Callable[[str], None] | None, reports: list[Result[object]], found: Result[object]
) -> None:
    """Show what a running method knows, and keep it without its plan, for a chart."""
    reports.append(replace(found, solution=None, instance=None, certificate=None))
    if show is not None:
        show(f"{found.method}: {search_text(found)}")


def _draw_plan(instance: Header, result: Result[object], path: Path, style: PictureStyle) -> None:
    if result.solution is None:
        err.print(f"no plan to draw: {path} is not written", markup=False)
        return
    from dlopt.plotting import plot

    plot(instance, result, path, **style.page())


def _draw_progress(
    reports: list[Result[object]], last: Result[object], path: Path, style: PictureStyle
) -> None:
    if last.value is None and last.bound is None:
        err.print(f"neither an incumbent nor a bound to draw: {path} is not written", markup=False)
        return
    from dlopt.plotting import plot_progress

    # Reports count the time from the beginning of `solve`, a result that of its method alone.
    end = max(found.runtime_s or 0.0 for found in (*reports, last))
    plot_progress([*reports, replace(last, runtime_s=end)], path, **style.page())


def _to_data(instance: Header, result: Result[Any]) -> dict[str, Any]:
    """Return a result as the data of a file, with its schedule by names too."""
    from dlopt import io
    from dlopt.presentation.schedule_rows import schedule_to_data

    solution = result.solution
    schedule = None if solution is None else schedule_to_data(instance, solution)
    return envelope("solve", io.result_to_data(instance, result) | {"schedule": schedule})


def _print_result(instance: Header, result: Result[Any], *, fractions: bool) -> None:
    from dlopt import registry
    from dlopt.cli import result_tables
    from dlopt.presentation.schedule_remarks import schedule_remarks

    goal = registry.problem(instance.problem).module.OBJECTIVES[result.objective]
    text = result_tables.headline(result, goal.sense, goal.senses)
    out.print(text, soft_wrap=not out.is_terminal)
    if result.reason is not None:
        out.print(printable(result.reason), markup=False, soft_wrap=not out.is_terminal)
    for remark in schedule_remarks(instance, result):
        out.print(printable(remark), markup=False, soft_wrap=not out.is_terminal)
    for violation in result_tables.violations(instance, result, result.violations):
        out.print(violation)
    if result.solution is not None:
        for table in result_tables.plan(instance, result.solution, fractions=fractions):
            table.print()
