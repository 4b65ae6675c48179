"""The earliest start that every part of a joint request can have, by what the domains offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dlopt.arithmetic import Number, exact, is_less, shown
from dlopt.client import RemoteBook
from dlopt.errors import DloptError
from dlopt.problems.validated_record import plain
from dlopt.serve.broker.joint_requests import Alternative, JointRequest

MAX_STARTS = 100
"""Starts that are tried at the most. Chosen by hand: a start costs two messages a domain."""


@dataclass(frozen=True, slots=True)
class PlacedPart:
    """A part at a domain, in a window: what is submitted, under its identity."""

    domain: str
    id: str
    submission: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class JointPlacement:
    """A start that each part can have, by itself, at another domain."""

    start: Number
    end: Number
    parts: tuple[PlacedPart, ...]


@dataclass(frozen=True, slots=True)
class _Answer:
    """The first start, not before the one asked about, that a domain offers; None for none."""

    placed: PlacedPart | None
    start: Number | None
    reason: str


def earliest_joint_placement(
    request: JointRequest, domains: Mapping[str, RemoteBook], identity: Callable[[int], str]
) -> JointPlacement | str:
    """Return the earliest common start, or why there is none.

    It begins at the start that is asked for. Where a part is possible nowhere, the earliest of the
    starts that its domains offer is the next one that makes sense; of several such parts the
    latest.

    Parameters
    ----------
    request : JointRequest
    domains : mapping
    identity : callable
        Of a part by its index: under what it is submitted. It is new to every domain.

    Notes
    -----
    It is the earliest if the domains prove their offers to be the least, as books over CPU shares
    do for one part, or for fixed parts on a machine each.

    Complexity: two messages a domain and start.
    """
    start, reason = request.start, ""
    for _ in range(MAX_STARTS):
        answers = [
            [_answer(request, one, identity(index), start, domains) for one in part.alternatives]
            for index, part in enumerate(request.parts)
        ]
        reason = _reason(answers, start) or reason
        following = _following(answers, start)
        if following == start:
            chosen = _distinct(answers, start)
            if chosen is not None:
                return JointPlacement(start, _end(request, start), chosen)
            reason = "each part needs a domain of its own, and no choice of them accepts all parts"
            offered = [each.start for part in answers for each in part if each.start is not None]
            following = min(
                (one for one in offered if is_less(start, one)), key=exact, default=None
            )
        if following is None:
            return reason
        if is_less(request.latest, following):
            latest = f"the latest start is {shown(request.latest, 15)}"
            return f"{reason}; the next start is {shown(following, 15)}, {latest}"
        start = following
    return f"{reason}; {MAX_STARTS} starts were tried"


def _answer(
    request: JointRequest,
    alternative: Alternative,
    identity: str,
    start: Number,
    domains: Mapping[str, RemoteBook],
) -> _Answer:
    """Ask a domain about a start and, if it rejects it, about the next one."""
    name, placed = alternative.domain, None
    if name not in domains:
        return _Answer(None, None, f"there is no domain {name}")
    window = {"id": identity, "start": plain(start), "end": plain(_end(request, start))}
    domain = domains[name]
    try:
        described = domain.describe()
        if described.clock != "wall":  # else the service says when it arrives
            window = {"arrival": plain(described.now), **window}
        placed = PlacedPart(name, identity, alternative.submission(**window))
        decision = domain.ask(placed.submission)
        if decision.accepted:
            return _Answer(placed, start, "")
        later = [one.value for one in domain.offer(placed.submission) if one.dimension == "start"]
        reason = decision.reason or "rejected"
    except DloptError as error:
        later, reason = [], str(error)
    return _Answer(placed, later[0] if later else None, f"{name}: {reason}")


def _end(request: JointRequest, start: Number) -> Number:
    return start + (request.end - request.start)


def _following(answers: Sequence[Sequence[_Answer]], start: Number) -> Number | None:
    """Return the first start that each part can have somewhere, by itself; None if one cannot."""
    following = start
    for part in answers:
        possible = [answer.start for answer in part if answer.start is not None]
        if not possible:
            return None
        following = max(following, min(possible, key=exact), key=exact)
    return following


def _distinct(
    answers: Sequence[Sequence[_Answer]], start: Number, taken: frozenset[str] = frozenset()
) -> tuple[PlacedPart, ...] | None:
    """Return a domain for each part that accepts it at a start, no domain twice."""
    if not answers:
        return ()
    for answer in answers[0]:
        placed = answer.placed
        if placed is not None and answer.start == start and placed.domain not in taken:
            others = _distinct(answers[1:], start, taken | {placed.domain})
            if others is not None:
                return (placed, *others)
    return None


def _reason(answers: Sequence[Sequence[_Answer]], start: Number) -> str:
    """Return why a start is not possible: what the domains say of the parts that cannot have it."""

    def refusals() -> Iterator[str]:
        for part in answers:
            if all(answer.start != start for answer in part):
                yield " and ".join(answer.reason for answer in part)

    return "; ".join(refusals())
