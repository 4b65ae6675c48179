"""Policies of the schedulers of a grid, and the failure model of its machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from dlopt import aliases
from dlopt.arithmetic import Number
from dlopt.errors import Fault, NotApplicableError
from dlopt.problems.dag import Outage
from dlopt.problems.validated_record import NonNegative, Positive, Record

Share = Annotated[Number, Ge(0), Le(1)]
Count = Annotated[int, Ge(1)]


@dataclass(frozen=True, slots=True)
class Policy(Record):
    """How external and internal schedulers decide.

    Parameters
    ----------
    queue_size : int, default 3
        Largest number of subtasks at a machine, including the one that runs (SWQ).
    bidders : int, default 10
        Number of LANs that bid for a task: its home, and others at random; 0 for all.
    external_time, internal_time : Number, default .012 and .028 s
        Duration of a scheduler's decision: the choice of a LAN; a bid, or a mapping of all ready
        subtasks.
    trap : Number, default 2
        Timeout of a subtask, in multiples of its expected response; after it, its machine is
        suspected failed.
    attempts : int, default 100
        Largest number of attempts of a subtask; after these its task is abandoned.
    memory : Number, default .99
        Weight of the past in a LAN's credibility (ALC), an exponential average.
    full : {"skip", "stop"}
        A machine without a free place is skipped. Printed, in section 3.2.2 and figure 4: if the
        best machine is full, mapping stops, though others are free (``stop``).
    response : {"elapsed", "added", "instant"}
        The expected response time of a subtask (ESRT): its data travels while the machine is busy.
        Equation 5 adds up the time until the machine is free, transfers and execution (``added``).
        A reading in which the machine is free at an instant, to which durations are added, is
        ``instant``; it contradicts the definition of the response as a difference of times.
    free_time : {"now", "execution", "not-advanced"}
        When a machine is free (EMFT): not before the data of its subtasks has arrived. Equation 6
        has execution times only (``execution``), counted from now for an empty machine. A reading
        in which it is never advanced to the present time is ``not-advanced``.
    pull_back : {"restores", "keeps"}
        Whether subtasks that are taken back from a machine no longer count in its free time. The
        thesis does not say; ``keeps`` reads its silence as a rule.
    dead : {"marked", "unmarked"}
        A machine suspected failed gets no more subtasks, as the thesis says. ``unmarked`` shows the
        effect of that rule.
    recovery : {"reported", "silent"}
        A machine that has recovered, or delivers a result, is used again, as the thesis says.
        ``silent`` shows the effect of that rule: without it a LAN may wait forever.
    credibility : {"uncorrected", "corrected", "none"}
        The actual response of a LAN is compared with the estimate that it gave, as section 3.2.1
        says. Compared with that of equation 3, which the credibility has corrected, it learns the
        square root of the bias (``corrected``): a reading of the symbols alone.
    bid_load : {"current", "near-future"}
        A bid counts the tasks that have arrived in a LAN, as in the thesis (``current``). With
        ``near-future``, which chapter 6 proposes against bidding errors, it also counts those that
        were assigned to the LAN and are in transit: a scheduler that assigns a task to another LAN
        announces it in a message ahead of its data.
    scheduler : {"two-level", "competitive"}
        The external and internal schedulers of the thesis, or competitive ones: see
        `dlopt.simulation.grid.competitive`. Of the rules above, `full`, `credibility` and
        `bid_load` then have no meaning.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> LITERAL.full, LITERAL.response, Policy(queue_size=1).full
    ('stop', 'added', 'skip')
    """

    queue_size: Count = 3
    bidders: Annotated[int, Ge(0)] = 10
    external_time: NonNegative = Fraction(12, 1000)
    internal_time: NonNegative = Fraction(28, 1000)
    trap: Annotated[Number, Ge(1)] = 2
    attempts: Count = 100
    memory: Share = Fraction(99, 100)
    full: Literal["skip", "stop"] = "skip"
    response: Literal["elapsed", "added", "instant"] = "elapsed"
    free_time: Literal["now", "execution", "not-advanced"] = "now"
    pull_back: Literal["restores", "keeps"] = "restores"
    dead: Literal["marked", "unmarked"] = "marked"
    recovery: Literal["reported", "silent"] = "reported"
    credibility: Literal["uncorrected", "corrected", "none"] = "uncorrected"
    bid_load: Literal["current", "near-future"] = "current"
    scheduler: Literal["two-level", "competitive"] = "two-level"

    def __post_init__(self) -> None:
        for name in ("free_time", "recovery"):
            value = aliases.current_policy_value(name, getattr(self, name))
            object.__setattr__(self, name, value)
        Record.__post_init__(self)

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if graphs that know nothing of each other should count each other."""
        if (known.get("scheduler"), known.get("bid_load")) == ("competitive", "near-future"):
            rule = "must be current: competitive graphs know nothing of tasks on their way"
            yield Fault("bid_load", "near-future", rule)


LITERAL = Policy(full="stop", response="added", free_time="execution")
"""The policy as printed, in the readings that agree with the rest of the thesis."""

PRINTED: Mapping[str, Mapping[str, str]] = {
    "head-of-line": {"full": "stop"},
    "eq5": {"response": "added"},
    "eq6": {"free_time": "execution"},
}
"""The differences of `LITERAL` from the default: rules that the thesis prints, by name."""

READINGS: Mapping[str, Mapping[str, str]] = {
    "eq3-corrected": {"credibility": "corrected"},
    "eq5-instant": {"response": "instant"},
    "eq6-not-advanced": {"free_time": "not-advanced"},
    "pull-back-keeps": {"pull_back": "keeps"},
    "never-dead": {"dead": "unmarked"},
    "no-recovery": {"recovery": "silent"},
}
"""Readings that the thesis excludes or does not ask for, by name: none of them is printed.

They show the effect of a rule. The last two contradict sections 3.2.2 and 4.2.2."""

EXTENSIONS: Mapping[str, Mapping[str, str]] = {
    "near-future-load": {"bid_load": "near-future"},
    "competitive": {"scheduler": "competitive"},
}
"""What chapter 6 of the thesis proposes, and the other scheduler that its section 2.3.3 names."""


def variant(name: str, policy: Policy | None = None) -> Policy:
    """Return a policy as printed, or in another reading.

    Parameters
    ----------
    name : str
        ``corrected``, the default; ``literal``, as printed; or ``literal-NAME``, with one rule of
        `PRINTED` alone. ``+NAME`` adds rules of `PRINTED`, `READINGS` and `EXTENSIONS` to any of
        these.
    policy : Policy, optional
        The policy that is changed; `Policy()` by default.

    Raises
    ------
    NotApplicableError
        If there is no such variant.
    InvalidInstanceError
        If the added rules contradict each other.

    Examples
    --------
    >>> variant("literal-head-of-line").full, variant("literal") == LITERAL
    ('stop', True)
    >>> variant("corrected+no-recovery").recovery, variant("literal+no-recovery").full
    ('silent', 'stop')
    >>> variant("corrected+near-future-load").bid_load, variant("corrected+competitive").scheduler
    ('near-future', 'competitive')
    """
    base, *more = aliases.current_grid_variant(name).split("+")
    bases = {"corrected": [], "literal": list(PRINTED)} | {
        f"literal-{one}": [one] for one in PRINTED
    }
    every = {**PRINTED, **READINGS, **EXTENSIONS}
    if base not in bases or any(one not in every for one in more):
        known = ", ".join(bases)
        added = ", ".join(f"+{one}" for one in every)
        raise NotApplicableError(f"no variant {name!r} (known: {known}; then any of {added})")
    changes: dict[str, Any] = {}
    for one in (*bases[base], *more):
        changes |= every[one]
    return replace(policy or Policy(), **changes)


@dataclass(frozen=True, slots=True)
class FailureModel(Record):
    """Failures and execution times of the machines, unknown to the schedulers.

    Parameters
    ----------
    failure_rate : Number, default 0
        Probability that a machine fails while it runs a subtask; at most .002 in the thesis.
    recovery : (Number, Number), default (1, 3600)
        Down time after such a failure, uniform in this interval.
    slowdown : (Number, Number), default (1, 1)
        Actual by estimated execution time, uniform in this interval.
    failures : tuple of Outage
        Further outages at given times, whether the machines run anything or not.

    Examples
    --------
    >>> FailureModel(failure_rate=0.002).recovery
    (1, 3600)
    """

    failure_rate: Share = 0
    recovery: tuple[NonNegative, ...] = (1, 3600)
    slowdown: tuple[Positive, ...] = (1, 1)
    failures: tuple[Outage, ...] = ()

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if a range has not two ends, in their order."""
        for name in ("recovery", "slowdown"):
            ends = known.get(name, (0, 0))
            if len(ends) != 2 or ends[0] > ends[1]:
                yield Fault(name, ends, "must be two numbers, the first not above the second")


NO_FAILURES = FailureModel()
"""No failures, and exact estimates of execution times."""
