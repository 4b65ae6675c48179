"""Every printed slip, shown wrong by its stored counterexample; what is repaired is right."""

from fractions import Fraction
from pathlib import Path

import pytest

from dlopt import Status, io, registry, solve
from dlopt.generation.coreservation import min4
from dlopt.heuristics.coreservation.algorithm_names import NAMES, SLIPS
from tests.oracles_coreservation import optimum

F = Fraction
FOLDER = Path(__file__).parents[3] / "instances" / "coreservation" / "counterexamples"


def stored(name):
    return io.read(FOLDER / f"{name}.json", exact_numbers=True)


def rejected(result):
    return sum(not decision.accepted for decision in result.solution.decisions)


UNSOUND = [
    ("leak", "co-rspb", "leak", "rejected-request-allocated on request r1 in [0, 10] by 6"),
    ("leak", "co-rsbf", "leak", "rejected-request-allocated on request r1 in [0, 10] by 6"),
    ("leak", "co-rsbfr", "leak", "rejected-request-allocated on request r1 in [0, 10] by 6"),
    ("requested-cpu", "rspb", "requested", "overload on machine m0 in [0, 10] by 3"),
    ("fixed-part-moved", "co-rsbfr", "fixed", "wrong-machine on part 1 of request r by 1"),
    (
        "mark-before-cancel",
        "co-rsbfr",
        "mark-first",
        "transient-overload on machine m0 in [0, 10] by 1",
    ),
    ("stale-index", "co-rsbfr", "stale", "overload on machine m0 in [0, 10] by 1"),
]


@pytest.mark.parametrize(("name", "stem", "slip", "text"), UNSOUND)
def test_a_slip_breaks_a_rule_and_its_repair_does_not(name, stem, slip, text):
    instance = stored(name)
    found = solve(instance, f"{stem}:literal-{slip}")
    assert found.status is Status.UNSOUND
    assert str(found.violations[0]) == text
    assert solve(instance, f"{stem}:literal").status is Status.UNSOUND
    repaired = solve(instance, stem)
    assert repaired.status is Status.FEASIBLE and repaired.violations == ()


def test_every_slip_that_breaks_rules_has_its_counterexample():
    claimed = {
        entry.name
        for entry in registry.methods("coreservation")
        if entry.claim == "literal-unsound"
    }
    shown = {f"{stem}:literal-{slip}" for _, stem, slip, _ in UNSOUND}
    assert claimed == shown | {f"{stem}:literal" for _, stem, _, _ in UNSOUND}


def test_the_registry_knows_every_name():
    names = {entry.name for entry in registry.methods("coreservation") if entry.kind == "heuristic"}
    assert names == {*NAMES, "portfolio"}
    assert set(SLIPS) == {name.partition(":")[0] for name in NAMES if ":" in name}


@pytest.mark.parametrize("stem", ["co-rspb", "co-rsbf", "co-rsbfr"])
def test_a_leak_keeps_out_who_comes_next(stem):
    instance = stored("leak")
    assert [d.accepted for d in solve(instance, stem).solution.decisions] == [False, True]
    printed = solve(instance, f"{stem}:literal-leak").solution
    assert [d.accepted for d in printed.decisions] == [False, False]
    assert [(share.request, share.cpu) for share in printed.shares] == [("r1", 6)]
    assert optimum(instance, "rejections") == 1 and optimum(instance) == F(1, 10)


def test_refining_moves_no_fixed_part():
    """What it could gain elsewhere it does not get: 13/16 is the optimum."""
    instance = stored("fixed-part-moved")
    repaired, printed = solve(instance, "co-rsbfr"), solve(instance, "co-rsbfr:literal-fixed")
    assert [(share.machine, share.cpu) for share in repaired.solution.shares] == [(0, 5), (0, 5)]
    assert [(share.machine, share.cpu) for share in printed.solution.shares] == [(0, 5), (1, 8)]
    assert repaired.value == F(13, 16) == optimum(instance)


def test_a_part_that_gets_less_is_marked_with_what_it_gets():
    instance = stored("requested-cpu")
    assert solve(instance, "rspb").value == F(5, 8) == optimum(instance)
    assert solve(instance, "rspb:literal-requested").solution.shares[0].cpu == 8


def test_what_is_free_elsewhere_is_not_free_here():
    instance = stored("stale-index")
    assert solve(instance, "co-rsbfr").solution.shares[0].cpu == 5
    assert solve(instance, "co-rsbfr:literal-stale").solution.shares[0].cpu == 6
    assert solve(instance, "co-rsbfr").value == F(1, 2) == optimum(instance)


@pytest.mark.parametrize("stem", ["rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr"])
def test_the_inclusive_slot_rejects_what_comes_right_after(stem):
    """It breaks no rule: it only rejects."""
    instance = stored("inclusive-slot")
    assert rejected(solve(instance, stem)) == 0 == optimum(instance, "rejections")
    printed = solve(instance, f"{stem}:literal-slots")
    assert rejected(printed) == 1
    assert printed.solution.decisions[1].reason == (
        "part 0 needs 70, no machine has more than 30 left in [20, 30)"
    )


def test_the_order_of_rb_is_no_slip():
    """Printed or not, requests may be asked for their priority first."""
    instance = min4(horizon=2000, machines=2, seed=1)
    for name in ("rb", "rb:literal-slots"):
        first_come, by_priority = (
            solve(instance, name, order=order).solution for order in ("arrival", "priority")
        )
        assert first_come.decisions != by_priority.decisions
        assert first_come == solve(instance, name).solution


@pytest.mark.parametrize(
    ("name", "stem"), [("early-stop", "co-rspb"), ("early-stop-unbalanced", "rspb")]
)
def test_the_early_stop_rejects_what_would_fit(name, stem):
    """It breaks no rule either."""
    instance = stored(name)
    assert rejected(solve(instance, stem)) == 0 == optimum(instance, "rejections")
    assert rejected(solve(instance, f"{stem}:literal-stop")) == 1


def test_largest_first_is_not_close_to_the_fewest_rejections():
    """Any order but the ascending one rejects four, and the optimum one."""
    instance = stored("largest-first")
    assert optimum(instance, "rejections") == 1
    for name in ("co-rsbf", "co-rsbfr"):
        assert rejected(solve(instance, name)) == 4
    assert rejected(solve(instance, "best-fit", order="ascending")) == 1
    assert rejected(solve(instance, "best-fit", order="descending")) == 4
    assert rejected(solve(instance, "portfolio", objective="rejections")) == 1


def test_fewer_rejections_are_not_more_benefit():
    """Rejecting nothing is worth 7/22; what rejects one request is worth 10/11."""
    instance = stored("objectives-conflict")
    assert optimum(instance) == F(10, 11)
    assert optimum(instance, "benefit-then-rejections") == (F(10, 11), 1)
    assert optimum(instance, "rejections-then-benefit") == (0, F(7, 22))
    assert optimum(instance, "rejected-priority-then-benefit") == (0, F(7, 22))
    by_priority, by_size = solve(instance, "co-rspb"), solve(instance, "co-rsbfr")
    assert (by_priority.value, rejected(by_priority)) == (F(10, 11), 1)
    assert (by_size.value, rejected(by_size)) == (F(7, 22), 0)


REJECTIONS = {
    "leak": (1, 1, 1, 1, 1),
    "fixed-part-moved": (1, 0, 0, 0, 0),
    "largest-first": (4, 4, 4, 4, 4),
    "objectives-conflict": (1, 1, 1, 0, 0),
    "inclusive-slot": (0, 0, 0, 0, 0),
    "requested-cpu": (1, 0, 0, 0, 0),
    "mark-before-cancel": (0, 0, 0, 0, 0),
    "stale-index": (1, 0, 0, 0, 0),
    "early-stop": (1, 1, 0, 0, 0),
    "early-stop-unbalanced": (0, 0, 1, 0, 0),
}


@pytest.mark.parametrize("name", REJECTIONS)
def test_rejections_of_each_algorithm(name):
    instance = stored(name)
    stems = ("rb", "rspb", "co-rspb", "co-rsbf", "co-rsbfr")
    assert tuple(rejected(solve(instance, stem)) for stem in stems) == REJECTIONS[name]
    assert {file.stem for file in FOLDER.glob("*.json")} == set(REJECTIONS)


@pytest.mark.parametrize(
    "file", sorted(FOLDER.parent.glob("**/*.json")), ids=lambda file: file.stem
)
def test_best_known_values_are_those_of_the_oracle(file):
    instance = io.read(file, exact_numbers=True)
    assert instance.best_known
    for best in instance.best_known:
        assert best.value == best.bound == optimum(instance, best.objective)
