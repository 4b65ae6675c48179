"""Certificates of a few nodes that differ: branch and bound over which node gets which chunk.

Nodes of equal costs are in one group, whatever their ready times: a chunk of the group begins no
earlier than as many of its nodes are ready as there are chunks of it before. So nodes of a few
kinds have few columns, and no orders of equal ones. Where that proves too little, nodes that become
ready at different times are in different groups. Nodes that may have several chunks are groups by
themselves (`dlopt.models.iit.proof_installments`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import inf

from dlopt.arithmetic import exact
from dlopt.certificates import BoundCertificate
from dlopt.models.common.named_rows import ONE, ZERO
from dlopt.models.common.searched_program import ProofError, SearchedProgram
from dlopt.models.iit.proof_installments import InstallmentProgram
from dlopt.models.iit.proof_program import (
    ChunkProgram,
    groups_of_equal_costs,
    groups_of_equal_nodes,
    rounded_up,
)
from dlopt.problems.iit.data import Instance

MAX_COLUMNS = 180
"""Columns up to which it is tried, ``2 n g + n + 1`` of `n` nodes of `g` kinds: 9 that all differ,
or 35 of two kinds. Chosen by hand: 8 that all differ take some seconds, and files of 1 MB."""
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
    installments: int = 1,
) -> BoundCertificate:
    """Return the certificate of a bound of plans with few chunks a node.

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
    installments : int
        Chunks that a node may have.

    Raises
    ------
    ProofError
        If it is not found within `EFFORT`, or the program has too many columns.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(2, tau=(2, 1), chi=1), (0, 0), load=3)
    >>> certify_orders(instance, "completion", Fraction(9, 2), Fraction(9, 2)).bound
    Fraction(9, 2)
    >>> same = Instance(Cluster(2, tau=1, chi=1), (0, 0), load=3)
    >>> least = Fraction(24, 7)
    >>> certify_orders(same, "completion", least, least, installments=2).bound
    Fraction(24, 7)
    """
    nodes, cluster = instance.cluster.nodes, instance.cluster
    free = [exact(cluster.tau_of(node)) == 0 == exact(cluster.theta_cm) for node in range(nodes)]
    if any(free) and not all(free):
        raise ProofError("some transmissions take no time, so that chunks have no order")
    failure = f"its program would have more than {MAX_COLUMNS} columns"
    for program in _programs(instance, limit, installments):
        value = None if bound is None else program.in_units(objective, bound)
        effort = EFFORT // len(program.names)
        try:
            return _searched(program, objective).certificate(value, effort, stop, seed)
        except ProofError as error:
            failure = str(error)
    raise ProofError(failure)


def _programs(instance: Instance, limit: Fraction, installments: int) -> Iterator[ChunkProgram]:
    """Yield the programs that may be searched, one after another: none of too many columns."""
    nodes, rounded = instance.cluster.nodes, partial(rounded_up, digits=_DIGITS)
    if installments > 1:
        if (2 * nodes * nodes + nodes) * installments + nodes < MAX_COLUMNS:
            yield InstallmentProgram(instance, limit, installments, rounded)
        return
    coarse, fine = groups_of_equal_costs(instance), groups_of_equal_nodes(instance)
    for groups in (coarse, fine) if coarse != fine else (fine,):
        if 2 * nodes * len(set(groups)) + nodes < MAX_COLUMNS:
            yield ChunkProgram(instance, groups, nodes, limit, rounded)


def _searched(program: ChunkProgram, objective: str) -> SearchedProgram:
    """Return a program of chunks with the costs of an objective."""
    by_node = isinstance(program, InstallmentProgram)
    counted = "t" if objective != "nodes" else "u" if by_node else "z"
    used = program.numbers if counted == "u" else ()
    return SearchedProgram(
        names=tuple(program.names),
        costs=tuple(ONE if name[0] == counted else ZERO for name in program.names),
        upper=program.upper,
        binaries=(*program.binaries, *(program.column[f"u_{g}"] for g in used)),
        rows=tuple(program.rows()),
        remarks=program.remarks,
        step=None if counted == "t" else ONE,
    )
