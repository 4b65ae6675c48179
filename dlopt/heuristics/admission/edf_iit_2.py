"""EDF-IIT-2 in a stream: inserted idle times, all nodes of a task end together.

The ready times of nodes form few groups ``(t, c)``: `c` nodes ready at `t`. Only the first node of
a group can wait for its ready time; the others follow it on the channel. With ``e = xi - theta_cm -
theta_cp``, the time ``X`` in which the first node of a group receives and computes its share is

    X = min(e - t, beta X_last - theta_cm)

and the rest of the group follows in closed form, so that a task costs as many operations as it
meets groups, whatever the number of nodes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from dlopt.arithmetic import Number
from dlopt.heuristics.admission.affine import AffineNumber
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.beta_powers import BetaPowers
from dlopt.heuristics.admission.ready_times import ReadyTimes
from dlopt.heuristics.admission.records import DeadlineMiss, Placement
from dlopt.heuristics.iit import edf_iit_2
from dlopt.heuristics.iit.edf_iit_2 import Costs
from dlopt.heuristics.iit.monotone_search import galloping_search, smallest_satisfying
from dlopt.problems.cluster import Cluster

MAX_NEWTON_STEPS = 100
"""Steps of Newton's method. It ends in far fewer; the limit is for cycles caused by rounding."""

_UNIT_SLOPE: Number = 1
"""The share of a node that leads grows by one with the completion time."""


class EdfIit2Planner:
    """Plans tasks so that all nodes end at one instant, each starting as soon as it can.

    Parameters
    ----------
    algorithm : Algorithm
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all of one number type.
    nodes : int

    Examples
    --------
    Nodes that are ready at 0 and 1, and a load of 3 that is due at 5:

    >>> from fractions import Fraction
    >>> zero, one = Fraction(0), Fraction(1)
    >>> costs = (one, one, zero, zero)
    >>> planner = EdfIit2Planner(Algorithm.parse("edf-iit-2"), costs, 2)
    >>> placement = planner.place(ReadyTimes((zero, one), zero), zero, 3 * one, 5 * one)
    >>> placement.nodes, str(placement.end)
    (2, '4')
    """

    def __init__(self, algorithm: Algorithm, costs: tuple[Number, ...], nodes: int) -> None:
        self.costs = Costs(*costs)
        self.cluster = Cluster(nodes, *costs)
        self._all = algorithm.assignment == "an"
        self._unit = self.costs.tau + self.costs.chi
        self._overhead = self.costs.theta_cm + self.costs.theta_cp
        self._powers = BetaPowers(self.costs.beta)

    def place(
        self, nodes: ReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Place a task that is not sent before an instant; the ready times are clipped to it."""
        nodes.clip(not_before)
        if self._all:
            return self._earliest_completion(nodes, not_before, load, deadline)
        work = load * self._unit
        groups, base, slope, last, left = self._fewest(nodes, work, deadline - self._overhead)
        if not groups:  # not from `left`: the work of a tiny load may be rounded to 0
            return DeadlineMiss(load, "load")
        if left > 0:
            return DeadlineMiss(left / self._unit, "load")
        end, last_share = self._completion(groups, work, base, slope, last)
        count = sum(count for _, count, _ in groups)
        sent = self._sent(nodes.times[0], load, end, last_share / self._unit)
        return Placement(count, not_before, nodes.times[0], sent, end)

    def _sent(self, start: Number, load: Number, end: Number, last_load: Number) -> Number:
        """Return the end of the transmissions, from that of the last computation.

        In floats it is rounded as that is, and may lie before all the load can be sent.
        """
        sent = end - self.costs.theta_cp - self.costs.chi * last_load
        return max(sent, start + load * self.costs.tau) if isinstance(sent, float) else sent

    def deadlines(
        self, nodes: ReadyTimes, not_before: Number, load: Number, low: Number
    ) -> Iterator[Number]:
        """Yield the deadlines from `low` on at which the result of `place` changes, ascending.

        These are the least completions on fewer and fewer nodes, the first of them `low` if some
        nodes end by then.
        """
        nodes.clip(not_before)
        ready = nodes.ready()
        end = max(low, edf_iit_2.minimum_completion(self.cluster, ready, load)[0])
        yield end
        if self._all:
            return
        groups, *_ = self._fewest(nodes, load * self._unit, end - self._overhead)
        for n in range(sum(count for _, count, _ in groups) - 1, 0, -1):
            yield edf_iit_2.minimum_completion(self.cluster, ready, load, n)[0]

    def _fewest(
        self, nodes: ReadyTimes, work: Number, until: Number
    ) -> tuple[list[tuple[Number, int, bool]], Number, Number, tuple[Number, Number], Number]:
        """Return the fewest nodes that do the work by `until`, as groups that lead a block or not.

        Also returned are, as linear functions of the completion, what they do and what the last
        of them does (constant, slope); and the work that is left if all nodes are too few.
        """
        beta, setup, table = self.costs.beta, self.costs.theta_cm, self._powers
        groups: list[tuple[Number, int, bool]] = []
        done: Number = work * 0
        base: Number = done
        slope: Number = done
        last_base: Number = done
        last_slope: Number = done
        last: Number | None = None
        for instant, count in zip(nodes.times, nodes.counts, strict=True):
            free = until - instant
            first, leads = free, True
            if last is not None:
                follows = beta * last - setup
                if follows < free:
                    first, leads = follows, False
            if first <= 0:
                break
            table.extend_to(count)
            powers, sums, double_sums = table.powers, table.sums, table.double_sums
            if table.exact:
                count, enough = self._nodes_needed_exactly(first, work - done, count)
            else:
                if setup and first * powers[count - 1] <= setup * sums[count - 1]:
                    count = self._nodes_with_load(first, count)
                enough = done + (first * sums[count] - setup * double_sums[count]) >= work
                if enough and count > 1:
                    count = self._nodes_needed(first, work - done, count)
            does = first * sums[count] - setup * double_sums[count]
            groups.append((instant, count, leads))
            first_base, first_slope = -instant, _UNIT_SLOPE
            if not leads:
                first_base, first_slope = beta * last_base - setup, beta * last_slope
            base += first_base * sums[count] - setup * double_sums[count]
            slope += first_slope * sums[count]
            last_base = first_base * powers[count - 1] - setup * sums[count - 1]
            last_slope = first_slope * powers[count - 1]
            last = first * powers[count - 1] - setup * sums[count - 1]
            done += does
            if enough:
                return groups, base, slope, (last_base, last_slope), done - done
        return groups, base, slope, (last_base, last_slope), work - done

    def _nodes_needed_exactly(self, first: Number, work: Number, count: int) -> tuple[int, bool]:
        """Return how many nodes of a group get a load, at most for the work, and if they suffice.

        Few nodes are tried first, because the work of many has many digits.
        """
        setup, table = self.costs.theta_cm, self._powers
        if not setup and not _is_parametric(first, work):
            found = table.fewest_terms_reaching(work / first, 1, count)
            return found or count, found is not None
        powers, sums, double_sums = table.powers, table.sums, table.double_sums

        def last(n: int) -> bool:
            """Whether one more node gets nothing, or `n` do the work."""
            starved = first * powers[n] <= setup * sums[n]
            return bool(starved or first * sums[n] - setup * double_sums[n] >= work)

        n = galloping_search(last, 1, count) or count
        return n, bool(first * sums[n] - setup * double_sums[n] >= work)

    def _nodes_with_load(self, first: Number, count: int) -> int:
        """Return how many nodes of a group get a load, given the share of the first one."""
        setup, powers, sums = self.costs.theta_cm, self._powers.powers, self._powers.sums
        starved = smallest_satisfying(
            lambda n: bool(first * powers[n] <= setup * sums[n]), count - 1
        )
        return count if starved is None else starved

    def _nodes_needed(self, first: Number, work: Number, count: int) -> int:
        """Return how many nodes of a group, `count` at the most, suffice for the work."""
        setup, sums, double_sums = self.costs.theta_cm, self._powers.sums, self._powers.double_sums
        if not setup and not _is_parametric(first, work):
            return min(max(bisect_left(sums, work / first, 1, count + 1), 1), count)
        return (
            smallest_satisfying(
                lambda n: bool(first * sums[n] - setup * double_sums[n] >= work), count
            )
            or count
        )

    def _completion(
        self,
        groups: list[tuple[Number, int, bool]],
        work: Number,
        base: Number,
        slope: Number,
        last: tuple[Number, Number],
    ) -> tuple[Number, Number]:
        """Return the minimum completion on given groups, and the share of the last node.

        Newton's method: what the groups do is concave in the completion, hence after the first
        step, from the deadline, it comes from the left and ends when the leaders stay the same.
        """
        beta, setup = self.costs.beta, self.costs.theta_cm
        powers, sums, double_sums = self._powers.powers, self._powers.sums, self._powers.double_sums
        until = (work - base) / slope
        for _ in range(MAX_NEWTON_STEPS):
            changed = False
            base = slope = work * 0
            last_base, last_slope = last
            for index, (instant, count, led) in enumerate(groups):
                first_base, first_slope, leads = -instant, _UNIT_SLOPE, True
                if index:
                    base_after, slope_after = beta * last_base - setup, beta * last_slope
                    if base_after + slope_after * until < until - instant:
                        first_base, first_slope, leads = base_after, slope_after, False
                if leads is not led:
                    groups[index] = (instant, count, leads)
                    changed = True
                base += first_base * sums[count] - setup * double_sums[count]
                slope += first_slope * sums[count]
                last_base = first_base * powers[count - 1] - setup * sums[count - 1]
                last_slope = first_slope * powers[count - 1]
            last = (last_base, last_slope)
            if not changed:
                break
            until = (work - base) / slope
        return until + self._overhead, last[0] + last[1] * until

    def _earliest_completion(
        self, nodes: ReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Return the placement that ends first, on all useful nodes."""
        if self.costs.chi and not self.costs.theta_cm:
            return self._earliest_of_groups(nodes, not_before, load, deadline)
        ready = nodes.ready()
        end, loads = edf_iit_2.minimum_completion(self.cluster, ready, load)
        if end > deadline:
            return DeadlineMiss(end - deadline, "time")
        sent = self._sent(ready[0], load, end, loads[-1])
        return Placement(len(loads), not_before, ready[0], sent, end)

    def _earliest_of_groups(
        self, nodes: ReadyTimes, not_before: Number, load: Number, deadline: Number
    ) -> Placement | DeadlineMiss:
        """Return the same where every node that is ready before the completion gets a load.

        A node that is ready later would only delay the others, so that it is left out.
        """
        work, used = load * self._unit, len(nodes.times)
        self._powers.extend_to(max(nodes.counts))
        while True:
            groups = [
                (instant, count, True)
                for instant, count in zip(nodes.times[:used], nodes.counts, strict=False)
            ]
            base = slope = 0 * work
            for instant, count, _ in groups:
                slope += self._powers.sums[count]
                base -= instant * self._powers.sums[count]
            last_power = self._powers.powers[groups[-1][1] - 1]
            last = (-groups[-1][0] * last_power, last_power)
            end, last_share = self._completion(groups, work, base, slope, last)
            useful = bisect_left(nodes.times, end - self._overhead, 1, used)
            if useful == used:
                break
            used = useful
        if end > deadline:
            return DeadlineMiss(end - deadline, "time")
        sent = self._sent(nodes.times[0], load, end, last_share / self._unit)
        return Placement(sum(nodes.counts[:used]), not_before, nodes.times[0], sent, end)

    def loads(self, load: Number, ready: list[Number], placement: Placement) -> list[Number]:
        """Return the load of each node, in the order of transmission."""
        until = placement.end - self._overhead
        shares: list[Number] = []
        for instant in ready:
            free = until - instant
            follows = self.costs.beta * shares[-1] - self.costs.theta_cm if shares else free
            shares.append(min(free, follows))
        if isinstance(load, float):
            # A load that is small compared with the instants is lost in their rounding.
            return _scaled(shares, load)
        return [share / self._unit for share in shares]


def _is_parametric(first: Number, work: Number) -> bool:
    """Tell whether the quotient of two numbers would be no affine function."""
    return isinstance(first, AffineNumber) or isinstance(work, AffineNumber)


def _scaled(shares: list[Number], load: float) -> list[Number]:
    """Return loads in proportion to `shares`, negative ones counting as 0."""
    total = sum(max(share, 0.0) for share in shares)
    if not total > 0:
        return [load, *[0.0] * (len(shares) - 1)]
    return [max(share, 0.0) * (load / total) for share in shares]
