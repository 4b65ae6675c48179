"""How much of what the papers' algorithms give away is won back: ``python -m benchmarks.better``.

For the settings of figures 4.6 to 4.12, 6.10 and 6.18 of Mamat 2011 and 4 to 10 of Lin et al. 2005:
the reject ratio of the best algorithm of the papers, of ``priced``, and of a plan that knows all
tasks, on the same streams.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from benchmarks.better_settings import FIGURES, PAPERS, SEED_DRAWN, Setting, settings
from benchmarks.papers.clairvoyant import most_accepted
from benchmarks.papers.cli_arguments import chosen
from benchmarks.papers.experiments import WITHOUT
from benchmarks.papers.figure_files import picture
from benchmarks.papers.fluid import fluid_bound
from benchmarks.rows import Rows, form_of, kept
from benchmarks.timing import Report
from dlopt.generation.paper_workloads import WORKLOADS
from dlopt.plotting.line_charts import Curve, DataPoint, Panel
from dlopt.simulation import simulate
from dlopt.simulation.replications import MeanEstimate, estimate

OURS = "priced"
SHARE_WITH_SET_UP = 2 / 3
"""Target, set by hand: share of the distance from the best algorithm to the clairvoyant plan."""
SHARE_WITHOUT = 1 / 3
"""The same without set-up costs."""
SEEDS_FROM = 500
"""The first seed, unless another is given. Nothing of the bid prices was chosen on these."""
_LEAST_DISTANCE = 0.01
"""Least mean distance of reject ratios of which a share is measured."""


@dataclass(frozen=True, slots=True)
class Row:
    """Reject ratios of a stream by method, of a clairvoyant plan and of a bound, where known."""

    parameters: tuple[tuple[str, Any], ...]
    load: float
    seed: int
    ratios: dict[str, float]
    clairvoyant: float | None
    bound: float | None

    @property
    def key(self) -> tuple[Any, ...]:
        """What the row is about."""
        return self.parameters, self.load, self.seed


def _parsed(data: dict[str, Any]) -> Row:
    return Row(tuple((name, value) for name, value in data.pop("parameters")), **data)


FORM = form_of(
    "better",
    lambda row: {name: getattr(row, name) for name in Row.__dataclass_fields__},
    _parsed,
    lambda row: row.key,
)


def measured(
    parameters: Mapping[str, Any],
    load: float,
    seed: int,
    planned: bool,
    bounded: bool,
    papers: Sequence[str] = PAPERS,
) -> Row:
    """Run all methods on a stream; find a plan that knows all tasks, and a bound, if asked to."""
    drawn = {name: value for name, value in parameters.items() if name != "family"}
    workload = WORKLOADS[parameters["family"]](system_load=load, seed=seed, **drawn)
    count = len(workload)
    ratios = {name: simulate(workload, name).reject_ratio or 0.0 for name in (*papers, OURS)}
    lost = 1 - most_accepted(workload) / count if planned else None
    bound = 1 - fluid_bound(workload.instance(), "accepted", count) / count if bounded else None
    return Row(tuple(sorted(parameters.items())), load, seed, ratios, lost, bound)


def run(wanted: argparse.Namespace, rows: Rows[Row]) -> None:
    """Measure what is missing, the settings with set-up costs first."""
    for seed in range(wanted.first, wanted.first + wanted.seeds):
        for setting in settings(wanted.only):
            parameters = setting.parameters(wanted.horizon)
            for load in setting.loads(wanted.loads):
                key = tuple(sorted(parameters.items())), load, seed
                known = rows.by_key.get(key)
                planned = seed < wanted.first + wanted.plans
                bounded = seed < wanted.first + wanted.bounds
                lacks_plan = planned and (known is None or known.clairvoyant is None)
                lacks_bound = bounded and (known is None or known.bound is None)
                lacks = known is None or not known.ratios.keys() >= set(setting.papers)
                if lacks or lacks_plan or lacks_bound:
                    rows.add(measured(parameters, load, seed, planned, bounded, setting.papers))


def run_drawn(wanted: argparse.Namespace, rows: Rows[Row]) -> dict[Setting, list[list[Row]]]:
    """Measure the streams of which a plan and a bound are drawn, and return the rows."""
    found = {}
    for setting in settings(wanted.only):
        parameters = setting.parameters(None)
        loads = []
        for load in setting.loads(wanted.loads):
            known, drawn = None, setting.drawn(load)
            if drawn is not None:
                key = tuple(sorted(parameters.items())), load, SEED_DRAWN
                known = rows.by_key.get(key)
                if known is None and not wanted.stored:
                    known = measured(parameters, load, SEED_DRAWN, False, False, setting.papers)
                    rows.add(known)
            if known is not None and drawn is not None:
                loads.append(replace(known, clairvoyant=drawn[0], bound=drawn[1]))
        if len(loads) == len(wanted.loads):
            found[setting] = [loads]
    return found


def by_seed(setting: Setting, wanted: argparse.Namespace, rows: Rows[Row]) -> list[list[Row]]:
    """Return the rows of a setting, of all loads for each seed that is complete."""
    parameters = tuple(sorted(setting.parameters(wanted.horizon).items()))
    found = []
    for seed in range(wanted.first, wanted.first + wanted.seeds):
        keys = [(parameters, load, seed) for load in setting.loads(wanted.loads)]
        if all(key in rows.by_key for key in keys):
            found.append([rows.by_key[key] for key in keys])
    return found


class NamedSetting(Protocol):
    """A setting of which algorithms are compared."""

    @property
    def has_set_up(self) -> bool:
        """Whether there are set-up costs."""

    @property
    def name(self) -> str:
        """The setting in words."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Mean reject ratios of a setting over its loads, and the confidence intervals over seeds.

    The clairvoyant plan, the bound, and the share of the distance from the best of the papers to
    the plan are means of the seeds where they are known; the share is None if there is hardly any
    distance.
    """

    setting: NamedSetting
    best: str
    paper: MeanEstimate
    ours: MeanEstimate
    difference: MeanEstimate
    clairvoyant: float | None
    share: float | None
    bound: float | None

    @property
    def is_worse(self) -> bool:
        """Whether ours rejects more than the best of the papers, beyond its interval."""
        return self.difference.mean > (self.paper.half_width or 0.0) + 1e-12


def compared(
    setting: NamedSetting,
    found: Sequence[Sequence[Row]],
    papers: Sequence[str] = PAPERS,
    priced: str = OURS,
) -> Comparison:
    """Compare on the rows of a setting, the best algorithm being the one with the least mean."""

    def means(name: str) -> list[float]:
        return [sum(row.ratios[name] for row in loads) / len(loads) for loads in found]

    best = min(papers, key=lambda name: sum(means(name)))
    ours, paper = means(priced), means(best)
    plans = _known_means(found, "clairvoyant")
    bounds = _known_means(found, "bound")
    clairvoyant = sum(plans) / len(plans) if plans else None
    distance = sum(paper[: len(plans)]) - sum(plans)
    won = sum(paper[: len(plans)]) - sum(ours[: len(plans)])
    return Comparison(
        setting,
        best,
        estimate(paper),
        estimate(ours),
        estimate([one - other for one, other in zip(ours, paper, strict=True)]),
        clairvoyant,
        won / distance if distance >= _LEAST_DISTANCE * len(plans) > 0 else None,
        sum(bounds) / len(bounds) if bounds else None,
    )


def _known_means(found: Sequence[Sequence[Row]], name: str) -> list[float]:
    """Return the means of a field over the loads, of the first seeds, for which it is known."""
    columns = [[getattr(row, name) for row in loads] for loads in found]
    return [sum(one) / len(one) for one in columns if None not in one]


def tables(report: Report, comparisons: Sequence[Comparison], priced: str = OURS) -> None:
    """Add the table of all settings, and the targets."""
    of = "" if priced == OURS else f"{priced}, "
    report.table(
        "Reject ratios in percent, means over all loads",
        *("setting", "best of the papers", "rejects", priced, "difference"),
        *("clairvoyant plan", "share won back", "bound"),
    )
    for one in comparisons:
        report.row(
            one.setting.name,
            one.best,
            percent(one.paper),
            percent(one.ours),
            percent(one.difference),
            "-" if one.clairvoyant is None else f"{100 * one.clairvoyant:.1f}",
            "-" if one.share is None else f"{one.share:.2f}",
            "-" if one.bound is None else f"{100 * one.bound:.1f}",
        )
    for one in comparisons:
        text = f"{percent(one.difference)} points from {one.best}"
        report.target(f"{of}{one.setting.name}: never worse than the best", text, not one.is_worse)
    for one in comparisons:
        least = SHARE_WITH_SET_UP if one.setting.has_set_up else SHARE_WITHOUT
        if one.share is not None:
            name = f"{of}{one.setting.name}: at least {least:.2f} of the distance"
            report.target(name, f"{one.share:.2f}", one.share >= least)


def percent(found: MeanEstimate) -> str:
    """Return a mean share in percent, with half the width of its interval if it is known."""
    half = "" if found.half_width is None else f" ± {100 * found.half_width:.1f}"
    return f"{100 * found.mean:.1f}{half}"


def draw(path: Path, wanted: argparse.Namespace, rows: Rows[Row], note: str) -> None:
    """Draw the reject ratios over the load, of figure 4.6 with set-up costs and without."""
    panels: list[Panel] = []
    for figure, label in (("4.6", "with set-up costs"), (f"4.6{WITHOUT}", "without")):
        found = by_seed(Setting(figure, None, None), wanted, rows)
        best = compared(Setting(figure, None, None), found).best
        curves = [*_curves(found, dict.fromkeys((best, "edf-opr-mn", OURS))), _clairvoyant(found)]
        panels.append((f"reject ratio, {label}", tuple(curves)))
    title = "Mamat 2011, figure 4.6: the best algorithms of the papers, and bid prices"
    picture(panels, path, title=title, note=note, axis="system load")


def _curves(found: Sequence[Sequence[Row]], names: Iterable[str]) -> Iterator[Curve]:
    for name in names:
        columns = zip(*found, strict=True)
        yield _curve(name, [(rows[0].load, [row.ratios[name] for row in rows]) for rows in columns])


def _clairvoyant(found: Sequence[Sequence[Row]]) -> Curve:
    columns = zip(*found, strict=True)
    points = []
    for rows in columns:
        known = [row.clairvoyant for row in rows if row.clairvoyant is not None]
        points += [(rows[0].load, known)] if known else []
    return _curve("clairvoyant plan", points)


def _curve(name: str, points: Iterable[tuple[float, list[float]]]) -> Curve:
    return Curve(name, tuple(DataPoint(load, *estimate(values)) for load, values in points))


def main() -> int:
    """Run what is missing; the exit code is 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.better", description=main.__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=SEEDS_FROM, metavar="SEED", help="of these")
    parser.add_argument(
        "--horizon", type=float, help="of figure 4.6; without it, half of the papers' time"
    )
    parser.add_argument(
        "--loads", type=_loads, default=_loads("0.2,0.4,0.6,0.8,1"), help="parts of the largest"
    )
    parser.add_argument(
        "--only",
        metavar="FIGURE,...",
        type=lambda names: chosen(names, FIGURES),
        default=FIGURES,
        help=", ".join(FIGURES),
    )
    parser.add_argument("--plans", type=int, default=3, help="seeds with a clairvoyant plan")
    parser.add_argument("--bounds", type=int, default=1, help="seeds with a bound on all plans")
    parser.add_argument("--rows", type=Path, help="keep rows here, and go on from those there")
    parser.add_argument(
        "--drawn",
        action="store_true",
        help=f"seed {SEED_DRAWN}, with the plans and bounds of the figures",
    )
    parser.add_argument("--stored", action="store_true", help="run nothing: judge what is there")
    parser.add_argument("--markdown", type=Path, help="write the tables here")
    parser.add_argument("--plot", type=Path, help="draw figure 4.6 here")
    wanted = parser.parse_args()
    with kept(wanted.rows, FORM) as rows:
        if wanted.drawn:
            found = run_drawn(wanted, rows)
        else:
            if not wanted.stored:
                run(wanted, rows)
            found = {setting: by_seed(setting, wanted, rows) for setting in settings(wanted.only)}
        report = Report(quick=False)
        tables(report, [compared(it, some, it.papers) for it, some in found.items() if some])
        if wanted.markdown:
            report.write_markdown(wanted.markdown, f"python -m benchmarks.better {_given(wanted)}")
        if wanted.plot:
            until = Setting("4.6", None, None).parameters(wanted.horizon)["horizon"]
            note = f"{wanted.seeds} seeds, time 0 to {until:g}, bars: 95 % confidence"
            note += f"; clairvoyant plan: {wanted.plans} of them"
            draw(wanted.plot, wanted, rows, note)
    return 0 if all(target["passed"] for target in report.targets) else 1


def _loads(text: str) -> list[float]:
    return [float(word) for word in text.split(",")]


def _given(wanted: argparse.Namespace) -> str:
    loads = ",".join(f"{load:g}" for load in wanted.loads)
    if wanted.drawn:
        return f"--drawn --loads {loads}"
    seeds = f"--first {wanted.first} --seeds {wanted.seeds}"
    horizon = "" if wanted.horizon is None else f" --horizon {wanted.horizon:g}"
    return f"{seeds} --plans {wanted.plans}{horizon} --loads {loads}"


if __name__ == "__main__":
    sys.exit(main())
