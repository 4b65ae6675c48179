"""Strategies by known costs, and options for what Mamat 2011, chapter 7, leaves open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

from dlopt.arithmetic import is_finite
from dlopt.errors import NotApplicableError, known_names

Start = Literal["balance", "last", "all-nodes"]
Overdue = Literal["refuse", "printed"]
Late = Literal["finish", "drop"]
Lost = Literal["requeue", "gone"]
Known = Literal["estimates", "truth", "worst"]


@dataclass(frozen=True, slots=True)
class Policy:
    """Options for what the paper leaves open; the parameters explain the defaults.

    Parameters
    ----------
    margin : float, default 2
        The dispatcher's ``m``, which the paper does not give: how many times its estimate a cost
        may be before a chunk is late. Strategies that know the true or the worst costs use 1.
    worst : float, default 2
        Worst cost over the estimate. The paper draws factors up to 2, yet says that the worst case
        is at most twice the *actual* cost, which factors from 0.1 on contradict.
    start : {"balance", "last", "all-nodes"}
        Start of the next task as Algorithm 12 estimates it. ``balance``: the mean of the instants
        at which channel and nodes are expected to be free, weighted by the share of a load that the
        nodes get. That is test R1 of the repair of chapter 6: sound where the costs are known and
        equal for all tasks. As printed it is the completion time of the last dispatched of the
        running tasks: that of its chunks (``last``), or of the task as if it ran on all nodes
        (``all-nodes``). Neither is sound, even where costs are known.
    overdue : {"refuse", "printed"}
        The test of a task for which no time is left, where ``A + D - S`` is not positive: the new
        task is refused; or, as printed, the negative quotient is below every bound.
    late : {"finish", "drop"}
        Treatment of a tardy task at its deadline: it is finished late, in equal parts for all
        nodes; or what is not sent yet is abandoned.
    lost : {"requeue", "gone"}
        The load of a failing node returns to the queue at once; or it is abandoned.
    aware : bool, default False
        Whether the admission test counts the nodes that are up instead of all.
    least : float, default 0.005
        No chunk but the last is smaller than this share of its task's load. Without it, as printed,
        a task whose costs are below the margin, and of which the nodes cannot do all before its
        deadline, is divided into infinitely many chunks.

    Raises
    ------
    NotApplicableError
        If an option has an invalid value; all of them are named.

    Examples
    --------
    >>> Policy(margin=0)
    Traceback (most recent call last):
    ...
    dlopt.errors.NotApplicableError: policy: margin must be a positive number, got 0
    """

    margin: float = 2.0
    worst: float = 2.0
    start: Start = "balance"
    overdue: Overdue = "refuse"
    late: Late = "finish"
    lost: Lost = "requeue"
    aware: bool = False
    least: float = 0.005

    def __post_init__(self) -> None:
        wrong = []
        for name, hint in get_type_hints(Policy).items():
            value, words = getattr(self, name), get_args(hint)
            if words and value not in words:
                wrong.append(f"{name} must be one of {', '.join(words)}, got {value!r}")
            elif hint is bool and not isinstance(value, bool):
                wrong.append(f"{name} must be true or false, got {value!r}")
            elif hint is float and not _positive(value):
                wrong.append(f"{name} must be a positive number, got {value!r}")
        if wrong:
            raise NotApplicableError("policy: " + "; ".join(wrong))


@dataclass(frozen=True, slots=True)
class Strategy:
    """A scheduler's knowledge of the costs, and whether its bound is controlled.

    Parameters
    ----------
    name : str
    known : {"estimates", "truth", "worst"}
        The costs that admission test and dispatcher compute with.
    controlled : bool
        Whether a controller changes the bound; else it stays 1.
    """

    name: str
    known: Known
    controlled: bool = False


STRATEGIES: Mapping[str, Strategy] = {
    strategy.name: strategy
    for strategy in (
        Strategy("feedback", "estimates", controlled=True),
        Strategy("no-feedback", "estimates"),
        Strategy("ideal", "truth"),
        Strategy("worst-case", "worst"),
    )
}
"""The strategies of section 7.3, by name."""


def strategy_of(name: str | Strategy) -> Strategy:
    """Return a strategy by its name.

    Raises
    ------
    NotApplicableError
        If there is none.
    """
    if isinstance(name, Strategy):
        return name
    if name not in STRATEGIES:
        raise NotApplicableError(f"no strategy {name!r} ({known_names(name, STRATEGIES)})")
    return STRATEGIES[name]


def _positive(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and is_finite(value) and value > 0  # type: ignore[arg-type,operator]
