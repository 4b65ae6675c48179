"""Certificates of a few nodes that differ: branch and bound over which node gets which chunk."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import inf

from dlopt.arithmetic import exact
from dlopt.certificates import BoundCertificate
from dlopt.models.common.named_rows import ONE, ZERO
from dlopt.models.iit.proof_program import (
    ChunkProgram,
    ProofError,
    groups_of_equal_nodes,
    rounded_up,
)
from dlopt.models.iit.proof_search import SearchedProgram
from dlopt.problems.iit.data import Instance

MAX_NODES = 9
"""Nodes up to which it is tried. Chosen by hand: 8 nodes take some seconds, and files of 1 MB."""
EFFORT = 150_000
"""Columns times subproblems at the most. Chosen by hand, for some seconds."""
_DIGITS = 12
"""Binary digits to which coefficients are rounded up that contain the claim, for short files."""


def certify_orders(
    instance: Instance,
    objective: str,
    limit: Fraction,
    bound: Fraction | None,
    stop: float = inf,
    seed: int = 0,
) -> BoundCertificate:
    """Return the certificate of a bound of plans with one chunk a node.

    Parameters
    ----------
    instance : Instance
    objective : {"completion", "nodes"}
    limit : Fraction
        The claimed completion, or the deadline.
    bound : Fraction or None
        None claims that no plan is complete by the deadline.
    stop : float
        Instant of the monotonic clock at which the search ends.
    seed : int

    Raises
    ------
    ProofError
        If it is not found within `EFFORT`, or there are too many nodes.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=(2, 1), chi=1), (0, 0), load=3)
    >>> certify_orders(instance, "completion", Fraction(9, 2), Fraction(9, 2)).bound
    Fraction(9, 2)
    """
    nodes, cluster = instance.cluster.nodes, instance.cluster
    if nodes > MAX_NODES:
        raise ProofError(f"more than {MAX_NODES} nodes that differ")
    free = [exact(cluster.tau_of(node)) == 0 == exact(cluster.theta_cm) for node in range(nodes)]
    if any(free) and not all(free):
        raise ProofError("some transmissions take no time, so that chunks have no order")
    groups, rounded = groups_of_equal_nodes(instance), partial(rounded_up, digits=_DIGITS)
    program = ChunkProgram(instance, groups, nodes, limit, rounded)
    counted = "z" if objective == "nodes" else "t"
    searched = SearchedProgram(
        names=tuple(program.names),
        costs=tuple(ONE if name[0] == counted else ZERO for name in program.names),
        upper=program.upper,
        binaries=tuple(program.binaries),
        rows=tuple(program.rows()),
        remarks=program.remarks,
    )
    value = None if bound is None else program.in_units(objective, bound)
    return searched.certificate(value, EFFORT // len(program.names), stop, seed)
