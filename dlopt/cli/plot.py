"""The command that draws a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dlopt.cli.check import read_both
from dlopt.cli.help_texts import option
from dlopt.cli.instance_options import InstanceFile, ResultFile
from dlopt.cli.json_output import print_result
from dlopt.cli.options import AsJson, Exactly, Floating, drawable
from dlopt.cli.picture_options import Dpi, NoTitle, PictureStyle, Width


def plot(
    instance_file: InstanceFile,
    result_file: ResultFile,
    write_to: Annotated[
        Path, option("--out -o FILE", "Picture: .svg, .png or .pdf.", callback=drawable)
    ],
    width: Width = None,
    no_title: NoTitle = False,
    dpi: Dpi = None,
    exact_numbers: Exactly = False,
    float_numbers: Floating = False,
    as_json: AsJson = False,
) -> None:
    """Draw a plan as a Gantt chart, with the violations that a check of it finds."""
    from dlopt import api
    from dlopt.plotting import plot as draw

    instance, result = read_both(instance_file, result_file, exact_numbers, float_numbers)
    style = PictureStyle(width, no_title, dpi).page()
    draw(instance, result, write_to, violations=api.check(instance, result), **style)
    if as_json:
        print_result("plot", {"plot": str(write_to)})
