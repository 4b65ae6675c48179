"""What is said of the solvers that are installed."""

from importlib.metadata import version

import pytest

from dlopt import solve
from dlopt.backends.versions import version_of
from dlopt.problems.iit import Cluster, Instance


@pytest.mark.parametrize(
    ("solvers", "said"),
    [
        ("HiGHS", version("highspy")),
        ("CP-SAT+HiGHS", f"{version('ortools')}+{version('highspy')}"),
        ("GLPK_CMD", None),
        ("HiGHS+GLPK_CMD", None),
    ],
)
def test_versions_stand_in_the_order_of_the_solvers(solvers, said):
    assert version_of(solvers) == said


def test_a_result_says_which_solver_it_is_of():
    instance = Instance(Cluster(2, tau=1, chi=1), ready_times=(0, 0), load=1)
    found = solve(instance)
    assert (found.solver, found.solver_version) == ("HiGHS", version("highspy"))
    assert solve(instance, "opr").solver_version is None
