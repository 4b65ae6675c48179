"""The command that compares methods."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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
    print_error,
    quiet_solvers,
    read_each,
    warn_of_long_numbers,
)
from dlopt.cli.input_files import STANDARD, read_instance, require_one_standard_input
from dlopt.cli.instance_options import instance_paths
from dlopt.cli.json_output import print_result
from dlopt.cli.option_values import method_names, pairs
from dlopt.cli.options import (
    AsJson,
    Certified,
    Exactly,
    Floating,
    Fractions,
    Gap,
    Goal,
    Imports,
    Literal,
    Methods,
    MethodSettings,
    Seed,
    Threads,
    TimeLimit,
    Work,
)
from dlopt.cli.progress import line, search_text

if TYPE_CHECKING:
    from dlopt.api import Comparison
    from dlopt.problems.validated_record import Header
    from dlopt.result import Result


def compare(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            callback=instance_paths,
            help="Instances: files, folders with .json files, names as `dlopt instances` lists "
            "them, or - for standard input.",
        ),
    ],
    methods: Methods = None,
    literal: Literal = False,
    imports: Imports = None,
    objective: Goal = None,
    settings: MethodSettings = None,
    time_limit: TimeLimit = None,
    work: Work = None,
    threads: Threads = 1,
    gap: Gap = 0.0,
    certified: Certified = False,
    seed: Seed = 0,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    fractions: Fractions = False,
    as_json: AsJson = False,
) -> None:
    """Compare all applicable methods with the proven optimum.

    The gap to optimum is |value - optimum| / |optimum|. Where no optimum is proven, the best bound
    takes its place, and the gap is marked with *: the true one is no larger. With --certified, what
    a solver only claims is feasible, and optima and bounds are certified ones. After Ctrl-C, what
    is known by then is printed.

    `dlopt methods` lists the methods, their objectives and the options that --set takes.
    """
    from dlopt.method_options import options_of_problems
    from dlopt.plain_data import comparison_to_data
    from dlopt.result import Limits

    limits, stop = Limits(time_limit, work, threads, gap), threading.Event()
    wanted, given = method_names(methods), pairs(settings)
    files = list(_expanded(files))
    read = partial(read_instance, exact_numbers=exact_numbers, float_numbers=float_numbers)
    instances = list(read_each(files, read))
    warn_of_long_numbers(instances)
    names = ("standard input" if file == STANDARD else file.name for file in files)
    named = [(one.name or name, one) for one, name in zip(instances, names, strict=True)]
    stems = dict.fromkeys(instance.problem for instance in instances)
    of_problem = options_of_problems(stems, given, wanted, literal=literal)
    options: dict[str, Any] = {"objective": objective, "limits": limits, "seed": seed}
    options |= {"methods": wanted, "literal": literal, "certified": certified}
    with quiet_solvers():
        compared = _compared(named, of_problem, stop, **options)
    if as_json:
        print_result("compare", {"comparisons": [comparison_to_data(c) for _, c in compared]})
    else:
        _print(compared, fractions=fractions)
    code = _reported(compared)
    if stop.is_set():
        err.print(f"{len(compared)} of {len(named)} instances are compared")
        code = Exit.INTERRUPTED
    raise typer.Exit(code)


def _expanded(files: list[Path]) -> list[Path]:
    """Return the files, and those of folders."""
    from dlopt.batch import instance_files

    require_one_standard_input(*files)
    return [
        one for file in files for one in ([file] if file == STANDARD else instance_files([file]))
    ]


def _compared(
    named: list[tuple[str, Header]],
    of_problem: Mapping[str, Mapping[str, object]],
    stop: threading.Event,
    **options: Any,
) -> list[tuple[str, Comparison]]:
    """Compare the methods on each instance, until Ctrl-C sets the event."""
    from dlopt import api

    compared: list[tuple[str, Comparison]] = []
    limits = options["limits"]
    with line("comparing", hint=limits.time_s is None and limits.work is None) as show:
        for number, (name, instance) in enumerate(named, start=1):
            if stop.is_set():
                break
            where = f"{name} ({number} of {len(named)})"
            if show is not None:
                show(where)
                options["progress"] = partial(_show_search, show, where)
            own = of_problem[instance.problem]
            run = partial(api.compare, instance, stop=stop, options=own, **options)
            compared.append((name, interruptible(run, stop)))
    return compared


def _show_search(show: Callable[[str], None], where: str, found: Result[Any]) -> None:
    show(f"{where}, {found.method}: {search_text(found)}")


def _print(compared: list[tuple[str, Comparison]], *, fractions: bool) -> None:
    from dlopt.cli import comparison_tables

    for key in dict.fromkeys((one.instance.problem, one.objective) for _, one in compared):
        # the heading of a table names its objective, and instances may differ in theirs
        same = [n for n in compared if (n[1].instance.problem, n[1].objective) == key]
        comparison_tables.print_table(same, fractions=fractions)
    for text in comparison_tables.notes(compared, fractions=fractions):
        out.print(text, markup=False, soft_wrap=not out.is_terminal)


def _reported(compared: list[tuple[str, Comparison]]) -> Exit:
    """Print why methods failed, and return the exit code."""
    codes = [Exit.DONE]
    for name, comparison in compared:
        for row in comparison.rows:
            if row.error is not None:
                code = print_error(row.error, f"{row.method.name} on {name}: ")
                codes.append(Exit.INVALID if code is Exit.INVALID else Exit.NO_ANSWER)
            elif row.result is not None and exit_code(row.result) is Exit.FOUND:
                codes.append(Exit.FOUND)
    return max(codes)
