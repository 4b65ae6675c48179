"""The command that solves many instances by many methods."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlopt import aliases
from dlopt.cli.console import Exit, err, out, read_each
from dlopt.cli.help_texts import option
from dlopt.cli.input_files import suggesting_shipped_names
from dlopt.cli.instance_options import instance_paths
from dlopt.cli.json_output import print_result
from dlopt.cli.option_values import method_names, pairs
from dlopt.cli.options import (
    AsJson,
    Certified,
    Exactly,
    Floating,
    Gap,
    Imports,
    Literal,
    Methods,
    MethodSettings,
    Threads,
    drawable_folder,
    writable,
    writable_folder,
)
from dlopt.cli.progress import bar
from dlopt.cli.tables import print_table
from dlopt.errors import NotApplicableError, printable
from dlopt.presentation.wording import counted
from dlopt.result import Limits, Status

if TYPE_CHECKING:
    from dlopt.batch import BatchSummary, ExperimentPlan, NamedInstance, Record
    from dlopt.batch.records import Numbers

_MAX_FAILURES = 10
"""Lines: of more failed runs than that, the number is printed; the records have them all."""

Times = Annotated[
    list[float] | None,
    option(
        "--time-limit S", "Time limit of a run, in seconds; each of several limits makes a run."
    ),
]
Works = Annotated[
    list[int] | None,
    option(
        "--work N",
        "Deterministic limit: branch-and-bound nodes or iterations; each of several limits "
        "makes a run.",
    ),
]


def batch(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            callback=instance_paths,
            help="Instances: files, folders with .json files, or names as `dlopt instances` lists "
            "them.",
        ),
    ],
    write_to: Annotated[
        Path,
        option("--out -o FILE.jsonl", "File to which records are appended.", callback=writable),
    ],
    methods: Methods = None,
    literal: Literal = False,
    objectives: Annotated[
        list[str] | None,
        option("--objective O", "Objective, or `all`; may be repeated.", "that of each instance"),
    ] = None,
    settings: MethodSettings = None,
    time_limits: Times = None,
    works: Works = None,
    gap: Gap = 0.0,
    certified: Certified = False,
    threads: Threads = 1,
    seeds: Annotated[
        list[int] | None,
        option("--seed N", "Seed of random numbers; each of several seeds makes a run.", "0"),
    ] = None,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    hard_timeout: Annotated[
        float | None,
        option(
            "--hard-timeout S",
            "Seconds after which the process of a run is killed.",
            "twice the time limit, plus 60",
        ),
    ] = None,
    kill_after: Annotated[float | None, typer.Option("--kill-after", hidden=True)] = None,
    memory: Annotated[int | None, option("--memory MB", "Memory limit of each worker.")] = None,
    workers: Annotated[
        int | None, option("--workers N", "Number of worker processes.", "one for each processor")
    ] = None,
    executor: Annotated[
        str, option("--executor E", "Where runs are executed: processes or dask://HOST:PORT.")
    ] = "processes",
    pictures: Annotated[
        Path | None,
        option("--pictures FOLDER", "Draw the plans into this folder.", callback=drawable_folder),
    ] = None,
    certificates: Annotated[
        Path | None,
        option(
            "--certificates FOLDER",
            "Write the certificates of bounds into this folder, checked.",
            callback=writable_folder,
        ),
    ] = None,
    imports: Imports = None,
    retry: Annotated[
        bool, option("--retry", "Repeat runs that failed, crashed or exceeded a hard limit.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Solve many instances by many methods; resumable.

    A run is an instance, a method, limits and a seed. Each run appends one record, a line
    of JSON. The same command resumes an interrupted batch.
    """
    from dlopt.batch import instance_files, plan_runs, run_batch

    if kill_after is not None:
        aliases.warn("option --kill-after is called --hard-timeout now")
        hard_timeout = kill_after
    numbers = _numbers(exact_numbers, float_numbers)
    plan = plan_runs(
        read_each(instance_files(files), lambda file: _read(file, numbers)),
        method_names(methods),
        objectives="all" if objectives == ["all"] else objectives,
        limits=[
            Limits(time, work, threads, gap)
            for time in (time_limits or (None,))
            for work in (works or (None,))
        ],
        seeds=seeds or [0],
        options=pairs(settings),
        literal=literal,
        numbers=numbers,
        hard_timeout_s=hard_timeout,
        pictures=pictures is not None,
        certificates=certificates is not None,
        certified=certified,
    )
    for name, other in plan.duplicates:
        err.print(printable(f"{name} equals {other}: solved once"), markup=False)
    try:
        with bar("solving", estimate=True) as progress:
            summary = run_batch(
                plan,
                write_to,
                executor=executor,
                workers=workers,
                memory_mb=memory,
                modules=imports or (),
                retry=retry,
                pictures=pictures,
                certificates=certificates,
                progress=progress,
            )
    except KeyboardInterrupt:
        err.print(f"{write_to} has the records so far; the same command resumes", markup=False)
        raise
    if as_json:
        print_result("batch", _to_data(write_to, plan, summary))
    else:
        _print_summary(write_to, plan, summary)
    raise typer.Exit(max(map(_exit_code, summary.records), default=Exit.DONE))


def _read(file: Path, numbers: Numbers) -> NamedInstance:
    from dlopt.batch import read_item

    with suggesting_shipped_names(file):
        return read_item(file, numbers)


def _numbers(exact_numbers: bool, float_numbers: bool) -> Numbers:
    if exact_numbers and float_numbers:
        raise NotApplicableError("numbers are read either as exact ones or as floats")
    return "exact" if exact_numbers else "float" if float_numbers else "as-written"


def _exit_code(record: Record) -> Exit:
    """Return the exit code that a record asks for; an honest limit asks for none."""
    from dlopt.batch import Failure

    if record.certificate_is_refused:
        return Exit.FOUND
    codes: dict[Status | Failure, Exit] = {
        Status.UNSOUND: Exit.FOUND,
        Failure.INVALID: Exit.INVALID,
        Failure.NOT_APPLICABLE: Exit.DONE,
    }
    usual = Exit.DONE if isinstance(record.status, Status) else Exit.NO_ANSWER
    return codes.get(record.status, usual)


def _to_data(path: Path, plan: ExperimentPlan, summary: BatchSummary) -> dict[str, Any]:
    return aliases.with_former_keys(
        {
            "out": str(path),
            "runs": len(summary.records),
            "solved": summary.solved,
            "by_status": dict(Counter(str(record.status) for record in summary.records)),
            "skipped": [
                {"instance": one.instance, "method": one.method, "reason": one.reason}
                for one in plan.skipped
            ],
        }
    )


def _print_summary(path: Path, plan: ExperimentPlan, summary: BatchSummary) -> None:
    from rich import box
    from rich.table import Table

    statuses = list(dict.fromkeys(str(record.status) for record in summary.records))
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("method")
    for status in statuses:
        table.add_column(status, justify="right")
    counts: dict[tuple[str, str], Counter[str]] = {}
    for record in summary.records:
        name = (record.key.problem, record.key.method)
        counts.setdefault(name, Counter())[str(record.status)] += 1
    for (problem, method), of_method in counts.items():
        table.add_row(f"{problem} {method}", *(str(of_method[s] or "-") for s in statuses))
    print_table(table)
    failed = [r for r in summary.records if _exit_code(r) in (Exit.NO_ANSWER, Exit.INVALID)]
    for record in failed[:_MAX_FAILURES]:
        where = f"{record.key.method} on {record.instance}"
        err.print(printable(f"{where}: {record.status}: {record.reason}"), markup=False)
    if len(failed) > _MAX_FAILURES:
        err.print(f"... and {len(failed) - _MAX_FAILURES} more", markup=False)
    for record in (one for one in summary.records if one.certificate_is_refused):
        where = f"{record.key.method} on {record.instance}"
        err.print(printable(f"{where}: certificate {record.certificate_check}"), markup=False)
    text = f"{path}: {counted(len(summary.records), 'run')}, {summary.solved} of them executed now"
    certificates = [one for one in summary.records if one.certificate is not None]
    if certificates:
        refused = sum(one.certificate_is_refused for one in certificates)
        text += f"; {counted(len(certificates), 'certificate')}, {refused} of them refused"
    if plan.skipped:
        text += f"; {len(plan.skipped)} skipped, where a method does not apply"
    if summary.others:
        text += f"; {counted(summary.others, 'record')} of other batches or versions"
    out.print(text, markup=False, soft_wrap=True)
