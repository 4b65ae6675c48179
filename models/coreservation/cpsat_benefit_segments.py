"""The CP-SAT model with one choice of machine and segment: linear rows for the capacities.

It replaces the cumulative constraints of `dlopt.models.coreservation.cpsat`, in which the demand of
a part is a variable that its segment determines: their relaxation loses which machine the share is
on. Here a literal ``y_ijq`` says that part ``i`` is on machine ``j`` and on segment ``q`` of its
benefit function, and the increment ``r_ijq`` is that of this machine, so that a capacity is linear
in them. With the symbols there::

    maximise    the objective there
    subject to  its rows, but the cumulative constraints, and
                sum_q y_ijq = y_ij,  sum_j y_ijq = z_iq               machine, segment
                0 <= r_ijq <= (high_iq - low_iq) y_ijq                increment on the machine
                sum_j r_ijq = r_iq
                sum_{i active at t} sum_q (low_iq y_ijq + r_ijq) <= C_jt        for each clique
                y in {0, 1}, r integer

The number of rows is that of the maximal cliques of each machine, where the cumulative constraint
is one, and there is an increment for each machine: `new_model` states this model where some part
may choose both its machine and its segment, up to `MAX_TERMS`. Source: the multiple-choice model
of piecewise linear functions (Croxton, Gendron and Magnanti, Management Science 49, 2003), with one
copy for each machine.

Examples
--------
>>> from dlopt.models.coreservation.objective import ObjectiveScaling, objective_key
>>> from dlopt.problems.coreservation import Instance, Machine, Part, Request, staircase
>>> from dlopt.result import Limits
>>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(4, 2, staircase(2)),)) for name in "abc")
>>> scaled = ScaledInstance.from_instance(Instance((Machine("m", 5), Machine("n", 5)), asked))
>>> model = new_model(scaled)
>>> model.model.maximize(
...     model.objective_expression(ObjectiveScaling.for_level(scaled, "benefit"))
... )
>>> type(model).__name__, objective_key(scaled, model.read_assignment(model.solve(Limits(), 0)))
('MachineSegmentModel', (Fraction(2, 3),))
"""

from __future__ import annotations

from collections.abc import Sequence

from dlopt.models.coreservation import cpsat
from dlopt.models.coreservation.cpsat import CpSatModel, Expression
from dlopt.models.coreservation.requests import Clique
from dlopt.models.coreservation.scaled_instance import ScaledInstance

MAX_TERMS = 3_000
"""Literals and coefficients up to which this model is stated.

In benchmarks/results/coreservation.md it is better up to 2,752 of them; at 3,840, with 40 requests,
its schedules are worse in the same time.
"""
MAX_SLOPE_TERMS = 500
"""The same where there is nothing but slopes: better with 208, worse with 960."""


def new_model(
    scaled: ScaledInstance, *, symmetric: bool = False, with_slopes: bool = False
) -> CpSatModel:
    """Return the model that suits an instance: this one, or that with cumulative constraints.

    Parameters
    ----------
    scaled : ScaledInstance
    symmetric : bool
        See `CpSatModel`.
    with_slopes : bool
        See `has_machine_segments`.
    """
    together = has_machine_segments(scaled, with_slopes=with_slopes)
    return (MachineSegmentModel if together else CpSatModel)(scaled, symmetric=symmetric)


def estimated_terms(scaled: ScaledInstance) -> float:
    """Return about how many literals and coefficients the model that `new_model` returns has."""
    added = machine_segment_terms(scaled) if has_machine_segments(scaled) else 0
    return cpsat.estimated_terms(scaled) + added


def has_machine_segments(scaled: ScaledInstance, *, with_slopes: bool = False) -> bool:
    """Tell whether machines and segments are chosen together in the model of an instance.

    Parameters
    ----------
    scaled : ScaledInstance
    with_slopes : bool
        Whether it is enough that some part has one segment with a slope. Then each of the models is
        the better one of some instances: the portfolio uses this one briefly, the other one last.
    """
    free = [part for part in scaled.parts if len(part.machines) > 1]
    if any(len(part.segments) > 1 for part in free):
        return machine_segment_terms(scaled) <= MAX_TERMS
    slopes = with_slopes and any(part.segments[0].slope > 0 for part in free)
    return slopes and machine_segment_terms(scaled) <= MAX_SLOPE_TERMS


def machine_segment_terms(scaled: ScaledInstance) -> int:
    """Return about how many literals and coefficients the model adds to those of the choices.

    Two for each machine and segment of a part, and two for each clique in which it is. Counted are
    the cliques of all parts, of which those of a machine are subsets, unless there are too many
    terms without them. Complexity: that of the cliques.
    """
    sizes = [2 * len(part.segments) * len(part.machines) for part in scaled.parts]
    total = sum(sizes)
    if total <= MAX_TERMS:
        total += sum(sizes[i] for clique in scaled.maximal_cliques() for i in clique.parts)
    return total


class MachineSegmentModel(CpSatModel):
    """The model with literals for a machine and a segment together, without an objective.

    Parameters
    ----------
    scaled : ScaledInstance
    symmetric : bool
        See `CpSatModel`.

    Attributes
    ----------
    placed : list of dict
        ``y[i][j, q]`` = 1 if part i is on machine j and segment q.
    raised : list of dict
        ``r[i][j, q]``, what the share exceeds the low end of segment q by, if it is there.
    """

    def add_capacity(self) -> None:
        """At every instant the shares on a machine are at most its free capacity."""
        indices = range(len(self.scaled.parts))
        self.placed = [self._placements(i) for i in indices]
        self.raised = [self._increments(i) for i in indices]
        super().add_capacity()

    def _placements(self, i: int) -> dict[tuple[int, int], Expression]:
        """Each machine and segment has a literal, which implies both."""
        part, segments = self.scaled.parts[i], range(len(self.segment[i]))
        if len(part.machines) == 1:
            return {(part.machines[0], q): self.segment[i][q] for q in segments}
        if len(segments) == 1:
            return {(j, 0): self.assign[i][j] for j in part.machines}
        placed = {
            (j, q): self.model.new_bool_var(f"y{i},{j},{q}")
            for j in part.machines
            for q in segments
        }
        for j in part.machines:
            on_machine = [placed[j, q] for q in segments]
            self.model.add_exactly_one([*on_machine, self.assign[i][j].negated()])
        for q in segments:
            on_segment = [placed[j, q] for j in part.machines]
            self.model.add_exactly_one([*on_segment, self.segment[i][q].negated()])
        return placed

    def _increments(self, i: int) -> dict[tuple[int, int], Expression]:
        """The increment on a segment is that on the machine where the part is."""
        part, raised = self.scaled.parts[i], {}
        for q, segment in enumerate(part.segments):
            length = segment.high - segment.low
            if not length:
                continue
            if len(part.machines) == 1:
                raised[part.machines[0], q] = self.increment[i][q]
                continue
            for j in part.machines:
                raised[j, q] = self.model.new_int_var(0, length, f"r{i},{j},{q}")
                self.model.add(raised[j, q] <= length * self.placed[i][j, q])
            self.model.add(self.increment[i][q] == sum(raised[j, q] for j in part.machines))
        return raised

    def add_machine_capacity(self, j: int, cliques: Sequence[Clique]) -> None:
        """A row for each clique that can exceed the machine."""
        for clique in cliques:
            load = [term for i in clique.parts for term in self._load_on(i, j)]
            self.model.add(sum(load) <= clique.free[0])

    def _load_on(self, i: int, j: int) -> list[Expression]:
        segments = enumerate(self.scaled.parts[i].segments)
        low_ends = [segment.low * self.placed[i][j, q] for q, segment in segments]
        return low_ends + [increment for (at, _), increment in self.raised[i].items() if at == j]

    def hint_part(self, i: int, machine: int, chosen: int, increment: int) -> None:
        """Start a part from a machine, a segment and an increment."""
        super().hint_part(i, machine, chosen, increment)
        if len(self.assign[i]) == 1:
            return
        at = machine, chosen
        if len(self.segment[i]) > 1:
            for placement, placed in self.placed[i].items():
                self.model.add_hint(placed, placement == at)
        for placement, raised in self.raised[i].items():
            self.model.add_hint(raised, increment if placement == at else 0)
