"""Reproduce the figures of Mamat 2011, chapter 5, and test its claims.

A claim about every load is judged load by load, by the 95 % confidence interval of the paired
differences over seeds; it is *open* where that does not decide.

``python -m benchmarks.papers.multistage --help``
"""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf
from pathlib import Path

from benchmarks.papers import cli_arguments
from benchmarks.papers.claims import Verdict, at_another_size
from benchmarks.papers.figure_files import curves_of, picture
from benchmarks.papers.intervals import between, counted, everywhere
from benchmarks.papers.multistage_runs import (
    ADVANCES,
    BY_ADVANCE,
    EXTREMES,
    FIGURES,
    LEFT_OPEN,
    OTHERS,
    SHARES,
    VARIANTS,
    Results,
)
from dlopt.plotting.line_charts import Curve, Panel
from dlopt.simulation.replications import MeanEstimate


def formatted_estimate(spread: MeanEstimate) -> str:
    """Return a mean with half its confidence interval, if there is one."""
    width = spread.half_width
    return f"{spread.mean:.1f}" + ("" if width is None else f" ± {width:.1f}")


def claims(results: Results, figures: Collection[str]) -> Iterator[tuple[str, str, Verdict]]:
    """Yield figure, claim and verdict of each claim of some figures."""
    by_figure = {
        "5.13": lambda: _at_once(results, "5.13"),
        "5.14": lambda: _at_once(results, "5.14"),
        "5.15": lambda: _one_before(results, "5.15"),
        "5.16": lambda: _one_before(results, "5.16"),
        "5.17": lambda: _earlier(results, "5.17"),
        "5.18": lambda: _earlier(results, "5.18"),
    }
    for figure, rows in by_figure.items():
        if figure in figures:
            yield from rows()


def _at_once(results: Results, figure: str) -> Iterator[tuple[str, str, Verdict]]:
    measure, sign, words = {
        "5.13": (0, 1, "asked for at once (advance 0): the more is reserved, the more is rejected"),
        "5.14": (1, -1, "advance 0: the more is reserved, the less the cluster is used"),
    }[figure]
    steps = [
        MeanEstimate(sign * gap.mean, gap.half_width)
        for fewer, more in pairwise(SHARES)
        for gap in results.gaps(more, fewer, 0.0, measure)
    ]
    whole = formatted_estimate(results.difference(1.0, 0.0, 0.0, measure))
    text = f"all reserved is {whole} points from nothing reserved"
    yield figure, words, _judged(steps, text, least=0.0)


def _one_before(results: Results, figure: str) -> Iterator[tuple[str, str, Verdict]]:
    measure = int(figure == "5.16")
    close = [gap for share in (0.1, 0.3, 0.5) for gap in results.gaps(share, 0.0, 1.0, measure)]
    half = formatted_estimate(results.difference(0.5, 0.0, 1.0, measure))
    text = f"largest difference {_largest(close)} points; 50 % from none {half} in the mean"
    words = "0 to 50 % reserved use the cluster about as much (3 points)"
    if measure == 0:
        words = "asked for one interval before: 0 to 50 % reserved reject about the same (3 points)"
    yield figure, words, _judged(close, text, least=-3.0, most=3.0)
    if measure == 0:
        far = [gap for share in (0.8, 1.0) for gap in results.gaps(share, 0.5, 1.0)]
        means = " and ".join(
            formatted_estimate(results.difference(share, 0.5, 1.0)) for share in (0.8, 1.0)
        )
        text = (
            f"{min(far).mean:.1f} to {max(far).mean:.1f} points more than with 50 %; "
            f"in the mean {means}"
        )
        yield figure, "80 and 100 % reject much more (5 points)", _judged(far, text, least=5.0)


def _earlier(results: Results, figure: str) -> Iterator[tuple[str, str, Verdict]]:
    share = BY_ADVANCE[figure]
    falls = [
        gap for late, early in pairwise(ADVANCES[:3]) for gap in results.gained(share, late, early)
    ]
    trail = ", ".join(
        f"{advance:g}: {formatted_estimate(results.spread(share, advance))} %"
        for advance in ADVANCES
    )
    words = f"{share:.0%} reserved: asking earlier, up to two intervals, rejects less"
    yield figure, words, _judged(falls, f"mean by advance {trail}", least=0.0)
    flat = results.gained(share, *ADVANCES[2:])
    words = f"{share:.0%} reserved: beyond two intervals it makes no difference (2 points)"
    text = f"largest difference {_largest(flat)} points"
    yield figure, words, _judged(flat, text, least=-2.0, most=2.0)


def _largest(gaps: Sequence[MeanEstimate]) -> str:
    return formatted_estimate(max(gaps, key=lambda gap: abs(gap.mean)))


def _judged(
    found: Sequence[MeanEstimate], text: str, least: float = -inf, most: float = inf
) -> Verdict:
    """Return whether every difference lies between two bounds."""
    words = [between(one, least, most) for one in found]
    return Verdict(everywhere(words), f"{counted(words)}; {text}")


def before(advance: float) -> str:
    """Return in words how long before its start a reservation is asked for."""
    return f"{advance:g} interval{'s' * (advance != 1)} before" if advance else "at once"


def draw(
    results: Results,
    figures: Collection[str],
    folder: Path,
    note: str,
    variant: str = "repaired",
    before_that: Path | None = None,
) -> None:
    """Draw the curves of some figures; two that belong together are one picture.

    Parameters
    ----------
    results : Results
    figures : collection of str
    folder : Path
    note : str
    variant : str
        One of `VARIANTS`.
    before_that : Path, optional
        A folder of pictures; the bounds that were drawn there are drawn again.
    """

    def drawn(name: str, title: str, panels: Sequence[Panel]) -> None:
        stem = f"fig-{name}-{variant.replace(' ', '-')}"
        old = curves_of(before_that / f"{stem}.csv") if before_that else {}
        shown = [(label, (*curves, *_bounds(old.get(label, ())))) for label, curves in panels]
        title = f"Mamat 2011, figures {title} ({variant})"
        picture(shown, folder / f"{stem}.svg", title=title, note=note, axis="system load")

    for pair, advance in ((FIGURES[:2], 0.0), (FIGURES[2:4], 1.0)):
        if not set(pair) & set(figures):
            continue
        panels: list[Panel] = [
            (name, tuple(results.curve(f"{s:.0%} reserved", s, advance, m) for s in SHARES))
            for m, name in enumerate(("reject ratio", "utilization"))
        ]
        bounds = [results.bound(f"bound, {share:.0%} reserved", share) for share in EXTREMES]
        panels[0] = (panels[0][0], (*panels[0][1], *(curve for ones in bounds for curve in ones)))
        name = "-".join(pair)
        drawn(name, f"{name}: asked for {before(advance)}", panels)
    shares = [share for figure, share in BY_ADVANCE.items() if figure in figures]
    if shares:
        panels = [
            (
                f"reject ratio, {share:.0%} reserved",
                (
                    *(results.curve(before(a), share, a, 0) for a in ADVANCES),
                    *results.bound("bound on all plans", share),
                ),
            )
            for share in shares
        ]
        drawn("5.17-5.18", "5.17 and 5.18: when reservations are asked for", panels)


def _bounds(curves: Sequence[Curve]) -> list[Curve]:
    return [curve for curve in curves if curve.name.startswith("bound")]


def table(
    found: Mapping[str, Results],
    elsewhere: Mapping[str, Mapping[str, Results]],
    figures: Collection[str],
    few: int,
) -> Iterator[str]:
    """Yield the claims as a Markdown table: results by variant, and by what is chosen otherwise.

    Other choices are held against as few seeds of ours.
    """
    choices = (f"{variant}: otherwise" for variant in found)
    heads = ("figure", "claim", *found, "left open", *choices)
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    mine = {variant: list(claims(results, figures)) for variant, results in found.items()}
    ours = {
        variant: list(claims(results.first(few), figures)) if few else mine[variant]
        for variant, results in found.items()
    }
    others = {
        (variant, choice): list(claims(results, figures))
        for variant, by_choice in elsewhere.items()
        for choice, results in by_choice.items()
    }
    for at, (figure, words, _) in enumerate(next(iter(mine.values()))):
        verdicts = {variant: rows[at][2] for variant, rows in mine.items()}
        cells = [f"**{verdict.word}**: {verdict.numbers}" for verdict in verdicts.values()]
        cells.append(LEFT_OPEN)
        for variant, verdict in verdicts.items():
            there = {name: others[variant, name][at][2].word for name in elsewhere[variant]}
            cells.append(at_another_size(verdict.word, ours[variant][at][2].word, there))
        yield f"| {' | '.join((figure, words, *cells))} |"


def main() -> int:
    """Run the experiments; print the claims as a Markdown table."""
    parser = cli_arguments.parser("multistage", main.__doc__, FIGURES)
    parser.add_argument("--shorter", type=float, help="divide the paper's simulated time by this")
    parser.add_argument(
        "--proofs", type=int, help="seeds with bounds on all plans: 1, --quick none"
    )
    parser.add_argument(
        "--points", type=Path, help="folder of pictures, to take the bounds from; none are computed"
    )
    parser.add_argument(
        "--others",
        type=int,
        metavar="SEEDS",
        help="under other choices of what the chapter leaves open: as many, --quick none",
    )
    wanted = parser.parse_args()
    proofs = int(cli_arguments.size(wanted, 0, 1, 1)) if wanted.proofs is None else wanted.proofs
    figures = wanted.only or FIGURES
    seeds = wanted.seeds or int(cli_arguments.size(wanted, 3, 5, 10))
    few = (
        int(cli_arguments.size(wanted, 0, seeds, seeds)) if wanted.others is None else wanted.others
    )
    horizon = 10_000_000 / (wanted.shorter or cli_arguments.size(wanted, 10, 5, 1))
    begun = time.perf_counter()
    wanted.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, Results] = {}
    for variant, method in VARIANTS.items():
        note = f"{seeds} seeds, time 0 to {horizon:g}, bars: 95 % confidence"
        proven = proofs if variant == "repaired" and wanted.points is None else 0
        found[variant] = Results(figures, seeds, horizon, wanted.processes, proven, method)
        if proven:
            note += f"; bounds on all plans: {proofs} of them"
        elif wanted.points and variant == "repaired":
            note += "; bounds on all plans as drawn before"
        draw(found[variant], figures, wanted.out, note, variant, wanted.points)
    elsewhere = {
        variant: {
            choice: Results(figures, few, horizon, wanted.processes, method=method, choices=choices)
            for choice, choices in (OTHERS if few else {}).items()
        }
        for variant, method in VARIANTS.items()
    }
    print("\n".join(table(found, elsewhere, figures, few)))
    print(f"{time.perf_counter() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
