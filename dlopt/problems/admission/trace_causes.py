"""When it became known, in an executed trace, that promises may have to be broken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.problems.admission.data import Instance
from dlopt.problems.admission.scenario import Scenario
from dlopt.problems.admission.trace import BreakCause, Executed
from dlopt.problems.admission.trace_timeline import cut_short_at


def causes_of_broken_promises(
    instance: Instance,
    scenario: Scenario,
    chunks: Iterable[Executed],
    allowed: Callable[[Fraction], Fraction],
) -> Mapping[BreakCause, list[Fraction]]:
    """Return the instants at which a promise may be broken, by the cause.

    Parameters
    ----------
    instance : Instance
    scenario : Scenario
    chunks : iterable of Executed
        Of known tasks and nodes.
    allowed : callable
        By how much an instant may be off.

    Returns
    -------
    mapping of str to list of Fraction
        Ascending. ``failure``: when a node fails; if that was before `now`, then `now`.
        ``overrun``: when a transmission or a computation was estimated to end, of those that were
        longer and went on.

    Examples
    --------
    >>> from dlopt.problems.admission import Failure, Task
    >>> from dlopt.problems.cluster import Cluster
    >>> instance = Instance(Cluster(1, tau=1, chi=1), (Task("a", 0, 2, 9),))
    >>> scenario = Scenario.from_data({"factors": [{"task": "a", "chi": 2}]})
    >>> chunks = [Executed("a", 0, 2, 0, 2, 2, 6)]
    >>> causes = causes_of_broken_promises(instance, scenario, chunks, lambda _: Fraction(0))
    >>> [int(instant) for instant in causes["overrun"]]
    [4]
    """
    now = exact(instance.now)
    return {
        "failure": sorted(max(now, exact(failure.begin)) for failure in scenario.failures),
        "overrun": sorted(_overruns(instance, scenario, chunks, allowed)),
    }


def _overruns(
    instance: Instance,
    scenario: Scenario,
    chunks: Iterable[Executed],
    allowed: Callable[[Fraction], Fraction],
) -> Iterator[Fraction]:
    """Yield the estimated ends of what takes longer, and was neither lost nor broken off before."""
    cluster = instance.cluster
    slower = {
        factor.task: (exact(factor.tau) > 1, exact(factor.chi) > 1) for factor in scenario.factors
    }
    for chunk in chunks:
        of_tau, of_chi = slower.get(chunk.task, (False, False))
        load, cut = exact(chunk.load), cut_short_at(chunk)
        sent = exact(chunk.transmission_start) + exact(cluster.theta_cm)
        sent += load * exact(cluster.tau_of(chunk.node))
        done = exact(chunk.computation_start) + exact(cluster.theta_cp)
        done += load * exact(cluster.chi_of(chunk.node))
        for longer, estimated in ((of_tau, sent), (of_chi, done)):
            if longer and (cut is None or estimated - exact(cut) <= allowed(estimated)):
                yield estimated
