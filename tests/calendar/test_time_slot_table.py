"""A calendar answers all that a time slot table does, with the same numbers."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from dlopt.arithmetic import exact
from dlopt.calendar import ResourceCalendar
from dlopt.errors import NotApplicableError
from dlopt.heuristics.coreservation.time_slot_table import TimeSlotTable
from dlopt.problems.coreservation.data import Machine

HORIZON = 60
CAPACITIES: list[Any] = [20, ((0, 12), (15, 4), (30, 20)), 7]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [int, Fraction, float])
def test_reservations_and_loads_are_equal(kind: Any, seed: int) -> None:
    generator = random.Random(seed)
    parts = {int: [1], Fraction: [2, 3, 7], float: [10, 4]}[kind]
    capacities = [float(each) if kind is float and each == 7 else each for each in CAPACITIES]
    table = TimeSlotTable([Machine(str(k), each) for k, each in enumerate(capacities)])
    calendar = ResourceCalendar(capacities)
    pairs: list[tuple[Any, int]] = []
    now = 0
    for _ in range(400):
        machine, start = generator.randrange(3), generator.randrange(now, HORIZON)
        end = start + generator.randint(1, 20)
        share = Fraction(generator.randint(0, 40), generator.choice(parts))
        amount = kind(share) if kind is not float else float(share)
        overbook = generator.random() < 0.1
        act = generator.random()
        if act < 0.6:
            try:
                held = table.reserve(machine, start, end, amount, overbook=overbook)
            except NotApplicableError as refusal:
                with pytest.raises(NotApplicableError) as error:
                    calendar.add_span(machine, start, end, amount)
                assert str(error.value) == str(refusal)
            else:
                span = calendar.add_span(machine, start, end, amount, overbook=overbook)
                pairs.append((held, span))
        elif act < 0.8 and pairs:
            held, span = pairs.pop(generator.randrange(len(pairs)))
            if held.end > now:
                table.cancel(held)
                calendar.remove_span(span)
        elif act < 0.85:
            now = min(now + generator.randint(0, 2), HORIZON - 1)
            table.advance(now)
            calendar.advance(now)
        else:
            free = calendar.smallest_free(machine, start, end)
            assert max(free, 0) == table.smallest_free(machine, start, end)
            assert type(free) is type(table.smallest_free(machine, start, end)) or free <= 0
            steps = calendar.allocated(machine, start, end)
            area = sum((exact(until) - exact(since)) * exact(load) for since, until, load in steps)
            mean = table.average_load(machine, start, end)
            assert float(area / (end - start)) == pytest.approx(float(mean), rel=1e-12)
        far = 10 * HORIZON
        for k in range(3):
            loads = tuple((since, load) for since, _, load in calendar.allocated(k, now, far))
            assert loads == table.loads(k)
        assert len(calendar) == len(table)
