"""Spans by number: spans that have ended are dropped, and copies are independent."""

from __future__ import annotations

import random

from dlopt.calendar.span_registry import BITS, Span, SpanRegistry


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


def test_a_span_may_end_earlier_and_earlier() -> None:
    registry = SpanRegistry()
    for end in range(10_000, 1, -1):
        registry.put(Span(0, 0, 0, end, 1))
        registry.drop_ended(0)
    assert registry.get(0) == Span(0, 0, 0, 2, 1) and registry.get("0") is None
    assert registry.get(1 << BITS) is None
    registry.drop_ended(2)
    assert len(registry) == 0 and list(registry) == []


def test_numbers_may_be_far_apart() -> None:
    registry = SpanRegistry()
    spans = [Span(number, 0, 0, 9 + number % 2, 1) for number in (3 << 4 * BITS, 1, 5 << BITS)]
    for span in spans:
        registry.put(span)
    assert list(registry) == sorted(spans) and registry.get((5 << BITS) + 1) is None
    assert registry.get(1 << 2 * BITS) is None and registry.get(1 - (1 << 5 * BITS)) is None
    twin = registry.copy()
    registry.drop_ended(9)
    assert list(registry) == [spans[1]] and len(twin) == 3
    assert twin.pop(spans[0].id) == spans[0] and list(twin) == sorted(spans[1:])
