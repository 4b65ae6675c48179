"""Brute force for divisible loads around reservations: every choice, every order of chunks.

Shares nothing with what it judges: the linear programs are solved here, in fractions, by the plain
simplex of `tests.oracles_admission`.
"""

from fractions import Fraction
from itertools import chain, combinations, pairwise, permutations, product

from dlopt.arithmetic import exact
from tests.oracles_admission import maximum

ZERO, ONE = Fraction(0), Fraction(1)


class Rows:
    """Rows ``a.v <= side`` over numbered variables that are not negative."""

    def __init__(self, count):
        self.count, self.rows, self.sides = count, [], []

    def less(self, terms, side):
        row = [ZERO] * self.count
        for j, a in terms:
            row[j] += a
        self.rows.append(row)
        self.sides.append(exact(side))

    def maximum(self, costs):
        return maximum(self.rows, self.sides, costs)


def most(instance, task_weight=None, reservation_weight=None, installments=1):
    """Return the maximum value of what is accepted, None if what is promised does not fit."""
    each = task_weight or (lambda task: exact(instance.task_weight))
    held = reservation_weight or (lambda one: exact(instance.reservation_weight))
    stream = instance.stream
    promised = stream.promised if stream else frozenset()
    kept = {one.id for one in instance.reservations if one.mandatory} | instance.promised
    choices = []
    for tasks in _subsets(instance.tasks):
        for wanted in _subsets(instance.reservations):
            if promised <= {task.id for task in tasks} and kept <= {one.id for one in wanted}:
                value = sum(map(each, tasks), ZERO) + sum(map(held, wanted), ZERO)
                choices.append((value, tasks, wanted))
    for value, tasks, wanted in sorted(choices, key=lambda choice: -choice[0]):
        if together(instance, tasks, wanted, installments):
            return value
    return None


def together(instance, tasks, wanted, installments=1):
    """Tell whether some tasks and reservations fit together."""
    remaining = instance.stream.remaining if instance.stream else {}
    tasks = [task for task in tasks if remaining[task.id] > 0]
    return any(
        _reservations_fit(instance, held) and _loads_fit(instance, tasks, held, installments)
        for held in _placements(instance, wanted)
    )


def _subsets(of):
    return list(chain.from_iterable(combinations(of, count) for count in range(len(of) + 1)))


def _placements(instance, wanted):
    """Yield reservations with nodes, in every way."""
    nodes = range(instance.cluster.nodes)
    ways = [
        [one.nodes] if isinstance(one.nodes, tuple) else combinations(nodes, one.nodes)
        for one in wanted
    ]
    for chosen in product(*map(list, ways)):
        yield list(zip(wanted, chosen, strict=True))


def _meet(one, other):
    return max(one[0], other[0]) < min(one[1], other[1])


def _reservations_fit(instance, held):
    now = instance.now
    channel = [(now, instance.channel_free)] if instance.channel_free > now else []
    channel += [(one.start, one.channel_end) for one, _ in held]
    if any(_meet(*pair) for pair in combinations(channel, 2)):
        return False
    for node, free in enumerate(instance.free_times):
        busy = [(now, free)] if free > now else []
        busy += [(one.start, one.end) for one, nodes in held if node in nodes]
        if any(_meet(*pair) for pair in combinations(busy, 2)):
            return False
    return True


def _loads_fit(instance, tasks, held, installments):
    """Try all chunks in all orders: by gap, and within a gap in any order."""
    if not tasks:
        return True
    marks = sorted({exact(one.start) for one in instance.reservations})
    nodes = range(instance.cluster.nodes)
    per_gap = []
    for gap in range(len(marks) + 1):
        begin = marks[gap - 1] if gap else None
        end = marks[gap] if gap < len(marks) else None
        there = []
        for task, node in product(tasks, nodes):
            late = exact(task.arrival) + exact(task.deadline)
            inside = (end is None or task.arrival < end) and (begin is None or late > begin)
            there += [(task, node, begin, end)] * (installments if inside else 0)
        orders = {order for some in _subsets(there) for order in permutations(some)}
        per_gap.append(sorted(orders, key=len, reverse=True))
    for parts in product(*per_gap):
        order = [chunk for part in parts for chunk in part]
        served = {chunk[0].id for chunk in order}
        if served == {task.id for task in tasks} and _order_fits(instance, order, held):
            return True
    return False


def _order_fits(instance, order, held):
    """Tell whether chunks in an order can be in time, around reservations that are accepted.

    Variables are the delay of each chunk's start after the earliest one, and its load.
    """
    cluster, count = instance.cluster, len(order)
    theta_cm, theta_cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    free, channel = instance.free_times, instance.channel_free
    first = [
        max(exact(task.arrival), exact(free[node]), exact(channel), begin or ZERO)
        for task, node, begin, _ in order
    ]
    program = Rows(2 * count)

    def ends_by(p, port, limit, after=()):
        """Let chunk `p` be sent (or computed) by an instant, or by the start of another chunk."""
        tau = exact(cluster.tau_of(order[p][1]))
        unit = tau if port else tau + exact(cluster.chi_of(order[p][1]))
        setup = theta_cm if port else theta_cm + theta_cp
        program.less([(p, ONE), (count + p, unit), *after], limit - first[p] - setup)

    sent, last = None, {}
    for q, (task, node, begin, end) in enumerate(order):
        ported = cluster.tau_of(node) > 0 or theta_cm > 0
        if end is not None:
            program.less([(q, ONE)], end - first[q])
        if ported:
            if sent is not None:
                ends_by(sent, True, first[q], [(q, -ONE)])
            sent = q
        if node in last:
            ends_by(last[node], False, first[q], [(q, -ONE)])
        last[node] = q
        ends_by(q, False, exact(task.arrival) + exact(task.deadline))
        for one, nodes in held:
            busy = ([(True, one.channel_end)] if ported else []) + [(False, one.end)] * (
                node in nodes
            )
            for port, until in busy:
                if one.start == until:
                    continue
                if begin is not None and one.start <= begin:
                    program.less([(q, -ONE)], first[q] - exact(until))
                else:
                    ends_by(q, port, exact(one.start))
    remaining = instance.stream.remaining
    for task in {chunk[0].id: chunk[0] for chunk in order}.values():
        parts = [count + p for p, chunk in enumerate(order) if chunk[0] is task]
        program.less([(p, ONE) for p in parts], remaining[task.id])
        program.less([(p, -ONE) for p in parts], -exact(remaining[task.id]))
    return program.maximum([ZERO] * (2 * count)) is not None


def structured(instance):
    """Return the load of the only task that the stages can do: every order, greedily.

    Every stage by itself, nodes that cost the same and no set-up costs; reservations name nodes.
    """
    task, cluster, wanted = instance.tasks[0], instance.cluster, instance.reservations
    low = max(exact(task.arrival), exact(instance.channel_free))
    due = exact(task.arrival) + exact(task.deadline)
    tau, unit = exact(cluster.tau_of(0)), exact(cluster.tau_of(0)) + exact(cluster.chi_of(0))
    pauses = []
    for start, end in sorted((exact(one.start), exact(one.channel_end)) for one in wanted):
        if pauses and start <= pauses[-1][1]:
            pauses[-1][1] = max(end, pauses[-1][1])
        else:
            pauses.append([start, end])
    pauses = [pause for pause in pauses if pause[1] >= low and pause[0] <= due]
    total, start = ZERO, low
    for pause, end in [*pauses, [due, due]]:
        sent, finish = min(pause, due), min(end, due)
        windows = []
        for node, free in enumerate(instance.free_times):
            mine = sorted((exact(one.start), exact(one.end)) for one in wanted if node in one.nodes)
            ready = max(start, exact(free))
            for begin, until in mine:
                ready = until if begin <= ready < until else ready
            windows.append((ready, min([finish, *(s for s, _ in mine if s > ready)])))
        total += max(_greedy(order, start, sent, tau, unit) for order in permutations(windows))
        start = max(start, end)
    return total


def _greedy(order, clock, sent, tau, unit):
    done = ZERO
    for ready, due in order:
        begin = max(clock, ready)
        rooms = [(due - begin) / unit, *([(sent - begin) / tau] if tau else ())]
        load = max(ZERO, min(rooms)) if begin <= sent else ZERO
        if load:
            done, clock = done + load, begin + tau * load
    return done


def fluid(instance):
    """Return the fluid maximum of the only task, around reservations that name their nodes."""
    task, cluster, wanted = instance.tasks[0], instance.cluster, instance.reservations
    low = max(exact(task.arrival), exact(instance.channel_free))
    due = exact(task.arrival) + exact(task.deadline)
    moments = {low, due, *map(exact, instance.free_times)}
    for one in wanted:
        moments |= {exact(one.start), exact(one.channel_end), exact(one.end)}
    instants = list(pairwise(sorted(t for t in moments if low <= t <= due)))
    nodes = range(cluster.nodes)
    cells = list(product(nodes, range(len(instants))))
    place = {cell: p for p, cell in enumerate(cells)}
    many = len(cells)
    program = Rows(2 * many)
    for j, k in cells:
        (start, end), p = instants[k], place[j, k]
        reserved = any(one.start <= start < one.end and j in one.nodes for one in wanted)
        closed = any(one.start <= start < one.channel_end for one in wanted)
        length = ZERO if reserved or instance.free_times[j] > start else end - start
        tau, chi = exact(cluster.tau_of(j)), exact(cluster.chi_of(j))
        program.less([(p, tau), (many + p, chi)], length)
        if not length:
            program.less([(p, ONE), (many + p, ONE)], 0)
        if closed and tau:
            program.less([(p, ONE)], 0)
        upto = [place[j, m] for m in range(k + 1)]
        program.less([(many + m, ONE) for m in upto] + [(m, -ONE) for m in upto], 0)
    for k, (start, end) in enumerate(instants):
        program.less([(place[j, k], exact(cluster.tau_of(j))) for j in nodes], end - start)
    return program.maximum([ZERO] * many + [ONE] * many) if many else ZERO
