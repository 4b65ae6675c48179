"""How the schedulers of a grid decide, and what happens to its machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Any, Literal

from annotated_types import Ge, Le

from dlopt.arithmetic import Number
from dlopt.errors import Fault, NotApplicableError
from dlopt.problems.dag import Outage
from dlopt.problems.records import NonNegative, Positive, Record

Share = Annotated[Number, Ge(0), Le(1)]
Count = Annotated[int, Ge(1)]


@dataclass(frozen=True, slots=True)
class Policy(Record):
    """How external and internal schedulers decide.

    Parameters
    ----------
    queue_size : int, default 3
        How many subtasks a machine may hold, with the one that runs (SWQ).
    bidders : int, default 10
        How many LANs bid for a task: its home, and others at random; 0 for all.
    external_time, internal_time : Number, default .012 and .028 s
        What a decision of a scheduler takes: the choice of a LAN; a bid, or a mapping of whatever
        is ready.
    trap : Number, default 2
        A subtask that is not back after so many times its expected response: its machine is
        presumed dead.
    attempts : int, default 100
        A task is given up when one of its subtasks was sent so often.
    memory : Number, default .99
        What a new observation leaves of a LAN's credibility (ALC).
    full : {"skip", "stop"}
        A machine without a free place is skipped. Printed: if the best machine is full, mapping
        stops, though others are free (``stop``).
    response : {"elapsed", "printed"}
        The expected response of a subtask (ESRT) counts from now: waiting, transfers, execution.
        Equation 5 as printed adds durations to the instant at which the machine is free.
    free_time : {"now", "printed"}
        A machine is free now at the earliest (EMFT). Equation 6 as printed adds up execution
        times only, and so falls behind the clock.
    pull_back : {"restores", "keeps"}
        What is taken off a machine no longer counts in when it is free. As printed, it does.
    dead : {"marked", "unmarked"}
        A machine presumed dead gets nothing more. The printed pseudo code never marks it.
    recovery : {"told", "silent"}
        A machine that is up again, or delivers a result, is used again. The text lets no machine
        come back, so that a LAN may wait for ever (``silent``).
    credibility : {"uncorrected", "printed", "none"}
        The actual response of a LAN is held against its estimate as such. Equation 3 as printed
        holds it against the estimate that the credibility has corrected, and so learns the square
        root of the bias.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> LITERAL.full, LITERAL.response, Policy(queue_size=1).full
    ('stop', 'printed', 'skip')
    """

    queue_size: Count = 3
    bidders: Annotated[int, Ge(0)] = 10
    external_time: NonNegative = Fraction(12, 1000)
    internal_time: NonNegative = Fraction(28, 1000)
    trap: Annotated[Number, Ge(1)] = 2
    attempts: Count = 100
    memory: Share = Fraction(99, 100)
    full: Literal["skip", "stop"] = "skip"
    response: Literal["elapsed", "printed"] = "elapsed"
    free_time: Literal["now", "printed"] = "now"
    pull_back: Literal["restores", "keeps"] = "restores"
    dead: Literal["marked", "unmarked"] = "marked"
    recovery: Literal["told", "silent"] = "told"
    credibility: Literal["uncorrected", "printed", "none"] = "uncorrected"


LITERAL = Policy(
    full="stop",
    response="printed",
    free_time="printed",
    pull_back="keeps",
    dead="unmarked",
    recovery="silent",
    credibility="printed",
)
"""Every slip as printed."""

SLIPS: Mapping[str, Mapping[str, str]] = {
    "head-of-line": {"full": "stop"},
    "eq5": {"response": "printed"},
    "eq6": {"free_time": "printed"},
    "pull-back": {"pull_back": "keeps"},
    "never-dead": {"dead": "unmarked"},
    "no-recovery": {"recovery": "silent"},
    "eq3": {"credibility": "printed"},
}
"""The printed slips by name."""


def variant(name: str, policy: Policy | None = None) -> Policy:
    """Return a policy with printed slips: ``corrected``, ``literal`` or ``literal-SLIP``.

    Parameters
    ----------
    name : str
        One slip of `SLIPS`, or several with ``+`` between them.
    policy : Policy, optional
        What to start from; `Policy()` by default.

    Raises
    ------
    NotApplicableError
        If there is no such variant.

    Examples
    --------
    >>> variant("literal-head-of-line").full, variant("literal") == LITERAL
    ('stop', True)
    """
    policy = policy or Policy()
    if name == "corrected":
        return policy
    stem, _, slips = name.partition("-")
    picked = slips.split("+") if slips else list(SLIPS)
    if stem != "literal" or any(slip not in SLIPS for slip in picked):
        known = ", ".join(["corrected", "literal", *(f"literal-{slip}" for slip in SLIPS)])
        raise NotApplicableError(f"no variant {name!r} (known: {known})")
    changes: dict[str, Any] = {}
    for slip in picked:
        changes |= SLIPS[slip]
    return replace(policy, **changes)


@dataclass(frozen=True, slots=True)
class Hazards(Record):
    """What happens to machines that no scheduler is told.

    Parameters
    ----------
    failure_rate : Number, default 0
        The probability that a machine fails while it runs a subtask; .002 at most in the thesis.
    recovery : (Number, Number), default (1, 3600)
        How long it is down then: between these, evenly.
    slowdown : (Number, Number), default (1, 1)
        A run takes its estimate times a number between these.
    failures : tuple of Outage
        Besides, these machines are down at these times, whether they run anything or not.

    Examples
    --------
    >>> Hazards(failure_rate=0.002).recovery
    (1, 3600)
    """

    failure_rate: Share = 0
    recovery: tuple[NonNegative, ...] = (1, 3600)
    slowdown: tuple[Positive, ...] = (1, 1)
    failures: tuple[Outage, ...] = ()

    @classmethod
    def relations(cls, known: Mapping[str, Any]) -> Iterable[Fault]:
        """Yield a fault if a range has not two ends, in their order."""
        for name in ("recovery", "slowdown"):
            ends = known.get(name, (0, 0))
            if len(ends) != 2 or ends[0] > ends[1]:
                yield Fault(name, ends, "must be two numbers, the first not above the second")


CALM = Hazards()
"""Nothing fails, and everything takes as long as estimated."""
