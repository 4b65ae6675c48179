"""What sound heuristics answer in floats where transmission and computation are far apart.

Shares of the nodes then range over many orders of magnitude: some take no time beside the dates,
and rounding decides which of two instants is stated to be earlier.
"""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from dlopt import registry, solve
from dlopt.errors import NotApplicableError
from dlopt.problems import admission, iit
from dlopt.problems.cluster import Cluster
from tests.examples import share

SOUND = {
    stem: [
        method.name
        for method in registry.methods(stem)
        if method.kind == "heuristic" and method.claim in ("sound", "optimal")
    ]
    for stem in ("admission", "iit")
}

REFUTED = admission.Instance(
    Cluster(4, 0.5, 8e-07),
    (
        admission.Task("t19", 117.5, 4.6, 18.8),
        admission.Task("t23", 134.7, 8.2, 28.1),
        admission.Task("t24", 137.1, 8.3, 24.5),
    ),
)
"""The last nodes get some 1e-17 of a load."""


def decimals(low: int, high: int) -> st.SearchStrategy[float]:
    """Draw numbers with one decimal place, as files state them."""
    return st.integers(10 * low, 10 * high).map(lambda tenths: tenths / 10)


@st.composite
def clusters(draw: st.DrawFn) -> Cluster:
    """Draw a cluster with ``chi/tau`` from 1e-12 to 1e12, with set-up times or without."""
    tau = draw(st.sampled_from([0.5, 1.0, 3.7]))
    ratio = draw(st.floats(1, 10)) * 10.0 ** draw(st.integers(-12, 11))
    unit = 10.0 ** draw(st.integers(-6, 0)) if ratio > 1 else 1.0
    setups = draw(st.sampled_from([(0, 0), (0.1, 0), (0, 1e-7), (1e-5, 0.3)]))
    return Cluster(draw(st.integers(1, 6)), tau * unit, tau * unit * ratio, *setups)


@st.composite
def streams(draw: st.DrawFn) -> admission.Instance:
    """Draw a stream of tasks that arrive close to the ends of those before them."""
    cluster = draw(clusters())
    tau, chi = cluster.tau_of(0), cluster.chi_of(0)
    now = draw(decimals(0, 200))
    tasks = []
    for number in range(draw(st.integers(2, 5))):
        load = draw(decimals(1, 9))
        alone = load * (tau + chi) + cluster.theta_cm + cluster.theta_cp
        tasks.append(admission.Task(f"t{number}", now, load, alone * draw(decimals(1, 8))))
        now = round(now + draw(decimals(0, 2)) * alone, 1)
    return admission.Instance(cluster, tuple(tasks))


@st.composite
def loads(draw: st.DrawFn) -> iit.Instance:
    """Draw a load over nodes that become ready at different times."""
    cluster = draw(clusters())
    load = draw(decimals(1, 9))
    alone = load * (cluster.tau_of(0) + cluster.chi_of(0))
    begun = draw(decimals(0, 200))
    late = st.sampled_from([0, 1e-13, 1e-6, 0.3, 1, 2])
    ready = [begun, *(begun + alone * draw(late) for _ in range(cluster.nodes - 1))]
    due = begun + alone * draw(decimals(1, 5)) + cluster.nodes * cluster.theta_cm
    due += cluster.theta_cp
    return iit.Instance(cluster, tuple(ready), load, due)


def answered(instance: Any) -> int:
    """Ask every sound heuristic, and return how many plans passed the check."""
    passed = 0
    for name in SOUND[instance.problem]:
        try:
            passed += solve(instance, name).solution is not None
        except NotApplicableError:
            continue
    return passed


@share(1 / 4)
@given(streams())
@example(REFUTED)
def test_plans_of_streams_pass_the_check_in_floats(stream: admission.Instance) -> None:
    assert answered(stream)


@share(1 / 2)
@given(loads())
def test_plans_of_one_load_pass_the_check_in_floats(load: iit.Instance) -> None:
    assert answered(load)
