"""The commands that make instances: generate and convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dlopt import arithmetic
from dlopt.cli.console import err, out, print_json
from dlopt.cli.options import AsJson, Out, Seed, Settings, pairs
from dlopt.errors import NotApplicableError


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
            "--to", metavar="STEM", help="The problem to make: iit, admission, multistage."
        ),
    ],
    load: Annotated[
        str | None, typer.Option("--load", metavar="X", help="Units of load to split (iit).")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="T", help="Instant of the log; of admission the first one."),
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", metavar="S", help="How long jobs arrive (admission).")
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="By default from the name.")
    ] = None,
    machines: Annotated[int | None, typer.Option("--machines", metavar="N")] = None,
    tau: Annotated[str, typer.Option("--tau", metavar="X")] = "1",
    chi: Annotated[str, typer.Option("--chi", metavar="X")] = "100",
    theta_cm: Annotated[str, typer.Option("--theta-cm", metavar="X")] = "0",
    theta_cp: Annotated[str, typer.Option("--theta-cp", metavar="X")] = "0",
    deadline: Annotated[
        str | None, typer.Option("--deadline", metavar="D", help="Relative to --at (iit).")
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(
            "--starts", metavar="recorded|fcfs", help="When jobs started (iit); as recorded."
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
    seed: Seed = 0,
    write_to: Out = None,
    as_json: AsJson = False,
) -> None:
    """Make an instance from a file of another format; without --out it is printed.

    Of a log in the Standard Workload Format: iit is the cluster as its jobs leave it at an
    instant, admission is the stream of its jobs, multistage that stream with a share of the
    jobs reserved.
    """
    known = source or ("swf" if ".swf" in file.name else None)
    if known != "swf":
        raise NotApplicableError(f"unknown format {known or file.suffix!r}; known: swf (--from)")
    jobs = {"span": span, "deadline_rule": deadline_rule, "deadline_factor": deadline_factor}
    reserved = {"reserve_fraction": reserve_fraction, "advance": advance}
    own: dict[str, dict[str, str | None]] = {
        "iit": {"load": load, "deadline": deadline, "starts": starts},
        "admission": jobs,
        "multistage": jobs | reserved,
    }
    if to not in own:
        raise NotApplicableError(f"swf converts to {', '.join(own)}, not to {to!r}")
    for stem, its in own.items():
        for name, text in its.items():
            if name not in own[to] and text is not None:
                option = name.replace("_", "-")
                raise NotApplicableError(f"--{option} is for --to {stem}, not for {to}")
    if machines is not None and machines < 1:
        raise NotApplicableError(f"--machines must be positive, got {machines}")
    given = own[to] | {"at": at, "tau": tau, "chi": chi, "theta_cm": theta_cm, "theta_cp": theta_cp}
    words = {name: given.pop(name, None) for name in ("starts", "deadline_rule", "advance")}
    options: dict[str, Any] = {"machines": machines}
    options |= {name: _needed(name, text) for name, text in given.items() if text is not None}
    options |= {name: text for name, text in words.items() if text is not None}
    if to == "multistage":
        instance = _reserved(file, options, seed)
    else:
        instance = _snapshot(file, options) if to == "iit" else _replayed(file, options)
    _deliver(instance, write_to, as_json)


def _snapshot(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation import occupancy

    for name in ("load", "at"):
        if name not in options:
            raise NotApplicableError(f"--to iit needs --{name}")
    starts = options.get("starts", "recorded")
    if starts not in ("recorded", "fcfs"):
        raise NotApplicableError(f"--starts takes recorded or fcfs, got {starts!r}")
    return occupancy.snapshot(swf.read(file), **options)


def _replayed(file: Path, options: dict[str, Any]) -> Any:
    from dlopt.formats import swf
    from dlopt.generation.replay import replay

    made = replay(swf.read(file), **options)
    for reason, count in made.left_out:
        err.print(f"left out: {count} job{'s' * (count > 1)} {reason}", markup=False)
    return made.instance


def _reserved(file: Path, options: dict[str, Any], seed: int) -> Any:
    from dlopt.generation.multistage import reserve

    fraction = options.pop("reserve_fraction", 0.3)
    words = options.pop("advance", "0")
    stream = _replayed(file, options)
    times, _, unit = words.partition("/")
    if unit not in ("", "lambda"):
        raise NotApplicableError(f"--advance takes seconds or X/lambda, got {words!r}")
    advance = _needed("advance", times)
    if unit:
        span = stream.tasks[-1].arrival - stream.tasks[0].arrival
        advance = advance * span / max(len(stream.tasks) - 1, 1)
    return reserve(stream, fraction=fraction, advance=advance, seed=seed)


def _list_families(stem: str, as_json: bool) -> None:
    from dlopt.cli import tables
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
    for part in tables.families(stem, found):
        out.print(part, markup=False, soft_wrap=True)


def _plain(value: Any) -> Any:
    return None if value is None else arithmetic.to_json(value)


def number(text: str) -> Any:
    """Return the number that a text spells, exactly, or the text if it spells none."""
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
