"""Brute force for one divisible load on nodes that differ: every sequence of chunks, by a simplex.

Shares nothing with what it judges but the data: the linear program of a sequence is stated here
from the rules (`dlopt.problems.iit`) and solved in fractions by the plain simplex of
`tests.oracles_admission`.
"""

from collections import Counter
from fractions import Fraction
from itertools import product

from dlopt.arithmetic import exact
from tests.oracles_admission import maximum

ZERO, ONE = Fraction(0), Fraction(1)


def sequences(nodes, installments, most=None):
    """Yield every sequence of nodes in which each stands at most `installments` times."""
    for length in range(1, nodes * installments + 1):
        for sequence in product(range(nodes), repeat=length):
            counts = Counter(sequence)
            if max(counts.values()) <= installments and (most is None or len(counts) <= most):
                yield sequence


def completion_of(instance, sequence):
    """Return the least completion in which chunks are sent in a sequence, each with its set-ups.

    Variables: the start ``s`` and the load ``x`` of each chunk, and the completion ``T``, all
    counted from time 0. A transmission that takes no time is an empty interval: it overlaps no
    other.
    """
    cluster, count = instance.cluster, len(sequence)
    cm, cp = exact(cluster.theta_cm), exact(cluster.theta_cp)
    tau = [exact(cluster.tau_of(node)) for node in sequence]
    chi = [exact(cluster.chi_of(node)) for node in sequence]
    end, width = 2 * count, 2 * count + 1
    rows, sides = [], []

    def at_least(terms, side):
        """Add a row ``sum of terms >= side``."""
        row = [ZERO] * width
        for index, factor in terms:
            row[index] -= factor
        rows.append(row)
        sides.append(-side)

    for p, node in enumerate(sequence):
        start, load = p, count + p
        at_least([(start, ONE)], exact(instance.ready_times[node]))
        at_least([(end, ONE), (start, -ONE), (load, -(tau[p] + chi[p]))], cm + cp)
        for q in range(p + 1, count):
            if cm + tau[p] > 0 and cm + tau[q] > 0:
                at_least([(q, ONE), (start, -ONE), (load, -tau[p])], cm)
            if sequence[q] == node:
                at_least([(q, ONE), (start, -ONE), (load, -(tau[p] + chi[p]))], cm + cp)
    loads = [(count + p, ONE) for p in range(count)]
    at_least(loads, exact(instance.load))
    costs = [ZERO] * width
    costs[end] = -ONE
    best = maximum(rows, sides, costs)
    assert best is not None
    return -best


def least_completion(instance, installments=1, most=None):
    """Return the least completion over all sequences; `most` bounds the nodes that are used."""
    found = sequences(instance.cluster.nodes, installments, most)
    return min(completion_of(instance, sequence) for sequence in found)


def fewest_nodes(instance, installments=1):
    """Return the fewest nodes with which the deadline can be met, None if all are too few."""
    deadline = exact(instance.absolute_deadline)
    for most in range(1, instance.cluster.nodes + 1):
        if least_completion(instance, installments, most) <= deadline:
            return most
    return None
