"""The linear program of a fixed order of chunks in a stage, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import pulp

from dlopt.arithmetic import exact
from dlopt.backends.pulp import Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import takes_port
from dlopt.models.admission.scaled_instance import Case
from dlopt.models.multistage.stages import Stage
from dlopt.result import Limits


class Sent(NamedTuple):
    """A chunk: node, load, and when its transmission starts, in units of the model."""

    node: int
    load: Fraction
    start: Fraction


def order_filled(case: Case, stage: Stage, order: Sequence[int], seed: int = 0) -> list[Sent]:
    """Return the chunks of an order with the most load in sum, in fractions, as early as can be.

    Parameters
    ----------
    case : dlopt.models.admission.scaled_instance.Case
    stage : Stage
    order : sequence of int
        Windows, by their indices; each may stand there more than once.
    seed : int

    Returns
    -------
    list of Sent
        Empty if the order leaves no room for its set-up costs.
    """
    problem = pulp.LpProblem("order", pulp.LpMaximize)
    windows = [stage.windows[j] for j in order]
    loads = [problem.add_variable(f"x_{p}", lowBound=0) for p in range(len(order))]
    starts = [
        problem.add_variable(f"s_{p}", lowBound=window.ready) for p, window in enumerate(windows)
    ]
    problem += linear((1, x) for x in loads)
    sent: int | None = None
    latest: dict[int, int] = {}

    for p, window in enumerate(windows):
        tau, unit = case.tau[window.node], case.unit(window.node)
        begin: list[Term] = [(1, starts[p])]
        if takes_port(case, window.node):
            if sent is not None:
                before = case.tau[windows[sent].node]
                terms = [*begin, (-1, starts[sent]), (-before, loads[sent])]
                problem += linear(terms) >= case.theta_cm
            sent = p
        if window.node in latest:
            q = latest[window.node]
            terms = [*begin, (-1, starts[q]), (-unit, loads[q])]
            problem += linear(terms) >= case.overhead
        latest[window.node] = p
        problem += linear([*begin, (tau, loads[p])]) <= stage.sent - case.theta_cm
        problem += linear([*begin, (unit, loads[p])]) <= window.due - case.overhead
    outcome = optimise(problem, Limits(), seed=seed, exact=True)
    if not outcome.assignment:
        return []
    return _replayed(case, stage, order, [max(exact(outcome[x]), Fraction(0)) for x in loads])


def _replayed(
    case: Case, stage: Stage, order: Sequence[int], loads: Sequence[Fraction]
) -> list[Sent]:
    """Return the chunks with loads, each as early as the order allows and cut to what fits."""
    port = stage.start
    free: dict[int, Fraction] = {}
    chunks = []
    for j, wanted in zip(order, loads, strict=True):
        window = stage.windows[j]
        tau, unit, ported = (
            case.tau[window.node],
            case.unit(window.node),
            takes_port(case, window.node),
        )
        start = max(free.get(j, window.ready), port if ported else stage.start)
        load = min(wanted, (window.due - start - case.overhead) / unit)
        if tau:
            load = min(load, (stage.sent - start - case.theta_cm) / tau)
        if load > 0:
            chunks.append(Sent(window.node, load, start))
            free[j] = start + case.overhead + unit * load
            port = start + case.theta_cm + tau * load if ported else port
    return chunks
