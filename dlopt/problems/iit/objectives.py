"""Objective values of schedules, as the checkers compute them."""

from __future__ import annotations

from dlopt.arithmetic import Number, exact
from dlopt.errors import NotApplicableError
from dlopt.problems.iit.data import Instance, Solution
from dlopt.problems.iit.goals import OBJECTIVES


def objective(instance: Instance, solution: Solution, name: str = "completion") -> Number:
    """Return the objective value of a schedule, exactly.

    Parameters
    ----------
    instance : Instance
    solution : Solution
    name : {"completion", "nodes"}
        When the last chunk is computed, 0 if there is none; or how many different nodes get a
        chunk.

    Examples
    --------
    >>> from dlopt.problems.cluster import Cluster
    >>> from dlopt.problems.iit import Chunk
    >>> one = Instance(Cluster(1, tau=1, chi=1), (0,), load=1)
    >>> objective(one, Solution((Chunk(0, 1, 0, 1, 1, 2),)))
    Fraction(2, 1)
    """
    if name == "completion":
        return exact(max((chunk.computation_end for chunk in solution.chunks), default=0))
    if name == "nodes":
        return len({chunk.node for chunk in solution.chunks})
    raise NotApplicableError(f"iit has no objective {name!r}: {', '.join(OBJECTIVES)}")
