"""Why runs leave their queues, and why graphs are not at home, on a grid of LANs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import takewhile

from dlopt.arithmetic import Number, exact
from dlopt.problems.dag.trace import Course, Run
from dlopt.problems.dag.trace_checker.facts import TraceFacts, group_by_machine, is_coherent, name
from dlopt.result import Violation


def end_violations(facts: TraceFacts, until: Number | None) -> Iterator[Violation]:
    """Yield what was dropped without a cause, and what should have ended by then."""
    yield from _EndChecker(facts, until).violations()


class _EndChecker:
    """Checks the ends of all runs and graphs."""

    def __init__(self, facts: TraceFacts, until: Number | None) -> None:
        self.facts, self.until = facts, until
        self.down, self.presumed = (
            group_by_machine(facts.trace.down),
            group_by_machine(facts.trace.presumed),
        )
        self.runs = [run for run in facts.runs if is_coherent(run)]
        self.on: dict[int, list[Run]] = defaultdict(list)
        self.of: dict[int, list[Run]] = defaultdict(list)
        for run in self.runs:
            self.on[run.machine].append(run)
            self.of[run.graph].append(run)

    def violations(self) -> Iterator[Violation]:
        for run in self.runs:
            if run.freed is not None and not self._freed_with_cause(run, exact(run.freed)):
                yield Violation("left-queue-without-cause", name(run), run.sent, run.freed)
            if run.fate == "unfinished":
                yield from self._overdue(run)
        for machine, outages in sorted(self.presumed.items()):
            for outage in outages:
                if outage.until is not None and self._silent(machine, outage.until):
                    text = f"machine {machine}"
                    yield Violation(
                        "suspicion-ended-without-cause", text, outage.begin, outage.until
                    )
        for course in self.facts.courses.values():
            if course.returned is None:
                yield from self._away(course)

    # runs that leave the queue of their machine --------------------------------------------------

    def _freed_with_cause(self, run: Run, freed: Fraction) -> bool:
        """Tell whether a scheduler can have taken a run off the queue of its machine then."""
        if run.fate in ("done", "ignored"):
            assert run.known is not None  # it is coherent
            return self._presumed_at(run, freed) or not self.facts.before(freed, run.known)
        if run.fate == "withdrawn":
            return self._at_home(run.graph) or self._not_needed(run, freed)
        if run.fate == "lost":
            return self._missed(run, freed) or self._not_needed(run, freed)
        return run.fate == "pulled-back" or self._presumed_at(run, freed)

    def _at_home(self, graph: int) -> bool:
        course = self.facts.courses.get(graph)
        return course is None or course.returned is not None

    def _missed(self, run: Run, freed: Fraction) -> bool:
        """Tell whether the scheduler knew by then that a run is not coming back."""
        return self._presumed_at(run, freed) or any(
            outage.until is not None
            and not self.facts.before(freed, outage.until)
            and not self.facts.before(outage.until, run.sent)
            for outage in self.down[run.machine]
        )

    def _presumed_at(self, run: Run, freed: Fraction) -> bool:
        """Tell whether the machine of a run was presumed dead from that instant on."""
        return any(self._same(outage.begin, freed) for outage in self.presumed[run.machine])

    def _not_needed(self, run: Run, freed: Fraction) -> bool:
        """Tell whether another run was done by then, or the graph given up just then."""
        done = self.facts.done.get((run.graph, run.task))
        known = None if done is None else done.known
        if known is not None and not self.facts.before(freed, known):
            return True
        return not self._at_home(run.graph) and self._given_up(run.graph, freed)

    def _given_up(self, graph: int, instant: Fraction) -> bool:
        """Tell whether a graph can have been given up then: for a task that was sent in vain."""
        runs = self.of[graph]
        if any(self.facts.before(instant, run.sent) for run in runs):
            return False
        return any(
            run.freed is not None and self._same(run.freed, instant) and self._in_vain(run)
            for run in runs
        )

    def _in_vain(self, run: Run) -> bool:
        """Tell whether a run was taken off its machine so that its task can be sent again."""
        if run.freed is None or run.fate == "withdrawn":
            return False
        return run.fate == "pulled-back" or self._missed(run, exact(run.freed))

    # runs that should have ended -----------------------------------------------------------------

    def _overdue(self, run: Run) -> Iterator[Violation]:
        """Yield a run that is stated to be under way, although it should have gone on."""
        due = self._due(run)
        if due is not None and self._over(due):
            yield Violation("due-event-missing", name(run), due, self.until)

    def _due(self, run: Run) -> Fraction | None:
        """Return when something must have happened to a run; None if that is undetermined."""
        if run.end is not None:
            return self.facts.delivery(run, run.end)
        if run.start is not None:
            cost = self.facts.times.duration(run.graph, run.task, run.machine)
            return None if cost is None else exact(run.start) + cost * self.facts.most
        if self.facts.possibly_lost(run, self.down[run.machine]):
            return None
        due = self.facts.arrival(run)
        there = sorted(self.on[run.machine], key=lambda one: exact(one.sent))
        for before in takewhile(lambda one: one is not run, there):
            left = before.freed if before.start is None else before.end
            if left is None:
                return None  # it waits for one that is checked by itself
            due = max(due, exact(left))
        return due

    def _over(self, instant: Fraction) -> bool:
        """Tell whether what is due at an instant must have happened."""
        return self.until is None or self.facts.before(instant, self.until)

    # machines that are heard of ------------------------------------------------------------------

    def _silent(self, machine: int, instant: Number) -> bool:
        """Tell whether nothing can be heard of a machine: it is down, and no result comes in."""
        before = self.facts.before
        dead = any(
            before(outage.begin, instant)
            and (outage.until is None or before(instant, outage.until))
            for outage in self.down[machine]
        )
        return dead and not any(
            run.known is not None and self._same(run.known, instant) for run in self.on[machine]
        )

    # graphs that are not at home -----------------------------------------------------------------

    def _away(self, course: Course) -> Iterator[Violation]:
        """Yield a graph that never came home, though nothing kept it."""
        facts, at, text = self.facts, course.graph, f"graph {course.graph}"
        graph = facts.instance.graphs[at]
        done = [facts.done.get((at, task)) for task in range(len(graph.tasks))]
        known = [exact(run.known) for run in done if run is not None and run.known is not None]
        if len(known) == len(done):
            back = max(known) + facts.times.over_wan(graph.output, course.lan, graph.lan)
            if self._over(back):
                yield Violation("graph-not-returned", text, back, self.until)
        elif course.received is None:
            if course.decided is not None and course.lan is not None:
                transfer = facts.times.over_wan(graph.input, graph.lan, course.lan)
                if self._over(exact(course.decided) + transfer):
                    yield Violation("graph-not-served", text, course.decided, self.until)
            elif self.until is None and self._servable(at):
                yield Violation("graph-not-served", text, graph.arrival)
        elif self.until is None and not self._stuck(course):
            yield Violation("graph-abandoned-without-cause", text, course.received)

    def _servable(self, graph: int) -> bool:
        """Tell whether some LAN can run all tasks of a graph."""
        machines = self.facts.instance.machines
        return any(
            all(self._able(graph, task, lan) for task in self._tasks(graph))
            for lan in {machine.lan for machine in machines}
        )

    def _tasks(self, graph: int) -> range:
        return range(len(self.facts.instance.graphs[graph].tasks))

    def _able(self, graph: int, task: int, lan: int | None) -> list[int]:
        """Return the machines of a LAN that can run a task."""
        return [
            place
            for place, machine in enumerate(self.facts.instance.machines)
            if machine.lan == lan and self.facts.times.duration(graph, task, place) is not None
        ]

    def _stuck(self, course: Course) -> bool:
        """Tell whether a graph may be given up, or waits for what never comes."""
        at, facts = course.graph, self.facts
        runs = self.of[at]
        if any(self._in_vain(run) for run in runs):
            return True
        if any(
            run.fate == "unfinished" and facts.possibly_lost(run, self.down[run.machine])
            for run in runs
        ):
            return True
        return any(
            (at, task) not in facts.done
            and all((at, source) in facts.done for source, _ in facts.needs[at, task])
            and all(self._gone(place) for place in self._able(at, task, course.lan))
            for task in self._tasks(at)
        )

    def _gone(self, machine: int) -> bool:
        """Tell whether a machine is down, or presumed dead, for ever."""
        return any(
            outage.until is None for outage in (*self.down[machine], *self.presumed[machine])
        )

    def _same(self, one: Number, other: Number) -> bool:
        return abs(exact(one) - exact(other)) <= self.facts.resolution(other)
