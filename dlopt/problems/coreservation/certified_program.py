"""What a certificate proves of CPU shares: a bound over a program that every plan satisfies.

The machines are partitioned into groups, and CPU is counted in a unit `u`; both are stated in the
file, and every machine may be a group by itself. The columns are

    x_k            whether request `k` is accepted
    y_k_p_g_l_h    whether part `p` of it is on a machine of group `g`, on the piece from `l` to `h`
    r_k_p_g_l_h    its units above `l` there
    m_j            whether machine `j` is used
    w              whether the plan reaches the first level, and improves on the second

The pieces of a part on a group must offer, for every share that it may have there, at least the
benefit of that share for no more CPU. With the instants `t` at which anything changes, the free
units ``C_jt`` and the parts that are active, every plan satisfies, for any ``l`` and ``d > 0``::

    accepted    sum_{g,l,h} y_kpglh = x_k                              k, p
    piece       r_kpglh <= (h - l) y_kpglh                             k, p, g, l, h
    capacity    sum (l y + r) <= sum_{j in g: C_jt >= l'} C_jt         g, t; l' the least l in it
    count       sum floor(l / d) y <= sum_{j in g} floor(C_jt / d)     g, t, d
    knapsack    sum a y <= sum_{j in g} K_j                            g, t
    level       what `w` says

with any weights ``a >= 0`` of parts with ``l > 0``, of which ``K_j`` is the largest sum over parts
whose ``l`` add up to at most ``C_jt``. Of machines, ``C_jt m_j`` may stand for ``C_jt``,
``floor(C_jt / d) m_j`` for ``floor(C_jt / d)``, and ``K_j m_j`` for ``K_j``. Any
coefficient on the left may be smaller. A program of such rows is a relaxation, however few there
are. The objective is minimised: requests that are accepted, their benefits, or both with weights.

Of two levels the first is weighted with more than the second can make up for. Of
``benefit-then-rejections`` that is impossible, as benefits have no common step; there the column
`w` costs -1, and if the program has a plan with ``w = 1``, its value is below what is claimed. So
no plan has more benefit than is claimed, and none with that much has fewer rejections than the file
says. Source: ours.

The models state such programs themselves; a proof holds only if these rules accept its program.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, gcd, lcm

from dlopt.arithmetic import exact
from dlopt.certificates import StatedProgram
from dlopt.problems.certificate_units import stated_number
from dlopt.problems.coreservation.certified_capacity import FreeCapacity, least_cpu
from dlopt.problems.coreservation.certified_columns import Piece, ShareColumns
from dlopt.problems.coreservation.certified_rows import ShareRows
from dlopt.problems.coreservation.data import Instance, Part, Solution
from dlopt.problems.coreservation.goals import OBJECTIVES
from dlopt.problems.coreservation.objectives import benefit_of
from dlopt.result import Result, Value

_GROUPS = re.compile(r"\d{1,8}( \d{1,8})*", re.ASCII)
ZERO = Fraction(0)


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
        A bound on the value of every plan, level by level if the objective has levels; None if the
        certificate does not say of which program it is. And a flaw, or None.

    Examples
    --------
    >>> from dlopt.formats import vipr
    >>> from dlopt.models.coreservation.methods import exact_plan
    >>> from dlopt.problems.coreservation.data import Machine, Request
    >>> asked = tuple(Request(name, 0, 1, 2, 1, (Part(3),)) for name in "ab")
    >>> instance = Instance((Machine("m", 5),), asked)
    >>> result = exact_plan(instance)
    >>> certificate = vipr.parse(vipr.to_text(result.certificate))
    >>> certificate.flaw() is None, proven_value(instance, result, certificate)
    (True, (Fraction(1, 2), None))
    """
    if certificate.claim is None:
        return None, "it claims that there is no plan, but all requests may be rejected"
    unit = stated_number(certificate.remarks, "unit")
    groups = certificate.remarks.get("groups", "")
    if unit is None or unit <= 0:
        return None, "its remarks do not state the unit"
    if not _GROUPS.fullmatch(groups) or len(groups.split()) != len(instance.machines):
        return None, "its remarks do not state the group of every machine"
    program = ShareProgram(instance, result.objective, certificate, unit, groups.split())
    return program.value(certificate.claim), program.flaw()


class ShareProgram:
    """The program of a certificate, compared with an instance.

    Parameters
    ----------
    instance : Instance
    objective : str
    program : StatedProgram
    unit : Fraction
        Of CPU; positive.
    groups : sequence of str
        The number of the group of each machine.
    """

    def __init__(
        self,
        instance: Instance,
        objective: str,
        program: StatedProgram,
        unit: Fraction,
        groups: Sequence[str],
    ) -> None:
        self.instance, self.program, self.unit = instance, program, unit
        self.levels = OBJECTIVES[objective].levels or (objective,)
        self.improves = self.levels == ("benefit", "rejections")
        self.capacity = FreeCapacity(instance)
        self.columns = ShareColumns(instance, program, unit, groups, with_levels=self.improves)
        numbers = {exact(request.priority) for request in instance.requests}
        scale = lcm(*(number.denominator for number in numbers))
        self.priority_step = Fraction(gcd(*(int(number * scale) for number in numbers)), scale)
        self.priorities = sum((exact(one.priority) for one in instance.requests), ZERO)
        self.places = [
            [self.capacity.machines(request, part) for part in request.parts]
            for request in instance.requests
        ]

    @property
    def weight(self) -> Fraction:
        """What the first level counts for, if there are two: more than the second can be."""
        if self.levels[-1] == "machines":
            return Fraction(len(self.instance.machines) + 1)
        if self.levels[0] == "rejected-priority" and len(self.levels) > 1:
            return 2 / self.priority_step
        return Fraction(len(self.levels))

    def gain(self, request: int) -> Fraction:
        """Return what the acceptance of a request counts for by itself."""
        if self.levels[0] == "benefit":
            return ZERO
        by_priority = self.levels[0] == "rejected-priority"
        return self.weight * (exact(self.instance.requests[request].priority) if by_priority else 1)

    @property
    def _fewest(self) -> Fraction | None:
        """The fewest rejections that are claimed, next to the largest benefit."""
        fewest = stated_number(self.program.remarks, "rejections")
        is_whole = fewest is not None and fewest.denominator == 1
        return fewest if is_whole and self.columns.improvement is not None else None

    def value(self, claim: Fraction) -> Value:
        """Return what a lower bound of the minimum says of the levels of the objective."""
        if self.levels[0] == "benefit":
            return (-claim, self._fewest or 0) if self.improves else -claim
        total = sum(map(self.gain, range(len(self.instance.requests))), ZERO) + claim
        step = self.priority_step if self.levels[0] == "rejected-priority" else Fraction(1)
        if len(self.levels) == 1:
            return max(ZERO, step * ceil(total / step))
        if self.levels[1] == "machines":
            rejections, machines = divmod(max(0, ceil(total)), int(self.weight))
            return rejections, machines
        first = max(ZERO, step * ceil(total / (step * self.weight)))
        return first, first * self.weight - total

    def flaw(self) -> str | None:
        """Return what some plan may not satisfy, or None if there is nothing."""
        if self.columns.unknown:
            return f"{self.columns.unknown[0]}: the instance has no such column"
        if not self.program.integers.isdisjoint(self.columns.increments):
            return "shares need not be integers"
        if self.improves and self._fewest is None:
            return "it does not state the fewest rejections"
        return (
            self._cost_flaw() or self._offer_flaw() or ShareRows(self.columns, self.capacity).flaw()
        )

    def _cost_flaw(self) -> str | None:
        """Acceptance and machines must cost what they count for, and benefits are compared."""
        costs = self.program.costs
        for request, column in self.columns.requests.items():
            if costs.get(column, ZERO) != -self.gain(request):
                return f"request {request} does not count as it should"
        price = self.levels[-1] == "machines"
        if any(costs.get(column, ZERO) > price for column in self.columns.machines):
            return "a machine counts for more than 1"
        improvement = self.columns.improvement
        if improvement is not None and costs.get(improvement, ZERO) != -1:
            return "w does not cost -1"
        return None

    def _offer_flaw(self) -> str | None:
        """Every share must be offered its benefit for no more CPU, wherever a part may be."""
        offers: dict[tuple[int, int, int], list[tuple[Piece, Fraction, Fraction]]]
        offers = defaultdict(list)
        costs = self.program.costs
        for column, piece in self.columns.pieces.items():
            above = self.columns.by_name.get(f"r_{'_'.join(map(str, piece))}")
            slope = ZERO if above is None else -costs.get(above, ZERO)
            offers[piece[:3]].append((piece, -costs.get(column, ZERO), slope))
        for k, request in enumerate(self.instance.requests):
            if not all(self.places[k]):
                continue  # some part fits nowhere
            if k not in self.columns.requests:
                return f"request {k} may be accepted"
            for p, part in enumerate(request.parts):
                places = set(self.places[k][p])
                for group, members in self.columns.groups.items():
                    rooms = self.capacity.rooms(places.intersection(members), request)
                    most = min(max(rooms, default=ZERO), exact(part.cpu))
                    if rooms and not self._are_all_offered(k, part, most, offers[k, p, group]):
                        return f"part {p} of request {k} may have more benefit on group {group}"
        return None

    def _are_all_offered(
        self,
        request: int,
        part: Part,
        most: Fraction,
        offers: Sequence[tuple[Piece, Fraction, Fraction]],
    ) -> bool:
        """Tell whether some piece offers the benefit of each share, from the least to the most.

        Between two places where any function turns all are straight, so that one that is no less
        at both ends is no less between them.
        """
        least, cpu = least_cpu(part), exact(part.cpu)
        turns = {least, most, *(exact(share) * cpu for share, _ in part.benefit)}
        turns |= {end * self.unit for piece, _, _ in offers for end in (piece.low, piece.high)}
        counts = "benefit" in self.levels
        weight = exact(self.instance.requests[request].priority) / self.priorities
        weight /= len(self.instance.requests[request].parts)

        def wanted(share: Fraction) -> Fraction:
            return weight * benefit_of(part, share) if counts else ZERO

        def offered(one: tuple[Piece, Fraction, Fraction], share: Fraction) -> Fraction:
            (_, _, _, low, high), benefit, slope = one
            return benefit + slope * min(share / self.unit - low, Fraction(high - low))

        ordered = sorted(turn for turn in turns if least <= turn <= most)
        for start, end in pairwise(ordered):
            below_end = 2 * wanted((start + end) / 2) - wanted(start)
            if not any(
                one[0].low * self.unit <= start
                and offered(one, start) >= wanted(start)
                and offered(one, end) >= below_end
                for one in offers
            ):
                return False
        return any(
            one[0].low * self.unit <= most and offered(one, most) >= wanted(most) for one in offers
        )
