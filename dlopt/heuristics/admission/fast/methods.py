"""The algorithms of chapter 6 as registered methods: a whole stream at once.

The method ``fast-edf-iit`` is the function `fast_edf_iit` of this module, and
``fast-edf-iit:literal-edf`` is `fast_edf_iit_literal_edf`.
"""

from __future__ import annotations

from dlopt.heuristics.admission.fast.algorithm_names import (
    LITERAL_THRESHOLD,
    Events,
    Fast,
    FastOrder,
    Hybrid,
    Test,
)
from dlopt.heuristics.admission.fast.literal import Reset
from dlopt.heuristics.admission.methods import identical_nodes, stream
from dlopt.heuristics.admission.planner_factory import misfit
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import NO_LIMITS, Limits, Result

Answer = Result[Solution]


class _Repaired:
    """FAST-EDF-IIT or FAST-MWF-IIT with a test that is sound, as a function of an instance."""

    def __init__(self, test: Test, order: FastOrder = "edf") -> None:
        self.test: Test = test
        self.order: FastOrder = order

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        limits: Limits = NO_LIMITS,
        hint: Solution | None = None,
        seed: int = 0,
        tie_break: Events = "arrivals-first",
    ) -> Answer:
        """Decide on the tasks of an instance in the order of their arrivals."""
        policy = Fast(self.test, events=tie_break, order=self.order)
        return stream(policy, instance, objective=objective, limits=limits, hint=hint, seed=seed)


class _Reading:
    """FAST-EDF-IIT as its pseudo code can be read, as a function of an instance."""

    def __init__(self, test: Test) -> None:
        self.test = test

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        limits: Limits = NO_LIMITS,
        hint: Solution | None = None,
        seed: int = 0,
        reset: Reset = "idle",
        tie_break: Events = "arrivals-first",
    ) -> Answer:
        """Decide on the tasks of an instance in the order of their arrivals."""
        policy = Fast(self.test, reset, tie_break)
        return stream(policy, instance, objective=objective, limits=limits, hint=hint, seed=seed)


fast_edf_iit = _Repaired("r2")
fast_edf_iit_minimal = _Repaired("r0")
fast_edf_iit_linear = _Repaired("r1")
fast_edf_iit_simulated = _Repaired("replay")
fast_mwf_iit = _Repaired("r2", "mwf")
fast_mwf_iit_linear = _Repaired("r1", "mwf")
fast_mwf_iit_simulated = _Repaired("replay", "mwf")
fast_edf_iit_literal_waiting = _Reading("waiting")
fast_edf_iit_literal_edf = _Reading("edf")
fast_edf_iit_literal_dispatched = _Reading("dispatched")
fast_edf_iit_literal_chunk = _Reading("chunk")


def hybrid(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    threshold: int = Hybrid().threshold,
) -> Answer:
    """Decide on the tasks of an instance in the order of their arrivals.

    Parameters
    ----------
    instance : Instance
        With identical nodes, and no set-up costs.
    objective, limits, hint, seed
        As everywhere; only the first has a part.
    threshold : int
        How many tasks wait where the fast test takes over.

    Notes
    -----
    Guarantee: every promise is kept, however often the sides switch. Source: Mamat 2011,
    Algorithms 9-11, mended as `dlopt.heuristics.admission.fast.hybrid` says.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = tuple(Task(name, 0, 1, 9) for name in "abcdef")
    >>> hybrid(Instance(Cluster(2, tau=1, chi=1), tasks), threshold=3).value
    6
    """
    policy = Hybrid(threshold)
    return stream(policy, instance, objective=objective, limits=limits, hint=hint, seed=seed)


def hybrid_literal(
    instance: Instance,
    *,
    objective: str | None = None,
    limits: Limits = NO_LIMITS,
    hint: Solution | None = None,
    seed: int = 0,
    threshold: int = LITERAL_THRESHOLD,
) -> Answer:
    """Decide on the tasks of an instance as HYBRID is printed; parameters as of `hybrid`.

    Source: Mamat 2011, Algorithms 9-11, as `dlopt.heuristics.admission.fast.hybrid_literal` reads
    them.
    """
    policy = Hybrid(threshold, literal=True)
    return stream(policy, instance, objective=objective, limits=limits, hint=hint, seed=seed)


def with_computing(instance: Instance) -> str | None:
    """Return why HYBRID as printed does not apply, or None."""
    free = "it divides by the unit processing time, 0"
    return without_setup_costs(instance) or (None if instance.cluster.chi_of(0) else free)


def without_setup_costs(instance: Instance) -> str | None:
    """Return why an algorithm of chapter 6 does not apply, or None."""
    cluster = instance.cluster
    reason = identical_nodes(instance)
    if reason is None:
        costs = (cluster.tau_of(0), cluster.chi_of(0), cluster.theta_cm, cluster.theta_cp)
        reason = misfit(costs)
    return reason


def from_idle(instance: Instance) -> str | None:
    """Return why a test does not apply that knows only what it sent, or None."""
    busy = instance.promised or instance.channel_free > instance.now
    busy = busy or any(instant > instance.now for instant in instance.free_times)
    reason = "its test knows only what it sent, and the cluster is busy" if busy else None
    return without_setup_costs(instance) or reason
