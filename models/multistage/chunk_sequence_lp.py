"""The linear program of a fixed sequence of chunks in one stage, in fractions.

Chunk `p` is sent to node ``j(p)`` in its window ``[r_j, d_j]``; E is the end of the free channel:

maximise    sum_p x_p
subject to  s_p >= r_j(p)
            s_p + theta_cm + tau_j x_p <= E                  sent while the channel is free
            s_p + theta + w_j x_p <= d_j                     computed in the window (w = tau + chi)
            s_q >= s_p + theta_cm + tau_j x_p                q is next on the port
            s_q >= s_p + theta + w_j x_p                     q is next on the node
            x >= 0

Source: model (i) of the package for a fixed order (Mamat 2011, section 5.2), with set-up costs and
several chunks per node.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import pulp

from dlopt.arithmetic import exact
from dlopt.backends.pulp import Term, linear, optimise
from dlopt.models.admission.fixed_sequence_lp import uses_port
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.models.multistage.stages import Stage
from dlopt.result import Limits


class StageChunk(NamedTuple):
    """A chunk: node, load, and when its transmission starts, in units of the model."""

    node: int
    load: Fraction
    start: Fraction


def maximise_sequence_load(
    scaled: ScaledInstance, stage: Stage, sequence: Sequence[int], seed: int = 0
) -> list[StageChunk]:
    """Return the chunks of a sequence with the largest total load, as early as possible.

    Parameters
    ----------
    scaled : dlopt.models.admission.scaled_instance.ScaledInstance
    stage : Stage
    sequence : sequence of int
        Windows, by their indices; each may appear more than once.
    seed : int

    Returns
    -------
    list of StageChunk
        Empty if the set-up costs of the sequence do not fit.

    Examples
    --------
    >>> from dlopt.models.multistage.stages import SingleTaskInstance
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.multistage import Instance, Task
    >>> instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 9, 512),))
    >>> single = SingleTaskInstance.from_instance(instance)
    >>> chunks = maximise_sequence_load(single.scaled.tasks_only, single.stages()[0], [0, 1])
    >>> [str(chunk.load * single.scaled.tasks_only.load_unit) for chunk in chunks]
    ['256', '128']
    """
    problem = pulp.LpProblem("order", pulp.LpMaximize)
    windows = [stage.windows[j] for j in sequence]
    loads = [problem.add_variable(f"x_{p}", lowBound=0) for p in range(len(sequence))]
    starts = [
        problem.add_variable(f"s_{p}", lowBound=window.ready) for p, window in enumerate(windows)
    ]
    problem += linear((1, x) for x in loads)
    last_sent: int | None = None
    last_on_node: dict[int, int] = {}
    for p, window in enumerate(windows):
        tau, unit_time = scaled.tau[window.node], scaled.unit_time(window.node)
        start: list[Term] = [(1, starts[p])]
        if uses_port(scaled, window.node):
            if last_sent is not None:
                last_tau = scaled.tau[windows[last_sent].node]
                terms = [*start, (-1, starts[last_sent]), (-last_tau, loads[last_sent])]
                problem += linear(terms) >= scaled.theta_cm
            last_sent = p
        if window.node in last_on_node:
            q = last_on_node[window.node]
            terms = [*start, (-1, starts[q]), (-unit_time, loads[q])]
            problem += linear(terms) >= scaled.overhead
        last_on_node[window.node] = p
        problem += linear([*start, (tau, loads[p])]) <= stage.send_by - scaled.theta_cm
        problem += linear([*start, (unit_time, loads[p])]) <= window.due - scaled.overhead
    outcome = optimise(problem, Limits(), seed=seed, exact=True)
    if not outcome.assignment:
        return []
    values = [max(exact(outcome[x]), Fraction(0)) for x in loads]
    return _earliest_chunks(scaled, stage, sequence, values)


def _earliest_chunks(
    scaled: ScaledInstance, stage: Stage, sequence: Sequence[int], loads: Sequence[Fraction]
) -> list[StageChunk]:
    """Return the chunks with load, each as early as the sequence allows and cut to what fits."""
    port = stage.start
    free: dict[int, Fraction] = {}
    chunks = []
    for j, wanted in zip(sequence, loads, strict=True):
        window = stage.windows[j]
        tau, unit_time = scaled.tau[window.node], scaled.unit_time(window.node)
        on_port = uses_port(scaled, window.node)
        start = max(free.get(j, window.ready), port if on_port else stage.start)
        load = min(wanted, (window.due - start - scaled.overhead) / unit_time)
        if tau:
            load = min(load, (stage.send_by - start - scaled.theta_cm) / tau)
        if load > 0:
            chunks.append(StageChunk(window.node, load, start))
            free[j] = start + scaled.overhead + unit_time * load
            port = start + scaled.theta_cm + tau * load if on_port else port
    return chunks
