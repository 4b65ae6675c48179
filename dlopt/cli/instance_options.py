"""The arguments and options that name instances: files, or shipped instances by their names."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlopt.cli.help_texts import option
from dlopt.cli.input_files import with_shipped_name


def instance_path(file: Path | None) -> Path | None:
    """Return the file of an instance that is given as a file, or by the name of a shipped one."""
    return None if file is None else with_shipped_name(file)


def instance_paths(files: list[Path]) -> list[Path]:
    """Return the files of instances that are given so."""
    return [with_shipped_name(file) for file in files]


InstanceFile = Annotated[
    Path,
    typer.Argument(
        metavar="INSTANCE",
        callback=instance_path,
        help="The instance: a file, a name as `dlopt instances` lists it, or - for standard input.",
    ),
]
ResultFile = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT", help="A result of solve, or a plan of your own; - for standard input."
    ),
]
StreamFile = Annotated[
    Path | None,
    option(
        "--file FILE",
        "Instance whose tasks are simulated, instead of a workload: a file or a name as "
        "`dlopt instances` lists it.",
        callback=instance_path,
    ),
]
StreamTimeLimit = Annotated[
    float | None,
    option(
        "--time-limit S", "Give up an algorithm that has not decided on a stream within S seconds."
    ),
]
