"""Remarks of a certificate that say what intervals and node groups of a fluid relaxation are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dlopt.models.admission.scaled_instance import ScaledInstance


def grid_remarks(
    scaled: ScaledInstance, instants: Sequence[Fraction], groups: Sequence[Sequence[int]]
) -> dict[str, str]:
    """Return the remarks, by name.

    Parameters
    ----------
    scaled : ScaledInstance
    instants : sequence of Fraction
        Interval `k` is between the instants `k` and ``k + 1``, in the units of the program.
    groups : sequence of sequence of int
        The nodes of each group, in ascending order.

    Examples
    --------
    >>> from dlopt.problems.admission import Instance, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(3, tau=1, chi=1), (Task("a", 5, 1, 2),))
    >>> scaled = ScaledInstance.from_instance(instance)
    >>> remarks = grid_remarks(scaled, [Fraction(0), Fraction(512)], [(0, 1), (2,)])
    >>> for name, text in remarks.items():
    ...     print(f"{name}: {text}")
    value of finished tasks: 0
    time: 0 is 5, 1 is 1/256
    load: 1 is 1/512
    instants: 0 512
    node groups: 0-1; 2
    """
    return unit_remarks(scaled) | {
        "instants": " ".join(map(str, instants)),
        "node groups": "; ".join(map(_ranges, groups)),
    }


def unit_remarks(scaled: ScaledInstance) -> dict[str, str]:
    """Return the remarks on what is accepted anyway, and on the units."""
    return {
        "value of finished tasks": str(scaled.value_of_finished),
        "time": f"0 is {scaled.origin}, 1 is {scaled.time_unit}",
        "load": f"1 is {scaled.load_unit}",
    }


def misses_remark(stated: Mapping[str, str], expected: Mapping[str, str]) -> str | None:
    """Return the name of the first remark that is not stated as expected, None if all are."""
    return next((name for name, text in expected.items() if stated.get(name) != text), None)


def _ranges(nodes: Sequence[int]) -> str:
    """Return ascending numbers as text, those that follow each other as a range.

    Examples
    --------
    >>> _ranges((0, 1, 2, 5))
    '0-2 5'
    """
    starts = [n for p, n in enumerate(nodes) if p == 0 or nodes[p - 1] < n - 1]
    ends = [n for p, n in enumerate(nodes, 1) if p == len(nodes) or nodes[p] > n + 1]
    return " ".join(
        str(start) if start == end else f"{start}-{end}"
        for start, end in zip(starts, ends, strict=True)
    )
