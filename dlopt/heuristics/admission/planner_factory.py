"""Algorithms by their names, and what runs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

from dlopt.aliases import current_method
from dlopt.errors import NotApplicableError
from dlopt.heuristics.admission.algorithm_names import Algorithm
from dlopt.heuristics.admission.deadlines import Decider
from dlopt.heuristics.admission.dispatching_rules import Lost, Refused, Span, State, Waiting
from dlopt.heuristics.admission.fast.algorithm_names import HYBRIDS, NAMES, Fast, Hybrid
from dlopt.heuristics.admission.fast.hybrid import HybridCore
from dlopt.heuristics.admission.fast.hybrid_literal import LiteralHybridCore
from dlopt.heuristics.admission.fast.planner import FastCore
from dlopt.heuristics.admission.queue import Queue
from dlopt.problems.admission.data import Chunk

Policy: TypeAlias = Algorithm | Fast | Hybrid
"""An algorithm of chapter 4, or one of chapter 6."""


class Core(Protocol):
    """The queue of an algorithm, in plain numbers: what it accepted, sent and will send."""

    def __len__(self) -> int:
        """Return how many tasks wait."""

    @property
    def tasks(self) -> list[Waiting]:
        """The tasks that wait."""

    def count(self, now: Any) -> int:
        """Return how many tasks wait at an instant, if no other one is accepted."""

    def offer(self, new: Waiting) -> Refused | None:
        """Accept a task that arrives now, or return which task would miss; then nothing changes."""

    def decider(self, now: Any) -> Decider:
        """Return what decides at an instant: the queue itself, or one side of it."""

    def restore(self, tasks: list[Waiting], now: Any) -> Refused | None:
        """Take in tasks that were promised before, into an empty queue."""

    def advance(self, now: Any) -> None:
        """Send what was to be sent before an instant."""

    def served(self, before: Any = None) -> Iterator[Span]:
        """Yield each accepted task, or those begun to be sent before an instant."""

    def lost(self) -> list[Lost]:
        """Return what accepted tasks have left at their deadlines, and what is dropped."""

    def chunks(self, before: Any = None) -> tuple[Chunk, ...]:
        """Return the chunks of `served`, in the order of transmission."""

    def state(self, now: Any) -> State:
        """Return what the cluster is at an instant, and what waits."""


def parse(name: object) -> Policy:
    """Return the algorithm of a name.

    Parameters
    ----------
    name : str
        One that `Algorithm.parse` reads; ``fast-edf-iit``, ``fast-edf-iit-minimal``, ``-linear``
        or ``-simulated``; ``fast-mwf-iit``, ``fast-mwf-iit-linear`` or ``-simulated``;
        ``fast-edf-iit:literal-waiting``, ``-edf``, ``-dispatched`` or ``-chunk``;
        ``hybrid`` or ``hybrid:literal``.

    Raises
    ------
    NotApplicableError
        If it is no such name.

    Examples
    --------
    >>> parse("fast-edf-iit-linear").name, parse("edf-opr-mn").name
    ('fast-edf-iit-linear', 'edf-opr-mn')
    """
    if isinstance(name, Policy):
        return name
    if isinstance(name, str):
        name = current_method("admission", name)
    hybrid = Hybrid.parse(name)
    if hybrid is not None:
        return hybrid
    fast = Fast.parse(name) if isinstance(name, str) else None
    if fast is not None:
        return fast
    try:
        return Algorithm.parse(name)  # type: ignore[arg-type]
    except NotApplicableError as error:
        raise NotApplicableError(f"{error}; {', '.join((*NAMES, *HYBRIDS.values()))}") from error


def core_of(
    policy: Policy,
    costs: tuple[Any, ...],
    ready: Sequence[Any],
    channel: Any,
    now: Any,
    *,
    plain: bool = False,
    compiled: bool = False,
) -> Core:
    """Return an empty queue.

    Parameters
    ----------
    policy : Policy
    costs : tuple of Number
        ``(tau, chi, theta_cm, theta_cp)``, all in one field.
    ready : sequence of Number, shape (nodes,)
        When each node becomes free.
    channel : Number
        When the channel becomes free.
    now : Number
    plain, compiled : bool, default False
        Decide the straightforward way, or by compiled code, where there is some.

    Raises
    ------
    NotApplicableError
        If the algorithm is not for such a cluster.
    """
    if isinstance(policy, Algorithm):
        return Queue(policy, costs, ready, channel, plain=plain)
    reason = misfit(costs)
    if reason is None and isinstance(policy, Fast) and policy.from_idle:
        busy = channel > now or any(instant > now for instant in ready)
        reason = "its test knows only what it sent, and the cluster is busy" if busy else None
    if reason is not None:
        raise NotApplicableError(f"{policy.name} does not apply: {reason}")
    made: Any = FastCore
    if isinstance(policy, Hybrid):
        made = LiteralHybridCore if policy.literal else HybridCore
        if policy.literal and not costs[1]:
            raise NotApplicableError(f"{policy.name} divides by the unit processing time, 0")
    return made(policy, costs, ready, channel, now, plain=plain, compiled=compiled)  # type: ignore[no-any-return]


def misfit(costs: tuple[Any, ...]) -> str | None:
    """Return why the algorithms of chapter 6 are not for a cluster with such costs, or None."""
    tau, chi, theta_cm, theta_cp = costs
    if theta_cm or theta_cp:
        return "its formulas know no set-up costs"
    return "sending and computing cost nothing" if not (tau or chi) else None
