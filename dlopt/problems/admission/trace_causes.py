"""When it became known, in an executed trace, that promises may have to be broken."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from dlopt.arithmetic import exact
from dlopt.problems.admission.checker_times import InitialState
from dlopt.problems.admission.scenario import Scenario
from dlopt.problems.admission.trace import BreakCause, Executed
from dlopt.problems.admission.trace_timeline import cut_short_at


def causes_of_broken_promises(
    instance: InitialState,
    scenario: Scenario,
    chunks: Iterable[Executed],
    allowed: Callable[[Fraction], Fraction],
) -> Mapping[BreakCause, list[Fraction]]:
    """Return the instants at which a promise may be broken, by the cause.

    Parameters
    ----------
    instance : InitialState
        Such as an instance.
    scenario : Scenario
    chunks : iterable of Executed
        Of known tasks and nodes.
    allowed : callable
        By how much an instant may be off.

    Returns
    -------
    mapping of str to list of Fraction
        Ascending. ``failure``: when a node fails; `now`, if it failed before and is still down.
        ``overrun``: when a transmission or a computation was estimated to end, of those that were
        longer and went on.

    Examples
    --------
    >>> from dlopt.problems.admission import Failure, Instance, Scenario, Task
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
        "failure": sorted(
            max(now, exact(failure.begin))
            for failure in scenario.failures
            if failure.until is None or exact(failure.until) > now
        ),
        "overrun": sorted(_overruns(instance, scenario, chunks, allowed)),
    }


def _overruns(
    instance: InitialState,
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
        send = load * exact(cluster.tau_of(chunk.node))
        compute = load * exact(cluster.chi_of(chunk.node))
        sent = exact(chunk.transmission_start) + exact(cluster.theta_cm) + send
        done = exact(chunk.computation_start) + exact(cluster.theta_cp) + compute
        for longer, estimated in ((of_tau and send > 0, sent), (of_chi and compute > 0, done)):
            if longer and (cut is None or estimated - exact(cut) <= allowed(estimated)):
                yield estimated


def is_among(
    instants: Sequence[Fraction], at: Fraction, allowed: Callable[[Fraction], Fraction]
) -> bool:
    """Tell whether an instant is one of several that ascend, or as near as is allowed.

    Examples
    --------
    >>> is_among([Fraction(1), Fraction(4)], Fraction(3), lambda _: Fraction(1))
    True
    """
    next_one = bisect_left(instants, at - allowed(at))
    return next_one < len(instants) and instants[next_one] - at <= allowed(at)


def is_under_way(
    at: Fraction, chunks: Sequence[Executed], allowed: Callable[[Fraction], Fraction]
) -> bool:
    """Tell whether all chunks of a task began before an instant, and none was cut short after.

    Neither a failure then nor the overrun of another task can delay it any more.

    Parameters
    ----------
    at : Fraction
    chunks : sequence of Executed
        Those of the task; without any it is not under way.
    allowed : callable
        By how much an instant may be off.

    Examples
    --------
    >>> chunks = [Executed("a", 0, 2, 0, 2, 2, 6)]
    >>> [is_under_way(Fraction(at), chunks, lambda _: Fraction(0)) for at in (0, 1)]
    [False, True]
    """
    earliest = at - allowed(at)
    return bool(chunks) and all(
        exact(chunk.transmission_start) < earliest
        and ((cut := cut_short_at(chunk)) is None or exact(cut) < earliest)
        for chunk in chunks
    )
