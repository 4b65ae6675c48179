"""The registered methods of chapter 6: an algorithm applied to a whole stream.

The method ``fast-edf-iit`` is the function `fast_edf_iit` of this module, and
``fast-edf-iit:literal-edf`` is `fast_edf_iit_literal_edf`.
"""

from __future__ import annotations

from dlopt.heuristics.admission.fast.algorithm_names import (
    LITERAL_THRESHOLD,
    AdmissionTestName,
    Events,
    FastAlgorithm,
    FastOrder,
    HybridAlgorithm,
)
from dlopt.heuristics.admission.fast.literal import Reset
from dlopt.heuristics.admission.methods import identical_nodes, stream
from dlopt.heuristics.admission.planner_factory import NEEDS_IDLE_START, reason_against
from dlopt.problems.admission.data import Instance, Solution
from dlopt.result import Result

AdmissionResult = Result[Solution]


class _FastMethod:
    """FAST-EDF-IIT or FAST-MWF-IIT with a sound test, as a function of an instance."""

    def __init__(self, test: AdmissionTestName, order: FastOrder = "edf") -> None:
        self.test: AdmissionTestName = test
        self.order: FastOrder = order

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        tie_break: Events = "arrivals-first",
    ) -> AdmissionResult:
        """Decide on the tasks of an instance in the order of their arrivals."""
        policy = FastAlgorithm(self.test, events=tie_break, order=self.order)
        return stream(policy, instance, objective=objective)


class _LiteralMethod:
    """A reading of the pseudo code of FAST-EDF-IIT, as a function of an instance."""

    def __init__(self, test: AdmissionTestName) -> None:
        self.test = test

    def __call__(
        self,
        instance: Instance,
        *,
        objective: str | None = None,
        reset: Reset = "idle",
        tie_break: Events = "arrivals-first",
    ) -> AdmissionResult:
        """Decide on the tasks of an instance in the order of their arrivals."""
        policy = FastAlgorithm(self.test, reset, tie_break)
        return stream(policy, instance, objective=objective)


fast_edf_iit = _FastMethod("r2")
fast_edf_iit_minimal = _FastMethod("r0")
fast_edf_iit_linear = _FastMethod("r1")
fast_edf_iit_simulated = _FastMethod("replay")
fast_mwf_iit = _FastMethod("r2", "mwf")
fast_mwf_iit_linear = _FastMethod("r1", "mwf")
fast_mwf_iit_simulated = _FastMethod("replay", "mwf")
fast_edf_iit_literal_waiting = _LiteralMethod("waiting")
fast_edf_iit_literal_edf = _LiteralMethod("edf")
fast_edf_iit_literal_dispatched = _LiteralMethod("dispatched")
fast_edf_iit_literal_chunk = _LiteralMethod("chunk")


def hybrid(
    instance: Instance,
    *,
    objective: str | None = None,
    threshold: int = HybridAlgorithm().threshold,
) -> AdmissionResult:
    """Decide on the tasks of an instance in the order of their arrivals.

    Parameters
    ----------
    instance : Instance
        With identical nodes, and no set-up costs.
    objective : str, optional
        See `dlopt.registry`.
    threshold : int
        Number of waiting tasks from which the fast test decides.

    Notes
    -----
    Guarantee: every promise is kept, however often the sides switch. Source: Mamat 2011,
    Algorithms 9-11, repaired as `dlopt.heuristics.admission.fast.hybrid` says.

    Examples
    --------
    >>> from dlopt.problems.admission import Task
    >>> from dlopt.problems.cluster import Cluster
    >>> tasks = tuple(Task(name, 0, 1, 9) for name in "abcdef")
    >>> hybrid(Instance(Cluster(2, tau=1, chi=1), tasks), threshold=3).value
    6
    """
    policy = HybridAlgorithm(threshold)
    return stream(policy, instance, objective=objective)


def hybrid_literal(
    instance: Instance, *, objective: str | None = None, threshold: int = LITERAL_THRESHOLD
) -> AdmissionResult:
    """Decide on the tasks of an instance as HYBRID is printed; parameters as of `hybrid`.

    Source: Mamat 2011, Algorithms 9-11, as `dlopt.heuristics.admission.fast.hybrid_literal` reads
    them.
    """
    policy = HybridAlgorithm(threshold, literal=True)
    return stream(policy, instance, objective=objective)


def needs_processing_time(instance: Instance) -> str | None:
    """Return why HYBRID as printed does not apply, or None."""
    free = "it divides by the unit processing time, 0"
    return without_setup_costs(instance) or (None if instance.cluster.chi_of(0) else free)


def without_setup_costs(instance: Instance) -> str | None:
    """Return why an algorithm of chapter 6 does not apply, or None."""
    return identical_nodes(instance) or reason_against(instance.cluster.costs_of(0))


def from_idle(instance: Instance) -> str | None:
    """Return why a test that assumes an idle cluster at the start does not apply, or None."""
    busy = instance.promised or instance.channel_free > instance.now
    busy = busy or any(instant > instance.now for instant in instance.free_times)
    return without_setup_costs(instance) or (NEEDS_IDLE_START if busy else None)
