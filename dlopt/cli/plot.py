"""The command that draws a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlopt.cli.check import read_both
from dlopt.cli.console import print_json
from dlopt.cli.options import AsJson, Dpi, Exactly, Floating, NoTitle, PictureStyle, Width, drawable


def plot(
    instance_file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="The instance.")],
    result_file: Annotated[
        Path, typer.Argument(metavar="RESULT", help="A result of solve, or a plan of your own.")
    ],
    write_to: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="FILE", callback=drawable, help="Picture: .svg, .png or .pdf."
        ),
    ],
    width: Width = None,
    no_title: NoTitle = False,
    dpi: Dpi = None,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    as_json: AsJson = False,
) -> None:
    """Draw a plan as a Gantt chart."""
    from dlopt.plotting import plot as draw

    instance, result = read_both(instance_file, result_file, exact_numbers, float_numbers)
    draw(instance, result, write_to, **PictureStyle(width, no_title, dpi).page())
    if as_json:
        print_json({"plot": str(write_to)})
