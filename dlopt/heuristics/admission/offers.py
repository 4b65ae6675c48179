"""Counter-offers to a task that is rejected: another deadline, a smaller load, a later arrival."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Protocol

from dlopt.arithmetic import Number, simplest
from dlopt.books import Offer
from dlopt.books.bisection import bisected_concession
from dlopt.books.verb_results import concession
from dlopt.heuristics.admission.deadlines import AdmissionDecider, tried_deadlines
from dlopt.heuristics.admission.least_concession import Concession, ConcessionSearch, is_resolved
from dlopt.heuristics.admission.records import QueuedTask, Rejection
from dlopt.problems.admission.data import Task

PRECISION = 1_000_000
"""A search without breakpoints ends within the value divided by this number, see `Offer.least`."""
MAX_PLANNED_TASKS = 200_000
"""Tasks that are planned at the most, over all deadlines that are tried, before the search for one
goes on by bisection. Chosen by hand: a second or two."""
_MAX_DOUBLINGS = 64
"""How often a deadline is doubled in search of one that is accepted. Chosen by hand."""


class OfferingPlanner(Protocol):
    """A planner that can say how exactly it is asked."""

    @property
    def piecewise_affine(self) -> bool:
        """Whether the planner can be asked with affine numbers."""

    def roll_back(self) -> None:
        """Undo what was sent tentatively."""

    def decider(self, now: Number) -> OfferingDecider:
        """Return the planner that decides at an instant: itself, or one of its parts."""


class OfferingDecider(AdmissionDecider, Protocol):
    """A queue of which offers can be asked."""

    @property
    def tasks(self) -> Sequence[QueuedTask]:
        """The tasks that wait."""

    @property
    def proves_earliest(self) -> bool:
        """Whether `deadlines` yields the earliest deadline that is accepted, if there is one."""

    def excess(self, refused: Rejection, new: QueuedTask) -> Number:
        """Return by how much the load of a new task is too large, at the least."""


class UnknownBreakpoints:
    """Base of planners that can only be asked with one number after the other."""

    piecewise_affine = False
    proves_earliest = False

    def deadlines(self, new: QueuedTask) -> Iterator[Number]:
        """Yield no deadline: none is known at which the decision changes."""
        return iter(())

    def excess(self, refused: Rejection, new: QueuedTask) -> Number:
        """Return 0: any smaller load may be accepted."""
        return 0 * new.load

    def roll_back(self) -> None:
        """Do nothing: nothing is sent tentatively."""


@dataclass(frozen=True, slots=True)
class TaskOffers:
    """The counter-offers of a planner to a task.

    Parameters
    ----------
    planner : OfferingPlanner
    task : Task
        As it was submitted.
    new : QueuedTask
        As the planner sees it.
    due : Number
        Its relative deadline, in the numbers of the planner.
    rank : callable
        What a task is planned in the order of, as a function of its deadline.
    idle_at : Number
        An instant from which on nothing is left of all that is promised.
    accepts : callable
        Tells whether a submission would be accepted.
    """

    planner: OfferingPlanner
    task: Task
    new: QueuedTask
    due: Number
    rank: Callable[[Number], Number]
    idle_at: Number
    accepts: Callable[[Task], bool]

    def all(self) -> Iterator[Offer[Task]]:
        """Yield an offer for each dimension in which there is one."""
        for offer in (self.deadline(), self.load(), self.wait()):
            if offer is not None and self.accepts(offer.submission):
                yield offer

    def deadline(self) -> Offer[Task] | None:
        """Return an offer of the earliest deadline; an earlier one than asked is no concession."""
        found = self._earliest_deadline()
        if found is None:
            return None
        value, asked = simplest(found.value), self.task.deadline
        later = concession(value, asked) if value > asked else 0
        submission = replace(self.task, deadline=value)
        return Offer("deadline", value, submission, later, found.least or not later)

    def _earliest_deadline(self) -> Concession | None:
        """Return the earliest relative deadline that is accepted."""
        new = self.new
        decider = self.planner.decider(new.arrival)
        decisions = MAX_PLANNED_TASKS // (len(decider.tasks) + 1)
        low = self.due

        def accepts(due: Number) -> bool:
            deadline = new.arrival + due
            key = self.rank(deadline), new.key[1]
            return decider.would_reject(new._replace(key=key, deadline=deadline)) is None

        def step(due: Number) -> Number:
            return due / PRECISION

        for relative, tried in islice(tried_deadlines(decider, new), decisions):
            if decider.would_reject(tried) is None:
                if relative <= low or is_resolved(tried.deadline, step(relative)):
                    return Concession(relative, decider.proves_earliest)
                return Concession(bisected_concession(accepts, low, relative, step), False)
            low, decisions = max(low, relative), decisions - 1
        if decisions and decider.proves_earliest:
            return None
        for doublings in range(_MAX_DOUBLINGS):
            tried_due = low * 2**doublings
            if accepts(tried_due):
                return Concession(bisected_concession(accepts, low, tried_due, step), False)
        return None

    def load(self) -> Offer[Task] | None:
        """Return an offer of the largest load."""
        new, asked = self.new, self.new.load
        decider = self.planner.decider(new.arrival)
        search = ConcessionSearch(
            lambda less: self._decide(new._replace(load=asked - less)),
            high=asked,
            scale=asked * (max(1, new.deadline / self.due) if self.due else 1),
            step=lambda less: (asked - less) / (PRECISION + 1),
            skip=lambda refused: decider.excess(refused, new),
        )
        found = search.run(parametric=self.planner.piecewise_affine)
        if found is None:
            return None
        value = simplest(asked - found.value)
        submission = replace(self.task, load=value)
        return Offer("load", value, submission, concession(value, asked), found.least)

    def wait(self) -> Offer[Task] | None:
        """Return an offer of the earliest later arrival, if nothing else comes until then."""
        new, due = self.new, self.due
        until_idle = max(self.idle_at, new.arrival) - new.arrival
        if self._decide_later(until_idle) is not None:
            return None
        search = ConcessionSearch(
            self._decide_later,
            high=until_idle + (due or 1),
            scale=max(self.idle_at, new.deadline) + due,
            step=lambda later: (later or due or 1) / PRECISION,
            skip=lambda _: 0,
        )
        found = search.run(parametric=self.planner.piecewise_affine)
        if found is None:
            return None
        value, arrival = simplest(found.value), simplest(new.arrival + found.value)
        submission = replace(self.task, arrival=arrival)
        return Offer("wait", value, submission, concession(due + value, due), found.least)

    def _decide_later(self, later: Any) -> Rejection | None:
        """Return who would miss if the task arrived later."""
        new = self.new
        arrival = new.arrival + later
        deadline = arrival + self.due
        key = self.rank(deadline), new.key[1]
        return self._decide(new._replace(key=key, arrival=arrival, deadline=deadline))

    def _decide(self, new: QueuedTask) -> Rejection | None:
        """Return who would miss; what was sent tentatively until then is undone."""
        refused = self.planner.decider(new.arrival).would_reject(new)
        self.planner.roll_back()
        return refused
