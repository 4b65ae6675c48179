"""A method of your own.

A registered function is solved, checked and compared like the methods of dlopt. A search for
counterexamples finds nothing wrong with this one; it is only far from the optimum.
"""

# %%
from fractions import Fraction

import dlopt
from dlopt import Result, Status
from dlopt.problems.earliest_schedule import earliest_plan, last_result


def equal_parts(instance, *, objective, limits, hint, seed):
    """The same load for each node, in the order in which they become ready."""
    nodes = sorted(range(instance.cluster.nodes), key=lambda node: instance.ready_times[node])
    part = Fraction(instance.load) / len(nodes)
    plan = earliest_plan(instance, nodes=nodes, loads=[part] * len(nodes))
    end = last_result(plan)
    if instance.absolute_deadline is not None and end > instance.absolute_deadline:
        return Result(Status.UNKNOWN, reason="too late: other parts may be in time")
    return Result(Status.FEASIBLE, plan, value=end, plan_class="single")


# %%
dlopt.register("iit", "equal-parts", equal_parts, objectives=("completion",))
instance = dlopt.load("iit/three-nodes")
print(dlopt.compare(instance, ["equal-parts", "edf-iit-2", "exact"]))

# %%
search = dlopt.falsify("iit", "equal-parts", examples=100, seed=0)
print("counterexample:", search.finding)
