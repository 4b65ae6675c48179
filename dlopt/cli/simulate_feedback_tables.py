"""What `dlopt simulate feedback` prints and draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import RenderableType
from rich.table import Table

from dlopt.presentation.wording import counted

if TYPE_CHECKING:
    from dlopt.cli.picture_options import PictureStyle
    from dlopt.simulation.feedback import FeedbackRun, Model, StrategyComparison

_MEASURES = ("miss_ratio", "reject_ratio", "utilization", "bound")
_PARTS = (("first third", 0, 1 / 3), ("middle", 1 / 3, 2 / 3), ("last third", 2 / 3, 1))


def report(found: StrategyComparison) -> Iterator[RenderableType]:
    """Yield identification, gains, stability, and the table of strategies."""
    setting, model, design = found.setting, found.model, found.design
    where = "the given tasks" if setting.given else f"system load {setting.identified_at:g}"
    moved = f"bounds varied in {setting.excited_from:g} to {setting.excited_to:g}"
    yield f"identification: {model.samples} periods at {where}, {moved}"
    yield f"  {_equation(model)}"
    doubt = "" if model.significant else ", [bold red]not significantly different from 0[/]"
    fit = f"R^2 {model.r2:.3f}, {found.validation:.3f} on another run"
    error = f"± {model.gain_error:.3f} (one standard error)"
    yield f"  {fit}; gain {model.gain:.3f} {error}{doubt}"
    gains = design.gains
    yield (
        f"controller: U(k) = U(k-1) + {gains.proportional:.3f} (e(k) - e(k-1)) + "
        f"{gains.integral:.3f} e(k), e(k) = {setting.set_point:g} - MR(k)"
    )
    wanted = setting.specification
    yield (
        f"  smallest gain on the root locus with settling time {wanted.settling:g} periods, "
        f"overshoot {wanted.overshoot:.0%}, gain margin {wanted.gain_margin:g}"
    )
    poles = ", ".join(_pole(pole) for pole in design.poles)
    word = "stable, all" if design.stable else "[bold red]unstable, not all[/]"
    yield f"stability: {word} poles of the closed loop within the unit circle: {poles}"
    yield (
        f"  settling time {design.settling} periods, overshoot {design.overshoot:.1%}, "
        f"gain margin {design.gain_margin:.3g}"
    )
    yield _table(found)
    if _seeds(found) == 1 and not found.setting.given:
        yield "one seed, so no confidence intervals: --seeds 10 prints means with 95 % intervals"


def _seeds(found: StrategyComparison) -> int:
    return len(next(iter(found.runs.values())))


def _equation(model: Model) -> str:
    terms = [(a, f" MR(k-{j})") for j, a in enumerate(model.a, start=1)]
    terms += [(b, f" U(k-{j})") for j, b in enumerate(model.b, start=1)]
    signs = (
        f" {'-' if x < 0 else '+'} {abs(x):.3f}{what}" for x, what in (*terms, (model.offset, ""))
    )
    return "MR(k) =" + "".join(signs).removeprefix(" +")


def _pole(pole: complex) -> str:
    if abs(pole.imag) < 1e-9:
        return f"{pole.real:.3f}"
    return f"{pole.real:.3f}{pole.imag:+.3f}i"


def _table(found: StrategyComparison) -> Table:
    seeds = _seeds(found)
    title = f"{_name(found)}, {counted(seeds, 'seed')}"
    table = Table(box=box.SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    table.add_column("strategy", no_wrap=True)
    table.add_column("time", no_wrap=True)
    for measure in _MEASURES:
        table.add_column(measure.replace("_", " "), justify="right", no_wrap=True)
    for name, of_seeds in found.runs.items():
        for part, first, last in (*_PARTS, ("all", 0, 1)):
            cells = [_cell(of_seeds, measure, first, last) for measure in _MEASURES]
            table.add_row(name, part, *cells)
        table.add_section()
    return table


def _name(found: StrategyComparison) -> str:
    """Return what the tasks are called, whatever the seed."""
    runs = next(iter(found.runs.values()))
    name = runs[0].workload.name or "stream"
    return name if found.setting.given else name.rpartition("-")[0]


def _values(runs: Sequence[FeedbackRun], measure: str, first: float, last: float) -> list[float]:
    found = []
    for run in runs:
        if round(first * len(run.periods)) < round(last * len(run.periods)):
            value = getattr(run.between(first, last), measure)
            found += [] if value is None else [float(value)]
    return found


def _cell(runs: Sequence[FeedbackRun], measure: str, first: float, last: float) -> str:
    from dlopt.simulation import replications

    values = _values(runs, measure, first, last)
    if not values:
        return "-"
    found = replications.estimate(values)
    width = "" if found.half_width is None else f" ± {found.half_width:.3f}"
    return f"{found.mean:.3f}{width}"


def to_data(found: StrategyComparison, check: bool) -> dict[str, Any]:
    """Return a study as plain data; an endless margin is None."""
    model, design = found.model, found.design
    margin = design.gain_margin
    return {
        "identification": {
            "order": model.order,
            "a": list(model.a),
            "b": list(model.b),
            "offset": model.offset,
            "r2": model.r2,
            "r2_validation": found.validation,
            "gain": model.gain,
            "gain_standard_error": model.gain_error,
            "significant": model.significant,
            "residual": model.residual,
            "samples": model.samples,
        },
        "controller": {
            "set_point": found.setting.set_point,
            "proportional": design.gains.proportional,
            "integral": design.gains.integral,
        },
        "stability": {
            "stable": design.stable,
            "poles": [{"real": pole.real, "imaginary": pole.imag} for pole in design.poles],
            "settling": design.settling,
            "overshoot": design.overshoot,
            "gain_margin": None if margin == float("inf") else margin,
        },
        "strategies": [
            {"strategy": name, "runs": [_run_data(run, check) for run in runs]}
            for name, runs in found.runs.items()
        ],
    }


def _run_data(run: FeedbackRun, check: bool) -> dict[str, Any]:
    total = run.total
    return {
        "workload": run.workload.name,
        "tasks": total.decided,
        "rejected": total.rejected,
        "settled": total.settled,
        "missed": total.missed,
        **{measure: getattr(total, measure) for measure in _MEASURES},
        "violations": len(run.violations) if check else None,
        "periods": {
            measure: [getattr(period, measure) for period in run.periods] for measure in _MEASURES
        },
    }


def checked(found: StrategyComparison) -> dict[str, int]:
    """Return how many violations the traces of each strategy have."""
    return {name: sum(len(run.violations) for run in runs) for name, runs in found.runs.items()}


def draw(found: StrategyComparison, path: Path, style: PictureStyle) -> None:
    """Draw all measures over the time."""
    from dlopt.plotting.line_charts import Curve, DataPoint, plot_curves
    from dlopt.simulation.feedback import measure_over_time

    panels = []
    for measure in _MEASURES:
        curves = []
        for name, runs in found.runs.items():
            spots = [
                DataPoint(middle, *spread) for middle, spread in measure_over_time(runs, measure)
            ]
            curves.append(Curve(name, tuple(spots)))
        label = "utilization bound" if measure == "bound" else measure.replace("_", " ")
        panels.append((label, tuple(curves)))
    seeds = _seeds(found)
    note = f"set point {found.setting.set_point:g}; {counted(seeds, 'seed')}"
    note += ", 95 % intervals" * (seeds > 1)
    plot_curves(panels, path, note=note, axis="sampling period", **style.page(_name(found)))
