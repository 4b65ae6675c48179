"""The commands. Each reads files, asks the library, and prints a table or JSON."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dlopt.cli import batch, check, falsify, making, simulate_cluster
from dlopt.cli.console import (
    Exit,
    err,
    exit_code,
    interruptible,
    out,
    print_error,
    print_json,
    print_table,
    progress,
    quiet_solvers,
    warn_of_long_numbers,
)
from dlopt.cli.memory import bounded
from dlopt.cli.options import (
    AsJson,
    Certificate,
    Exactly,
    Floating,
    Gap,
    Goal,
    Literal,
    Memory,
    Methods,
    Out,
    Picture,
    Seed,
    Settings,
    Threads,
    TimeLimit,
    Work,
    drawable,
    pairs,
)
from dlopt.errors import DloptError, NotApplicableError, printable
from dlopt.result import Limits
from dlopt.version import __version__

app = typer.Typer(
    name="dlopt",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Scheduling problems solved twice: by the papers' heuristics, and exactly.",
)


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Scheduling problems solved twice: by the papers' heuristics, and exactly."""
    if show:
        out.print(__version__)
        raise typer.Exit


@app.command()
def solve(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An instance.")],
    method: Annotated[
        str,
        typer.Option("--method", "-m", metavar="M", help="`dlopt methods` lists them."),
    ] = "exact",
    objective: Goal = None,
    settings: Settings = None,
    time_limit: TimeLimit = None,
    work: Work = None,
    threads: Threads = 1,
    gap: Gap = 0.0,
    memory: Memory = None,
    seed: Seed = 0,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    write_to: Out = None,
    plot_to: Picture = None,
    certificate_to: Certificate = None,
    as_json: AsJson = False,
) -> None:
    """Solve an instance, check the answer, and say how good it is.

    `dlopt methods` lists the methods, their objectives and the options that --set takes.
    """
    from dlopt import api, certificate_files, io, registry
    from dlopt.cli import result_tables

    limits = Limits(time_limit, work, threads, gap)
    bounded(memory)
    instance = io.read(file, exact_numbers=exact_numbers, float_numbers=float_numbers)
    warn_of_long_numbers([instance])
    with quiet_solvers():
        options = pairs(settings) | {"objective": objective, "limits": limits, "seed": seed}
        result = interruptible(lambda: api.solve(instance, method, **options))
    # The hash of an instance is computed only where it is stored or printed: it may take seconds.
    data = io.result_to_data(instance, result) if write_to is not None or as_json else {}
    if write_to is not None:
        io.write(data, write_to)
    if as_json:
        print_json(data)
    else:
        goal = registry.problem(instance.problem).module.OBJECTIVES[result.objective]
        out.print(result_tables.headline(result, goal.sense, goal.senses), soft_wrap=True)
        if result.reason is not None:
            out.print(printable(result.reason), markup=False, soft_wrap=True)
        for line in result_tables.violations(result.violations):
            out.print(line)
        if result.solution is not None:
            for table in result_tables.plan(result.solution):
                out.print(table)
    if plot_to is not None and result.solution is None:
        err.print(f"no plan to draw: {plot_to} is not written", markup=False)
    elif plot_to is not None:
        from dlopt.plotting import plot as draw

        draw(instance, result, plot_to)
    if certificate_to is not None and result.certificate is None:
        err.print(f"no proof in fractions: {certificate_to} is not written", markup=False)
    elif certificate_to is not None:
        certificate_files.write_certificate(result, certificate_to)
    raise typer.Exit(exit_code(result))


@app.command()
def compare(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Instances.")],
    methods: Methods = None,
    literal: Literal = False,
    objective: Goal = None,
    time_limit: TimeLimit = None,
    work: Work = None,
    threads: Threads = 1,
    seed: Seed = 0,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    as_json: AsJson = False,
) -> None:
    """Hold every method that applies against the proven optimum.

    `gap_to_best` is the gap to the optimum in %: (value - optimum) / optimum.
    """
    from dlopt import api
    from dlopt.cli import comparison_tables

    limits = Limits(time_limit, work, threads)
    wanted = None if methods is None else [m.strip() for m in methods.split(",") if m.strip()]
    if wanted == []:
        raise NotApplicableError("--methods names no method")
    instances = _read_all(files, exact_numbers, float_numbers)
    warn_of_long_numbers(instances)
    compared = []
    with quiet_solvers():
        for instance in progress(instances, len(instances), "comparing"):
            options: dict[str, Any] = {"objective": objective, "limits": limits, "seed": seed}
            compare_all = partial(api.compare, instance, wanted, literal=literal, **options)
            compared.append(interruptible(compare_all))
    named = [(c.instance.name or file.name, c) for c, file in zip(compared, files, strict=True)]
    if as_json:
        print_json({"comparisons": [comparison_tables.to_data(c) for c in compared]})
    else:
        for stem in dict.fromkeys(c.instance.problem for c in compared):
            alike = [n for n in named if n[1].instance.problem == stem]
            print_table(comparison_tables.table(alike))
        for line in comparison_tables.notes(named):
            out.print(line, markup=False, soft_wrap=True)
    codes = [Exit.DONE]
    for name, comparison in named:
        for row in comparison.rows:
            if row.error is not None:
                code = print_error(row.error, f"{row.method.name} on {name}: ")
                codes.append(Exit.INVALID if code is Exit.INVALID else Exit.NO_ANSWER)
            elif row.result is not None and exit_code(row.result) is Exit.FOUND:
                codes.append(Exit.FOUND)
    raise typer.Exit(max(codes))


app.command()(check.check)


@app.command("methods")
def list_methods(
    stem: Annotated[str | None, typer.Argument(metavar="[STEM]")] = None, as_json: AsJson = False
) -> None:
    """List problems and methods: what each claims, its source, its options."""
    from dlopt import registry
    from dlopt.cli import result_tables

    entries = registry.methods(stem)
    if not as_json:
        for part in result_tables.methods(entries):
            out.print(part)
        return
    print_json(
        [
            {
                "problem": entry.stem,
                "method": entry.name,
                "kind": entry.kind,
                "claim": entry.claim,
                "plan_class": entry.plan_class,
                "objectives": list(entry.objectives),
                "source": entry.source,
                "summary": entry.summary,
                "options": [
                    {"name": o.name, "type": o.type, "default": o.default, "help": o.help}
                    for o in entry.options
                ],
            }
            for entry in entries
        ]
    )


app.command()(making.generate)
app.command()(making.convert)
app.command()(falsify.falsify)
app.add_typer(simulate_cluster.app)
app.command()(batch.batch)
app.command()(batch.report)


@app.command()
def plot(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE")],
    result_file: Annotated[Path, typer.Argument(metavar="RESULT")],
    write_to: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", callback=drawable, help="svg, png or pdf."),
    ],
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    as_json: AsJson = False,
) -> None:
    """Draw a plan as a Gantt chart."""
    from dlopt.plotting import plot as draw

    draw(*check.read_both(instance_file, result_file, exact_numbers, float_numbers), write_to)
    if as_json:
        print_json({"plot": str(write_to)})


@app.command()
def schema(stem: Annotated[str, typer.Argument(metavar="STEM")], as_json: AsJson = False) -> None:
    """Print the JSON Schema of a problem's instance files."""
    from dlopt.schemas import instance_schema

    print_json(instance_schema(stem))


def _read_all(files: list[Path], exact_numbers: bool, float_numbers: bool) -> list[Any]:
    """Read all files; if some are bad, tell of each of them."""
    from dlopt import io

    instances, failed = [], False
    for file in files:
        try:
            instances.append(
                io.read(file, exact_numbers=exact_numbers, float_numbers=float_numbers)
            )
        except DloptError as error:
            print_error(error)
            failed = True
    if failed:
        raise typer.Exit(Exit.BAD_INPUT)
    return instances
