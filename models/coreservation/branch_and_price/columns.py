"""The pool of columns, groups of identical machines, and branching decisions.

A column is a set of parts that fit on a machine together; its value is their benefit at the best
shares there. In the Dantzig-Wolfe reformulation by machines, with ``P_g`` the columns of a group
``g`` of ``m_g`` identical machines, ``v_p`` the value of a column, ``v_k`` that of accepting a
request besides its parts (0 for the benefit), and ``I_k`` the parts of a request::

    maximise    sum_k v_k x_k + sum_g sum_{p in P_g} v_p lambda_p
    subject to  sum_g sum_{p in P_g : i in p} lambda_p = x_k     part i of request k      dual pi_i
                sum_{p in P_g} lambda_p <= m_g                   machines of a group
                x, lambda >= 0, integer

(Barnhart et al., Operations Research 46, 1998; the compact model is that of
`dlopt.models.coreservation.cpsat`.)

Examples
--------
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request
>>> requests = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "abc")
>>> machines = Machine("m", 6), Machine("n", 6), Machine("o", 4)
>>> pool = ColumnPool(ScaledInstance.from_instance(Instance(machines, requests)), "benefit")
>>> [group.machines for group in pool.groups]
[(0, 1), (2,)]
>>> pool.add(0, {0: (0, 3), 2: (0, 3)}), pool.add(0, {2: (0, 3), 0: (0, 3)})
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dlopt.models.coreservation.objective import (
    Assignment,
    ObjectiveScaling,
    objective_level,
)
from dlopt.models.coreservation.requests import ScaledRequest
from dlopt.models.coreservation.scaled_instance import ScaledInstance

MAX_SCALED_VALUE = 1 << 46
"""Values and duals are integers, scaled such that the largest objective value is at most this.

CP-SAT reports bounds as floats: below 2^53 they are integers, and the dual cost of all parts can be
a few times the largest objective value.
"""


@dataclass(frozen=True, slots=True)
class MachineGroup:
    """Identical machines.

    Parameters
    ----------
    machines : tuple of int
    parts : tuple of int
        Those that may be on them.
    single_machine : ScaledInstance
        One of the machines with these parts, each part a request of its own.
    """

    machines: tuple[int, ...]
    parts: tuple[int, ...]
    single_machine: ScaledInstance


def machine_groups(scaled: ScaledInstance) -> tuple[MachineGroup, ...]:
    """Return the groups of identical machines on which some part may be."""
    return tuple(
        MachineGroup(machines, parts, _single_machine(scaled, parts, scaled.free[machines[0]]))
        for machines, parts in scaled.identical_machines()
    )


def _single_machine(
    scaled: ScaledInstance, parts: Sequence[int], free: tuple[int, ...]
) -> ScaledInstance:
    """Return the instance of one machine and some parts, each part a request of its own."""
    own_parts, requests = [], []
    for n, i in enumerate(parts):
        part, request = scaled.parts[i], scaled.requests[scaled.parts[i].request]
        own_parts.append(replace(part, request=n, machines=(0,)))
        requests.append(ScaledRequest(request.index, part.start, part.end, request.priority, (n,)))
    return replace(scaled, parts=tuple(own_parts), requests=tuple(requests), free=(free,))


@dataclass(frozen=True, slots=True)
class BranchingDecisions:
    """The decisions of a branch-and-price node.

    Parameters
    ----------
    requests : mapping of int to bool
        Requests that are accepted or rejected.
    pairs : mapping of (int, int) to bool
        Ryan-Foster decisions: pairs of parts that are on one machine, or on different ones.
    """

    requests: Mapping[int, bool]
    pairs: Mapping[tuple[int, int], bool]

    def allows(self, scaled: ScaledInstance, column: frozenset[int]) -> bool:
        """Tell whether a column satisfies the decisions."""
        if any(self.requests.get(scaled.parts[i].request) is False for i in column):
            return False
        return all(
            (pair[0] in column and pair[1] in column) if together else not column.issuperset(pair)
            for pair, together in self.pairs.items()
            if pair[0] in column or pair[1] in column
        )


class ColumnPool:
    """The columns that were generated, and their values in integers.

    Parameters
    ----------
    scaled : ScaledInstance
    level : str
        Any but ``machines``, with an exact `ObjectiveScaling`.

    Attributes
    ----------
    groups : tuple of MachineGroup
    scaling : ObjectiveScaling
    granularity : int
        Every objective value is a multiple of it.
    max_value : Fraction
        No assignment has a larger value.
    request_values : list of int
        What accepting a request adds besides its parts, ``v_k``.
    columns : list of dict
        For each group, the value of each column and its assignment to one machine.
    """

    def __init__(self, scaled: ScaledInstance, level: str) -> None:
        self.scaled, self.level = scaled, level
        self.groups = machine_groups(scaled)
        self.max_value = Fraction(0)
        for k, request in enumerate(scaled.requests):
            count = len(request.parts) if level == "benefit" else 1
            self.max_value += scaled.weight(level, k) * count
        scaling = ObjectiveScaling.for_level(scaled, level)
        self.granularity = 1
        while (
            scaling.factor * self.granularity * 2 * max(self.max_value, Fraction(1))
            <= MAX_SCALED_VALUE
        ):
            self.granularity *= 2
        self.scaling = replace(scaling, factor=scaling.factor * self.granularity)
        self.request_values = [0] * len(scaled.requests)
        if level != "benefit":
            self.request_values = [
                self.scaling.to_int(scaled.weight(level, k)) for k in range(len(scaled.requests))
            ]
        self.columns: list[dict[frozenset[int], tuple[int, Assignment]]] = [{} for _ in self.groups]

    def add(self, n: int, assignment: Assignment) -> bool:
        """Add a column of group `n`, and tell whether it is new."""
        column = frozenset(assignment)
        if column in self.columns[n]:
            return False
        value = self.value(assignment) if self.level == "benefit" else 0
        self.columns[n][column] = value, assignment
        return True

    def add_assignment(self, assignment: Assignment) -> None:
        """Add the columns of an assignment to all machines."""
        for n, group in enumerate(self.groups):
            for j in group.machines:
                on_machine = {
                    i: (0, units) for i, (machine, units) in assignment.items() if machine == j
                }
                if on_machine:
                    self.add(n, on_machine)

    def value(self, assignment: Assignment) -> int:
        """Return the objective value of an assignment."""
        if self.level == "benefit":
            return self.scaling.to_int(objective_level(self.scaled, "benefit", assignment))
        return sum(
            self.request_values[k] for k in {self.scaled.parts[i].request for i in assignment}
        )

    def dual_bound(
        self,
        best_reduced_values: Sequence[int],
        duals: Sequence[int],
        decisions: BranchingDecisions,
        *,
        with_values: bool = True,
    ) -> int:
        """Return the Lagrangian bound of a node, ``sum_g m_g r_g + sum_k max(v_k + pi(I_k), 0)``.

        Parameters
        ----------
        best_reduced_values : sequence of int
            For each group, an upper bound ``r_g`` on the reduced value of its columns.
        duals : sequence of int
            ``pi``, for all parts.
        decisions : BranchingDecisions
            Of a request that is decided the term is 0, or that of accepting it.
        with_values : bool
            Whether requests have their values ``v_k``; for a ray they have none.
        """
        pairs = zip(best_reduced_values, self.groups, strict=True)
        bound = sum(reduced * len(group.machines) for reduced, group in pairs)
        for k, request in enumerate(self.scaled.requests):
            gain = self.request_values[k] * with_values + sum(duals[i] for i in request.parts)
            decided = decisions.requests.get(k)
            bound += max(gain, 0) if decided is None else gain * decided
        return bound
