"""The command that compares methods."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from dlopt.cli.console import (
    Exit,
    exit_code,
    interruptible,
    out,
    print_error,
    print_json,
    print_table,
    quiet_solvers,
    read_each,
    warn_of_long_numbers,
)
from dlopt.cli.options import (
    AsJson,
    Exactly,
    Floating,
    Goal,
    Imports,
    Literal,
    Methods,
    Seed,
    Threads,
    TimeLimit,
    Work,
    method_names,
)
from dlopt.cli.progress import with_progress
from dlopt.result import Limits


def compare(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="The instances.")],
    methods: Methods = None,
    literal: Literal = False,
    imports: Imports = None,
    objective: Goal = None,
    time_limit: TimeLimit = None,
    work: Work = None,
    threads: Threads = 1,
    seed: Seed = 0,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    as_json: AsJson = False,
) -> None:
    """Compare all applicable methods with the proven optimum.

    The gap to the optimum is |value - optimum| / |optimum|. Where no optimum is proven,
    the gap to the best bound is printed, marked with *.
    """
    from dlopt import api, io
    from dlopt.cli import comparison_tables
    from dlopt.plain_data import comparison_to_data

    limits = Limits(time_limit, work, threads)
    wanted = method_names(methods)
    read = partial(io.read, exact_numbers=exact_numbers, float_numbers=float_numbers)
    instances = list(read_each(files, read))
    warn_of_long_numbers(instances)
    comparisons = []
    with quiet_solvers():
        for instance in with_progress(instances, len(instances), "comparing"):
            options: dict[str, Any] = {"objective": objective, "limits": limits, "seed": seed}
            compare_all = partial(api.compare, instance, wanted, literal=literal, **options)
            comparisons.append(interruptible(compare_all))
    named = [(c.instance.name or file.name, c) for c, file in zip(comparisons, files, strict=True)]
    if as_json:
        print_json({"comparisons": [comparison_to_data(c) for c in comparisons]})
    else:
        for key in dict.fromkeys((c.instance.problem, c.objective) for c in comparisons):
            # the heading of a table names its objective, and instances may differ in theirs
            same = [n for n in named if (n[1].instance.problem, n[1].objective) == key]
            print_table(comparison_tables.table(same))
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
