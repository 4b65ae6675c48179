"""Files of figures: charts of curves, with their points as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from dlopt.plotting.line_charts import Curve, DataPoint, Panel, plot_curves

COLUMNS = ("panel", "curve", "x", "y", "half_width")
MOST_TICKS = 12
"""Abscissae that are marked one by one; if there are more, the axis is marked evenly."""


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
    xs = sorted({spot.x for _, curves in panels for curve in curves for spot in curve.points})
    ticks = xs if len(xs) <= MOST_TICKS else ()
    plot_curves(panels, path, title=title, note=note, axis=axis, decades=decades, ticks=ticks)
    with path.with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for panel, curves in panels:
            for curve in curves:
                for x, y, half in curve.points:
                    width = "" if half is None else f"{half:.6g}"
                    writer.writerow((panel, curve.name, f"{x:g}", f"{y:.9g}", width))


def read_panels(path: Path) -> list[Panel]:
    """Return the curves that `picture` wrote to ``NAME.csv``, to draw them again.

    Parameters
    ----------
    path : Path
        Of the picture, or of the file beside it.
    """
    found: dict[str, dict[str, list[DataPoint]]] = {}
    with path.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            half = float(row["half_width"]) if row["half_width"] else None
            spots = found.setdefault(row["panel"], {}).setdefault(row["curve"], [])
            spots.append(DataPoint(float(row["x"]), float(row["y"]), half))
    return [
        (panel, tuple(Curve(name, tuple(spots)) for name, spots in curves.items()))
        for panel, curves in found.items()
    ]


def curves_of(path: Path) -> dict[str, tuple[Curve, ...]]:
    """Return the curves of a picture by panel, from the points beside it; none without a file."""
    return dict(read_panels(path)) if path.with_suffix(".csv").exists() else {}
