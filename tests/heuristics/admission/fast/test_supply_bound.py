"""What a cluster is certain to do, and the lemma that it never becomes less."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.heuristics.admission.fast.dispatcher import Dispatcher, QueueEntry, SortedTaskQueue
from dlopt.heuristics.admission.fast.supply_bound import SupplyBound
from tests.heuristics.admission.fast.planners import certain, costs, prices, waiting

instants = st.builds(Fraction, st.integers(0, 20), st.sampled_from([1, 2, 3]))


def ready(cluster):
    """Return when each node can be sent to."""
    base = max(cluster.head, cluster.clock)
    pairs = zip(cluster.times, cluster.counts, strict=True)
    return [max(time, base) for time, count in pairs for _ in range(count)]


@pytest.mark.property
@given(
    prices(),
    st.lists(instants, min_size=1, max_size=6),
    instants,
    instants,
    st.builds(Fraction, st.integers(1, 30), st.sampled_from([1, 2, 7])),
    instants,
    instants,
    st.fractions(0, 1),
)
def test_what_is_sent_and_what_is_certain_then_is_no_less(
    price, nodes, channel, now, load, more, beyond, share_
):
    """For every instant, whether the part that is sent is computed by then or not."""
    tau, chi = price
    line = SortedTaskQueue()
    cluster = Dispatcher(costs(tau, chi), nodes, channel, now, line)
    start = max(cluster.times[0], cluster.base)
    task = waiting(0, 0, load, start + more)
    line.insert(QueueEntry(task, load))
    before = ready(cluster)
    cluster.run(start, inclusive=True)
    after = ready(cluster)
    sent = sum(part.load for part in cluster.sent)  # several parts, if sending takes no time
    end = max((part.end for part in cluster.sent), default=start)
    within = start + (end - start) * share_
    for due in (within, end, task.deadline, end + beyond):
        assert sent + certain(tau, chi, after, due) >= certain(tau, chi, before, due)
    assert bool(sent) == (more > 0)


@pytest.mark.property
@given(prices(), st.lists(instants, min_size=1, max_size=6), instants, instants, st.data())
def test_sums_of_groups_are_the_formula(price, nodes, channel, now, data):
    tau, chi = price
    cluster = Dispatcher(costs(tau, chi), nodes, channel, now, SortedTaskQueue())
    supply_bound = SupplyBound(*costs(tau, chi)[:2], len(nodes))
    supply_bound.evaluate(cluster)
    dues = data.draw(st.lists(instants, min_size=1, max_size=5))
    last = max(ready(cluster))
    for due in (*dues, *cluster.times, last):
        assert supply_bound.load(due) == certain(tau, chi, ready(cluster), due)
        line = due * supply_bound.slope - supply_bound.deficit
        assert line <= supply_bound.load(due)
        assert line == supply_bound.load(due) or due < last


def test_the_time_of_a_load_on_all_nodes():
    supply_bound = SupplyBound(Fraction(1), Fraction(1), 2)
    assert supply_bound.execution_time(3) == 4  # twice the first node's share goes to it
    assert SupplyBound(Fraction(0), Fraction(2), 4).execution_time(6) == 3
    assert SupplyBound(Fraction(2), Fraction(0), 4).execution_time(6) == 12
    assert SupplyBound(1.0, 1000.0, 512).execution_time(1.0) == pytest.approx(2.497, rel=1e-3)


def test_it_looks_again_once_something_was_sent():
    line = SortedTaskQueue()
    cluster = Dispatcher(costs(1, 1), [0, 0], 0, 0, line)
    supply_bound = SupplyBound(Fraction(1), Fraction(1), 2)
    supply_bound.evaluate(cluster)
    assert supply_bound.load(4) == 3
    line.insert(QueueEntry(waiting(0, 0, 1, 4), Fraction(1)))
    cluster.run()
    supply_bound.evaluate(cluster)
    assert supply_bound.load(4) == 2
    cluster.roll_back()
    supply_bound.evaluate(cluster)
    assert supply_bound.load(4) == 3
