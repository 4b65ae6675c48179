"""The surrogate cut: every schedule satisfies it; it bounds as the disaggregated program does."""

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from dlopt.backends.branch_and_bound import BranchAndBound, BranchAndBoundResult
from dlopt.backends.highs import LpSolution
from dlopt.generation.coreservation import min5, overloaded, small
from dlopt.models.coreservation import aggregated_relaxation, surrogate_cuts
from dlopt.models.coreservation.aggregated_relaxation import AggregatedRelaxation, upper_bound
from dlopt.models.coreservation.construction import greedy_assignment
from dlopt.models.coreservation.disaggregated_relaxation import disaggregate
from dlopt.models.coreservation.objective import trivial_bound
from dlopt.models.coreservation.ruin_and_recreate.search import RuinAndRecreate
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.surrogate_cuts import build_surrogate_cut, is_worthwhile
from dlopt.problems.coreservation import Batch, Instance, Machine, Part, Request, linear
from dlopt.result import Limits, Status
from tests.oracles_coreservation import optimum

UNEVEN = (Machine("a", 7), Machine("b", ((0, 5), (2, 3))), Machine("c", 4))
LEVELS = ("benefit", "rejections", "rejected-priority")


def summed(model, terms, assignment):
    """Return what the terms of a row are for a plan."""
    weights, total = dict(terms), Fraction(0)
    for k in {model.scaled.parts[i].request for i in assignment}:
        total += weights.get(k, 0)
    for i, (_, units) in assignment.items():
        own = [one for one in model.segments[i] if one[0].low <= units <= one[0].high]
        segment, chosen, increment = own[0]
        if chosen >= len(model.scaled.requests):
            total += weights.get(chosen, 0)
        if increment is not None:
            total += weights.get(increment, 0) * (units - segment.low)
    return total


@pytest.mark.parametrize("seed", range(6))
def test_no_plan_breaks_a_row_whatever_its_weights(seed) -> None:
    instance = replace(small(requests=6, span=5, machines=3, seed=seed), machines=UNEVEN)
    scaled = ScaledInstance.from_instance(instance)
    model, draw = AggregatedRelaxation(scaled), random.Random(seed)
    rows = list(disaggregate(model, "benefit").capacity_rows.values())
    plans = [RuinAndRecreate(scaled, {}, s).run(30) for s in range(6)] + [greedy_assignment(scaled)]
    for _ in range(5):
        weights = {row: draw.randint(0, 99) for row in rows if draw.random() < 0.6}
        gains = [draw.uniform(-40, 40) for _ in scaled.parts]
        terms, side = surrogate_cuts.aggregate_rows(
            model, "benefit", weights, gains, draw.uniform(0, 900)
        )
        assert all(summed(model, terms, assignment) <= side for assignment in plans)
        assert summed(model, terms, {}) <= side


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_with_the_row_is_not_below_the_optimum(level, seed, monkeypatch) -> None:
    monkeypatch.setattr(aggregated_relaxation, "MAX_EXACT_REQUESTS", 0)
    monkeypatch.setattr(
        aggregated_relaxation, "MIN_SURROGATE_GAIN", Fraction(-1) if seed % 2 else Fraction(1, 500)
    )
    instance = replace(small(requests=4, span=4, seed=seed), machines=UNEVEN[:2])
    scaled = ScaledInstance.from_instance(instance, level)
    best = optimum(instance, level)
    found = upper_bound(scaled, level, Limits(), max_nodes=4)
    assert found.value >= (best if level == "benefit" else -best)


def test_it_bounds_as_the_larger_program() -> None:
    # two parts on machine a leave 2 there for all time: together with b that is 5, apart it is not
    named = tuple(Part(cpu, machine=0) for cpu in (4, 1))
    asked = [Request("n", 0, 0, 2, 50, named)]
    asked += [Request(f"r{k}", 0, 0, 2, 1, (Part(4),)) for k in range(2)]
    instance = Instance((Machine("a", 7), Machine("b", 5)), tuple(asked), Batch(1))
    scaled = ScaledInstance.from_instance(instance, "rejections")
    assert is_worthwhile(scaled)
    model = AggregatedRelaxation(scaled)
    terms, side = build_surrogate_cut(model, "rejections")
    assert summed(model, terms, {0: (0, 4), 1: (0, 1), 2: (1, 4)}) <= side
    everything = {0: (0, 4), 1: (0, 1), 2: (1, 4), 3: (1, 4)}
    assert summed(model, terms, everything) > side


def test_min_s_own_setting_is_bounded_better() -> None:
    scaled = ScaledInstance.from_instance(min5(requests=20, seed=2, ahead=200))
    plain, row = (
        AggregatedRelaxation(scaled),
        build_surrogate_cut(AggregatedRelaxation(scaled), "benefit"),
    )
    assert row is not None and len(plain.column_bounds) > max(column for column, _ in row[0])
    bound = upper_bound(scaled, "benefit", Limits(time_s=20), max_nodes=2).value
    assert bound <= upper_bound(scaled, "benefit", Limits(), max_nodes=1).value


def test_identical_machines_need_no_cut() -> None:
    assert not is_worthwhile(ScaledInstance.from_instance(overloaded(requests=20, seed=0)))
    fine = Part(Fraction(1, 3) + 0.1, 0.1, linear())
    assert not is_worthwhile(
        ScaledInstance.from_instance(
            Instance((Machine("m", 0.7),), (Request("r", 0, 0, 1, 1, (fine,)),))
        )
    )


def test_many_copies_need_no_cut(monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(min5(requests=20, seed=2, ahead=200))
    assert is_worthwhile(scaled)
    monkeypatch.setattr(surrogate_cuts, "MAX_COPIES", 100)
    assert not is_worthwhile(scaled)


def test_what_was_proven_before_time_was_up_is_kept(monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(min5(requests=20, seed=4, ahead=200))
    searches: list[BranchAndBound] = []

    class Kept(BranchAndBound):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            searches.append(self)

        def minimise(self, *given: Any) -> BranchAndBoundResult:
            found = super().minimise(*given)
            if searches.index(self) == 1:
                self.stop = 0.0
            return found

    def slow(*_: Any) -> None:
        searches[0].stop = 0.0

    plain = upper_bound(scaled, "benefit", Limits(), max_nodes=1).value
    monkeypatch.setattr(aggregated_relaxation, "BranchAndBound", Kept)
    with monkeypatch.context() as patch:  # the row took all time
        patch.setattr(aggregated_relaxation, "build_surrogate_cut", slow)
        again = upper_bound(scaled, "benefit", Limits()).value
        assert plain <= again < trivial_bound(scaled, "benefit")
    searches.clear()  # there was time for one program with the row
    assert upper_bound(scaled, "benefit", Limits()).value < plain


def test_without_an_answer_or_anything_tight_there_is_no_row(monkeypatch) -> None:
    roomy = Instance((Machine("a", 70), Machine("b", 90)), small(requests=2, seed=1).requests)
    assert (
        build_surrogate_cut(AggregatedRelaxation(ScaledInstance.from_instance(roomy)), "benefit")
        is None
    )
    monkeypatch.setattr(surrogate_cuts.LinearSolver, "solve", lambda _: LpSolution(Status.LIMIT))
    scaled = ScaledInstance.from_instance(replace(small(seed=1), machines=UNEVEN))
    assert build_surrogate_cut(AggregatedRelaxation(scaled), "benefit") is None
    monkeypatch.undo()
    monkeypatch.setattr(aggregated_relaxation, "MAX_EXACT_REQUESTS", 0)
    monkeypatch.setattr(aggregated_relaxation, "build_surrogate_cut", lambda *_: None)
    assert upper_bound(scaled, "benefit", Limits()).value > 0
