"""The rows over spans of chunks that certificates may have, and no stronger ones.

Both checkers are asked, dlopt's and that of `tests/reference`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from benchmarks.second_checker import first_verdict, second_verdict
from dlopt.formats import vipr
from dlopt.models.admission.chunk_span_relaxation import ChunkSpanRelaxation
from dlopt.models.admission.methods import exact_plan
from dlopt.models.admission.scaled_instance import ScaledInstance
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster
from dlopt.result import Limits, Result, Status
from tests.models.admission.sample_instances import stream
from tests.stated_rows import StatedRow, Statement

# Node 1 is free from 2 on, and a computation has a set-up time of 1.
INSTANCE = Instance(
    Cluster(2, tau=1, chi=1, theta_cp=1),
    (Task("a", 0, 2, 5), Task("b", 1, 1, 3)),
    ready_times=(0, 2),
)
REMARKS = {
    "time": "0 is 0, 1 is 1",
    "load": "1 is 1",
    "chunks": "1",
    "instants": "0 1 2 4 5",
    "groups": "0 0",
}
SPANS = {
    0: (
        "0_0_1",
        "0_0_2",
        "0_1_2",
        "0_1_3",
        "0_2_3",
        "1_1_2",
        "1_2_2",
        "1_1_3",
        "1_2_3",
        "2_2_2",
        "2_2_3",
    ),
    1: ("1_1_2", "1_2_2", "2_2_2"),
}
NAMES = ("z_0", "z_1", *(f"{x}_{i}_0_{span}" for i in SPANS for span in SPANS[i] for x in "nxy"))


def flaws(
    name, terms, side, *, letter="L", instance=INSTANCE, remarks=REMARKS, names=NAMES, **about
):
    """Return why both checkers refuse a row, None if not; terms by the names of columns."""
    column = {one: number for number, one in enumerate(names)}
    known = {column[n]: Fraction(a) for n, a in terms.items()}
    row = StatedRow(name, known, Fraction(side), letter)
    costs = {column[f"z_{i}"]: Fraction(-1) for i in range(len(instance.tasks))}
    args = (instance, "accepted", dict(remarks), names, frozenset({0}), costs, Fraction(0))
    about = {"plan_class": "single", "installments": 1} | about
    return Statement(*args, (row,), {}, **about).flaws([row])


def sums(**kinds):
    """Return terms: by letter and what its columns end with, a coefficient."""
    return {f"{x}_{s}": a for x, of in kinds.items() for s, a in of.items()}


ROWS = {
    "load_0": ({"z_0": 2} | {f"x_0_0_{s}": -1 for s in SPANS[0]}, 0),
    "load_1": ({"z_1": -1} | {f"x_1_0_{s}": 1 for s in SPANS[1]}, 0),
    "chunks_1_0": ({"z_1": -2} | {f"n_1_0_{s}": 1 for s in SPANS[1]}, 0),
    # At least 1/2 if it is sent in interval 2 and ends in 3, at most 1 if it starts and ends in 2.
    "load_0_0_1_2_3": ({"n_0_0_1_2_3": Fraction(1, 2), "x_0_0_1_2_3": -1}, 0),
    "load_0_0_2_2_3": ({"n_0_0_2_2_3": -1, "x_0_0_2_2_3": 1}, 0),
    "start_0_0_2_2_3": ({"n_0_0_2_2_3": -2, "y_0_0_2_2_3": 1}, 0),
    "sent_0_0_0_1_2": ({"n_0_0_0_1_2": -1, "x_0_0_0_1_2": 1, "y_0_0_0_1_2": -1}, 0),
    "sent_0_0_0_1_3": ({"x_0_0_0_1_3": -1, "y_0_0_0_1_3": 1}, 0),
    "end_0_0_0_1_3": ({"n_0_0_0_1_3": -3, "x_0_0_0_1_3": 2, "y_0_0_0_1_3": -1}, 0),
    "end_0_0_0_2_3": ({"n_0_0_0_2_3": 2, "x_0_0_0_2_3": -2, "y_0_0_0_2_3": 1}, 0),
    "channel_0": (
        sums(
            x={"0_0_0_0_1": 1, "0_0_0_0_2": 1}, y={f"0_0_0_{s}": 1 for s in ("1_2", "1_3", "2_3")}
        ),
        1,
    ),
    "nodes_0_0": ({f"y_0_0_{s}": 1 for s in SPANS[0][:5]}, 1),
    "sending_1": ({f"n_0_0_0_{s}": 1 for s in ("1_2", "1_3", "2_3")}, 1),
    "busy_0_1": ({f"n_0_0_{s}": 1 for s in SPANS[0][:5]}, 1),
    "busy_0_3": ({f"n_0_0_{s}": 1 for s in SPANS[0] if s[-1] == "3"}, 2),
    # Chunks that start in [2, 4) occupy 2, 1, 1/2, ... of it, and their set-up times of 1. Of
    # each 3/2 is paid: 3/2 of the first one and 1/2 of the second one remain.
    "cut_2_2_7": (
        sums(
            n={"0_0_2_2_2": Fraction(-1, 2), "0_0_2_2_3": Fraction(-3, 2)},
            x={"0_0_2_2_2": 2},
            y={"0_0_2_2_3": 1},
        ),
        2,
    ),
    "n_0_0_0_1_2_L": ({"n_0_0_0_1_2": 1}, 1),
    "n_0_0_2_2_3_L": ({"n_0_0_2_2_3": 1}, 2),
    "x_0_0_0_1_2_L": ({"x_0_0_0_1_2": 1}, Fraction(3, 2)),
    "y_0_0_2_2_3_L": ({"y_0_0_2_2_3": 1}, 4),
    "z_1_L": ({"z_1": 1}, 1),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_hold_and_those_that_say_a_little_more(name):
    terms, side = ROWS[name]
    assert flaws(name, terms, side) == (None, None)
    assert None not in flaws(name, terms, side - Fraction(1, 10**6))
    for n in terms:
        more = {**terms, n: terms[n] + Fraction(1, 10**6)}
        assert None not in flaws(name, more, side), n


def test_a_cut_is_about_chunks_of_its_window_and_the_channel():
    terms, side = ROWS["cut_2_2_7"]
    for name in ("cut_1_2_7", "cut_3_3_7", "cut_2_9_7", "cut_2_7", "cut"):
        assert None not in flaws(name, terms, side), name
    assert None not in flaws("cut_2_2_7", {**terms, "y_0_0_1_1_3": 1, "n_0_0_1_1_3": -2}, side)
    assert flaws("cut_2_2_7", {**terms, "n_0_0_2_2_3": -2}, side) == (None, None)
    assert None not in flaws("cut_2_2_7", {n: terms[n] for n in terms if n[0] != "n"}, 99)
    # Where a transmission takes no time, nothing limits how many chunks are sent.
    at_once = replace(INSTANCE, cluster=Cluster(2, tau=(0, 1), chi=(2, 1), theta_cp=1))
    names, apart = ("z_0", "z_1", "y_0_1_2_2_3", "n_0_1_2_2_3"), REMARKS | {"groups": "0 1"}
    about = {"names": names, "remarks": apart}
    row = ("cut_2_2_7", {"y_0_1_2_2_3": 1, "n_0_1_2_2_3": Fraction(-3, 2)}, 2)
    assert flaws(*row, **about) == (None, None)
    assert "cut" in flaws(*row, instance=at_once, **about)[0]


@pytest.mark.parametrize(
    ("changes", "flaw"),
    [
        *(({"instants": text}, "its instants") for text in ("0 1 2 4", "1 2 4 5", "1/2 6")),
        *(
            ({"instants": text}, "instants in ascending order")
            for text in ("0 2 1 4 5", "0 1 1 2 4 5", "0 1 two 4 5", "0", "")
        ),
        *(({"groups": text}, "groups") for text in ("0", "0 2", "1 1", "")),
        *(({"chunks": text}, "number of chunks") for text in ("any", "0")),
        ({"load": "1 is 0"}, "units"),
        ({"time": "0 is 1, 1 is 1"}, "its instants"),
    ],
)
def test_remarks_that_are_not_those_of_the_program(changes, flaw):
    first, second = flaws("z_0_L", {"z_0": 1}, 1, remarks=REMARKS | changes)
    assert flaw in first and second is not None


def test_instants_may_be_any_that_cover_the_windows():
    """Where an instant is left out, or one more is there, other rows hold."""
    more = REMARKS | {"instants": "0 1 2 4 5 6 9"}
    assert flaws("z_0_L", {"z_0": 1}, 1, remarks=more) == (None, None)
    for instants in ("0 5", "0 3 5", "-1 9/2 6", "0 1/2 3 5"):
        about = {
            "names": ("z_0", "z_1", "n_0_0_0_0_1"),
            "remarks": REMARKS | {"instants": instants},
        }
        if instants == "0 5":
            about["names"] = ("z_0", "z_1", "n_0_0_0_0_0")
        assert flaws("z_0_L", {"z_0": 1}, 1, **about) == (None, None)
    merged = REMARKS | {"instants": "0 1 4 5"}
    name, terms, names = "start_0_0_1_1_2", {"n_0_0_1_1_2": -3, "y_0_0_1_1_2": 1}, NAMES[:2]
    about = {"names": (*names, *terms), "remarks": merged}
    assert flaws(name, terms, 0, **about) == (None, None)
    assert None not in flaws(name, {**terms, "n_0_0_1_1_2": -2}, 0, **about)


def test_columns_of_spans_that_are_not_possible_and_integers():
    for name in ("n_0_0_0_0_0", "n_1_0_0_0_1", "n_1_0_1_1_3", "x_0_0_3_3_3", "y_0_1_0_0_1", "z_2"):
        assert None not in flaws("z_0_L", {"z_0": 1}, 1, names=(*NAMES, name)), name
    first = (NAMES[2], *NAMES[:2], *NAMES[3:])
    assert None not in flaws("z_0_L", {"z_0": 1}, 1, names=first)


def test_plans_with_more_chunks_and_promised_tasks():
    two = {"remarks": REMARKS | {"chunks": "2"}, "plan_class": "k", "installments": 2}
    terms, side = ROWS["chunks_1_0"]
    assert flaws("chunks_1_0", {**terms, "z_1": -4}, side, **two) == (None, None)
    assert None not in flaws("chunks_1_0", terms, side, **two)
    assert None not in flaws("z_0_L", {"z_0": 1}, 1, plan_class="k", installments=2)
    assert None not in flaws("z_0_G", {"z_0": -1}, -1, letter="G")
    promised = replace(INSTANCE, now=1, tasks=(Task("a", 0, 2, 5), Task("b", 1, 1, 3)))
    later = {
        "instance": promised,
        "names": ("z_0", "z_1", "n_0_0_0_0_0"),
        "remarks": REMARKS | {"instants": "1 5"},
    }
    assert flaws("z_0_G", {"z_0": -1}, -1, letter="G", **later) == (None, None)
    assert None not in flaws("z_1_G", {"z_1": -1}, -1, letter="G", **later)


def test_nodes_of_different_costs_are_in_groups_of_the_smallest():
    """In one group they have tau = 1, and need 3 for a unit of load."""
    different = replace(INSTANCE, cluster=Cluster(2, tau=(1, 2), chi=(3, 1), theta_cp=1))
    terms, side = {"n_0_0_2_2_3": Fraction(-2, 3), "x_0_0_2_2_3": 1}, 0
    about = {"instance": different, "names": ("z_0", "z_1", *terms)}
    assert flaws("load_0_0_2_2_3", terms, side, **about) == (None, None)
    less = {**terms, "n_0_0_2_2_3": Fraction(-1, 2)}
    assert None not in flaws("load_0_0_2_2_3", less, side, **about)
    apart = REMARKS | {"groups": "0 1"}
    names = ("z_0", "z_1", "n_0_1_2_2_3", "x_0_1_2_2_3")
    row = {"x_0_1_2_2_3": 1, "n_0_1_2_2_3": -1}
    half = {**row, "n_0_1_2_2_3": Fraction(-2, 3)}
    about = {"instance": different, "remarks": apart, "names": names}
    assert flaws("load_0_1_2_2_3", row, 0, **about) == (None, None)
    assert flaws("load_0_1_2_2_3", half, 0, **about) == (None, None)
    assert None not in flaws("load_0_1_2_2_3", {**row, "n_0_1_2_2_3": Fraction(-1, 2)}, 0, **about)


def bounds(text, instance, plan_class="single"):
    """Return what both checkers say that a certificate proves; None if they refuse it."""
    found = Result(
        Status.BOUND, bound=0, objective="accepted", plan_class=plan_class, installments=1
    )
    return [of(instance, found, text).bound for of in (first_verdict, second_verdict)]


def test_an_optimum_that_spans_decide_is_certified():
    tasks = (1, 3, 7), (7, 8, 31), (9, 4, 16), (11, 2, 10), (12, 1, 5), (12, 4, 16), (13, 5, 17)
    instance = stream(4, 1, 4, *tasks)
    found = exact_plan(instance, limits=Limits(work=40))
    assert (found.status, found.value, found.bound) == (Status.OPTIMAL, 6, 6)
    assert "over spans of chunks" in found.reason
    text = vipr.to_text(found.certificate)
    assert first_verdict(instance, found, text).bound == (6,)
    assert len(text) < 100_000  # no row is stated that is not used


STREAM = stream(4, 1, 3, (1, 1, 7), (1, 2, 5), (1, 3, 5), (2, 1, 6), (2, 2, 10))


@pytest.fixture(scope="module")
def text():
    """A certificate with a cut: four tasks of this stream are accepted at the most."""
    relaxation = ChunkSpanRelaxation(ScaledInstance.from_instance(STREAM), 1)
    return vipr.to_text(relaxation.upper_bound(Limits(), None, 0).certificate)


def test_a_certificate_without_some_spans_is_refused():
    relaxation = ChunkSpanRelaxation(ScaledInstance.from_instance(STREAM), 1, most=20)
    bound = relaxation.upper_bound(Limits(), None, 0)
    assert bound.value < 4
    assert bounds(vipr.to_text(bound.certificate), STREAM) == [None, None]


def with_line(text, start, line):
    """Return the text with another line for the first one that starts so."""
    lines = text.splitlines()
    at = next(k for k, one in enumerate(lines) if one.startswith(start))
    return "\n".join([*lines[:at], line, *lines[at + 1 :]]) + "\n"


def test_a_certificate_of_another_stream_is_refused(text):
    assert bounds(text, STREAM) == [(4,), (4,)]
    cluster, tasks, others = STREAM.cluster, STREAM.tasks, []
    changes = ({"tau": Fraction(99, 100)}, {"chi": Fraction(299, 100)}, {"chi": (3, 3, 3, 2)})
    for change in (*changes, {"theta_cm": 1}, {"theta_cp": 1}):
        others.append(replace(STREAM, cluster=replace(cluster, **change)))
    for field, more in (("arrival", -1), ("load", -1), ("deadline", 1)):
        value = getattr(tasks[2], field) + Fraction(more, 100)
        changed = (replace(tasks[2], **{field: value}), *tasks[:2], *tasks[3:])
        changed = sorted(changed, key=lambda task: (task.arrival, task.id))
        others.append(replace(STREAM, tasks=tuple(changed)))
    for other in others:
        assert bounds(text, other) == [None, None], other


def test_other_instants_are_refused(text):
    words = vipr.parse(text).remarks["instants"].split()
    more, last = (Fraction(words[0]) - 1), Fraction(words[-1]) + 1
    others = [words[:k] + words[k + 1 :] for k in range(len(words))]
    line = f"% instants: {' '.join([*words, str(last)])}"
    assert bounds(with_line(text, "% instants", line), STREAM) == [(4,), (4,)]
    for instants in (*others, [str(more), *words]):
        line = f"% instants: {' '.join(instants)}"
        assert bounds(with_line(text, "% instants", line), STREAM) == [None, None], instants


def test_other_cuts_rows_and_claims_are_refused(text):
    rows = [line.split(" ", 3) for line in text.splitlines() if " L " in line and "{" not in line]
    (cut, _, side, terms), *_ = [row for row in rows if row[0].startswith("cut_")]
    first, last = (int(word) for word in cut.split("_")[1:3])
    assert Fraction(side) > 0
    for name in (
        f"cut_{first + 1}_{last}_0",
        f"cut_{first}_{last - 1}_0",
        f"channel_{last}",
        "cut",
    ):
        line = f"{name} L {side} {terms}"
        assert bounds(with_line(text, cut, line), STREAM) == [None, None], name
    kinds = {row[0].split("_")[0] + str(row[0].count("_")): row for row in rows}
    assert {"cut4", "load6", "channel2", "z2"} <= kinds.keys()
    for name, _, side, terms in kinds.values():
        line = f"{name} L {Fraction(side) - Fraction(1, 1000)} {terms}"
        assert bounds(with_line(text, name + " ", line), STREAM) == [None, None], name
    assert bounds(with_line(text, "RTP", "RTP range -3 inf"), STREAM) == [None, None]
    assert bounds(text, STREAM, "k") == [(4,), (4,)]
    assert bounds(text, STREAM, "any") == [None, None]


def test_a_cut_counts_the_group_that_computes_longest():
    """Of a window of length 2, B = 3/4 of the second group leaves 3/2 after the first chunk."""
    cluster = Cluster(2, tau=1, chi=(1, 3), theta_cp=1)
    about = {
        "instance": replace(INSTANCE, cluster=cluster),
        "remarks": REMARKS | {"groups": "0 1"},
        "names": ("z_0", "z_1", "y_0_1_2_2_3", "n_0_1_2_2_3"),
    }
    terms = {"y_0_1_2_2_3": 1, "n_0_1_2_2_3": Fraction(-5, 2)}
    assert flaws("cut_2_2_7", terms, Fraction(1, 2), **about) == (None, None)
    terms["n_0_1_2_2_3"] = Fraction(-2)
    assert flaws("cut_2_2_7", terms, Fraction(1) + Fraction(1, 2) + Fraction(1, 8), **about) == (
        None,
        None,
    )
    assert "cut" in flaws("cut_2_2_7", terms, Fraction(3, 2), **about)[0]
