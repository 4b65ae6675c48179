"""The engine: order at one instant."""

from __future__ import annotations

import random
from fractions import Fraction

from dlopt.simulation.engine import EventLoop, Rank


def test_events_come_by_time_rank_and_call() -> None:
    engine, seen = EventLoop(0.0), []
    events = [(time, rank, call) for time in (0.0, 1.5) for rank in Rank for call in range(2)]
    shuffled = events[:]
    random.Random(1).shuffle(shuffled)
    counts: dict[tuple[float, int], int] = {}
    for time, rank, _ in shuffled:
        call = counts.get((time, rank), 0)
        counts[time, rank] = call + 1
        engine.at(time, rank, seen.append, (time, rank, call))
    engine.run(lambda: None)
    assert seen == events


def test_an_instant_is_settled_once_all_of_it_has_happened() -> None:
    engine, seen = EventLoop(0.0), []

    def twice(word: str) -> None:
        seen.append(word)
        if word == "a":
            engine.at(engine.now, Rank.END, twice, "b")
            engine.at(0.0, Rank.END, twice, "late")  # what is past happens now

    engine.at(3.0, Rank.ARRIVAL, twice, "a")
    engine.run(lambda: seen.append(f"settled {engine.now:g}"))
    assert seen == ["a", "b", "late", "settled 3"]


def test_what_is_due_at_the_end_does_not_happen() -> None:
    engine, seen = EventLoop(Fraction(0)), []
    for time in (1, 2, 3):
        engine.at(Fraction(time), Rank.END, seen.append, time)
    engine.run(until=Fraction(2))
    assert (seen, engine.now, engine.pending) == ([1], 2, True)
    engine.run(until=Fraction(9, 2))
    assert (seen, engine.now, engine.pending) == ([1, 2, 3], Fraction(9, 2), False)


def test_what_ends_at_a_deadline_is_in_time() -> None:
    assert Rank.END < Rank.FAILURE < Rank.RECOVERY < Rank.DEADLINE < Rank.SAMPLE < Rank.ARRIVAL
