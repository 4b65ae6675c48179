"""What contradicts itself in the snapshot of an engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from dlopt.arithmetic import Number, NumberField, exact, is_less, shown
from dlopt.calendar import ResourceCalendar, Span
from dlopt.errors import Fault, NotApplicableError, repeated
from dlopt.heuristics.coreservation.algorithm_names import parse
from dlopt.heuristics.coreservation.saved_records import SavedRequest, Snapshot
from dlopt.problems.coreservation.data import Change, Share


def contradictions(saved: Snapshot) -> Iterator[Fault]:
    """Yield what contradicts itself in a snapshot whose fields are valid by themselves."""
    yield from _algorithm_faults(saved)
    yield from _machine_faults(saved)
    requests = {one.request.id: one for one in saved.requests}
    yield from _identity_faults(saved)
    cast: NumberField = exact if saved.exact_numbers else float  # as decisions are made
    now = cast(saved.now)
    for index, one in enumerate(saved.requests):
        yield from _request_faults(saved, one, f"requests[{index}]")
        if one.accepted and now < cast(one.at):
            rule = f"must not lie after now, {shown(saved.now, 15)}"
            yield Fault(f"requests[{index}].at", one.at, rule)
    yield from _share_faults(saved, requests)
    yield from _history_faults(saved, requests)


def overload_faults(
    saved: Snapshot, calendar: ResourceCalendar, spans: Mapping[str, Mapping[int, Span]]
) -> Iterator[Fault]:
    """Yield the shares for which there is no room in a calendar that has all of them."""
    ends = [span.end for parts in spans.values() for span in parts.values()]
    last = max(ends, default=calendar.now)
    if last <= calendar.now:
        return
    overloaded = {
        machine
        for machine in range(calendar.machines)
        if calendar.smallest_free(machine, calendar.now, last) < 0
    }
    for index, share in enumerate(saved.shares):
        span = spans[share.request][share.part]
        if share.machine in overloaded and share.cpu and span.end > calendar.now:
            free = calendar.smallest_free(span.machine, max(span.start, calendar.now), span.end)
            if free < 0:
                rule = f"must be at most {shown(exact(share.cpu) + exact(free))}, what is free"
                yield Fault(f"shares[{index}].cpu", share.cpu, rule)


def _algorithm_faults(saved: Snapshot) -> Iterator[Fault]:
    try:
        algorithm = parse(saved.algorithm, order=saved.order, allocation=saved.allocation)
    except NotApplicableError as error:
        yield Fault("algorithm", saved.algorithm, f"must be known with these options: {error}")
    else:
        if algorithm.slips:
            yield Fault("algorithm", saved.algorithm, "must be one that keeps the rules")


def _machine_faults(saved: Snapshot) -> Iterator[Fault]:
    yield from repeated("machines", [machine.id for machine in saved.machines], "id")
    for name, numbers in (("failed", saved.failed), ("removed", saved.removed)):
        yield from repeated(name, numbers)
        for index, number in enumerate(numbers):
            yield from _number_faults(saved, f"{name}[{index}]", number)
    for index, holding in enumerate(saved.holdings):
        yield from _number_faults(saved, f"holdings[{index}].machine", holding.machine)


def _number_faults(saved: Snapshot, path: str, machine: int) -> Iterator[Fault]:
    count = len(saved.machines)
    if not 0 <= machine < count:
        yield Fault(path, machine, f"must be one of the machines 0 to {count - 1}")


def _identity_faults(saved: Snapshot) -> Iterator[Fault]:
    names = [one.request.id for one in saved.requests]
    yield from repeated("requests", names, "request.id")
    gone = [one.request for one in saved.withdrawn]
    yield from repeated("withdrawn", gone, "request")
    known = set(names)
    for index, name in enumerate(gone):
        if name in known:
            yield Fault(f"withdrawn[{index}].request", name, "must not be among the requests")
    for index, name in enumerate(saved.revised):
        if name not in known:
            yield Fault(f"revised[{index}]", name, "must be one of the requests")


def _request_faults(saved: Snapshot, one: SavedRequest, path: str) -> Iterator[Fault]:
    for place, part in enumerate(one.request.parts):
        if part.machine is not None:
            where = f"{path}.request.parts[{place}].machine"
            yield from _number_faults(saved, where, part.machine)
    if one.end is not None and not is_less(one.request.start, one.end):
        rule = f"must lie after the start, {shown(one.request.start, 15)}"
        yield Fault(f"{path}.end", one.end, rule)


def _share_faults(saved: Snapshot, requests: Mapping[str, SavedRequest]) -> Iterator[Fault]:
    counts: Counter[tuple[str, int]] = Counter()
    for index, share in enumerate(saved.shares):
        path = f"shares[{index}]"
        faults = list(_reference_faults(saved, requests, share, path))
        yield from faults
        if faults:
            continue
        counts[share.request, share.part] += 1
        one = requests[share.request]
        part = one.request.parts[share.part]
        if not one.accepted:
            yield Fault(f"{path}.request", share.request, "must be accepted")
        if counts[share.request, share.part] > 1:
            yield Fault(f"{path}.part", share.part, "must be given once")
        if part.machine not in (None, share.machine):
            rule = f"must be the machine of the part, {part.machine}"
            yield Fault(f"{path}.machine", share.machine, rule)
        if is_less(share.cpu, part.least) or is_less(part.cpu, share.cpu):
            rule = f"must be between {shown(part.least)} and {shown(part.cpu)}"
            yield Fault(f"{path}.cpu", share.cpu, rule)
    for index, one in enumerate(saved.requests):
        for place in range(len(one.request.parts) if one.accepted else 0):
            if not counts[one.request.id, place]:
                path = f"requests[{index}].request.parts[{place}]"
                yield Fault(path, place, "must have a share")


def _reference_faults(
    saved: Snapshot, requests: Mapping[str, SavedRequest], entry: Share | Change, path: str
) -> Iterator[Fault]:
    """Yield what does not exist of the request, the part and the machine of a share."""
    one = requests.get(entry.request)
    if one is None:
        yield Fault(f"{path}.request", entry.request, "must be one of the requests")
    elif not 0 <= entry.part < len(one.request.parts):
        rule = f"must be one of the parts 0 to {len(one.request.parts) - 1}"
        yield Fault(f"{path}.part", entry.part, rule)
    yield from _number_faults(saved, f"{path}.machine", entry.machine)


def _history_faults(saved: Snapshot, requests: Mapping[str, SavedRequest]) -> Iterator[Fault]:
    """Yield changes of what does not exist, and where changes do not add up to the shares."""
    steps: defaultdict[tuple[str, int, int], list[Number]] = defaultdict(list)
    for share in saved.shares:
        steps[share.request, share.part, share.machine].append(-share.cpu)
    wrong = False
    for index, change in enumerate(saved.changes):
        for fault in _reference_faults(saved, requests, change, f"changes[{index}]"):
            wrong = True
            yield fault
        steps[change.request, change.part, change.machine].append(change.cpu)
    if not wrong and not all(map(_is_balanced, steps.values())):
        yield Fault("changes", len(saved.changes), "must add up to the shares")


def _is_balanced(amounts: list[Number]) -> bool:
    """Tell whether the sum of amounts is exactly zero; most are a share and its only change."""
    if len(amounts) == 2 and type(amounts[0]) is type(amounts[1]) and amounts[0] == -amounts[1]:
        return True
    return not sum(map(exact, amounts))
