"""One rule for the labels of bars: where they are written, how shortened, when left out."""

from __future__ import annotations

import random

import pytest
from matplotlib.text import Text

from dlopt.plotting import draw_solution
from dlopt.plotting.bar_labels import LEAST_NAME, bar_names, free_parts, named_bar
from dlopt.plotting.gantt import Gantt
from dlopt.plotting.style import (
    BUSY,
    REJECTED,
    SMALL,
    VIOLATION,
    Bar,
    BarStyle,
    ChartRow,
    TimeMark,
    short_names,
    text_width,
)
from dlopt.problems import bag, coreservation, dag
from dlopt.problems.cluster import Cluster
from dlopt.problems.iit import Chunk, Instance, Solution

PLAIN = BarStyle("plain", "plain", ("#7DB8DC",))
OVER = BarStyle("over", "over", ("#222222",))
OUTLINE = BarStyle("outline", "outline", ("none",), "#222222")
LINE = "\N{HORIZONTAL ELLIPSIS}"


def written(*kinds: tuple[BarStyle, list[Bar]], marks: tuple[float, ...] = ()) -> list[Text]:
    """Return the labels of bars on two rows from 0 to 10, about 6 inches."""
    chart = Gantt([ChartRow("row"), ChartRow("other")], (0, 10))
    for look, bars in kinds:
        chart.bars(look, bars)
    for time in marks:
        chart.mark(TimeMark(time, ""))
    return [text for text in chart.finish("", "").axes[0].texts if text.get_text()]


def places(texts: list[Text]) -> dict[str, float]:
    return {text.get_text(): text.get_position()[0] for text in texts}


def test_a_label_stands_where_no_later_bar_covers_its_bar() -> None:
    covers = [Bar(0, 0, 2), Bar(0, 7, 8), Bar(1, 3, 5)]
    assert places(written((PLAIN, [Bar(0, 0, 10, "a")]), (OVER, covers))) == {"a": 4.5}
    assert places(written((OVER, covers), (PLAIN, [Bar(0, 0, 10, "a")]))) == {"a": 5}
    assert written((PLAIN, [Bar(0, 0, 10, "a")]), (OVER, [Bar(0, 0, 10)])) == []


def test_bars_of_one_kind_cover_one_another_in_their_order() -> None:
    assert places(written((PLAIN, [Bar(0, 0, 6, "a"), Bar(0, 4, 9, "b")]))) == {"a": 2, "b": 6.5}


def test_no_line_crosses_a_label() -> None:
    assert places(written((PLAIN, [Bar(0, 0, 10, "a")]), marks=(4,))) == {"a": 7}
    outlined = written((PLAIN, [Bar(0, 0, 10, "a")]), (OUTLINE, [Bar(0, 2, 9)]))
    assert places(outlined) == {"a": 5.5}


def test_hatching_is_avoided_or_stops_around_a_label() -> None:
    (label,) = written((PLAIN, [Bar(0, 0, 10, "a")]), (VIOLATION, [Bar(0, 4, 10)]))
    assert places([label]) == {"a": 2} and label.get_bbox_patch() is None
    (inside,) = written((PLAIN, [Bar(0, 0, 10, "a")]), (VIOLATION, [Bar(0, 0, 10)]))
    paper = inside.get_bbox_patch()
    assert places([inside]) == {"a": 5} and paper is not None
    (hatched,) = written((REJECTED, [Bar(0, 0, 10, "a")]))
    assert hatched.get_bbox_patch() is not None


def test_a_name_is_shortened_to_what_fits_and_other_texts_are_left_out() -> None:
    (name,) = bar_names(["ALIGN_READS_17"])
    for length, expected in ((3.0, "ALIGN_READS_17"), (0.9, f"ALI{LINE}_17"), (0.2, "")):
        shown = "".join(places(written((PLAIN, [named_bar(Bar(0, 0, length), name)]))))
        if LINE in expected:  # how many letters fit is a matter of the font
            assert LEAST_NAME <= len(shown) < len(name.full)
            assert shown[0] == "A" and LINE in shown and shown.endswith("17")
        else:
            assert shown == expected
    assert written((PLAIN, [Bar(0, 0, 0.9, "load 12345, 10 missing")])) == []


def test_a_name_that_would_read_as_another_is_left_out() -> None:
    names = bar_names(["AAAAAAAA1AAAAAAAA", "AAAAAAAA2AAAAAAAA"])
    narrow = [named_bar(Bar(row, 0, 0.9), name) for row, name in enumerate(names)]
    assert written((PLAIN, narrow)) == []
    assert places(written((PLAIN, narrow[:1])))
    wide = [named_bar(Bar(row, 0, 9), name) for row, name in enumerate(names)]
    assert set(places(written((PLAIN, wide)))) == {name.full for name in names}


@pytest.mark.parametrize("seed", range(20))
def test_labels_never_touch_and_always_stand_in_their_bars(seed: int) -> None:
    """Whatever is drawn over what: no two labels overlap, and none stands on a later bar."""
    rng = random.Random(seed)
    bars = []
    for index in range(12):
        start = rng.uniform(0, 9)
        bar = Bar(rng.randrange(2), start, start + rng.uniform(0.2, 5))
        bars.append(named_bar(bar._replace(end=min(bar.end, 10)), bar_names([f"t{index}"])[0]))
    chart = Gantt([ChartRow("row"), ChartRow("other")], (0, 10))
    chart.bars(PLAIN, bars)
    texts = [text for text in chart.finish("", "").axes[0].texts if text.get_text()]
    assert texts
    for text in texts:
        index = int(text.get_text()[1:])
        bar = bars[index]
        half = text_width(text.get_text(), SMALL) / chart.scale / 2
        left, right = text.get_position()[0] - half, text.get_position()[0] + half
        assert bar.start <= left and right <= bar.end
        assert not any(
            other.row == bar.row and other.start < right and left < other.end
            for other in bars[index + 1 :]
        )


def test_parts_of_an_interval() -> None:
    assert list(free_parts(0, 4, [])) == [(0, 4)]
    assert list(free_parts(0, 4, [(-1, 9)])) == []
    assert list(free_parts(0, 4, [(1, 2), (1, 3)], [2])) == [(0, 1), (3, 4)]


def labels(figure) -> dict[str, tuple[float, float]]:
    return {text.get_text(): text.get_position() for text in figure.axes[0].texts}


def test_loads_stand_next_to_the_set_up_of_their_computation() -> None:
    instance = Instance(Cluster(1, tau=1, chi=3, theta_cm=1, theta_cp=6), (0,), load=2)
    figure = draw_solution(instance, Solution((Chunk(0, 2, 0, 3, 3, 15),)))
    assert labels(figure)["2"][0] == 12  # from 9, when it is set up, to 15
    assert labels(figure)["0"][0] == 2  # in the channel, after the set-up of the transmission


LONG = [f"workflow-of-many-tasks-{index}" for index in range(3)]


def test_names_in_all_kinds_lose_what_they_have_in_common() -> None:
    machine = "m"
    jobs = tuple(bag.Task(name, 2) for name in LONG)
    one = bag.Instance(jobs, (bag.Machine(machine),))
    row = bag.Solution(tuple(bag.Placement(n, 0, 2 * i, 2 * i + 2) for i, n in enumerate(LONG)))
    graph = dag.Graph("g", tuple(dag.Task(name, work=2) for name in LONG))
    other = dag.Instance((dag.Machine(machine),), (graph,))
    plan = dag.Solution(tuple(dag.Placement(0, i, 0, 2 * i) for i in range(3)))
    requests = tuple(
        coreservation.Request(n, 0, i, i + 1, 1, (coreservation.Part(5),))
        for i, n in enumerate(LONG)
    )
    third = coreservation.Instance((coreservation.Machine(machine, 10),), requests)
    shares = coreservation.Solution(
        tuple(coreservation.Decision(n, True, 0) for n in LONG),
        tuple(coreservation.Share(n, 0, 0, 5) for n in LONG),
    )
    for instance, solution in ((one, row), (other, plan), (third, shares)):
        shown = labels(draw_solution(instance, solution))
        assert {"0", "1", "2"} <= set(shown)
        assert not [text for text in shown if text.startswith("workflow")]


def test_busy_time_covers_no_label() -> None:
    assert places(written((BUSY, [Bar(0, 0, 3)]), (PLAIN, [Bar(0, 3, 5, "a")]))) == {"a": 4}


def test_rows_whose_names_differ_in_the_middle_are_told_apart() -> None:
    ids = [f"experiment{letter}of the first week" for letter in "abc"]
    assert short_names(ids, 12)[:2] == ["experimenta…e first week", "experimentb…e first week"]
    assert len(set(short_names([*ids, "d"], 12))) == 4
    assert {len(name) for name in short_names([ids[0], "another name of no interest"], 12)} == {12}
    assert short_names(["the same long name"] * 2, 8) == ["name", "name"]
