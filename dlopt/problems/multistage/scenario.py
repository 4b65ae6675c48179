"""Scenarios of streams with reservations: true costs, true ends of reservations, node failures."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from dlopt.arithmetic import is_less, shown
from dlopt.errors import Fault, InvalidInstanceError
from dlopt.problems.admission import scenario as of_tasks
from dlopt.problems.multistage.data import Instance
from dlopt.problems.validated_record import Items, Positive, Record


@dataclass(frozen=True, slots=True)
class TrueEnd(Record):
    """When a reservation truly ends, if it is accepted: earlier or later than it is reserved for.

    Parameters
    ----------
    reservation : str
    end : Number
        After its start. Its I/O ends then, too, if it has not ended before.
    """

    reservation: str
    end: Positive


@dataclass(frozen=True, slots=True)
class Scenario(of_tasks.Scenario):
    """Events of a stream of tasks and reservations that the scheduler does not know in advance.

    Parameters
    ----------
    factors, failures, name
        See `dlopt.problems.admission.Scenario`. A reservation ends when one of its nodes fails.
    ends : tuple of TrueEnd
        At most one a reservation; the others end as they are reserved.

    Raises
    ------
    InvalidInstanceError
        With every fault.

    Examples
    --------
    >>> Scenario(ends=(TrueEnd("r", 7),)).to_data()
    {'ends': [{'reservation': 'r', 'end': 7}]}
    """

    scenario: ClassVar[str] = "multistage"

    ends: Items[TrueEnd] = ()

    @classmethod
    def cross_field_faults(cls, known: Mapping[str, object]) -> Iterable[Fault]:
        """Yield also the reservations with two ends."""
        yield from of_tasks.Scenario.cross_field_faults(known)
        seen: Counter[str] = Counter()
        ends = known.get("ends", ())
        assert isinstance(ends, tuple)  # as the annotation of the field says
        for index, one in enumerate(ends):
            seen[one.reservation] += 1
            if seen[one.reservation] > 1:
                rule = "must occur in one end only"
                yield Fault(f"ends[{index}].reservation", one.reservation, rule)


def scenario_faults(data: object) -> tuple[Fault, ...]:
    """Return everything that is wrong with the data of a scenario, without its envelope.

    Examples
    --------
    >>> print(*scenario_faults({"ends": [{"reservation": "r", "end": 0}]}))
    ends[0].end: must be positive, got 0
    """
    return of_tasks.scenario_faults(data, Scenario)


def read_scenario(path: str | os.PathLike[str], *, exact_numbers: bool = False) -> Scenario:
    """Read a scenario from a JSON file: ``{"scenario": "multistage", "version": 1, ...}``.

    Parameters, and what is raised, are those of `dlopt.problems.admission.read_scenario`.
    """
    return of_tasks.read_scenario_of(Scenario, path, exact_numbers=exact_numbers)


def check_fits(instance: Instance, scenario: Scenario) -> None:
    """Raise unless a scenario can happen to an instance.

    Raises
    ------
    InvalidInstanceError
        With every reference to nothing, and every end that is impossible: not after the start, or
        of a reservation that is over by `now`, or not after `now`.
    """
    faults = of_tasks.unknown_references(instance, scenario)
    reservations = {one.id: one for one in instance.reservations}
    for index, true in enumerate(scenario.ends):
        path, one = f"ends[{index}]", reservations.get(true.reservation)
        if one is None:
            rule = "must be a reservation of the instance"
            faults.append(Fault(f"{path}.reservation", true.reservation, rule))
        elif not is_less(instance.now, one.end):
            rule = "must be a reservation that is not over at first"
            faults.append(Fault(f"{path}.reservation", true.reservation, rule))
        elif not is_less(one.start, true.end):
            rule = f"must lie after the start, {shown(one.start, 15)}"
            faults.append(Fault(f"{path}.end", true.end, rule))
        elif not is_less(instance.now, true.end):
            rule = f"must lie after now, {shown(instance.now, 15)}"
            faults.append(Fault(f"{path}.end", true.end, rule))
    if faults:
        raise InvalidInstanceError(faults)
