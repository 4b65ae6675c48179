"""Several chunks a node: rounds to start from, the fluid bound, and what is refused."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Limits, NotApplicableError, Status, solve
from dlopt.backends.time_budget import Budget
from dlopt.instance_library import load
from dlopt.models.iit.initial_solution import (
    MAX_CHUNKS,
    fill_nodes_in_ready_order,
    repeat_rounds,
)
from dlopt.models.iit.methods import bound_fluid, exact_plan
from dlopt.problems.cluster import Cluster
from dlopt.problems.earliest_schedule import last_result
from dlopt.problems.iit import Instance, violations
from dlopt.result import NO_LIMITS
from tests import oracles_iit
from tests.examples import share
from tests.strategies import iit

HARD = Instance(Cluster(5, tau=(1, 2, 1, 3, 2), chi=(3, 5, 4, 2, 6), theta_cm=1), (0,) * 5, 60)
EXAMPLES = share(1 / 3)


def in_rounds(instance, installments):
    """Return the schedule of one chunk each, and that of rounds of it."""
    single = fill_nodes_in_ready_order(instance, instance.cluster.nodes)
    return single, repeat_rounds(instance, single, installments, Budget(NO_LIMITS), "HiGHS", 0)


@pytest.mark.property
@EXAMPLES
@given(iit(most=2, identical=None), st.integers(1, 3))
def test_rounds_are_schedules_of_the_class_and_never_before_the_optimum(instance, installments):
    single, rounds = in_rounds(instance, installments)
    assert violations(instance, rounds) == ()
    assert max(Counter(chunk.node for chunk in rounds.chunks).values()) <= installments
    least = oracles_iit.least_completion(instance, installments)
    assert bound_fluid(instance).bound <= least <= last_result(rounds) <= last_result(single)
