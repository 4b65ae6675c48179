"""What an instance is, in one line: its size, and the time that it spans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dlopt.arithmetic import Number
from dlopt.instance_library import size_of
from dlopt.presentation.wording import amount, counted
from dlopt.problems import admission, coreservation, multistage
from dlopt.problems.validated_record import Header


def summary_text(instance: Header) -> str:
    """Return the problem type, the size and the time span of an instance.

    Examples
    --------
    >>> from dlopt.instance_library import load
    >>> summary_text(load("dag/topcuoglu-10"))
    'dag, 1 graph, 10 tasks, 3 machines'
    >>> summary_text(load("coreservation/six-items"))
    'coreservation, 6 requests, 3 machines of 10, windows from 0 to 10'
    """
    return ", ".join([instance.problem, *_parts(instance)])


def _parts(instance: Header) -> Iterator[str]:
    for noun, count in size_of(instance).items():
        text = counted(count, noun.removesuffix("s"))
        if noun == "machines" and isinstance(instance, coreservation.Instance):
            text += _capacity(instance)
        yield text
    if isinstance(instance, coreservation.Instance):
        starts = [request.start for request in instance.requests]
        ends = [request.end for request in instance.requests]
        yield f"windows {_span(instance, starts, ends)}"
    elif isinstance(instance, admission.Instance | multistage.Instance):
        arrivals = [task.arrival for task in instance.tasks]
        arrivals += [one.arrival for one in getattr(instance, "reservations", ())]
        yield f"arrivals {_span(instance, arrivals, arrivals)}"


def _capacity(instance: coreservation.Instance) -> str:
    """Return the capacity of the machines, if it is that of all, and at all times."""
    found = {machine.steps for machine in instance.machines}
    if len(found) != 1:
        return ""
    ((_, capacity), *changes) = found.pop()
    if changes:
        return ""
    return f" of {amount(capacity)} {instance.units.cpu}".rstrip()


def _span(instance: Header, starts: Iterable[Number], ends: Iterable[Number]) -> str:
    return f"from {amount(min(starts))} to {amount(max(ends))} {instance.units.time}".rstrip()
