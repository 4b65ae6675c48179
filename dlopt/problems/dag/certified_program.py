"""What a certificate proves of task graphs: that no schedule is better than a value.

Of the makespan, the program is the step formulation (`dlopt.problems.step_formulation`) of all
schedules that are complete by an instant `T` of a grid. If it is infeasible, every schedule of the
times that are rounded down to the grid ends at ``T + 1`` or later, as these start at whole
instants, and those of the instance end no earlier. Of numbers of tardy graphs and of responses, it
is that of `dlopt.problems.dag.certified_levels`: all schedules that are better in the first level
that differs. Remarks state the grid (``unit``, ``origin``), the groups of machines, and either
``makespan`` or the levels, ``tardy`` and ``total``; and the ``order`` of tasks by which machines
are numbered that may be exchanged. Rules about LANs are left out, which is a relaxation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from itertools import chain

from dlopt.arithmetic import exact
from dlopt.certificates import StatedProgram
from dlopt.problems.certificate_units import stated_grid, stated_number
from dlopt.problems.dag.certified_levels import LevelProgram, Levels
from dlopt.problems.dag.certified_times import DagTimes, Groups
from dlopt.problems.dag.data import Instance, Solution
from dlopt.problems.dag.goals import OBJECTIVES
from dlopt.problems.step_formulation import StepProgram
from dlopt.result import Result, Value

_ORDER = re.compile(r"[0-9]{1,6}( [0-9]{1,6})*")
_GROUPS = re.compile(r"[0-9]{1,6}( [0-9]{1,6})*(; [0-9]{1,6}( [0-9]{1,6})*)*")


def proven_value(
    instance: Instance, result: Result[Solution], certificate: StatedProgram
) -> tuple[Value | None, str | None]:
    """Return what a certificate proves of an instance, and what is wrong with its program.

    Parameters
    ----------
    instance : Instance
    result : Result
        Only its objective matters.
    certificate : StatedProgram
        Its steps are not checked here.

    Returns
    -------
    tuple of (Value or None, str or None)
        A bound on the objective value of every schedule, level by level if the objective has
        levels; None if the certificate does not say of which program it is. And a flaw, or None.

    Notes
    -----
    Complexity: linear in the program, and in tasks, edges and pairs of machines of the edges that
    it names.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.dag.bound_methods import bound_work
    >>> from dlopt.problems.dag import Graph, Machine, Task
    >>> graph = Graph("g", tuple(Task(f"t{k}", work=3) for k in range(5)))
    >>> instance = Instance((Machine("m"), Machine("n")), (graph,))
    >>> result = bound_work(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> certificate.flaw() is None, proven_value(instance, result, certificate)
    (True, (Fraction(9, 1), None))
    """
    remarks, origin = certificate.remarks, min(exact(graph.arrival) for graph in instance.graphs)
    grid, groups = stated_grid(remarks), stated_groups(remarks, len(instance.machines))
    if grid is None or groups is None:
        return None, "its remarks do not state unit, origin and machine groups of this instance"
    if grid.origin > origin:
        return None, "a graph arrives before the origin"
    if certificate.claim is not None:
        return None, "it does not claim that there is no schedule"
    times = DagTimes(instance, grid, groups)
    is_makespan = result.objective == "makespan"
    one_graph = len(instance.graphs) == 1 and result.objective == "total-response-time"
    if is_makespan or (one_graph and "makespan" in remarks):
        return _proven_makespan(times, certificate, Fraction(0) if is_makespan else origin)
    return _proven_levels(times, result.objective, certificate)


def _proven_makespan(
    times: DagTimes, certificate: StatedProgram, counts_from: Fraction
) -> tuple[Value | None, str | None]:
    """Return the last completion that is proven, counted from an instant."""
    last = _stated_integer(certificate.remarks, "makespan")
    if last is None:
        return None, "its remarks do not state the makespan"
    value = times.grid.time_of(last + 1) - counts_from
    order = _stated_order(certificate.remarks, len(times.tasks))
    return value, StepProgram(times.task_times(last, order), certificate).flaw()


def _proven_levels(
    times: DagTimes, objective: str, certificate: StatedProgram
) -> tuple[Value | None, str | None]:
    """Return the number of tardy graphs and the total response that are proven."""
    names = OBJECTIVES[objective].levels or (objective,)
    levels = Levels(
        _stated_integer(certificate.remarks, "tardy"), _stated_integer(certificate.remarks, "total")
    )
    tardy, total = levels.tardy, levels.total
    stated = tardy is not None, total is not None
    if stated != ("tardy-graphs" in names, "total-response-time" in names):
        return None, f"its remarks do not state the levels of {objective}"
    flaw = LevelProgram(times, certificate, levels).flaw()
    if total is None:
        assert tardy is not None  # it is one of the two
        return tardy + 1, flaw
    arrivals = (exact(graph.arrival) - times.grid.origin for graph in times.instance.graphs)
    response = (total + 1) * times.grid.unit - sum(arrivals, Fraction(0))
    return (response if tardy is None else (tardy, response)), flaw


def _stated_order(remarks: Mapping[str, str], tasks: int) -> tuple[int, ...]:
    """Return the order of all tasks that a remark states; empty if it is none."""
    text = remarks.get("order", "")
    order = tuple(map(int, text.split())) if _ORDER.fullmatch(text) else ()
    return order if sorted(order) == list(range(tasks)) else ()


def _stated_integer(remarks: Mapping[str, str], key: str) -> int | None:
    number = stated_number(remarks, key)
    return None if number is None or number.denominator != 1 else int(number)


def stated_groups(remarks: Mapping[str, str], machines: int) -> Groups | None:
    """Return the groups of machines that a remark states; None if they are no partition.

    Examples
    --------
    >>> stated_groups({"machine groups": "0 2; 1"}, 3), stated_groups({"machine groups": "0"}, 3)
    (((0, 2), (1,)), None)
    """
    text = remarks.get("machine groups", "")
    if not _GROUPS.fullmatch(text):
        return None
    groups = tuple(tuple(map(int, part.split())) for part in text.split("; "))
    return groups if sorted(chain.from_iterable(groups)) == list(range(machines)) else None
