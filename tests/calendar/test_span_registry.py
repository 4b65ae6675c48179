"""Spans by number: spans that have ended are dropped, and copies are independent."""

from __future__ import annotations

import random

from dlopt.calendar.span_registry import BUCKET, Span, SpanRegistry


def test_spans_are_kept_until_they_end() -> None:
    generator = random.Random(3)
    registry, alive, now = SpanRegistry(), {}, 0
    copies = []
    for number in range(4000):
        kind = generator.random()
        span = Span(number, 0, now, now + generator.randint(1, 300), 1)
        registry.put(span)
        alive[number] = span
        if kind < 0.3:
            gone = generator.choice(sorted(alive))
            assert registry.pop(gone) == alive.pop(gone)
        elif kind < 0.6:
            changed = alive[generator.choice(sorted(alive))]
            changed = Span(changed.id, 0, changed.start, now + generator.randint(1, 50), 1)
            registry.put(changed)
            alive[changed.id] = changed
        elif kind < 0.61:
            copies.append((registry.copy(), list(alive.values())))
        if kind > 0.9:
            now += generator.randint(1, 10)
            registry.drop_ended(now)
            alive = {key: each for key, each in alive.items() if each.end > now}
        assert len(registry) == len(alive)
    assert sorted(registry) == sorted(alive.values())
    for copy, spans in copies:
        assert sorted(copy) == sorted(spans)


def test_of_ends_that_change_often_the_former_ones_are_forgotten() -> None:
    registry = SpanRegistry()
    for end in range(10_000, 1, -1):
        registry.put(Span(0, 0, 0, end, 1))
        registry.drop_ended(0)
    assert registry.get(0) == Span(0, 0, 0, 2, 1) and registry.get("0") is None
    assert registry.get(BUCKET) is None
    registry.drop_ended(2)
    assert len(registry) == 0 and list(registry) == []
