"""The commands that make instances: generate and convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dlopt import arithmetic
from dlopt.cli.console import out, print_json
from dlopt.cli.options import (
    AsJson,
    Bandwidth,
    Edges,
    Exactly,
    Latency,
    MachinesFile,
    Out,
    Powers,
    Seed,
    Settings,
    pairs,
)
from dlopt.errors import NotApplicableError

_PACKINGS = ("orlib", "bpplib", "temporal")
_WORDS = ("starts", "deadline_rule", "advance", "durations", "priority")


def generate(
    stem: Annotated[str, typer.Argument(metavar="STEM")],
    family: Annotated[
        str | None,
        typer.Option("--family", metavar="F", help="Without it: list families and parameters."),
    ] = None,
    seed: Seed = 0,
    settings: Settings = None,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Generate an instance; without --out it is printed, without --family the families are."""
    from dlopt import generation

    if family is None:
        if settings or write_to is not None:
            known = ", ".join(generation.families(stem))
            raise NotApplicableError(f"--family is missing (known: {known})")
        _list_families(stem, as_json)
        return
    parameters = {name: number(value) for name, value in pairs(settings).items()}
    instance = generation.generate(stem, family, seed=seed, **parameters)
    _deliver(instance, write_to, as_json)


def convert(
    file: Annotated[Path, typer.Argument(metavar="FILE")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="STEM",
            help="The problem to make: iit, admission, multistage, coreservation, dag, bag.",
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="swf; for coreservation also orlib, bpplib, temporal; for bag etc; for dag stg, "
            "wfformat, dax, pegasus-dag, dot, costs. Logs and task graphs are told by the name of "
            "the file, task graphs also by how it begins.",
        ),
    ] = None,
    machines: Annotated[
        int | None,
        typer.Option("--machines", metavar="N", help="How many; by default as the file says."),
    ] = None,
    load: Annotated[
        str | None, typer.Option("--load", metavar="X", help="Units of load to split (iit).")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="T", help="Instant of the log; of streams of jobs the first one."
        ),
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", metavar="S", help="How long jobs arrive (streams).")
    ] = None,
    tau: Annotated[str | None, typer.Option("--tau", metavar="X", help="Of logs; 1.")] = None,
    chi: Annotated[str | None, typer.Option("--chi", metavar="X", help="Of logs; 100.")] = None,
    theta_cm: Annotated[
        str | None, typer.Option("--theta-cm", metavar="X", help="Of logs; 0.")
    ] = None,
    theta_cp: Annotated[
        str | None, typer.Option("--theta-cp", metavar="X", help="Of logs; 0.")
    ] = None,
    deadline: Annotated[
        str | None,
        typer.Option(
            "--deadline", metavar="D", help="Relative to --at (iit), or to the arrival at 0 (dag)."
        ),
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(
            "--starts",
            metavar="recorded|fcfs|submitted",
            help="When jobs started (iit: recorded, fcfs), or want to (coreservation: recorded, "
            "submitted); as recorded.",
        ),
    ] = None,
    deadline_rule: Annotated[
        str | None,
        typer.Option(
            "--deadline-rule",
            metavar="execution|requested",
            help="Deadlines are a multiple of the execution time on as many nodes as a job had, "
            "or of the run time that its user requested (admission); the former.",
        ),
    ] = None,
    deadline_factor: Annotated[
        str | None,
        typer.Option("--deadline-factor", metavar="F", help="The multiple (admission); 2."),
    ] = None,
    reserve_fraction: Annotated[
        str | None,
        typer.Option("--reserve-fraction", metavar="F", help="Of the jobs (multistage); .3."),
    ] = None,
    advance: Annotated[
        str | None,
        typer.Option(
            "--advance",
            metavar="T|X/lambda",
            help="How long before reservations are asked for: seconds, or mean intervals between "
            "jobs (multistage); 0.",
        ),
    ] = None,
    machine_size: Annotated[
        str | None,
        typer.Option(
            "--machine-size",
            metavar="N",
            help="Processors of each machine (coreservation); by default those of the log, shared.",
        ),
    ] = None,
    durations: Annotated[
        str | None,
        typer.Option(
            "--durations",
            metavar="run|requested",
            help="How long jobs hold their shares (coreservation); run.",
        ),
    ] = None,
    priority: Annotated[
        str | None,
        typer.Option(
            "--priority",
            metavar="equal|user|queue",
            help="Whether jobs, users or queues count the same (coreservation); equal.",
        ),
    ] = None,
    least: Annotated[
        str | None,
        typer.Option(
            "--least",
            metavar="F",
            help="Jobs take down to this share of what they want (coreservation); 1.",
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(
            "--batch", metavar="T", help="Interval in which requests are decided (coreservation)."
        ),
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option("--problem", metavar="NAME", help="Of several in one file (bin packing)."),
    ] = None,
    online: Annotated[
        bool, typer.Option("--online", help="Items are decided one by one (bin packing).")
    ] = False,
    powers: Powers = None,
    bandwidth: Bandwidth = None,
    latency: Latency = None,
    machines_file: MachinesFile = None,
    edges: Edges = None,
    exact_numbers: Exactly = False,
    seed: Seed = 0,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Make an instance from a file of another format; without --out it is printed.

    Of a log in the Standard Workload Format: iit is the cluster as its jobs leave it at an
    instant, admission is the stream of its jobs, multistage that stream with a share of the
    jobs reserved, coreservation its jobs as requests for processors. Bin packing (orlib, bpplib,
    temporal) becomes coreservation: each item a request, each bin a machine. A task graph becomes
    dag: on the machines that the file or the options tell. A matrix of times (etc) becomes bag.
    """
    from dlopt.cli import converting

    given = {
        "machines": machines,
        "load": load,
        "at": at,
        "span": span,
        "tau": tau,
        "chi": chi,
        "theta_cm": theta_cm,
        "theta_cp": theta_cp,
        "deadline": deadline,
        "starts": starts,
        "deadline_rule": deadline_rule,
        "deadline_factor": deadline_factor,
        "reserve_fraction": reserve_fraction,
        "advance": advance,
        "machine_size": machine_size,
        "durations": durations,
        "priority": priority,
        "least": least,
        "batch": batch,
        "problem": problem,
        "online": online or None,
        "powers": powers,
        "bandwidth": bandwidth,
        "latency": latency,
        "machines_file": machines_file,
        "edges": edges,
        "exact_numbers": exact_numbers or None,
    }
    told = {name: value for name, value in given.items() if value is not None}
    _deliver(converting.converted(file, to, source, told, seed), write_to, as_json)


def _list_families(stem: str, as_json: bool) -> None:
    from dlopt.cli import result_tables
    from dlopt.generation import described

    found = described(stem)
    if as_json:
        print_json(
            [
                {
                    "family": family.name,
                    "summary": family.summary,
                    "parameters": [
                        {"name": p.name, "default": _plain(p.default), "help": p.help}
                        for p in family.parameters
                    ],
                }
                for family in found
            ]
        )
        return
    for part in result_tables.families(stem, found):
        out.print(part, markup=False, soft_wrap=True)


def _plain(value: Any) -> Any:
    return None if value is None else arithmetic.to_json(value)


def number(text: str) -> Any:
    """Return the number that a text spells, exactly, or the text if it spells none."""
    try:
        return arithmetic.simplest(arithmetic.parse(text))
    except ValueError:
        return text


def _deliver(instance: Any, write_to: Path | None, as_json: bool) -> None:
    from dlopt import io

    if write_to is not None:
        io.write(instance, write_to)
    if write_to is None or as_json:
        print_json(io.instance_to_data(instance))
