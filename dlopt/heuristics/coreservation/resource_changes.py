"""Machines that are added or removed, fail or are repaired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from dlopt.arithmetic import plain_integers
from dlopt.books import Consequences
from dlopt.calendar import ResourceCalendar
from dlopt.errors import Fault, InvalidInstanceError, NotApplicableError
from dlopt.heuristics.coreservation.engine_state import EngineState
from dlopt.heuristics.coreservation.reassignment import Reassignment
from dlopt.problems.coreservation.data import Machine


def changed_resources(
    state: EngineState,
    add: Sequence[Machine],
    remove: Sequence[int],
    fail: Sequence[int],
    repair: Sequence[int],
) -> Consequences:
    """Change the machines from now on, and keep as many promises as possible."""
    state.refuse_literal("a change of the resources")
    added = _machines(add)
    removed, failed, repaired = (
        _numbers(name, given)
        for name, given in (("remove", remove), ("fail", fail), ("repair", repair))
    )
    faults = [*_added_faults(state, added), *_number_faults(state, removed, failed, repaired)]
    if faults:
        raise InvalidInstanceError(faults)
    calendar = state.calendar.copy()
    for machine in repaired:
        _set_capacity(calendar, machine, state.machines[machine])
    for new in added:
        calendar.add_machine(new.steps)
    for machine in failed:
        calendar.set_capacity(machine, 0)
    state.machines += added
    state.failed = (state.failed - {*repaired}) | {*failed}
    state.removed = state.removed | {*removed}
    return Reassignment(state, calendar).settle({*failed, *removed}, _lost(state, failed))


def _lost(state: EngineState, failed: Sequence[int]) -> set[str]:
    """Return the requests that have begun on machines that fail."""
    return {
        entry.request.id
        for entry in state.alive()
        if state.has_begun(entry)
        for span in state.ledger.spans(entry.request.id).values()
        if span.amount and span.machine in failed
    }


def _set_capacity(calendar: ResourceCalendar, number: int, machine: Machine) -> None:
    """Give a machine the capacity that it is said to have, from now on."""
    steps = machine.steps
    for (since, value), following in zip_longest(steps, steps[1:]):
        end = None if following is None else following[0]
        if end is None or end > calendar.now:
            start = max(since, calendar.now)
            calendar.set_capacity(number, value, start=start, end=end)


def _machines(machines: object) -> tuple[Machine, ...]:
    given = tuple(machines) if isinstance(machines, Iterable) else (machines,)
    for machine in given:
        if not isinstance(machine, Machine):
            raise NotApplicableError(f"a machine is needed, not a {type(machine).__name__}")
    return given


def _numbers(name: str, numbers: object) -> tuple[int, ...]:
    if isinstance(numbers, str) or not isinstance(numbers, Iterable):
        raise NotApplicableError(f"{name} needs a sequence of the numbers of machines")
    return plain_integers(numbers)


def _added_faults(state: EngineState, added: Sequence[Machine]) -> Iterator[Fault]:
    known = {machine.id for machine in state.machines}
    for index, machine in enumerate(added):
        if machine.id in known:
            yield Fault(f"add[{index}].id", machine.id, "must be given to one of the machines only")
        known.add(machine.id)


def _number_faults(
    state: EngineState, removed: Sequence[int], failed: Sequence[int], repaired: Sequence[int]
) -> Iterator[Fault]:
    """Yield which numbers are of no machine, or of one with which that cannot happen."""
    seen = set[int]()
    for name, numbers in (("remove", removed), ("fail", failed), ("repair", repaired)):
        for index, number in enumerate(numbers):
            rule = _broken_rule(state, name, number, seen)
            if rule is not None:
                yield Fault(f"{name}[{index}]", number, rule)
            else:
                seen.add(number)


def _broken_rule(state: EngineState, change: str, number: int, seen: set[int]) -> str | None:
    """Return the rule that the number of a machine breaks, None if it keeps all of them."""
    if type(number) is not int or not 0 <= number < len(state.machines):
        return f"must be one of the machines 0 to {len(state.machines) - 1}"
    if number in seen:
        return "must be given once"
    if number in state.removed and change != "fail":
        return "must not have been removed"
    if number in state.failed and change == "fail":
        return "must not have failed already"
    if number not in state.failed and change == "repair":
        return "must have failed before"
    return None
