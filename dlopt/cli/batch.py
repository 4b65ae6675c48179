"""The commands that solve many instances and report on them."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dlopt.cli.console import Exit, err, out, print_error, print_json, quiet_solvers
from dlopt.cli.folders import refuse_unwritable
from dlopt.cli.options import (
    AsJson,
    Exactly,
    Floating,
    Gap,
    Literal,
    Methods,
    Settings,
    Threads,
    pairs,
    writable,
)
from dlopt.errors import DloptError, NotApplicableError, printable
from dlopt.result import Limits, Status

if TYPE_CHECKING:
    from dlopt.batch import BatchSummary, ExperimentPlan, NamedInstance, Record
    from dlopt.batch.metrics import EvaluatedRecord
    from dlopt.batch.records import Numbers
    from dlopt.batch.runner import Progress

Times = Annotated[
    list[float] | None,
    typer.Option(
        "--time-limit", metavar="S", help="Seconds for each cell; several are solved in turn."
    ),
]
Works = Annotated[
    list[int] | None,
    typer.Option("--work", metavar="N", help="Deterministic units of work; several in turn."),
]


def batch(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Instances; of a folder all .json files in it."),
    ],
    write_to: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE.jsonl", callback=writable, help="Rows are appended here."
        ),
    ],
    methods: Methods = None,
    literal: Literal = False,
    objectives: Annotated[
        list[str] | None,
        typer.Option("--objective", metavar="O", help="By default each instance's own; or `all`."),
    ] = None,
    settings: Settings = None,
    time_limits: Times = None,
    works: Works = None,
    gap: Gap = 0.0,
    threads: Threads = 1,
    seeds: Annotated[
        list[int] | None, typer.Option("--seed", metavar="N", help="Several are solved in turn.")
    ] = None,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    kill_after: Annotated[
        float | None,
        typer.Option(
            "--kill-after",
            metavar="S",
            help="End a cell after so many seconds; by default twice the time limit and a minute.",
        ),
    ] = None,
    memory: Annotated[
        int | None, typer.Option("--memory", metavar="MB", help="For each worker.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="By default one for each processor."),
    ] = None,
    executor: Annotated[
        str, typer.Option("--executor", metavar="E", help="processes, or dask://HOST:PORT.")
    ] = "processes",
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", metavar="FOLDER", help="Draw the plans into this folder."),
    ] = None,
    modules: Annotated[
        list[str] | None,
        typer.Option(
            "--import", metavar="MODULE", help="A module or .py file that registers methods."
        ),
    ] = None,
    retry: Annotated[
        bool, typer.Option("--retry", help="Solve again what failed, died or ran out.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Solve many instances by many methods; started again, go on where it was ended.

    Each instance, method and limit is a run, and each run one line of JSON.
    """
    from dlopt.batch import plan_runs, run_batch
    from dlopt.batch.runs import load_module

    _can_draw(pictures)
    with quiet_solvers():
        for module in modules or []:
            load_module(module)
    plan = plan_runs(
        _items(files, _numbers(exact_numbers, float_numbers)),
        _methods(methods),
        objectives="all" if objectives == ["all"] else objectives,
        limits=[
            Limits(time, work, threads, gap)
            for time in (time_limits or (None,))
            for work in (works or (None,))
        ],
        seeds=seeds or [0],
        options=pairs(settings),
        literal=literal,
        numbers=_numbers(exact_numbers, float_numbers),
        hard_timeout_s=kill_after,
        pictures=pictures is not None,
    )
    for name, other in plan.duplicates:
        err.print(printable(f"{name} equals {other}: solved once"), markup=False)
    try:
        with _bar() as progress:
            summary = run_batch(
                plan,
                write_to,
                executor=executor,
                workers=workers,
                memory_mb=memory,
                modules=modules or (),
                retry=retry,
                pictures=pictures,
                progress=progress,
            )
    except KeyboardInterrupt:
        err.print(f"{write_to} has the rows so far; the same command goes on", markup=False)
        raise
    if as_json:
        print_json(_to_data(write_to, plan, summary))
    else:
        _print(write_to, plan, summary)
    raise typer.Exit(max(map(_code, summary.records), default=Exit.DONE))


def report(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="What `dlopt batch` wrote.")],
    write_to: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            callback=writable,
            help=".html for a page; .csv for a table of what the exact methods proved.",
        ),
    ],
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT")] = None,
    pictures: Annotated[
        str,
        typer.Option("--pictures", metavar="P", help="link to them, inline, or none."),
    ] = "link",
    picture_folder: Annotated[
        Path | None,
        typer.Option(
            "--picture-folder",
            metavar="FOLDER",
            help="Where they are, if not beside the rows; inline takes none from elsewhere.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a page of gaps, profiles and times of what `dlopt batch` has solved."""
    from dlopt.batch import read_records, write_baselines, write_report

    suffix = write_to.suffix.lower()
    if suffix not in (".html", ".htm", ".csv"):
        raise NotApplicableError(f"cannot write {write_to}: must end in .html or .csv")
    if pictures not in ("link", "inline", "none"):
        raise NotApplicableError(f"--pictures takes link, inline or none, not {pictures!r}")
    records = read_records(file)
    if not records:
        raise NotApplicableError(f"{file}: there is no row to report")
    contradictions: list[EvaluatedRecord] = []
    skipped: list[tuple[str, str]] = []
    if suffix == ".csv":
        write_baselines(records, write_to)
    else:
        contradictions, skipped = write_report(
            records,
            write_to,
            title=file.stem if title is None else title,
            home=file.parent,
            pictures=pictures,  # type: ignore[arg-type]
            picture_folder=picture_folder,
        )
    if skipped:
        name, reason = skipped[0]
        more = f", and {len(skipped) - 1} more" if len(skipped) > 1 else ""
        err.print(printable(f"left out: {name}: {reason}{more}"), markup=False)
    for evaluated in contradictions:
        record = evaluated.record
        text = (
            f"{record.key.method} on {record.instance} is better than the proven {evaluated.proven}"
        )
        err.print(printable(f"{text}: one of them is wrong"), markup=False)
    if as_json:
        print_json(
            {
                "report": str(write_to),
                "records": len(records),
                "contradictions": len(contradictions),
            }
        )
    else:
        out.print(f"{write_to}: {len(records)} rows", markup=False, soft_wrap=True)
    raise typer.Exit(Exit.FOUND if contradictions else Exit.DONE)


def _numbers(exact_numbers: bool, float_numbers: bool) -> Numbers:
    if exact_numbers and float_numbers:
        raise NotApplicableError("numbers are read either as exact ones or as floats")
    return "exact" if exact_numbers else "float" if float_numbers else "as-written"


def _methods(methods: str | None) -> list[str] | None:
    if methods is None:
        return None
    wanted = [name.strip() for name in methods.split(",") if name.strip()]
    if not wanted:
        raise NotApplicableError("--methods names no method")
    return wanted


def _can_draw(pictures: Path | None) -> None:
    from importlib.util import find_spec

    from dlopt.errors import MissingExtraError

    if pictures is None:
        return
    if find_spec("matplotlib") is None:
        raise MissingExtraError("matplotlib", "plot")
    refuse_unwritable(pictures)


def _items(files: Sequence[Path], numbers: Numbers) -> Iterator[NamedInstance]:
    """Yield the instances; if some files are bad, tell of each of them, and end."""
    from dlopt.batch import instance_files, read_item

    failed = False
    for file in instance_files(files):
        try:
            item = read_item(file, numbers)
        except DloptError as error:
            print_error(error)
            failed = True
        else:
            yield item
    if failed:
        raise typer.Exit(Exit.BAD_INPUT)


def _code(record: Record) -> Exit:
    """Return the exit code that a record asks for; an honest limit asks for none."""
    from dlopt.batch import Failure

    codes: dict[Status | Failure, Exit] = {
        Status.UNSOUND: Exit.FOUND,
        Failure.INVALID: Exit.INVALID,
        Failure.NOT_APPLICABLE: Exit.DONE,
    }
    return codes.get(
        record.status, Exit.DONE if isinstance(record.status, Status) else Exit.NO_ANSWER
    )


def _to_data(path: Path, plan: ExperimentPlan, summary: BatchSummary) -> dict[str, Any]:
    return {
        "out": str(path),
        "runs": len(summary.records),
        "solved": summary.solved,
        "by_status": dict(Counter(str(record.status) for record in summary.records)),
        "skipped": [
            {"instance": left.instance, "method": left.method, "reason": left.reason}
            for left in plan.skipped
        ],
    }


def _print(path: Path, plan: ExperimentPlan, summary: BatchSummary) -> None:
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
    for (problem, method), found in counts.items():
        table.add_row(f"{problem} {method}", *(str(found[s] or "-") for s in statuses))
    out.print(table)
    bad = [record for record in summary.records if _code(record) in (Exit.NO_ANSWER, Exit.INVALID)]
    for record in bad[:10]:
        where = f"{record.key.method} on {record.instance}"
        err.print(printable(f"{where}: {record.status}: {record.reason}"), markup=False)
    if len(bad) > 10:
        err.print(f"... and {len(bad) - 10} more", markup=False)
    count = len(summary.records)
    told = f"{path}: {count} cell{'s' * (count != 1)}, {summary.solved} of them solved now"
    if plan.skipped:
        told += f"; {len(plan.skipped)} left out, where a method does not apply"
    if summary.others:
        told += f"; {summary.others} rows of other plans or versions"
    out.print(told, markup=False, soft_wrap=True)


@contextlib.contextmanager
def _bar() -> Iterator[Progress | None]:
    """Give what shows progress and an estimate on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("solving"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, speed_estimate_period=600) as bar:
        task = bar.add_task("")
        yield lambda done, total: bar.update(task, completed=done, total=total)
