"""Pictures of curves, with what they show beside them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from dlopt.plotting.line_charts import Panel, plot_curves

COLUMNS = ("panel", "curve", "x", "y", "half_width")


def picture(
    panels: Sequence[Panel],
    path: Path,
    *,
    title: str,
    note: str = "",
    axis: str = "",
    decades: bool = False,
) -> None:
    """Draw curves as ``NAME.svg``, and write their points to ``NAME.csv`` beside it.

    Parameters
    ----------
    panels : sequence of (str, tuple of Curve)
    path : Path
        Of the picture.
    title, note, axis, decades
        As `dlopt.plotting.line_charts.plot_curves` takes them.
    """
    plot_curves(panels, path, title=title, note=note, axis=axis, decades=decades)
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for panel, curves in panels:
            for curve in curves:
                for x, y, half in curve.spots:
                    width = "" if half is None else f"{half:.6g}"
                    writer.writerow((panel, curve.name, f"{x:g}", f"{y:.9g}", width))
