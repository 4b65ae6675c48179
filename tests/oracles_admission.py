"""Brute force for streams of divisible loads: every set of tasks, every order of chunks.

Shares nothing with what it judges: the linear program of an order is solved here, exactly,
by a plain simplex method, in integers.
"""

from fractions import Fraction
from itertools import combinations, product
from math import lcm

from dlopt.arithmetic import exact

ZERO, ONE = Fraction(0), Fraction(1)


def maximum(rows, sides, costs):
    """Return the maximum of ``costs.v`` over ``rows v <= sides, v >= 0``, None if infeasible.

    The simplex method with Bland's rule. If a side is negative, an auxiliary variable that relaxes
    every row is made as small as can be first.
    """
    scaled = [_whole([*row, side]) for row, side in zip(rows, sides, strict=True)]
    goal, unit = [*(-c for c in costs), ZERO], lcm(*(Fraction(c).denominator for c in costs))
    tableau = _Tableau([*scaled, _whole(goal)], range(len(costs)), len(rows))
    if min(sides, default=0) < 0:
        auxiliary = -1
        for line in tableau.lines:
            line.insert(0, -1)
        tableau.lines[-1][0] = 0
        tableau.others.insert(0, auxiliary)
        tableau.lines.append([1] + [0] * (len(costs) + 1))
        tableau.pivot(min(range(len(rows)), key=lambda i: scaled[i][-1]), 0)
        tableau.improve()
        if tableau.lines.pop()[-1] < 0:
            return None
        if auxiliary in tableau.basic:
            row = tableau.basic.index(auxiliary)
            tableau.pivot(row, next(j for j, a in enumerate(tableau.lines[row]) if a))
        column = tableau.others.index(auxiliary)
        for line in (*tableau.lines, tableau.others):
            del line[column]
    tableau.improve()
    return Fraction(tableau.lines[-1][-1], tableau.denominator * unit)


def _whole(line):
    """Return a multiple of a line in integers."""
    line = [Fraction(a) for a in line]
    unit = lcm(*(a.denominator for a in line))
    return [a.numerator * (unit // a.denominator) for a in line]


class _Tableau:
    """What the basic variables are, in terms of the others; the last lines are goals.

    ``basic[i] = (lines[i][-1] - lines[i].others) / denominator``, all integers: each entry
    is a determinant of a part of the first lines, so that the denominator before a pivot divides
    whatever a pivot leads to (Bareiss 1968).
    """

    def __init__(self, lines, others, count):
        self.lines, self.others, self.denominator = lines, list(others), 1
        self.basic = list(range(len(self.others), len(self.others) + count))

    def improve(self):
        """Pivot until the last goal cannot grow."""
        while True:
            growing = ((k, j) for j, k in enumerate(self.others) if self.lines[-1][j] < 0)
            entering = min(growing, default=None)
            if entering is None:
                return
            column = entering[1]
            falling = [i for i in range(len(self.basic)) if self.lines[i][column] > 0]
            assert falling, "unbounded"
            leaving = falling[0]
            for i in falling[1:]:
                ratio = self.lines[i][-1] * self.lines[leaving][column]
                least = self.lines[leaving][-1] * self.lines[i][column]
                if ratio < least or (ratio == least and self.basic[i] < self.basic[leaving]):
                    leaving = i
            self.pivot(leaving, column)

    def pivot(self, row, column):
        """Exchange two variables."""
        line, before = self.lines[row], self.denominator
        pivot = line[column]
        for i, other in enumerate(self.lines):
            factor = other[column]
            if i == row:
                continue
            if factor:
                other[:] = [
                    (a * pivot - factor * b) // before for a, b in zip(other, line, strict=True)
                ]
                other[column] = -factor
            elif pivot != before:
                other[:] = [a * pivot // before for a in other]
        line[column], self.denominator = before, pivot
        if pivot < 0:
            self.denominator = -pivot
            for other in self.lines:
                other[:] = [-a for a in other]
        self.basic[row], self.others[column] = self.others[column], self.basic[row]


def least_lateness(instance, order):
    """Return the minimum of the maximum lateness, not below 0, of a sequence: (task, node) each.

    Variables are the delay of each chunk's start after its release, its load, and the lateness.
    """
    cluster, count = instance.cluster, len(order)
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    free = [exact(instant) for instant in instance.free_times]
    channel = exact(instance.channel_free)
    remaining = instance.remaining
    release = [max(exact(task.arrival), free[node], channel) for task, node in order]
    rows, sides = [], []

    def less(terms, side):
        row = [ZERO] * (2 * count + 1)
        for j, a in terms:
            row[j] += a
        rows.append(row)
        sides.append(side)

    def after(p, q, setup, unit):
        """Start chunk `q` when `p` has taken its time."""
        less([(p, ONE), (count + p, unit), (q, -ONE)], release[q] - release[p] - setup)

    sent = None
    last = {}
    for q, (task, node) in enumerate(order):
        tau = exact(cluster.tau_of(node))
        unit = tau + exact(cluster.chi_of(node))
        if tau > 0 or theta_cm > 0:
            if sent is not None:
                after(sent, q, theta_cm, exact(cluster.tau_of(order[sent][1])))
            sent = q
        if node in last:
            after(last[node], q, theta_cm + theta_cp, unit)
        last[node] = q
        due = exact(task.arrival) + exact(task.deadline)
        terms = [(q, ONE), (count + q, unit), (2 * count, -ONE)]
        less(terms, due - release[q] - theta_cm - theta_cp)
    for task in {task.id: task for task, _ in order}.values():
        parts = [count + p for p, (other, _) in enumerate(order) if other.id == task.id]
        less([(p, ONE) for p in parts], exact(remaining[task.id]))
        less([(p, -ONE) for p in parts], -exact(remaining[task.id]))
    value = maximum(rows, sides, [*[ZERO] * (2 * count), -ONE])
    return None if value is None else -value


def feasible(instance, tasks, installments=1):
    """Tell whether all these tasks can be done in time."""
    return lateness(instance, tasks, installments, enough=True) == 0


def lateness(instance, tasks, installments=1, *, enough=False):
    """Return the minimum of the maximum lateness over all sequences; with `enough`, stop at 0."""
    remaining = instance.remaining
    tasks = [task for task in tasks if remaining[task.id] > 0]
    nodes = range(instance.cluster.nodes)
    best = None if tasks else ZERO
    counts = product(range(installments + 1), repeat=len(tasks) * len(nodes))
    for given in counts:
        chunks = [
            (task, node)
            for (task, node), count in zip(product(tasks, nodes), given, strict=True)
            for _ in range(count)
        ]
        if {task.id for task, _ in chunks} != {task.id for task in tasks}:
            continue
        for order in _orders(chunks):
            late = least_lateness(instance, order)
            if late is not None and (best is None or late < best):
                best = late
            if enough and best == 0:
                return best
    return best


def _orders(chunks):
    """Yield the different orders of chunks."""
    if not chunks:
        yield ()
    for p, chunk in enumerate(chunks):
        if chunk not in chunks[:p]:
            for rest in _orders(chunks[:p] + chunks[p + 1 :]):
                yield (chunk, *rest)


def most(instance, weight=lambda task: 1, installments=1):
    """Return the maximum value of accepted tasks, None if the promised tasks do not fit."""
    promised = instance.promised
    subsets = [
        chosen
        for count in range(len(instance.tasks) + 1)
        for chosen in combinations(instance.tasks, count)
        if promised <= {task.id for task in chosen}
    ]
    subsets.sort(key=lambda chosen: -sum(map(weight, chosen)))
    for chosen in subsets:
        if feasible(instance, chosen, installments):
            return sum(map(weight, chosen))
    return None
