"""Draw the figures of Chen 2001 again, and hold its claims against them.

``python -m benchmarks.papers.grid --help``
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.papers.claims import Verdict
from dlopt.plotting.curves import Curve, Spot, plot_curves
from dlopt.simulation.grid import Credibility, variant
from dlopt.simulation.grid.sweep import Case, Row, sweep
from dlopt.simulation.many import estimate

_HERE = Path(__file__).parent

VARIANTS = ("corrected", "literal-head-of-line", "literal")
SIZES = (1, 2, 3, 4, 5, 10, 15, 20)
TASKS = (1000, 1500, 2000, 2500, 3000)
INTERVALS = (1000, 2000, 3000, 4000, 5000)
RATES = (0.0, 0.0005, 0.001, 0.0015, 0.002)
KAPPA = 2
"""The thesis does not say which deadlines it used: twice the critical path at power 1."""
JUMP, FLAT, SLIGHT = 0.05, 0.02, 0.005
"""A change of this share is a jump, is not flat, is one at all."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of the thesis is simulated: LANs, and tasks in proportion."""

    lans: int
    sizes: tuple[int, ...]
    seeds: int
    ends: bool
    """Whether only the first, middle and last value of a parameter are simulated."""

    def of(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the values of a parameter that are simulated."""
        if not self.ends:
            return tuple(values)
        return tuple(dict.fromkeys((values[0], values[1], values[-1])))

    def case(self, name: str, **changes: float | str) -> Case:
        """Return a case of the thesis, with so many LANs and tasks in proportion."""
        tasks = int(changes.pop("tasks", 2000))
        base = Case(variant=name, lans=self.lans, kappa=KAPPA, tasks=tasks * self.lans // 100)
        return replace(base, **changes)  # type: ignore[arg-type]


FULL = Scale(100, SIZES, 10, ends=False)
QUICK = Scale(20, (1, 2, 3, 5, 20), 2, ends=True)


class Results:
    """Means over the seeds, by case."""

    def __init__(self, scale: Scale, rows: Iterable[Row]) -> None:
        self.scale = scale
        self._rows: dict[Case, list[Row]] = {}
        for row in rows:
            self._rows.setdefault(replace(row.case, seed=0), []).append(row)

    def spread(self, measure: str, case: Case) -> tuple[float, float | None]:
        """Return the mean of a measure, and half the width of its confidence interval."""
        return estimate([float(getattr(row, measure)) for row in self._rows[case]])

    def mean(self, measure: str, name: str, **changes: float | str) -> float:
        """Return the mean of a measure, of a case of the thesis."""
        return self.spread(measure, self.scale.case(name, **changes))[0]


def flat_cases(scale: Scale, name: str) -> list[Case]:
    """Return the cases of figure 13: one LAN of all nodes, and many."""
    many = scale.case(name, topology="flat", failure_rate=0.0, gateways=scale.lans)
    one = replace(many, lans=1, nodes=10 * scale.lans)
    return [replace(case, queue_size=size) for case in (one, many) for size in scale.sizes]


def cases(scale: Scale, names: Iterable[str]) -> list[Case]:
    """Return every case of figures 7 to 13."""
    found: list[Case] = []
    for name in names:
        for size in scale.sizes:
            for parameter, values in PHASES.items():
                found += [
                    scale.case(name, queue_size=size, **{parameter: value})
                    for value in scale.of(values)
                ]
        if name == "corrected":
            found += flat_cases(scale, name)
    return [
        replace(case, seed=seed) for case in dict.fromkeys(found) for seed in range(scale.seeds)
    ]


PHASES: dict[str, tuple[float, ...]] = {
    "tasks": TASKS,
    "interval": INTERVALS,
    "failure_rate": RATES,
}

# claims -----------------------------------------------------------------------------------------

Test = Callable[[Results, str], Verdict]


def percents(values: Iterable[float]) -> str:
    """Return shares as a list of percentages."""
    return ", ".join(f"{value:.1%}" for value in values)


def fewer_met(results: Results, name: str) -> Verdict:
    """Tell whether more tasks meet fewer deadlines."""
    met = [results.mean("met_ratio", name, tasks=n) for n in results.scale.of(TASKS)]
    return Verdict("holds" if met[0] - met[-1] > FLAT else "does not", percents(met))


def jump(interval: float) -> Test:
    """Return a test: a place more than one is a jump, at an interval."""

    def test(results: Results, name: str) -> Verdict:
        met, response = (
            [results.mean(measure, name, queue_size=size, interval=interval) for size in (1, 2)]
            for measure in ("met_ratio", "response")
        )
        word = "holds" if met[1] - met[0] > JUMP else "does not"
        return Verdict(word, f"{percents(met)}; response {response[0]:.0f}, {response[1]:.0f} s")

    return test


def level(results: Results, name: str) -> Verdict:
    """Tell whether more than two places change little."""
    sizes = [size for size in results.scale.sizes if size > 1]
    met = [results.mean("met_ratio", name, queue_size=size) for size in sizes]
    word = "holds" if max(met) - min(met) <= JUMP else "does not"
    return Verdict(word, f"{percents(met)} for {', '.join(map(str, sizes))}")


def hump(results: Results, name: str) -> Verdict:
    """Tell whether external traffic rises up to 3 places, and falls from there."""
    sizes = (1, 3, results.scale.sizes[-1])
    one, three, many = (
        results.mean("external", name, tasks=TASKS[-1], queue_size=size) for size in sizes
    )
    word = "holds" if three > one and three > many else "does not"
    return Verdict(word, f"{one:.4g}, {three:.4g}, {many:.4g} for {', '.join(map(str, sizes))}")


def rising(
    measure: str, parameter: str, values: Sequence[float], sign: int, *, within: float = 0.0
) -> Test:
    """Return a test: a measure rises (1), falls (-1) or stays (0) along a parameter."""

    def test(results: Results, name: str) -> Verdict:
        ends = [results.scale.of(values)[0], results.scale.of(values)[-1]]
        if parameter == "queue_size":
            ends = [results.scale.sizes[0], results.scale.sizes[-1]]
        first, last = (results.mean(measure, name, **{parameter: value}) for value in ends)
        change = last / first - 1
        good = abs(change) <= within if not sign else sign * change > within
        return Verdict("holds" if good else "does not", f"{change:+.1%}")

    return test


def poor(results: Results, name: str) -> Verdict:
    """Tell whether the shortest interval is far worse than the next."""
    met = [results.mean("met_ratio", name, interval=value) for value in INTERVALS[:2]]
    return Verdict("holds" if met[1] - met[0] > JUMP else "does not", percents(met))


def then_falls(results: Results, name: str) -> Verdict:
    """Tell whether longer intervals than the second are worse."""
    values = results.scale.of(INTERVALS)[1:]
    met = [results.mean("met_ratio", name, interval=value) for value in values]
    return Verdict("holds" if met[0] - met[-1] > FLAT else "does not", percents(met))


def three_best(results: Results, name: str) -> Verdict:
    """Tell whether 3 places are best where it matters: at an interval of 2000."""
    met = {
        size: results.mean("met_ratio", name, interval=2000, queue_size=size)
        for size in results.scale.sizes
    }
    best = max(met.values())
    mine = max(met[size] for size in (3, 4) if size in met)
    numbers = ", ".join(f"{size}: {value:.1%}" for size, value in met.items())
    word = "holds" if mine == best and best - met[1] > FLAT else "does not"
    return Verdict(word, numbers)


def sharp(results: Results, name: str) -> Verdict:
    """Tell whether the first failures cost most."""
    rates = (RATES[0], RATES[1], RATES[-1])
    met = [results.mean("met_ratio", name, failure_rate=rate) for rate in rates]
    word = "holds" if met[0] - met[1] > max(FLAT, met[1] - met[2]) else "does not"
    return Verdict(word, f"{percents(met)} at 0, .05 and .2 %")


def _flat(results: Results, name: str, measure: str) -> dict[tuple[bool, int], float]:
    return {
        (case.lans == 1, case.queue_size): results.spread(measure, case)[0]
        for case in flat_cases(results.scale, name)
    }


def one_lan(results: Results, name: str) -> Verdict:
    """Tell whether one large LAN is better than many small ones."""
    response = _flat(results, name, "response")
    one, many = response[True, 3], response[False, 3]
    return Verdict("holds" if one < many else "does not", f"response {one:.0f}, {many:.0f} s")


def no_effect(results: Results, name: str) -> Verdict:
    """Tell whether queues matter in one large LAN."""
    found = [value for (one, _), value in _flat(results, name, "response").items() if one]
    word = "holds" if max(found) / min(found) < 1 + FLAT else "does not"
    return Verdict(word, f"response {min(found):.0f} to {max(found):.0f} s")


CLAIMS: tuple[tuple[str, str, Test], ...] = (
    ("7", "more tasks: fewer deadlines met", fewer_met),
    ("7", "SWQ 1 to 2: a jump", jump(4000)),
    ("9", "the same under twice the load: interval 2000", jump(2000)),
    ("7", "SWQ from 2 on: little change", level),
    ("8", "most tasks: external traffic rises with SWQ up to 3, then falls", hump),
    (
        "8",
        "internal traffic rises with SWQ",
        rising("internal", "queue_size", SIZES, 1, within=SLIGHT),
    ),
    ("9", "interval 1000: far worse than 2000", poor),
    ("9", "from 2000 on: worse with the interval", then_falls),
    ("9", "SWQ 3 or 4 is best", three_best),
    (
        "10",
        "external traffic rises with the interval",
        rising("external", "interval", INTERVALS, 1),
    ),
    (
        "10",
        "internal traffic does not change with the interval",
        rising("internal", "interval", INTERVALS, 0, within=FLAT),
    ),
    ("11", "a sharp loss from no failures to .05 %, little more after", sharp),
    ("12", "fewer failures: more external traffic", rising("external", "failure_rate", RATES, -1)),
    (
        "12",
        "fewer failures: less internal traffic",
        rising("internal", "failure_rate", RATES, 1, within=SLIGHT),
    ),
    ("13", "one LAN of 1000 nodes is better than 100 of 10", one_lan),
    ("13", "SWQ has no effect there", no_effect),
)


def credibility() -> None:
    """Print what both rules learn of LANs whose estimates are too short."""
    print("\n| actual / estimate | Eq. 3 as printed learns | uncorrected |\n|---|---|---|")
    for bias in (0.25, 1, 2, 4, 9):
        cells = []
        for name in ("literal-eq3", "corrected"):
            table = Credibility(variant(name), float)
            for _ in range(5000):
                table.learn(0, bias, table.held_against(0, 1.0))
            cells.append(f"{table.of(0):.3f}")
        print(f"| {bias:g} | {' | '.join(cells)} |")


# figures ----------------------------------------------------------------------------------------


def draw(results: Results, names: Sequence[str], folder: Path) -> None:
    """Draw figures 7 to 13: deadlines and response, then traffic; a panel a variant."""
    scale = results.scale
    note = f"{scale.seeds} seeds, {scale.lans} LANs, bars: 95 % confidence"
    for first, (parameter, values) in zip((7, 9, 11), PHASES.items(), strict=True):
        for figure, measures in (
            (first, ("met_ratio", "response")),
            (first + 1, ("external", "internal")),
        ):
            panels = []
            for name in names:
                for measure in measures:
                    panels.append(
                        (
                            f"{measure.replace('_', ' ')}, {name}",
                            tuple(
                                _curve(
                                    results,
                                    measure,
                                    f"{parameter.replace('_', ' ')} {value:g}",
                                    [
                                        scale.case(name, queue_size=size, **{parameter: value})
                                        for size in scale.sizes
                                    ],
                                )
                                for value in scale.of(values)
                            ),
                        )
                    )
            plot_curves(
                panels,
                folder / f"chen-fig-{figure}.svg",
                title=f"Chen 2001, figure {figure}",
                note=note,
                axis="SWQ",
            )
    found = flat_cases(scale, names[0])
    half = len(found) // 2
    panels = [
        (
            measure.replace("_", " "),
            (
                _curve(results, measure, "one LAN", found[:half]),
                _curve(results, measure, f"{scale.lans} LANs", found[half:]),
            ),
        )
        for measure in ("met_ratio", "response")
    ]
    path = folder / "chen-fig-13.svg"
    plot_curves(panels, path, title="Chen 2001, figure 13", note=note, axis="SWQ")


def _curve(results: Results, measure: str, name: str, of: Sequence[Case]) -> Curve:
    return Curve(name, tuple(Spot(case.queue_size, *results.spread(measure, case)) for case in of))


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.papers.grid", description=main.__doc__
    )
    parser.add_argument("--quick", action="store_true", help="20 LANs, few values, two seeds")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rows", type=Path, help="keep rows here, and go on from those there")
    parser.add_argument(
        "--out", type=Path, default=_HERE / "figures", help="folder of the pictures"
    )
    wanted = parser.parse_args()
    scale = QUICK if wanted.quick else FULL
    scale = replace(scale, seeds=wanted.seeds or scale.seeds)
    begun = time.perf_counter()

    def progress(done: int, total: int) -> None:
        spent = time.perf_counter() - begun
        print(f"\r{done} of {total}, {spent:.0f} s", end="", file=sys.stderr, flush=True)

    rows = sweep(
        cases(scale, VARIANTS), processes=wanted.processes, path=wanted.rows, progress=progress
    )
    print(file=sys.stderr)
    results = Results(scale, rows)
    draw(results, VARIANTS, wanted.out)
    print(f"| figure | claim | {' | '.join(VARIANTS)} |\n|---|---|{'---|' * len(VARIANTS)}")
    for figure, words, test in CLAIMS:
        verdicts = [
            test(results, name) if name == "corrected" or figure != "13" else Verdict("-", "")
            for name in VARIANTS
        ]
        cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in verdicts]
        print(f"| {figure} | {words} | {' | '.join(cells)} |")
    credibility()
    return 0


if __name__ == "__main__":
    sys.exit(main())
