"""Brute force for CPU shares: every accepted set, every machine, every piece of every benefit.

Shares nothing with what it judges. On one piece of each benefit function a plan is a linear
program, which the plain simplex of `tests.oracles_admission` solves in fractions.
"""

from fractions import Fraction
from functools import cache
from itertools import chain, combinations, pairwise, product

from dlopt.arithmetic import exact
from tests.oracles_admission import maximum

ZERO, ONE = Fraction(0), Fraction(1)
SENSES = {"benefit": 1, "rejections": -1, "rejected-priority": -1, "machines": -1}


def optimum(instance, objective="benefit"):
    """Return the best that a clairvoyant can do; a tuple for lexicographic objectives."""
    return optima(instance)[objective]


@cache
def optima(instance):
    """Return the optimum of every objective."""
    names = {
        "benefit": ("benefit",),
        "rejections": ("rejections",),
        "rejected-priority": ("rejected-priority",),
        "benefit-then-rejections": ("benefit", "rejections"),
        "rejections-then-benefit": ("rejections", "benefit"),
        "rejected-priority-then-benefit": ("rejected-priority", "benefit"),
        "rejections-then-machines": ("rejections", "machines"),
    }
    plans = list(_plans(instance))
    best = {}
    for name, levels in names.items():
        ranked = max(tuple(SENSES[one] * plan[one] for one in levels) for plan in plans)
        found = tuple(SENSES[one] * rank for one, rank in zip(levels, ranked, strict=True))
        best[name] = found if len(found) > 1 else found[0]
    return best


def is_feasible(instance, accepted):
    """Tell whether the requests of these indices can all be accepted."""
    return any(True for _ in _assignments(instance, accepted))


def free(instance, machine, instant):
    """Return what holdings leave of a machine's capacity at an instant, which may be nothing."""
    return max(room(instance, machine, instant), ZERO)


def room(instance, machine, instant):
    """Return the same, but below 0 where holdings exceed the capacity."""
    at, capacity = exact(instant), instance.machines[machine].capacity
    steps = capacity if isinstance(capacity, tuple) else ((0, capacity),)
    value = next(exact(value) for since, value in reversed(steps) if exact(since) <= at)
    for held in instance.holdings:
        if held.machine == machine and exact(held.start) <= at < exact(held.end):
            value -= exact(held.cpu)
    return value


def pieces(part):
    """Return the pieces of a benefit function, from the least share to the whole.

    A piece is where it begins and ends, in CPU, and what it is worth there, with a straight line
    between. Where it is flat or has no length only its begin matters: begin and end are one.
    """
    cpu = exact(part.cpu)
    least = cpu if part.cpu_min is None else exact(part.cpu_min)
    points = [(exact(share) * cpu, exact(worth)) for share, worth in part.benefit]
    found = []
    for (left, low), (right, high) in pairwise(points):
        if left < right and right > least:
            begin = max(left, least)
            worth = low + (high - low) * (begin - left) / (right - left)
            found.append((begin, right, worth, high) if high > low else (begin, begin, low, low))
    whole, top = points[-1]
    return [*found, (whole, whole, top, top)]


def _plans(instance):
    """Yield for each set of requests that fits the best benefit, and the fewest machines."""
    requests = instance.requests
    total = sum(exact(one.priority) for one in requests)
    sets = chain.from_iterable(
        combinations(range(len(requests)), count) for count in range(len(requests) + 1)
    )
    for accepted in sets:
        best, machines = None, None
        for assignment in _assignments(instance, accepted):
            best = _best_shares(instance, assignment, best)
            used = len({machine for _, part, machine in assignment if part.cpu_min != 0})
            machines = used if machines is None else min(used, machines)
        if best is not None:
            rejected = [one for index, one in enumerate(requests) if index not in accepted]
            yield {
                "benefit": best / total,
                "rejections": len(rejected),
                "rejected-priority": sum((exact(one.priority) for one in rejected), ZERO),
                "machines": machines,
            }


def _assignments(instance, accepted):
    """Yield (request, part, machine) of every part, wherever the least shares fit.

    Parts are placed one after the other: where some do not fit, no more of them do.
    """
    everywhere = range(len(instance.machines))
    requests = [instance.requests[index] for index in accepted]
    parts = [(request, part) for request in requests for part in request.parts]
    least = [exact(part.cpu if part.cpu_min is None else part.cpu_min) for _, part in parts]
    instants = _instants(instance, requests)
    left = {(at, j): free(instance, j, at) for at in instants for j in everywhere}

    def placed(assignment):
        if len(assignment) == len(parts):
            yield assignment
            return
        request, part = parts[len(assignment)]
        cpu = least[len(assignment)]
        during = [at for at in instants if exact(request.start) <= at < exact(request.end)]
        for machine in everywhere if part.machine is None else [part.machine]:
            if all(cpu <= left[at, machine] for at in during):
                for at in during:
                    left[at, machine] -= cpu
                yield from placed([*assignment, (request, part, machine)])
                for at in during:
                    left[at, machine] += cpu

    yield from placed([])


def _instants(instance, requests):
    """Return the starts of the windows of requests, of steps of a capacity, and of holdings."""
    instants = {exact(one.start) for one in [*requests, *instance.holdings]}
    for machine in instance.machines:
        if isinstance(machine.capacity, tuple):
            instants |= {exact(since) for since, _ in machine.capacity}
    return sorted(instants)


def _capacities(instance, assignment):
    """Return which parts are together on a machine at some instant, and what there is for them."""
    instants = _instants(instance, [request for request, _, _ in assignment])
    rows, sides = [], []
    for instant, machine in product(instants, range(len(instance.machines))):
        here = [
            p
            for p, (one, _, where) in enumerate(assignment)
            if where == machine and exact(one.start) <= instant < exact(one.end)
        ]
        if here:
            rows.append(here)
            sides.append(free(instance, machine, instant))
    return rows, sides


def _best_shares(instance, assignment, best):
    """Return the largest benefit of any shares with these machines, or `best` if that is more."""
    rows, sides = _capacities(instance, assignment)
    weights = [exact(one.priority) / len(one.parts) for one, _, _ in assignment]
    for chosen in product(*(reversed(pieces(part)) for _, part, _ in assignment)):
        upper = sum((w * top for w, (_, _, _, top) in zip(weights, chosen, strict=True)), ZERO)
        if best is not None and upper <= best:
            continue
        left = [
            side - sum(chosen[p][0] for p in row) for row, side in zip(rows, sides, strict=True)
        ]
        if min(left, default=ZERO) < 0:
            continue
        worth = sum((w * low for w, (_, _, low, _) in zip(weights, chosen, strict=True)), ZERO)
        worth += _rise(rows, left, weights, chosen)
        best = worth if best is None else max(worth, best)
    return best


def _rise(rows, left, weights, chosen):
    """Return what more CPU than the begins of the pieces is worth at the most."""
    rising = [p for p, (begin, end, _, _) in enumerate(chosen) if begin < end]
    if not rising:
        return ZERO
    matrix = [[ONE if p in row else ZERO for p in rising] for row in rows]
    matrix += [[ONE if p == q else ZERO for p in rising] for q in rising]
    lengths = [chosen[p][1] - chosen[p][0] for p in rising]
    slopes = [
        weights[p] * (chosen[p][3] - chosen[p][2]) / length
        for p, length in zip(rising, lengths, strict=True)
    ]
    return maximum(matrix, [*left, *lengths], slopes)
