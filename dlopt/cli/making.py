"""The commands that make instances: generate and convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dlopt import arithmetic
from dlopt.cli.console import out, print_json
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
    parameters = {name: _number(value) for name, value in pairs(settings).items()}
    instance = generation.generate(stem, family, seed=seed, **parameters)
    _deliver(instance, write_to, as_json)


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
