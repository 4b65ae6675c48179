"""The commands. Each reads files, asks the library, and prints a table or JSON."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from dlopt import arithmetic
from dlopt.cli.console import (
    Exit,
    code_of,
    interruptible,
    out,
    print_json,
    progress,
    quiet_solvers,
    tell,
    warn_of_long_numbers,
)
from dlopt.errors import DloptError, NotApplicableError
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

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else.")]
Exactly = Annotated[
    bool, typer.Option("--exact-numbers", help="Read decimals as exact rational numbers.")
]
Floating = Annotated[
    bool, typer.Option("--float-numbers", help="Compute in floats, whatever the file says.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="K=V", help="An option, as often as needed.")
]
TimeLimit = Annotated[
    float | None, typer.Option("--time-limit", metavar="S", help="Seconds for each method.")
]
Work = Annotated[
    int | None, typer.Option("--work", metavar="N", help="Deterministic units of work.")
]
Threads = Annotated[int, typer.Option("--threads", metavar="N", help="Threads of a solver.")]
Gap = Annotated[float, typer.Option("--gap", metavar="G", help="Relative gap to stop at.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N")]
Goal = Annotated[str | None, typer.Option("--objective", metavar="O", help="What to optimise.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write JSON here.")]

_NOT_SET = frozenset(
    {"instance", "method", "objective", "limits", "hint", "stem", "family", "seed"}
)
"""Names of the library's own arguments, which ``--set`` may not stand for."""


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
    method: Annotated[str, typer.Option("--method", "-m", metavar="M")] = "exact",
    objective: Goal = None,
    settings: Settings = None,
    time_limit: TimeLimit = None,
    work: Work = None,
    threads: Threads = 1,
    gap: Gap = 0.0,
    seed: Seed = 0,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    write_to: Out = None,
    plot_to: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the plan: svg, png, pdf.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Solve an instance, check the answer, and say how good it is."""
    from dlopt import api, io, registry
    from dlopt.cli import tables

    limits = Limits(time_limit, work, threads, gap)
    instance = io.read(file, exact_numbers=exact_numbers, float_numbers=float_numbers)
    warn_of_long_numbers([instance])
    with quiet_solvers():
        options: dict[str, Any] = dict(_pairs(settings))
        options |= {"objective": objective, "limits": limits, "seed": seed}
        result = interruptible(lambda: api.solve(instance, method, **options))
    data = io.result_to_data(instance, result)
    if write_to is not None:
        io.write(data, write_to)
    if as_json:
        print_json(data)
    else:
        goals = registry.problem(instance.problem).module.OBJECTIVES
        out.print(tables.headline(result, goals[result.objective].sense), soft_wrap=True)
        if result.reason is not None:
            out.print(result.reason, markup=False, soft_wrap=True)
        for violation in result.violations:
            out.print(Text(str(violation), "red"))
        if result.solution is not None:
            out.print(tables.plan(result.solution))
    if plot_to is not None:
        from dlopt.plotting import plot as draw

        draw(instance, result, plot_to)
    raise typer.Exit(code_of(result))


@app.command()
def compare(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Instances.")],
    methods: Annotated[
        str | None, typer.Option("--methods", metavar="M,M", help="By default all but literal.")
    ] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="Take in the papers' slips, as printed.")
    ] = False,
    objective: Goal = None,
    time_limit: TimeLimit = None,
    work: Work = None,
    threads: Threads = 1,
    seed: Seed = 0,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    as_json: AsJson = False,
) -> None:
    """Hold every method that applies against the proven optimum."""
    from dlopt import api
    from dlopt.cli import tables

    limits = Limits(time_limit, work, threads)
    instances = _read_all(files, exact_numbers, float_numbers)
    warn_of_long_numbers(instances)
    wanted = None if methods is None else [name for name in methods.split(",") if name]
    compared = []
    with quiet_solvers():
        for instance in progress(instances, len(instances), "comparing"):
            options: dict[str, Any] = {"objective": objective, "limits": limits, "seed": seed}
            compare_all = partial(api.compare, instance, wanted, literal=literal, **options)
            compared.append(interruptible(compare_all))
    if as_json:
        print_json({"comparisons": [_compared(comparison) for comparison in compared]})
    else:
        for stem in dict.fromkeys(c.instance.problem for c in compared):
            out.print(tables.comparison([c for c in compared if c.instance.problem == stem]))
        for comparison in compared:
            for name, reason in comparison.left_out:
                line = f"left out: {name} on {comparison.instance.name}: {reason}"
                out.print(line, markup=False, soft_wrap=True)
    codes = [code_of(row.result) for comparison in compared for row in comparison.rows]
    raise typer.Exit(Exit.FOUND if Exit.FOUND in codes else Exit.DONE)


@app.command()
def check(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE")],
    result_file: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result of solve, or a plan of your own.")
    ],
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", metavar="R", help="Relative; 0 is exact.")
    ] = None,
    exact_numbers: Exactly = False,
    as_json: AsJson = False,
) -> None:
    """Check a plan by the rules of its problem, without asking what made it."""
    from dlopt import api, io

    instance = io.read(instance_file, exact_numbers=exact_numbers)
    plan = io.read_plan(result_file, instance, exact_numbers=exact_numbers)
    found = api.check(instance, plan, tolerance)
    if as_json:
        violations = [io.violation_to_data(violation) for violation in found]
        print_json({"valid": not found, "violations": violations})
    elif found:
        for violation in found:
            out.print(Text(str(violation), "red"))
    else:
        out.print("[green]valid[/green]")
    raise typer.Exit(Exit.FOUND if found else Exit.DONE)


@app.command("methods")
def list_methods(
    stem: Annotated[str | None, typer.Argument(metavar="[STEM]")] = None, as_json: AsJson = False
) -> None:
    """List problems and methods: what each claims, its source, its options."""
    from dlopt import registry
    from dlopt.cli import tables

    entries = registry.methods(stem)
    if not as_json:
        for part in tables.methods(entries):
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


@app.command()
def generate(
    stem: Annotated[str, typer.Argument(metavar="STEM")],
    family: Annotated[str, typer.Option("--family", metavar="F")],
    seed: Seed = 0,
    settings: Settings = None,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Generate an instance; without --out it is printed."""
    from dlopt import generation

    parameters = {name: _number(value) for name, value in _pairs(settings).items()}
    instance = generation.generate(stem, family, seed=seed, **parameters)
    _deliver(instance, write_to, as_json)


@app.command()
def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    to: Annotated[str, typer.Option("--to", metavar="STEM", help="The problem to make.")],
    load: Annotated[str, typer.Option("--load", metavar="X", help="Units of load to split.")],
    at: Annotated[str, typer.Option("--at", metavar="T", help="Instant of the log.")],
    source: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="By default from the name.")
    ] = None,
    machines: Annotated[int | None, typer.Option("--machines", metavar="N")] = None,
    tau: Annotated[str, typer.Option("--tau", metavar="X")] = "1",
    chi: Annotated[str, typer.Option("--chi", metavar="X")] = "100",
    theta_cm: Annotated[str, typer.Option("--theta-cm", metavar="X")] = "0",
    theta_cp: Annotated[str, typer.Option("--theta-cp", metavar="X")] = "0",
    deadline: Annotated[
        str | None, typer.Option("--deadline", metavar="D", help="Relative to --at.")
    ] = None,
    starts: Annotated[
        str, typer.Option("--starts", metavar="recorded|fcfs", help="When jobs started.")
    ] = "recorded",
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Make an instance from a file of another format; without --out it is printed."""
    from dlopt.formats import swf
    from dlopt.generation import occupancy

    known = source or ("swf" if ".swf" in file.name else None)
    if known != "swf":
        raise NotApplicableError(f"unknown format {known or file.suffix!r}; known: swf (--from)")
    if to != "iit":
        raise NotApplicableError(f"swf converts to iit, not to {to!r}")
    if starts not in ("recorded", "fcfs"):
        raise NotApplicableError(f"--starts takes recorded or fcfs, got {starts!r}")
    if machines is not None and machines < 1:
        raise NotApplicableError(f"--machines must be positive, got {machines}")
    numbers = {
        name: _needed(name, text)
        for name, text in {
            "at": at,
            "load": load,
            "tau": tau,
            "chi": chi,
            "theta_cm": theta_cm,
            "theta_cp": theta_cp,
            "deadline": deadline,
        }.items()
        if text is not None
    }
    log = swf.read(file)
    chosen: Any = starts
    instance = occupancy.snapshot(log, machines=machines, starts=chosen, **numbers)
    _deliver(instance, write_to, as_json)


@app.command()
def plot(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE")],
    result_file: Annotated[Path, typer.Argument(metavar="RESULT")],
    write_to: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="svg, png or pdf.")],
    exact_numbers: Exactly = False,
    as_json: AsJson = False,
) -> None:
    """Draw a plan as a Gantt chart."""
    from dlopt import io
    from dlopt.plotting import plot as draw

    instance = io.read(instance_file, exact_numbers=exact_numbers)
    draw(instance, io.read_plan(result_file, instance, exact_numbers=exact_numbers), write_to)
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
            tell(error)
            failed = True
    if failed:
        raise typer.Exit(Exit.BAD_INPUT)
    return instances


def _compared(comparison: Any) -> dict[str, Any]:
    from dlopt import io

    rows = []
    for row in comparison.rows:
        data = io.result_to_data(comparison.instance, row.result)
        rows.append({**data, "solution": None, "gap_to_optimum": row.gap})
    return {
        "problem": comparison.instance.problem,
        "instance": comparison.instance.name,
        "hash": io.instance_hash(comparison.instance),
        "objective": comparison.objective,
        "rows": rows,
        "left_out": [{"method": name, "reason": why} for name, why in comparison.left_out],
    }


def _pairs(settings: list[str] | None) -> dict[str, str]:
    pairs = {}
    for setting in settings or []:
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise NotApplicableError(f"--set takes K=V, got {setting!r}")
        if name in _NOT_SET:
            raise NotApplicableError(f"{name} is no option for --set")
        pairs[name.replace("-", "_")] = value
    return pairs


def _number(text: str) -> Any:
    try:
        return arithmetic.simplest(arithmetic.parse(text))
    except ValueError:
        return text


def _needed(name: str, text: str) -> Any:
    try:
        return arithmetic.simplest(arithmetic.parse(text))
    except ValueError as error:
        raise NotApplicableError(f"--{name.replace('_', '-')}: {error}") from error


def _deliver(instance: Any, write_to: Path | None, as_json: bool) -> None:
    from dlopt import io

    if write_to is not None:
        io.write(instance, write_to)
    if write_to is None or as_json:
        print_json(io.instance_to_data(instance))
