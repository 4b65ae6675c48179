"""Violations on charts: hatched, and one is named in the subtitle."""

from __future__ import annotations

from matplotlib.colors import to_hex

from dlopt.plotting import draw_solution
from dlopt.plotting.style import VERMILLION, VIOLATION
from dlopt.result import Violation
from tests.plotting.figures import texts
from tests.plotting.test_dag import DIAMOND, PLAN


def test_the_subtitle_names_the_first_violation_and_its_machine() -> None:
    overlap = Violation("machine-overlap", "machine 1", 1, 2, 1)
    figure = draw_solution(DIAMOND, PLAN, violations=(overlap,), note="m, unsound")
    name = DIAMOND.machines[1].id
    subtitle = figure.texts[1].get_text().replace("\n", " ")
    assert (
        subtitle == f"machine-overlap on machine {name} in [1, 2] by 1"
        " · 4 tasks · in time · 1 violation · m, unsound"
    )
    strange = Violation("unknown-machine", "machine 7")
    [text] = [t for t in texts(draw_solution(DIAMOND, PLAN, violations=(strange,))) if "·" in t]
    assert text.startswith("unknown-machine on machine 7 · ")


def test_violations_are_hatched() -> None:
    overlap = Violation("machine-overlap", "machine 1", 1, 2, 1)
    figure = draw_solution(DIAMOND, PLAN, violations=(overlap,))
    [bars] = [one for one in figure.axes[0].collections if one.get_gid() == "violation"]
    assert bars.get_hatch() == VIOLATION.hatch
    assert to_hex(bars.get_edgecolor()[0]) == VERMILLION.lower()
