"""Reproduce figures 6.12 to 6.16 of Mamat 2011: the time of decisions as the queue grows.

Tables 6.2 to 6.4 have the numbers of the first three.
``python -m benchmarks.papers.overhead --help``
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from statistics import mean, median
from typing import NamedTuple

from benchmarks.fast_admission import LITERAL, R2, after, core, spent, tasks
from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import Verdict
from benchmarks.papers.figure_files import picture
from benchmarks.timing import once
from dlopt.plotting.line_charts import Curve, DataPoint, Panel

WAITING = (300, 1000, 2000, 3000)
"""So many tasks are in the tables."""
SWITCH = 500
"""So many waiting tasks are the switch point of HYBRID."""
AROUND = (100, 200, 300, 390, 550, 700, 1000, 2000, 3000)
"""So many tasks are in the figures of HYBRID, which the chapter does not tell; none of the
decisions after 390 switches."""
_BEYOND = 20
"""Decisions that are left out beyond the switch point: the first of them replays the queue."""


class TimedTest(NamedTuple):
    """An admission algorithm, node by node or by groups of nodes, and what is timed of it."""

    method: str
    plain: bool = False
    decisions: int = 100
    rounds: int = 5


PRINTED = "FAST-EDF-IIT as printed"
FAST = "FAST-EDF-IIT"
GROUPS = "EDF-IIT-2 by groups"
STRAIGHT = "EDF-IIT-2"
ONE = "EDF-IIT-1"
HYBRID = "HYBRID"
TESTS = {
    PRINTED: TimedTest(LITERAL),
    FAST: TimedTest(R2),
    GROUPS: TimedTest("edf-iit-2", decisions=20, rounds=1),
    STRAIGHT: TimedTest("edf-iit-2", plain=True, decisions=3, rounds=1),
    ONE: TimedTest("edf-iit-1", decisions=3, rounds=1),
    HYBRID: TimedTest("hybrid"),
}
SLOW = (STRAIGHT, ONE)

Times = Mapping[int, float]
"""Milliseconds a decision, by tasks."""


def _times_by_tasks(*times: float) -> Times:
    return dict(zip(WAITING, times, strict=True))


PUBLISHED_FIRST: Mapping[tuple[str, int], Times] = {
    (PRINTED, 512): _times_by_tasks(0.96, 4.84, 20.46, 48.87),
    (ONE, 512): _times_by_tasks(410.44, 1321.08, 3119.76, 6206.91),
    (STRAIGHT, 512): _times_by_tasks(151.32, 494.07, 988.95, 1494.91),
    (PRINTED, 1024): _times_by_tasks(1.01, 4.90, 21.1, 50),
    (STRAIGHT, 1024): _times_by_tasks(363.29, 1545.51, 3089.6, 4923.91),
}
"""Tables 6.2 and 6.4."""
PUBLISHED_AFTER: Mapping[tuple[str, int], Times] = {
    (PRINTED, 512): _times_by_tasks(1.71, 16.25, 67.24, 157),
    (ONE, 512): _times_by_tasks(850.01, 3006.01, 7536.32, 31173.86),
    (STRAIGHT, 512): _times_by_tasks(349.22, 1034.21, 2030.48, 3050.86),
}
"""Table 6.3."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure: the mean time of the first decisions, or of those with a long queue; by cluster."""

    first: bool
    nodes: tuple[int, ...]
    tests: tuple[str, ...]
    tasks: tuple[int, ...] = WAITING

    @property
    def published(self) -> Mapping[tuple[str, int], Times]:
        """The times of the chapter's table."""
        return PUBLISHED_FIRST if self.first else PUBLISHED_AFTER


FIGURES = {
    "6.12": Figure(True, (512,), (PRINTED, FAST, GROUPS, STRAIGHT, ONE)),
    "6.13": Figure(False, (512,), (PRINTED, FAST, GROUPS, STRAIGHT, ONE)),
    "6.14": Figure(True, (512, 1024), (PRINTED, FAST, GROUPS, STRAIGHT)),
    "6.15": Figure(True, (1024,), (FAST, GROUPS, HYBRID), AROUND),
    "6.16": Figure(False, (1024,), (FAST, GROUPS, HYBRID), AROUND),
}


@dataclass
class MeasuredTimes:
    """Times of decisions, each measured once."""

    most: int
    _first: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    _after: dict[tuple[str, int, int], float] = field(default_factory=dict)

    def times(self, figure: Figure, test: str, nodes: int) -> Times:
        """Return what a figure shows of a test."""
        time = self.first if figure.first else self.after
        return {n: time(test, nodes, n) for n in figure.tasks if n <= self.most}

    def first(self, test: str, nodes: int, count: int) -> float:
        """Return the mean of the first tasks; of a slow test, between the decisions measured."""
        if test in SLOW:
            marks = [1, *(n for n in WAITING if n <= count)]
            areas = [
                (later - n) * (self.after(test, nodes, n) + self.after(test, nodes, later)) / 2
                for n, later in pairwise(marks)
            ]
            return sum(areas) / (marks[-1] - 1)
        if (test, nodes) not in self._first:
            arriving = tasks(self.most, nodes)
            rounds = [
                _undisturbed(lambda: spent(core(TESTS[test].method, nodes), arriving))
                for _ in range(TESTS[test].rounds)
            ]
            sums = zip(*map(accumulate, rounds), strict=True)
            self._first[test, nodes] = [median(one) for one in sums]
        return 1e3 * self._first[test, nodes][count - 1] / count

    def after(self, test: str, nodes: int, waiting: int) -> float:
        """Return the mean of decisions that come when so many tasks wait."""
        key = test, nodes, waiting
        if key not in self._after:
            method, plain, count, rounds = TESTS[test]
            skipped = _BEYOND if test == HYBRID and waiting > SWITCH else 0
            found = [
                _undisturbed(lambda: after(method, nodes, waiting, skipped + count, plain))
                for _ in range(rounds)
            ]
            self._after[key] = 1e3 * median(mean(one[skipped:]) for one in found)
        return self._after[key]


def _undisturbed(task: Callable[[], list[float]]) -> list[float]:
    """Return what a task tells of its time, while the collector of garbage rests."""
    times: list[float] = once(task).answers[0]
    return times


Claim = tuple[str, Verdict]


def claims(name: str, measured: MeasuredTimes) -> Iterator[Claim]:
    """Yield what the chapter says of a figure, and how it fares."""
    figure = FIGURES[name]
    if name in ("6.12", "6.13"):
        for other in (ONE, STRAIGHT):
            yield _faster(figure, measured, other)
    elif name == "6.14":
        words = "twice the nodes cost FAST-EDF-IIT hardly more (a fifth)"
        yield words, _by_nodes(figure, measured, PRINTED, lambda ratio: ratio < 1.2)
        words = "they cost EDF-IIT-2 much more (half as much again)"
        yield words, _by_nodes(figure, measured, STRAIGHT, lambda ratio: ratio > 1.5)
    else:
        yield from _hybrid(figure, measured)


def _faster(figure: Figure, measured: MeasuredTimes, other: str) -> Claim:
    """Hold against the chapter how many times as fast the printed test is as another one."""
    mine, its = (measured.times(figure, test, 512) for test in (PRINTED, other))
    most = max(mine)
    ratio = its[most] / mine[most]
    goal = figure.published[other, 512][most] / figure.published[PRINTED, 512][most]
    words = f"FAST-EDF-IIT is {goal:.0f} times as fast as {other} with {most} tasks"
    repaired = its[most] / measured.times(figure, FAST, 512)[most]
    word = "holds" if ratio >= goal else "only" if ratio > 1 else "does not"
    return words, Verdict(word, f"{ratio:.0f} times; repaired {repaired:.0f} times")


def _by_nodes(
    figure: Figure, measured: MeasuredTimes, test: str, good: Callable[[float], bool]
) -> Verdict:
    few, many = (measured.times(figure, test, nodes) for nodes in figure.nodes)
    ratios = [many[n] / few[n] for n in few]
    return _counted(
        [good(ratio) for ratio in ratios], f"{_listed(dict(zip(few, ratios, strict=True)))} times"
    )


def _hybrid(figure: Figure, measured: MeasuredTimes) -> Iterator[Claim]:
    mixed, fast, slow = (measured.times(figure, test, 1024) for test in (HYBRID, FAST, GROUPS))
    before = {n: time for n, time in mixed.items() if n <= SWITCH}
    beyond = {n: time for n, time in mixed.items() if n > SWITCH}
    grows = [later > time for time, later in pairwise(before.values())]
    words = "up to its switch point HYBRID takes longer the more tasks wait"
    yield words, _counted(grows, _listed(before))
    numbers = f"{_listed(beyond)}; FAST-EDF-IIT {_listed({max(fast): fast[max(fast)]})}"
    if figure.first:
        falls = [later < time for time, later in pairwise(beyond.values())]
        yield "beyond it its mean falls towards FAST-EDF-IIT's", _counted(falls, numbers)
    else:
        least = min(before[max(before)], slow[max(before)])
        falls = [time < least / 2 for time in beyond.values()]
        yield "beyond it its decisions are much faster at once (by half)", _counted(falls, numbers)
    less = [time < slow[n] for n, time in beyond.items()]
    numbers = f"{GROUPS} {_listed({n: slow[n] for n in beyond})}"
    yield "beyond it HYBRID is faster than EDF-IIT-2", _counted(less, numbers)


def _counted(good: Sequence[bool], numbers: str) -> Verdict:
    word = "holds" if all(good) else "only" if any(good) else "does not"
    return Verdict(word, f"{sum(good)} of {len(good)}: {numbers}")


def _listed(times: Times) -> str:
    return ", ".join(f"{time:.3g} at {n}" for n, time in times.items())


def panels(name: str, measured: MeasuredTimes) -> list[Panel]:
    """Return the curves of a figure, and those of the chapter's table below them."""
    figure, found = FIGURES[name], list[Panel]()
    for nodes in figure.nodes:
        ours = [_curve(test, measured.times(figure, test, nodes)) for test in figure.tests]
        found.append((f"ms, {nodes} nodes", tuple(ours)))
        published = [
            _curve(test, figure.published[test, nodes])
            for test in figure.tests
            if (test, nodes) in figure.published
        ]
        if published:
            found.append((f"ms, {nodes} nodes, the chapter", tuple(published)))
    return found


def _curve(name: str, times: Times) -> Curve:
    return Curve(name, tuple(DataPoint(n, time) for n, time in times.items()))


def main() -> int:
    """Measure, draw the curves; print the claims as a Markdown table, and the tables beside it."""
    parser = cli_arguments.parser("overhead", main.__doc__, FIGURES)
    wanted = parser.parse_args()
    measured = MeasuredTimes(int(cli_arguments.size(wanted, 1000, max(WAITING), max(WAITING))))
    wanted.out.mkdir(parents=True, exist_ok=True)
    print("| figure | claim | ours |\n|---|---|---|")
    names = wanted.only or tuple(FIGURES)
    for name in names:
        figure = FIGURES[name]
        kind = "mean of the first tasks" if figure.first else "decisions with so many waiting"
        picture(
            panels(name, measured),
            wanted.out / f"fig-{name}.svg",
            title=f"Mamat 2011, figure {name}: {kind}",
            note="tau 1, chi 1000, no set-up costs, all admitted; each machine at its own speed",
            axis="tasks",
            decades=True,
        )
        for words, verdict in claims(name, measured):
            print(f"| {name} | {words} | **{verdict.word}**: {verdict.numbers} |", flush=True)
    print("\n| ms: figure | nodes | test | tasks | ours | chapter |\n|---|---|---|---|---|---|")
    for name in names:
        for nodes in FIGURES[name].nodes:
            for test in FIGURES[name].tests:
                _print(name, nodes, test, measured)
    return 0


def _print(name: str, nodes: int, test: str, measured: MeasuredTimes) -> None:
    figure = FIGURES[name]
    ours, published = measured.times(figure, test, nodes), figure.published.get((test, nodes), {})
    cells = (
        ", ".join(map(str, ours)),
        ", ".join(f"{time:.3g}" if time < 1000 else f"{time:.0f}" for time in ours.values()),
        ", ".join(f"{published[n]:g}" for n in ours if n in published),
    )
    print(f"| {name} | {nodes} | {test} | {' | '.join(cells)} |")


if __name__ == "__main__":
    sys.exit(main())
