"""Charts of the utilization of resources over time, for solutions with too many bars to draw."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from dlopt.plotting.axis_labels import with_unit
from dlopt.plotting.line_chart_layout import LineChart
from dlopt.plotting.line_charts import Curve, DataPoint, Panel
from dlopt.plotting.pages import Page

PERIODS = 120
"""Number of periods over which utilization is averaged: a point of a curve each."""

Block: TypeAlias = tuple[float, float, float]
"""Start, end, and how much of a resource is in use or exists between them."""
Share: TypeAlias = tuple[Sequence[Block], Sequence[Block] | float]
"""What is in use, and how much there is of it: over time or always."""


class Usage(NamedTuple):
    """What a chart of utilization shows.

    Parameters
    ----------
    shares : mapping of str to Share
        By the names of the curves.
    events : mapping of str to sequence of float
        Instants that are counted, in a panel each.
    """

    shares: Mapping[str, Share]
    events: Mapping[str, Sequence[float]] = {}


def occupied(windows: Iterable[tuple[float, float]], capacity: float = 1.0) -> Share:
    """Return the share of so many resources, each of the windows taking one of them."""
    return [(start, end, 1.0) for start, end in windows], capacity


def draw_utilization(
    page: Page, usage: Usage, span: tuple[float, float], title: str, note: str, unit: str
) -> Figure:
    """Draw the share of resources that is in use over time, and how many events there were.

    Parameters
    ----------
    page : Page
        Given axes have all shares in one panel, and events only if there are no shares.
    usage : Usage
    span : (float, float)
        The time axis.
    title : str
        If the page has no other.
    note, unit : str
        Below the title; of time.
    """
    edges = np.linspace(*span, PERIODS + 1)
    shares = {
        name: _curve(name, edges, _mean_share(share, edges))
        for name, share in usage.shares.items()
        if len(share[0])
    }
    alone = {f"{name} (%)": curve for name, curve in shares.items()}
    for name, instants in usage.events.items():
        counts = np.searchsorted(np.sort(instants), edges[:-1], side="right")
        counts[-1] = len(instants)
        alone[name] = _curve(name, edges, counts)
    # One name: what is drawn stands at each ordinate, and needs no legend.
    panels: list[Panel] = [
        (label, (curve._replace(name="usage"),)) for label, curve in alone.items()
    ]
    if page.ax is not None:
        together: Panel = ("utilization (%)", tuple(shares.values()))
        panels = [together] if len(shares) > 1 else panels[:1]
    if page.title is not None:
        page = replace(page, title=page.title_or(title))
    given = () if page.ax is None else (page.ax,)
    axis = with_unit("time", unit)
    return LineChart(tuple(panels), page, note, axis, given, steps=True).draw()


def _curve(name: str, edges: npt.NDArray[np.float64], values: Iterable[float]) -> Curve:
    heights = [float(value) for value in values]
    ends = zip(edges.tolist(), [*heights, heights[-1]], strict=True)
    return Curve(name, tuple(DataPoint(edge, value) for edge, value in ends))


def _mean_share(share: Share, edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the mean utilization between each two edges, in percent."""
    used, capacity = share
    length = np.diff(edges)
    most = capacity * length if isinstance(capacity, float) else _mean_use(capacity, edges)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(most > 0, 100 * _mean_use(used, edges) / most, 0.0))


def _mean_use(blocks: Sequence[Block], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the integral of what blocks take between each two edges."""
    start, end, amount = np.array(blocks).T
    instants, change = np.concatenate([start, end]), np.concatenate([amount, -amount])
    order = np.argsort(instants, kind="stable")
    instants, level = instants[order], np.cumsum(change[order])
    area = np.concatenate([[0.0], np.cumsum(level[:-1] * np.diff(instants))])
    return np.diff(np.interp(edges, instants, area))
