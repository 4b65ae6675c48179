"""The command that draws a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dlopt.cli.check import read_both
from dlopt.cli.json_output import print_result
from dlopt.cli.options import AsJson, Exactly, Floating, InstanceFile, ResultFile, drawable
from dlopt.cli.picture_options import Dpi, NoTitle, PictureStyle, Width


def plot(
    instance_file: InstanceFile,
    result_file: ResultFile,
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
        print_result("plot", {"plot": str(write_to)})
