"""Every text can be read on what is under it: a contrast of at least 4.5 to 1 (WCAG 2, AA)."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from dlopt import plotting
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.style import ALARM, FAINT, INK, Bar, BarStyle, ChartRow, contrast, ink_on

LEAST = 4.5
STYLES = {
    f"{module.name}.{name}": value
    for module in pkgutil.iter_modules(plotting.__path__)
    for name, value in vars(importlib.import_module(f"dlopt.plotting.{module.name}")).items()
    if isinstance(value, BarStyle)
}


def test_the_ratio_is_that_of_the_guideline() -> None:
    assert contrast("#FFFFFF", "#767676") == pytest.approx(4.54, abs=0.01)
    assert contrast("#000000", "#FFFFFF") == contrast("#FFFFFF", "#000000") == 21


@pytest.mark.parametrize("look", STYLES.values(), ids=STYLES)
def test_texts_can_be_read_on_bars(look: BarStyle) -> None:
    for face in look.faces:
        assert face == "none" or contrast(ink_on(face), face) >= LEAST


@pytest.mark.parametrize("ink", [INK, FAINT, ALARM])
def test_texts_can_be_read_on_paper(ink: str) -> None:
    assert contrast(ink, "#FFFFFF") >= LEAST


def test_bars_have_the_ink_of_their_face_and_hatching_stops_around_texts() -> None:
    chart = Gantt([ChartRow("row"), ChartRow("other")], (0, 10))
    chart.bars(
        BarStyle("a", "a", ("#0072B2", "#56B4E9")), [Bar(0, 0, 5, "x"), Bar(0, 5, 9, "y", 1)]
    )
    chart.bars(BarStyle("b", "b", ("#FFFFFF",), hatch="///"), [Bar(1, 5, 9, "z")])
    dark, light, hatched = chart.finish("", "").axes[0].texts
    assert (dark.get_color(), light.get_color()) == ("#FFFFFF", INK)
    assert dark.get_bbox_patch() is None
    paper = hatched.get_bbox_patch()
    assert paper is not None and paper.get_facecolor()[:3] == (1, 1, 1)
