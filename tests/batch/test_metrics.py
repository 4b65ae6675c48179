"""Gaps, profiles and contradictions, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dlopt import Limits, Status
from dlopt.batch import Failure, Record
from dlopt.batch.baselines import baselines
from dlopt.batch.metrics import (
    EvaluatedRecord,
    evaluate,
    gap_profile,
    group_by_label,
    performance_profiles,
    summarise_method,
    time_profile,
)
from dlopt.batch.records import RunKey

KEY = RunKey("iit", "a", "opr", "completion", Limits(), 0, (), "as-written", "0.1.0")


def record(
    method: str, status: object, value: object = None, bound: object = None, **more: object
) -> Record:
    own = {name: more.pop(name) for name in list(more) if name in RunKey.__dataclass_fields__}
    key = replace(KEY, method=method, **own)  # type: ignore[arg-type]
    fields = {"plan_class": "single", "value": value, "bound": bound} | more
    kind = "exact" if method == "exact" else "heuristic"
    return Record(key, "one", "f", kind, "sound", status, **fields)  # type: ignore[arg-type]


EXACT = record("exact", Status.OPTIMAL, 4, 4, runtime_s=2.0)
OPR = record("opr", Status.FEASIBLE, 5, runtime_s=0.5)


def evaluated(*records: Record) -> list[EvaluatedRecord]:
    return evaluate(records)


def test_gap_to_the_optimum_and_to_the_bound() -> None:
    exact, opr = evaluated(EXACT, OPR)
    assert (opr.gap, opr.proven, opr.at_reference) == (0.25, "optimum", False)
    assert (exact.gap, exact.at_reference) == (0, True)
    bounded = record("exact", Status.FEASIBLE, 5, 4)
    fluid = record("bound-fluid", Status.BOUND, None, 3, plan_class="any")
    opr = evaluated(OPR, bounded, fluid)[0]
    assert (opr.gap, opr.proven) == (0.25, "bound")  # the tighter of the bounds
    assert evaluated(OPR)[0].gap is None and evaluated(OPR)[0].proven is None


def test_a_bound_holds_for_narrower_plans_only() -> None:
    wide = record("mine", Status.FEASIBLE, 3, plan_class="any")
    assert evaluated(wide, EXACT)[0].reference is None
    better = record("any", Status.OPTIMAL, 3, 3, plan_class="any")
    narrow, _, exact = evaluated(OPR, better, EXACT)
    assert (narrow.reference, exact.reference) == (4, 4) and not exact.beats_reference


def test_a_proof_for_plans_of_an_unknown_class_holds_for_none() -> None:
    unknown = record("exact", Status.OPTIMAL, 4, 4, plan_class=None)
    assert evaluated(OPR, unknown)[0].reference is None
    open_record = record("exact", Status.FEASIBLE, 5, 3)
    bound = record("bound-fluid", Status.BOUND, None, 4, plan_class=None)
    (line,) = baselines([open_record, bound])
    assert line["bound"] == "3"


def test_with_certificates_only_what_has_one_counts() -> None:
    opr, exact = (replace(one, key=replace(one.key, certified=True)) for one in (OPR, EXACT))
    assert evaluated(opr, EXACT)[0].reference is None
    assert evaluated(opr, exact)[0].reference == evaluated(OPR, exact)[0].reference == 4


def test_other_instances_and_objectives_prove_nothing() -> None:
    assert evaluated(EXACT, record("opr", Status.FEASIBLE, 5, hash="b"))[1].reference is None
    assert (
        evaluated(EXACT, record("opr", Status.FEASIBLE, 5, objective="nodes"))[1].reference is None
    )


def test_what_contradicts() -> None:
    assert evaluated(EXACT, record("opr", Status.FEASIBLE, 3))[1].beats_reference
    near = evaluated(EXACT, record("opr", Status.FEASIBLE, 4 - 1e-7))[1]
    assert not near.beats_reference and near.gap == 0 and near.at_reference
    unsound = evaluated(EXACT, record("opr", Status.UNSOUND, 3))[1]
    assert not unsound.beats_reference and unsound.gap is None


def test_gaps_of_objectives_that_are_maximised_or_zero() -> None:
    one = {"problem": "admission", "objective": "accepted"}
    best, some = (
        record("exact", Status.OPTIMAL, 4, 4, **one),
        record("x", Status.FEASIBLE, 3, **one),
    )
    assert evaluated(best, some)[1].gap == 0.25
    assert evaluated(best, record("x", Status.FEASIBLE, 5, **one))[1].beats_reference
    zero = record("exact", Status.OPTIMAL, 0, 0)
    assert [j.gap for j in evaluated(zero, OPR)] == [0, None]


def test_levels() -> None:
    one = {"problem": "bag", "objective": "critical-then-all", "plan_class": "any"}
    best = record("exact", Status.OPTIMAL, (4, 9), (4, 9), **one)
    less = record("gds", Status.FEASIBLE, (4, 8), **one)
    found = evaluated(best, less)[1]
    assert found.gap == 0 and not found.at_reference
    assert evaluated(best, record("gds", Status.FEASIBLE, (2, 9), **one))[1].gap == 0.5


def test_labels() -> None:
    twice = evaluated(OPR, record("opr", Status.FEASIBLE, 5, seed=1))
    assert {name: len(own) for name, own in group_by_label(twice).items()} == {"opr": 2}
    many = [
        EXACT,
        OPR,
        record("opr", Status.FEASIBLE, 5, limits=Limits(2, 9, 3, 0.1), options=(("k", 2),)),
        record("mine", Status.FEASIBLE, 5, dlopt="0.2", numbers="exact"),
    ]
    assert list(group_by_label(evaluated(*many))) == [
        "opr, no limit, as-written numbers, dlopt 0.1.0",
        "opr [k=2], 2 s work 9 3 threads gap 0.1, as-written numbers, dlopt 0.1.0",
        "exact, no limit, as-written numbers, dlopt 0.1.0",
        "mine, no limit, exact numbers, dlopt 0.2",
    ]


def test_standing() -> None:
    dead = record("opr", Failure.CRASHED, plan_class=None, hash="b")
    slip = record("opr", Status.UNSOUND, 3, seed=2)
    found = summarise_method(
        "opr", [j for j in evaluated(EXACT, OPR, dead, slip) if j.record.key.method == "opr"]
    )
    assert (found.runs, found.plans, found.at_reference, found.optimal) == (3, 1, 0, 0)
    assert (found.failures, found.unsound, found.mean, found.time_s) == (1, 1, 0.25, 0.5)


def test_profiles() -> None:
    second = record("exact", Status.LIMIT, None, 3, hash="b", runtime_s=9.0)
    other = record("mine", Status.OPTIMAL, 4, 4, runtime_s=1.0)
    every = evaluated(EXACT, OPR, second, other)
    labelled = group_by_label(every)
    assert gap_profile(labelled["opr"]) == ((0.25, 1.0),)
    assert gap_profile(labelled["exact"]) == ((0.0, 0.5),)
    assert time_profile(labelled["exact"]) == ((2.0, 0.5),)
    assert time_profile(labelled["opr"]) == ()
    assert performance_profiles(labelled) == {"exact": ((2.0, 1.0),), "mine": ((1.0, 1.0),)}


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ([EXACT, OPR], ("4", "4", "4", "optimal")),
        ([record("exact", Status.FEASIBLE, 5, 3), EXACT], ("4", "4", "4", "optimal")),
        ([EXACT, record("exact", Status.FEASIBLE, 5, 3, seed=1)], ("4", "4", "4", "optimal")),
        (
            [
                record("exact", Status.FEASIBLE, 5, 3),
                record("exact", Status.FEASIBLE, 6, 3, seed=1),
            ],
            ("", "5", "3", "feasible"),
        ),
        (
            [
                record("exact", Status.LIMIT, None, 3),
                record("exact", Status.FEASIBLE, 6, 3, seed=1),
            ],
            ("", "6", "3", "feasible"),
        ),
        ([record("exact", Status.INFEASIBLE)], ("", "", "", "infeasible")),
    ],
)
def test_baseline_of_an_instance(records: list[Record], told: tuple[str, ...]) -> None:
    (line,) = baselines(records)
    assert tuple(line[name] for name in ("optimum", "value", "bound", "status")) == told


def test_no_baseline_without_an_exact_answer() -> None:
    assert baselines([OPR, record("exact", Failure.CRASHED), record("exact", Status.UNKNOWN)]) == []


def test_chunks_of_other_numbers_are_another_class() -> None:
    two = record("exact", Status.OPTIMAL, 4, 4, plan_class="k", installments=2)
    three = record("other", Status.OPTIMAL, 3, 3, plan_class="k", installments=3)
    assert [one.reference for one in evaluated(two, three)] == [4, 3]
    single = record("opr", Status.FEASIBLE, 5)
    assert evaluated(single, two)[0].reference == 4  # every plan of one chunk is one of two


def test_dates_count_from_their_origin() -> None:
    start = 1.7e9
    best = record("exact", Status.OPTIMAL, start + 4, start + 4, origin=start)
    late = record("opr", Status.FEASIBLE, start + 5, origin=start)
    _, found = evaluated(best, late)
    assert found.gap == 0.25 and not found.at_reference and not found.beats_reference
    early = record("mine", Status.FEASIBLE, start + 3, origin=start)
    assert evaluated(early, best)[0].beats_reference


def test_what_is_proven_exactly_is_counted_apart() -> None:
    said = [
        record("exact", Status.OPTIMAL, 4, 4, proof=proof)
        for proof in ("exact", "certificate", "solver", "floats", None)
    ]
    found = summarise_method("exact", evaluated(*said))
    assert (found.optimal, found.proven) == (5, 2)


def test_that_not_all_can_be_accepted_is_no_baseline_of_how_many_can_be() -> None:
    def of(method: str, status: Status, *values: int) -> Record:
        found = record(method, status, *values, problem="admission", objective="accepted")
        return replace(found, kind="exact")

    not_all = of("feasibility", Status.INFEASIBLE)
    some, optimum = of("exact", Status.FEASIBLE, 105, 123), of("exact", Status.OPTIMAL, 110, 110)
    none = of("exact", Status.INFEASIBLE)
    for records, status, value in (
        ((not_all, some), "feasible", "105"),
        ((not_all, optimum), "optimal", "110"),
        ((some, none), "infeasible", ""),
        ((not_all,), "infeasible", ""),
    ):
        for order in (records, records[::-1]):
            (line,) = baselines(order)
            assert (line["status"], line["value"]) == (status, value)
    (line,) = baselines([not_all, some])
    assert (line["bound"], line["method"]) == ("123", "exact")


def test_an_open_instance_has_the_tightest_bound_of_its_class() -> None:
    plan = record("exact", Status.FEASIBLE, 9, 3, proof="solver")
    better, worse = (
        replace(record(f"bound-{b}", Status.BOUND, None, b, proof="certificate"), kind="bound")
        for b in (5, 2)
    )
    narrow = replace(better, plan_class="single", bound=7)
    wide, widest = replace(plan, plan_class="any"), replace(better, plan_class="any")
    for records, expected in (
        ([plan, better, worse], ("9", "5", "certificate", "exact bound-5")),
        ([plan, worse], ("9", "3", "solver", "exact")),
        ([wide, narrow, worse, widest], ("9", "5", "certificate", "exact bound-5")),
        ([EXACT, better], ("4", "4", "", "exact")),
    ):
        for order in (records, records[::-1]):
            (line,) = baselines(order)
            assert tuple(line[name] for name in ("value", "bound", "proof", "method")) == expected
