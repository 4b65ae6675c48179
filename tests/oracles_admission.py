"""Brute force for streams of divisible loads: every set of tasks, every order of chunks.

Shares nothing with what it judges: the linear program of an order is solved here, in fractions,
by a plain simplex.
"""

from fractions import Fraction
from itertools import combinations, product

from dlopt.arithmetic import exact

ZERO, ONE = Fraction(0), Fraction(1)


CONSTANT = -1  # the key of the value of a goal where all its variables are 0


def maximum(rows, sides, costs):
    """Return the maximum of ``costs.v`` over ``rows v <= sides, v >= 0``, None if infeasible.

    A dictionary (each basic variable as an affine function of the others) and Bland's rule. If a
    side is negative, an auxiliary variable that every row gains is made as small as can be first.
    """
    n, auxiliary = len(costs), len(costs) + len(rows)
    lines = {n + i: {j: -a for j, a in enumerate(row) if a} for i, row in enumerate(rows)}
    constants = {n + i: Fraction(side) for i, side in enumerate(sides)}
    goal = {j: c for j, c in enumerate(costs) if c} | {CONSTANT: ZERO}
    if min(sides, default=0) < 0:
        for line in lines.values():
            line[auxiliary] = ONE
        first = {auxiliary: -ONE, CONSTANT: ZERO}
        worst = min(constants, key=constants.__getitem__)
        _pivot(lines, constants, [first, goal], worst, auxiliary)
        _improve(lines, constants, [first, goal])
        if first[CONSTANT] < 0:
            return None
        if auxiliary in lines:
            _pivot(lines, constants, [goal], auxiliary, min(lines[auxiliary]))
        for line in (*lines.values(), goal):
            line.pop(auxiliary, None)
    _improve(lines, constants, [goal])
    return goal[CONSTANT]


def _improve(lines, constants, goals):
    """Pivot until the first goal cannot grow."""
    while True:
        growing = (j for j, c in goals[0].items() if j != CONSTANT and c > 0)
        entering = min(growing, default=None)
        if entering is None:
            return
        falling = ((i, line.get(entering, ZERO)) for i, line in lines.items())
        ratios = [(constants[i] / -a, i) for i, a in falling if a < 0]
        assert ratios, "unbounded"
        _pivot(lines, constants, goals, min(ratios)[1], entering)


def _pivot(lines, constants, goals, leaving, entering):
    """Exchange two variables."""
    line = lines.pop(leaving)
    pivot = line.pop(entering)
    new = {j: -a / pivot for j, a in line.items()} | {leaving: ONE / pivot}
    value = -constants.pop(leaving) / pivot
    for i, others in lines.items():
        factor = others.pop(entering, ZERO)
        constants[i] += factor * value
        _add(others, new, factor)
    for goal in goals:
        factor = goal.pop(entering, ZERO)
        goal[CONSTANT] += factor * value
        _add(goal, new, factor)
    lines[entering], constants[entering] = new, value


def _add(target, terms, factor):
    for j, a in terms.items() if factor else ():
        total = target.get(j, ZERO) + factor * a
        if total:
            target[j] = total
        else:
            target.pop(j, None)


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
