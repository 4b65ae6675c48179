"""Curves as SVG that stands in an HTML page: no script, no font, no file beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from dlopt.batch.metrics import StepCurve
from dlopt.batch.report_tables import escape

_COLOURS = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7b5cd6",
    "#a6761d", "#56a0d3", "#b3003c", "#5b7f00", "#6b6b6b",
)  # fmt: skip
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
_WIDTH, _HEIGHT = 560, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 28, 12, 50


def profile_svg(
    title: str,
    axis: str,
    curves: Mapping[str, StepCurve],
    *,
    least: float,
    tick: Callable[[float], str],
    pens: Sequence[str] = (),
) -> str:
    """Return rising step curves over a logarithmic axis, as SVG with a legend below it.

    Parameters
    ----------
    title, axis : str
    curves : mapping of str to Steps
    least : float
        What the axis begins with; smaller values are drawn there.
    tick : callable
        The text of a value on the axis.
    pens : sequence of str, optional
        All labels of several figures, so that each has the same colour in all.

    Examples
    --------
    >>> svg = profile_svg("gaps", "gap", {"a": ((0.5, 1.0),)}, least=0.1, tick=str)
    >>> svg.count("<path"), "a</span>" in svg
    (2, True)
    """
    most = max((x for steps in curves.values() for x, _ in steps), default=least)
    first = math.floor(math.log10(least))
    last = max(first + 1, math.ceil(math.log10(max(most, least)) - 1e-9))

    def across(x: float) -> float:
        place = (math.log10(max(x, least)) - math.log10(least)) / (last - math.log10(least))
        return _LEFT + place * (_WIDTH - _LEFT - _RIGHT)

    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
        *_grid(across, [10.0**n for n in range(first, last + 1) if 10.0**n >= least], tick),
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:g}" y="{_HEIGHT - 6}" class="name">'
        f"{escape(axis)}</text>",
    ]
    end = _WIDTH - _RIGHT
    all_pens = {label: _pen(index) for index, label in enumerate(pens or curves)}
    for label, steps in curves.items():
        colour, dash = all_pens[label]
        drawn = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(
            f'<path d="{_path(steps, across, end)}" stroke="{colour}"{drawn}>'
            f"<title>{escape(label)}</title></path>"
        )
    parts.append("</svg>")
    legend = "".join(_legend({label: all_pens[label] for label in curves}))
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>{''.join(parts)}"
        f'<div class="legend">{legend}</div></figure>'
    )


def _grid(
    across: Callable[[float], float], ticks: Sequence[float], tick: Callable[[float], str]
) -> list[str]:
    parts = []
    for share in (0, 25, 50, 75, 100):
        y = _up(share / 100)
        parts.append(
            f'<line x1="{_LEFT}" y1="{y:g}" x2="{_WIDTH - _RIGHT}" y2="{y:g}" class="grid"/>'
        )
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:g}" class="left">{share} %</text>')
    every = math.ceil(len(ticks) / 8)
    for number, value in enumerate(ticks):
        x = across(value)
        parts.append(
            f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_HEIGHT - _BOTTOM}" class="grid"/>'
        )
        if number % every == 0:
            parts.append(
                f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 20}">{escape(tick(value))}</text>'
            )
    return parts


def _path(steps: StepCurve, across: Callable[[float], float], end: float) -> str:
    words = [f"M{_LEFT} {_up(0):.1f}"]
    for x, share in steps:
        words.append(f"H{across(x):.1f}V{_up(share):.1f}")
    return "".join(words) + f"H{end:g}"


def _up(share: float) -> float:
    return _HEIGHT - _BOTTOM - share * (_HEIGHT - _BOTTOM - _TOP)


def _pen(index: int) -> tuple[str, str]:
    return (
        _COLOURS[index % len(_COLOURS)],
        _DASHES[index // len(_COLOURS) % len(_DASHES)],
    )


def _legend(pens: Mapping[str, tuple[str, str]]) -> list[str]:
    parts = []
    for label, (colour, dash) in pens.items():
        drawn = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(
            f'<span><svg viewBox="0 0 26 8" class="pen"><path d="M0 4H26" stroke="{colour}"'
            f"{drawn}/></svg>{escape(label)}</span>"
        )
    return parts
