"""Claims of Chen 2001 about its figures 7 to 13, and their tests.

Two experiments are compared seed by seed, with the same tasks and failures (paired differences); a
claim holds, or does not, if the 95 % confidence interval of the difference implies it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.papers.claims import Verdict
from benchmarks.papers.grid_experiments import (
    INTERVALS,
    RATES,
    SIZES,
    TASKS,
    MissingCaseError,
    Results,
    Scale,
    flat_cases,
)
from dlopt.simulation.grid.sweep import GridExperiment

JUMP = 0.05
"""A change by at least this share is a jump; like the next two, chosen by hand."""
FLAT = 0.02
"""A curve that changes by less than this share is flat."""
SLIGHT = 0.005
"""A change by less than this share is none."""
ALONE = 0.01
"""By how much a single seed must be on one side to say anything; it has no interval."""

Test = Callable[[Results, str], Verdict]


def above(gain: tuple[float, float | None], least: float) -> str:
    """Say whether a gain exceeds the least that counts, as far as seeds tell."""
    mean, half = gain
    if abs(mean - least) > (ALONE if half is None else half):
        return "holds" if mean > least else "does not"
    return "open"


def all_positive(gains: Iterable[tuple[float, float | None]]) -> str:
    """Return whether all gains are positive, as far as seeds tell."""
    words = {above(gain, 0) for gain in gains}
    return "does not" if "does not" in words else "open" if "open" in words else "holds"


def within(gain: tuple[float, float | None], most: float) -> str:
    """Say whether a gain is, up or down, at most so large, as far as seeds tell."""
    mean, half = gain
    if abs(abs(mean) - most) > (ALONE if half is None else half):
        return "holds" if abs(mean) <= most else "does not"
    return "open"


def signed(gain: tuple[float, float | None]) -> str:
    """Return a gain in per cent, with its interval."""
    mean, half = gain[0] + 0.0, gain[1]  # no minus before a zero
    return f"{mean:+.1%}" if half is None else f"{mean:+.1%} ± {half:.1%}"


def percents(values: Iterable[float]) -> str:
    """Return shares as a list of percentages."""
    return ", ".join(f"{value:.1%}" for value in values)


def steps(parameter: str, values: Sequence[float], first: int, last: int, least: float) -> Test:
    """Return a test: more deadlines are met at one value of a parameter than at another."""

    def test(results: Results, name: str) -> Verdict:
        used = results.scale.of(values)
        cases = [results.scale.case(name, **{parameter: value}) for value in used]
        gain = results.gain("met_ratio", cases[last], cases[first])
        met = [results.spread("met_ratio", case)[0] for case in cases if results.has(case)]
        return Verdict(above(gain, least), f"{percents(met)}; {signed(gain)}")

    return test


def jump(interval: float) -> Test:
    """Return a test: a place more than one is a jump, at an interval."""

    def test(results: Results, name: str) -> Verdict:
        cases = [results.scale.case(name, queue_size=size, interval=interval) for size in (1, 2)]
        gain = results.gain("met_ratio", *cases)
        met = [results.spread("met_ratio", case)[0] for case in cases]
        response = [results.spread("response", case)[0] for case in cases]
        text = f"{percents(met)}; {signed(gain)}; response {response[0]:.0f}, {response[1]:.0f} s"
        return Verdict(above(gain, JUMP), text)

    return test


def _by_size(results: Results, name: str, **changes: float | str) -> dict[int, GridExperiment]:
    cases = {
        size: results.scale.case(name, queue_size=size, **changes) for size in results.scale.sizes
    }
    return {size: case for size, case in cases.items() if results.has(case)}


def level(results: Results, name: str) -> Verdict:
    """Tell whether more than two places change little."""
    cases = {size: case for size, case in _by_size(results, name).items() if size > 1}
    if len(cases) < 2:
        raise MissingCaseError(name)
    met = {size: results.spread("met_ratio", case)[0] for size, case in cases.items()}
    low, high = min(met, key=lambda size: met[size]), max(met, key=lambda size: met[size])
    gain = results.gain("met_ratio", cases[low], cases[high])
    return Verdict(within(gain, JUMP), f"{percents(met.values())} for {_listed(met)}")


def declining(results: Results, name: str) -> Verdict:
    """Tell whether more than three places are worse than three."""
    three, many = (
        results.scale.case(name, queue_size=size) for size in (3, results.scale.sizes[-1])
    )
    gain = results.gain("met_ratio", many, three)
    met = [results.spread("met_ratio", case)[0] for case in (three, many)]
    return Verdict(above(gain, 0), f"{percents(met)}; {signed((-gain[0], gain[1]))}")


def whatever_fails(results: Results, name: str) -> Verdict:
    """Tell whether three places are better than one at every failure rate."""
    gains = []
    for rate in (RATES[0], RATES[1], RATES[-1]):
        cases = [results.scale.case(name, failure_rate=rate, queue_size=size) for size in (1, 3)]
        gains.append(results.gain("met_ratio", *cases))
    return Verdict(
        all_positive(gains), f"3 against 1 at 0, .05, .2 %: {', '.join(map(signed, gains))}"
    )


def hump(results: Results, name: str) -> Verdict:
    """Tell whether external traffic rises up to 3 places, and falls from there."""
    one, three, many = (
        results.scale.case(name, tasks=TASKS[-1], queue_size=size)
        for size in (1, 3, results.scale.sizes[-1])
    )
    gains = [results.gain("external", case, three, relative=True) for case in (one, many)]
    text = f"3 against 1: {signed(gains[0])}, against 20: {signed(gains[1])}"
    return Verdict(all_positive(gains), text)


def rising(
    measure: str, parameter: str, values: Sequence[float], sign: int, *, least: float = 0.0
) -> Test:
    """Return a test: a measure rises (1), falls (-1) or stays (0) along a parameter."""

    def test(results: Results, name: str) -> Verdict:
        ends = results.scale.sizes if parameter == "queue_size" else results.scale.of(values)
        cases = [results.scale.case(name, **{parameter: ends[at]}) for at in (0, -1)]
        gain = results.gain(measure, *cases, relative=True)
        if not sign:
            return Verdict(within(gain, least), signed(gain))
        return Verdict(above((sign * gain[0], gain[1]), least), signed(gain))

    return test


def three_best(results: Results, name: str) -> Verdict:
    """Tell whether 3 or 4 places are better than 1 and than 20, where it matters."""
    cases = _by_size(results, name, interval=2000)
    met = {size: results.spread("met_ratio", case)[0] for size, case in cases.items()}
    if not {1, 3, results.scale.sizes[-1]} <= met.keys():
        raise MissingCaseError(name)
    gains = [
        results.gain("met_ratio", cases[size], cases[3]) for size in (1, results.scale.sizes[-1])
    ]
    numbers = ", ".join(f"{size}: {value:.1%}" for size, value in met.items())
    return Verdict(all_positive(gains), f"{numbers}; 3 against 1: {signed(gains[0])}")


def sharp(results: Results, name: str) -> Verdict:
    """Tell whether the first failures cost most."""
    none, few, many = (
        results.scale.case(name, failure_rate=rate) for rate in (RATES[0], RATES[1], RATES[-1])
    )
    first = results.gain("met_ratio", few, none)
    then = results.gain("met_ratio", many, few)
    word = above(first, max(FLAT, then[0]))
    return Verdict(
        word,
        f"at .05 %: {signed((-first[0], first[1]))}, then to .2 %: {signed((-then[0], then[1]))}",
    )


def one_lan(results: Results, name: str) -> Verdict:
    """Tell whether one large LAN is better than many small ones."""
    one, many = (case for case in flat_cases(results.scale, name) if case.queue_size == 3)
    gain = results.gain("response", one, many, relative=True)
    both = [results.spread("response", case)[0] for case in (one, many)]
    return Verdict(above(gain, 0), f"response {both[0]:.0f}, {both[1]:.0f} s; {signed(gain)}")


def no_effect(results: Results, name: str) -> Verdict:
    """Tell whether queues matter in one large LAN."""
    cases = [
        case for case in flat_cases(results.scale, name) if case.lans == 1 and results.has(case)
    ]
    if len(cases) < 2:
        raise MissingCaseError(name)
    found = {case: results.spread("response", case)[0] for case in cases}
    low, high = min(cases, key=lambda case: found[case]), max(cases, key=lambda case: found[case])
    gain = results.gain("response", low, high, relative=True)
    sizes = {case.queue_size: f"{found[case]:.0f}" for case in cases}
    text = f"response {', '.join(sizes.values())} s for {_listed(sizes)}; {signed(gain)}"
    return Verdict(within(gain, FLAT), text)


def _listed(sizes: Iterable[int]) -> str:
    return ", ".join(map(str, sizes))


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, its figure, a test of it, and what the thesis leaves open that may decide it."""

    figure: str
    words: str
    test: Test
    open: str


_MET = "deadlines, load, subtask data"
_RUNS = "load, subtask data"
_SUMS = "load, subtask data, whether traffic is a sum or a rate"

CLAIMS: tuple[Claim, ...] = (
    Claim("7", "more tasks: fewer deadlines met", steps("tasks", TASKS, 0, -1, FLAT), _MET),
    Claim("7", "SWQ 1 to 2: a jump", jump(4000), _MET),
    Claim("9", "the same under twice the load: interval 2000", jump(2000), _MET),
    Claim("7", "SWQ from 2 on: little change", level, _MET),
    Claim("7", "from 3 on: a slow fall", declining, _MET),
    Claim("8", "more tasks: more external traffic", rising("external", "tasks", TASKS, 1), _SUMS),
    Claim("8", "more tasks: more internal traffic", rising("internal", "tasks", TASKS, 1), _SUMS),
    Claim("8", "most tasks: external traffic rises with SWQ up to 3, then falls", hump, _RUNS),
    Claim(
        "8",
        "internal traffic rises with SWQ",
        rising("internal", "queue_size", SIZES, 1, least=SLIGHT),
        _RUNS,
    ),
    Claim(
        "9", "interval 1000: far worse than 2000", steps("interval", INTERVALS, 1, 0, JUMP), _MET
    ),
    Claim(
        "9",
        "from 2000 on: worse with the interval",
        steps("interval", INTERVALS, 1, -1, FLAT),
        _MET,
    ),
    Claim("9", "SWQ 3 or 4 is best", three_best, _MET),
    Claim(
        "10",
        "external traffic rises with the interval",
        rising("external", "interval", INTERVALS, 1),
        _SUMS,
    ),
    Claim(
        "10",
        "internal traffic does not change with the interval",
        rising("internal", "interval", INTERVALS, 0, least=FLAT),
        _SUMS,
    ),
    Claim("11", "more failures: fewer deadlines met", steps("failure_rate", RATES, 0, -1, 0), _MET),
    Claim("11", "a sharp loss from no failures to .05 %, little more after", sharp, _MET),
    Claim("11", "SWQ 3 is better than 1, whatever the failure rate", whatever_fails, _MET),
    Claim(
        "12",
        "fewer failures: more external traffic",
        rising("external", "failure_rate", RATES, -1),
        _RUNS,
    ),
    Claim(
        "12",
        "fewer failures: less internal traffic",
        rising("internal", "failure_rate", RATES, 1, least=SLIGHT),
        _RUNS,
    ),
    Claim("13", "one LAN of 1000 nodes is better than 100 of 10", one_lan, "load"),
    Claim("13", "SWQ has no effect there", no_effect, "load"),
)


class _UnitRow:
    """A row in which every measure is 1."""

    def __getattr__(self, name: str) -> float:
        return 1.0


class RequiredExperiments(Results):
    """Results that record which experiments are requested."""

    def __init__(self, scale: Scale) -> None:
        super().__init__(scale, ())
        self.cases: dict[GridExperiment, None] = {}

    def has(self, case: GridExperiment) -> bool:
        """Say that all was simulated."""
        return True

    def _of(self, case: GridExperiment) -> dict[int, Any]:
        self.cases[case] = None
        return {0: _UnitRow(), 1: _UnitRow()}


def required_experiments(
    scale: Scale, names: Iterable[str], figures: Iterable[str]
) -> list[GridExperiment]:
    """Return the experiments that claims about some figures need, for every seed."""
    found = RequiredExperiments(scale)
    wanted = {*figures} if scale.setting.flat else {*figures} - {"13"}
    for name in names:
        for claim in CLAIMS:
            if claim.figure in wanted:
                claim.test(found, name)
    return [replace(case, seed=seed) for case in found.cases for seed in range(scale.seeds)]
