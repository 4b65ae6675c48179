"""Claims of the papers about their figures on streams, and their tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.papers.experiments import LOADS, Results
from dlopt.simulation.replications import MeanEstimate, estimate

EPSILON = 1e-9
"""Ratios that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a claim: ``holds``, ``does not``, or ``only`` with conditions."""

    word: str
    numbers: str


def otherwise(word: str | None, elsewhere: Mapping[str, str | None]) -> str:
    """Return whether a verdict is the same under other choices, or what it is under which.

    Parameters
    ----------
    word : str or None
    elsewhere : mapping of str to (str or None)
        The verdict under each other choice; None where nothing was simulated.

    Examples
    --------
    >>> otherwise("holds", {"no load": "holds", "a mesh": None})
    'robust'
    >>> otherwise("holds", {"no load": "open", "a mesh": "does not", "twice": "does not"})
    'does not: a mesh, twice; open: no load'
    >>> otherwise("holds", {"a mesh": None})
    'not simulated'
    """
    words = {choice: there for choice, there in elsewhere.items() if there is not None}
    if not words or word is None:
        return "not simulated"
    found: dict[str, list[str]] = {}
    for choice, there in words.items():
        if there != word:
            found.setdefault(there, []).append(choice)
    return "; ".join(f"{there}: {', '.join(names)}" for there, names in sorted(found.items())) or (
        "robust"
    )


def at_another_size(word: str | None, ours: str | None, elsewhere: Mapping[str, str | None]) -> str:
    """Return the same where other choices were tried at another size than the verdict is of.

    Parameters
    ----------
    word : str or None
    ours : str or None
        The verdict at that size under our own choices, which the others are held against.
    elsewhere : mapping of str to (str or None)

    Examples
    --------
    >>> at_another_size("holds", "holds", {"a mesh": "open"})
    'open: a mesh'
    >>> at_another_size("holds", "open", {"a mesh": "open"})
    'open at that size, under all'
    >>> at_another_size("holds", "open", {"a mesh": "holds"})
    'open at that size; holds: a mesh'
    """
    text = otherwise(None if word is None else ours, elsewhere)
    if text == "not simulated" or ours == word:
        return text
    return f"{ours} at that size{', under all' if text == 'robust' else f'; {text}'}"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim, the experiment that it is about, and a test of the results."""

    experiment: str
    words: str
    test: Callable[[Results], Verdict]


def below(
    one: str, other: str, measure: str = "reject_ratio", settings: tuple[Any, ...] | None = None
) -> Callable[[Results], Verdict]:
    """Return a test: one method's measure does not exceed the other's, at every load."""

    def test(results: Results) -> Verdict:
        chosen = settings or results.experiment.settings
        pairs = [
            (setting, load, results.mean(one, load, measure, setting))
            for setting in chosen
            for load in results.experiment.loads
        ]
        gaps = [results.mean(other, load, measure, s) - mean for s, load, mean in pairs]
        good = [gap >= -EPSILON for gap in gaps]
        places = [(setting, load) for setting, load, _ in pairs]
        spread = _difference(results, other, one, places, measure)
        numbers = f"{sum(good)} of {len(good)} points, mean difference {_in_points(spread)}"
        if all(good):
            return Verdict("holds", numbers)
        if not any(good):
            return Verdict("does not", numbers)
        where = [_named(results, s, load) for (s, load, _), g in zip(pairs, good, strict=True) if g]
        return Verdict("only", f"{numbers}; at {_shortened(where)}")

    return test


def above(one: str, other: str, measure: str) -> Callable[[Results], Verdict]:
    """Return a test: one method's measure is not below the other's, at every load."""
    return below(other, one, measure)


def shrinks(
    one: str, other: str, most_load: float = 1.0, absolute: bool = False
) -> Callable[[Results], Verdict]:
    """Return a test: the other's rejections beyond the first's fall from setting to setting.

    If `absolute`, it is the distance of the two that must fall, whichever rejects less.
    """

    def test(results: Results) -> Verdict:
        loads = [load for load in LOADS if load <= most_load]
        spreads = [
            _difference(results, other, one, [(setting, load) for load in loads])
            for setting in results.experiment.settings
        ]
        if absolute:
            spreads = [MeanEstimate(abs(mean), width) for mean, width in spreads]
        means = [spread.mean for spread in spreads]
        numbers = _trail("mean difference in points", results, spreads)
        if _falls(means):
            return Verdict("holds", numbers)
        return Verdict("only" if means[-1] <= means[0] else "does not", numbers)

    return test


def most_miss(least: float) -> Callable[[Results], Verdict]:
    """Return a test: without admission control, at least this share of the tasks is late."""

    def test(results: Results) -> Verdict:
        good, shown = [], []
        for method in results.experiment.methods:
            spreads = [estimate(results.by_seed(method, load, "miss_ratio")) for load in LOADS]
            ratios = [spread.mean for spread in spreads]
            good += [(load, ratio > least) for load, ratio in zip(LOADS, ratios, strict=True)]
            shown.append(f"{method} {_in_percent(min(spreads))} to {_in_percent(max(spreads))}")
        word = "holds" if all(yes for _, yes in good) else "does not"
        if word == "does not" and any(yes for _, yes in good):
            word = "only"
            loads = sorted({load for load, yes in good if yes})
            shown.append(f"at loads from {loads[0]:g}")
        return Verdict(word, "; ".join(shown))

    return test


def insensitive(method: str, beyond: float) -> Callable[[Results], Verdict]:
    """Return a test: the effect of the load falls with the setting, to none beyond one."""

    def test(results: Results) -> Verdict:
        settings = results.experiment.settings
        spreads = [_rise(results, method, setting) for setting in settings]
        effect = [spread.mean for spread in spreads]
        falls = _falls(effect)
        none = all(e < 0.05 for s, e in zip(settings, effect, strict=True) if s > beyond)
        word = "holds" if falls and none else "only" if falls or none else "does not"
        return Verdict(word, _trail("rise in points from load .1 to 1", results, spreads))

    return test


def steady(method: str, within: float) -> Callable[[Results], Verdict]:
    """Return a test: a method rejects about as much under every setting."""

    def test(results: Results) -> Verdict:
        settings = results.experiment.settings
        spreads = [
            _over_seeds([results.by_seed(method, load, setting=s) for load in LOADS])
            for s in settings
        ]
        means = [spread.mean for spread in spreads]
        word = "holds" if max(means) - min(means) <= within else "does not"
        return Verdict(word, _trail("mean reject ratio in %", results, spreads))

    return test


def equal(one: str, other: str) -> Callable[[Results], Verdict]:
    """Return a test: two methods reject the same at every load."""

    def test(results: Results) -> Verdict:
        loads = results.experiment.loads
        gaps = [results.mean(one, load) - results.mean(other, load) for load in loads]
        same = sum(abs(gap) <= EPSILON for gap in gaps)
        word = "holds" if same == len(gaps) else "only" if same else "does not"
        return Verdict(
            word, f"{same} of {len(gaps)} points, largest {100 * max(gaps, key=abs):.2f} points"
        )

    return test


def saturates(
    methods: tuple[str, ...], beyond: float, within: float
) -> Callable[[Results], Verdict]:
    """Return a test: beyond a load, utilization moves by no more than so much."""

    def test(results: Results) -> Verdict:
        spans, shown = [], []
        for method in methods:
            loads = (load for load in results.experiment.loads if load > beyond)
            spreads = [estimate(results.by_seed(method, load, "utilization")) for load in loads]
            least, most = min(spreads), max(spreads)
            spans.append(most.mean - least.mean)
            ends = f"{_in_percent(least)} to {_in_percent(most)}"
            shown.append(f"{method}: by {100 * spans[-1]:.1f} points, {ends}")
        text = "; ".join(shown)
        return Verdict("holds" if max(spans) <= within else "does not", text)

    return test


def _falls(numbers: list[float]) -> bool:
    return all(later <= earlier + EPSILON for earlier, later in pairwise(numbers))


def _over_seeds(places: Sequence[Sequence[float]]) -> MeanEstimate:
    """Return the mean over places and seeds; the seeds are what varies."""
    return estimate([sum(values) / len(places) for values in zip(*places, strict=True)])


def _difference(
    results: Results,
    one: str,
    other: str,
    places: Sequence[tuple[Any, float]],
    measure: str = "reject_ratio",
) -> MeanEstimate:
    """Return by how much one method's measure exceeds the other's, in the mean over places.

    Both see the same streams, so the difference is taken seed by seed.
    """
    return _over_seeds(
        [
            [
                mine - theirs
                for mine, theirs in zip(
                    results.by_seed(one, load, measure, setting),
                    results.by_seed(other, load, measure, setting),
                    strict=True,
                )
            ]
            for setting, load in places
        ]
    )


def _rise(results: Results, method: str, setting: Any) -> MeanEstimate:
    """Return by how much a method rejects more at the greatest load than at the least."""
    last, first = (results.by_seed(method, load, setting=setting) for load in (LOADS[-1], LOADS[0]))
    return estimate([b - a for a, b in zip(first, last, strict=True)])


def _trail(what: str, results: Results, spreads: Sequence[MeanEstimate]) -> str:
    pairs = zip(results.experiment.settings, spreads, strict=True)
    trail = ", ".join(f"{setting}: {_shown(spread, 2)}" for setting, spread in pairs)
    return f"{what}, {results.experiment.parameter} {trail}"


def _in_points(spread: MeanEstimate) -> str:
    return f"{_shown(spread, 2)} points"


def _in_percent(spread: MeanEstimate) -> str:
    return f"{_shown(spread, 1)} %"


def _shown(spread: MeanEstimate, digits: int) -> str:
    """Return a share in percent, with half its confidence interval if there is one."""
    text = f"{100 * spread.mean:.{digits}f}"
    width = spread.half_width
    return text if width is None else f"{text} ± {100 * width:.{digits}f}"


def _named(results: Results, setting: Any, load: float) -> str:
    return f"{load:g}" if setting is None else f"{results.experiment.parameter}={setting}/{load:g}"


def _shortened(where: list[str], most: int = 4) -> str:
    return ", ".join(where[:most]) + (f" and {len(where) - most} more" if len(where) > most else "")


CLAIMS = (
    Claim("4.6", "EDF-OPR-MN rejects less than EDF-EPR-MN", below("edf-opr-mn", "edf-epr-mn")),
    Claim(
        "4.6",
        "EDF-OPR-MN uses the cluster more than EDF-EPR-MN",
        above("edf-opr-mn", "edf-epr-mn", "utilization"),
    ),
    Claim("4.6", "EDF-OPR-AN rejects less than EDF-EPR-AN", below("edf-opr-an", "edf-epr-an")),
    Claim(
        "4.6",
        "EDF-OPR-AN rejects less than EDF-OPR-MN most of the time",
        below("edf-opr-an", "edf-opr-mn"),
    ),
    Claim("4.7", "OPR rejects less than EPR at every DCRatio", below("edf-opr-an", "edf-epr-an")),
    Claim(
        "4.7",
        "below load .8 the difference shrinks as the DCRatio grows",
        shrinks("edf-opr-an", "edf-epr-an", most_load=0.75, absolute=True),
    ),
    Claim("4.8", "OPR rejects less than EPR at every chi", below("edf-opr-mn", "edf-epr-mn")),
    Claim(
        "4.8",
        "the difference vanishes as chi grows",
        shrinks("edf-opr-mn", "edf-epr-mn", absolute=True),
    ),
    Claim(
        "4.9a",
        "fewest nodes gain on all nodes as tau grows",
        shrinks("edf-opr-an", "edf-opr-mn"),
    ),
    Claim(
        "4.9b",
        "fewest nodes gain on all nodes as the DCRatio grows",
        shrinks("edf-opr-an", "edf-opr-mn"),
    ),
    Claim(
        "4.10-4.12",
        "EDF rejects less than MWF at tau 1",
        below("edf-opr-mn", "mwf-opr-mn", settings=(1,)),
    ),
    Claim(
        "4.10-4.12",
        "MWF rejects less than EDF at tau 20, for most loads",
        below("mwf-opr-mn", "edf-opr-mn", settings=(20,)),
    ),
    Claim(
        "4.10-4.12",
        "EDF rejects less than FIFO at every tau",
        below("edf-opr-mn", "fifo-opr-mn"),
    ),
    Claim(
        "4.10-4.12",
        "MWF uses the cluster less than EDF",
        above("edf-opr-mn", "mwf-opr-mn", "utilization"),
    ),
    Claim("6.10", "EDF-IIT-2 rejects less than FAST-EDF-IIT", below("edf-iit-2", "fast-edf-iit")),
    Claim("6.10", "FAST-EDF-IIT rejects less than EDF-IIT-1", below("fast-edf-iit", "edf-iit-1")),
    Claim(
        "6.10",
        "EDF-IIT-2 uses the cluster more than FAST-EDF-IIT",
        above("edf-iit-2", "fast-edf-iit", "utilization"),
    ),
    Claim(
        "6.10",
        "FAST-EDF-IIT uses the cluster more than EDF-IIT-1",
        above("fast-edf-iit", "edf-iit-1", "utilization"),
    ),
    Claim("6.17", "HYBRID decides as EDF-IIT-2 where few tasks wait", equal("hybrid", "edf-iit-2")),
    Claim(
        "6.18",
        "with many waiting, HYBRID rejects less than FAST-EDF-IIT",
        below("hybrid", "fast-edf-iit"),
    ),
    Claim(
        "6.18",
        "with many waiting, EDF-IIT-2 rejects less than FAST-EDF-IIT",
        below("edf-iit-2", "fast-edf-iit"),
    ),
    Claim(
        "6.18",
        "beyond load 1 the utilization saturates",
        saturates(("edf-iit-2", "fast-edf-iit", "hybrid"), 1.0, 0.02),
    ),
    Claim("R4", "MCDF rejects less than FIFO-AN", below("mcdf", "fifo-opr-an")),
    Claim("R4", "MCDF rejects less than EDF-AN", below("mcdf", "edf-opr-an")),
    Claim("R4", "MCDF rejects less than FIFO-MN", below("mcdf", "fifo-opr-mn")),
    Claim("R4", "MCDF rejects less than EDF-MN", below("mcdf", "edf-opr-mn")),
    Claim("R5", "without admission control more than 99 % are late", most_miss(0.99)),
    Claim(
        "R6-R9", "with set-up costs, MCDF rejects less than FIFO-AN", below("mcdf", "fifo-opr-an")
    ),
    Claim("R6-R9", "with set-up costs, MCDF rejects less than EDF-AN", below("mcdf", "edf-opr-an")),
    Claim("R6-R9", "with set-up costs, MCDF rejects less than EDF-MN", below("mcdf", "edf-opr-mn")),
    Claim("R6-R9", "MCDF rejects about as much whatever the set-up costs", steady("mcdf", 0.03)),
    Claim("R10", "the load matters less as tau/chi grows, not beyond 3", insensitive("mcdf", 30)),
)
