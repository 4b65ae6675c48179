"""What stands in a figure, read back; and plans to draw."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from dlopt.heuristics.iit.methods import edf_iit_2
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Instance, Solution

FOUR = Instance(
    Cluster(4, tau=1, chi=3),
    (0, 2, 5, 9),
    load=6,
    absolute_deadline=14,
    name="four nodes",
    units="minutes",
)
SETUPS = Instance(
    Cluster(4, tau=1, chi=3, theta_cm=Fraction(1, 2), theta_cp=1), (9, 0, 5, 2), load=16
)


def random_ready(nodes: int, load: float, chi: float = 100) -> Instance:
    rng = random.Random(nodes)
    ready = tuple(rng.uniform(0, 1000) for _ in range(nodes))
    return Instance(Cluster(nodes, tau=1.0, chi=chi), ready, load=load)


def plan_of(instance: Instance) -> Solution:
    solution = edf_iit_2(instance).solution
    assert solution is not None
    return solution


def bundle(figure: Figure, gid: str) -> PolyCollection:
    (found,) = [c for c in figure.axes[0].collections if c.get_gid() == gid]
    assert isinstance(found, PolyCollection)
    return found


def kinds(figure: Figure) -> list[str | None]:
    return [c.get_gid() for c in figure.axes[0].collections]


def boxes(figure: Figure, gid: str) -> np.ndarray:
    """Return left, right, upper and lower end of each bar of a kind."""
    corners = np.array([np.asarray(path.vertices)[:4] for path in bundle(figure, gid).get_paths()])
    x, y = corners[:, :, 0], corners[:, :, 1]
    return np.column_stack([x.min(1), x.max(1), y.min(1), y.max(1)])


def extents(figure: Figure, gid: str) -> list[tuple[float, float]]:
    return sorted((float(left), float(right)) for left, right, *_ in boxes(figure, gid))


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def row_labels(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def lines(figure: Figure) -> dict[str, float]:
    return {
        str(line.get_label()): float(np.asarray(line.get_xdata())[0])
        for line in figure.axes[0].lines
        if not str(line.get_label()).startswith("_")
    }


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in (*figure.texts, *figure.axes[0].texts)]
