"""Gaps, profiles and contradictions, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlopt import Limits, Status
from dlopt.batch import Row, Trouble
from dlopt.batch.baselines import baselines
from dlopt.batch.metrics import (
    Judged,
    by_label,
    gap_profile,
    judge,
    performance_profiles,
    standing,
    time_profile,
)
from dlopt.batch.records import Key

KEY = Key("iit", "a", "opr", "completion", Limits(), 0, (), "as-written", "0.1.0")


def row(
    method: str, status: object, value: object = None, bound: object = None, **more: object
) -> Row:
    own = {name: more.pop(name) for name in list(more) if name in Key.__dataclass_fields__}
    key = replace(KEY, method=method, **own)  # type: ignore[arg-type]
    fields = {"plan_class": "single", "value": value, "bound": bound} | more
    kind = "exact" if method == "exact" else "heuristic"
    return Row(key, "one", "f", kind, "sound", status, **fields)  # type: ignore[arg-type]


EXACT = row("exact", Status.OPTIMAL, 4, 4, runtime_s=2.0)
OPR = row("opr", Status.FEASIBLE, 5, runtime_s=0.5)


def judged(*rows: Row) -> list[Judged]:
    return judge(rows)


def test_gap_to_the_optimum_and_to_the_bound() -> None:
    exact, opr = judged(EXACT, OPR)
    assert (opr.gap, opr.proven, opr.reached) == (0.25, "optimum", False)
    assert (exact.gap, exact.reached) == (0, True)
    bounded = row("exact", Status.FEASIBLE, 5, 4)
    fluid = row("bound-fluid", Status.BOUND, None, 3, plan_class="any")
    opr = judged(OPR, bounded, fluid)[0]
    assert (opr.gap, opr.proven) == (0.25, "bound")  # the tighter of the bounds
    assert judged(OPR)[0].gap is None and judged(OPR)[0].proven is None


def test_a_bound_holds_for_narrower_plans_only() -> None:
    wide = row("mine", Status.FEASIBLE, 3, plan_class="any")
    assert judged(wide, EXACT)[0].reference is None
    better = row("any", Status.OPTIMAL, 3, 3, plan_class="any")
    narrow, _, exact = judged(OPR, better, EXACT)
    assert (narrow.reference, exact.reference) == (4, 4) and not exact.contradicts


def test_other_instances_and_objectives_prove_nothing() -> None:
    assert judged(EXACT, row("opr", Status.FEASIBLE, 5, hash="b"))[1].reference is None
    assert judged(EXACT, row("opr", Status.FEASIBLE, 5, objective="nodes"))[1].reference is None


def test_what_contradicts() -> None:
    assert judged(EXACT, row("opr", Status.FEASIBLE, 3))[1].contradicts
    near = judged(EXACT, row("opr", Status.FEASIBLE, 4 - 1e-7))[1]
    assert not near.contradicts and near.gap == 0 and near.reached
    unsound = judged(EXACT, row("opr", Status.UNSOUND, 3))[1]
    assert not unsound.contradicts and unsound.gap is None


def test_gaps_of_objectives_that_are_maximised_or_zero() -> None:
    one = {"problem": "admission", "objective": "accepted"}
    best, some = row("exact", Status.OPTIMAL, 4, 4, **one), row("x", Status.FEASIBLE, 3, **one)
    assert judged(best, some)[1].gap == 0.25
    assert judged(best, row("x", Status.FEASIBLE, 5, **one))[1].contradicts
    zero = row("exact", Status.OPTIMAL, 0, 0)
    assert [j.gap for j in judged(zero, OPR)] == [0, None]


def test_levels() -> None:
    one = {"problem": "bag", "objective": "critical-then-all", "plan_class": "any"}
    best = row("exact", Status.OPTIMAL, (4, 9), (4, 9), **one)
    less = row("gds", Status.FEASIBLE, (4, 8), **one)
    found = judged(best, less)[1]
    assert found.gap == 0 and not found.reached
    assert judged(best, row("gds", Status.FEASIBLE, (2, 9), **one))[1].gap == 0.5


def test_labels() -> None:
    twice = judged(OPR, row("opr", Status.FEASIBLE, 5, seed=1))
    assert {name: len(own) for name, own in by_label(twice).items()} == {"opr": 2}
    many = [
        EXACT,
        OPR,
        row("opr", Status.FEASIBLE, 5, limits=Limits(2, 9, 3, 0.1), options=(("k", 2),)),
        row("mine", Status.FEASIBLE, 5, dlopt="0.2", numbers="exact"),
    ]
    assert list(by_label(judged(*many))) == [
        "opr, no limit, as-written numbers, dlopt 0.1.0",
        "opr [k=2], 2 s work 9 3 threads gap 0.1, as-written numbers, dlopt 0.1.0",
        "exact, no limit, as-written numbers, dlopt 0.1.0",
        "mine, no limit, exact numbers, dlopt 0.2",
    ]


def test_standing() -> None:
    dead = row("opr", Trouble.DIED, plan_class=None, hash="b")
    slip = row("opr", Status.UNSOUND, 3, seed=2)
    found = standing(
        "opr", [j for j in judged(EXACT, OPR, dead, slip) if j.row.key.method == "opr"]
    )
    assert (found.cells, found.plans, found.reached, found.optimal) == (3, 1, 0, 0)
    assert (found.troubles, found.unsound, found.mean, found.time_s) == (1, 1, 0.25, 0.5)


def test_profiles() -> None:
    second = row("exact", Status.LIMIT, None, 3, hash="b", runtime_s=9.0)
    other = row("mine", Status.OPTIMAL, 4, 4, runtime_s=1.0)
    every = judged(EXACT, OPR, second, other)
    labelled = by_label(every)
    assert gap_profile(labelled["opr"]) == ((0.25, 1.0),)
    assert gap_profile(labelled["exact"]) == ((0.0, 0.5),)
    assert time_profile(labelled["exact"]) == ((2.0, 0.5),)
    assert time_profile(labelled["opr"]) == ()
    assert performance_profiles(labelled) == {"exact": ((2.0, 1.0),), "mine": ((1.0, 1.0),)}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([EXACT, OPR], ("4", "4", "4", "optimal")),
        ([row("exact", Status.FEASIBLE, 5, 3), EXACT], ("4", "4", "4", "optimal")),
        ([EXACT, row("exact", Status.FEASIBLE, 5, 3, seed=1)], ("4", "4", "4", "optimal")),
        (
            [row("exact", Status.FEASIBLE, 5, 3), row("exact", Status.FEASIBLE, 6, 3, seed=1)],
            ("", "5", "3", "feasible"),
        ),
        (
            [row("exact", Status.LIMIT, None, 3), row("exact", Status.FEASIBLE, 6, 3, seed=1)],
            ("", "6", "3", "feasible"),
        ),
        ([row("exact", Status.INFEASIBLE)], ("", "", "", "infeasible")),
    ],
)
def test_baseline_of_an_instance(rows: list[Row], told: tuple[str, ...]) -> None:
    (line,) = baselines(rows)
    assert tuple(line[name] for name in ("optimum", "value", "bound", "status")) == told


def test_no_baseline_without_an_exact_answer() -> None:
    assert baselines([OPR, row("exact", Trouble.DIED), row("exact", Status.UNKNOWN)]) == []


def test_chunks_of_other_numbers_are_another_class() -> None:
    two = row("exact", Status.OPTIMAL, 4, 4, plan_class="k", installments=2)
    three = row("other", Status.OPTIMAL, 3, 3, plan_class="k", installments=3)
    assert [one.reference for one in judged(two, three)] == [4, 3]
    single = row("opr", Status.FEASIBLE, 5)
    assert judged(single, two)[0].reference == 4  # every plan of one chunk is one of two


def test_dates_count_from_their_origin() -> None:
    start = 1.7e9
    best = row("exact", Status.OPTIMAL, start + 4, start + 4, origin=start)
    late = row("opr", Status.FEASIBLE, start + 5, origin=start)
    _, found = judged(best, late)
    assert found.gap == 0.25 and not found.reached and not found.contradicts
    early = row("mine", Status.FEASIBLE, start + 3, origin=start)
    assert judged(early, best)[0].contradicts


def test_what_is_proven_exactly_is_counted_apart() -> None:
    said = [
        row("exact", Status.OPTIMAL, 4, 4, proof=proof)
        for proof in ("exact", "certificate", "solver", "floats", None)
    ]
    found = standing("exact", judged(*said))
    assert (found.optimal, found.proven) == (5, 2)
