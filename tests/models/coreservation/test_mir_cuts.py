"""Mixed-integer rounding cuts hold for all integer points, and cut fractional ones off."""

import random
from fractions import Fraction
from itertools import product

import pytest

from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.pulp import Outcome
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.generation.coreservation import overloaded
from dlopt.models.common.portfolio import Step
from dlopt.models.coreservation import (
    aggregated_relaxation,
    mir_cuts,
    upper_bounds,
)
from dlopt.models.coreservation import search as searching
from dlopt.models.coreservation.aggregated_relaxation import AggregatedRelaxation, float_mip_bound
from dlopt.models.coreservation.construction import greedy_assignment
from dlopt.models.coreservation.milp import MilpModel
from dlopt.models.coreservation.mir_cuts import MirSeparator
from dlopt.models.coreservation.objective import objective_key
from dlopt.models.coreservation.portfolio_state import UpperBound
from dlopt.models.coreservation.scaled_instance import ScaledInstance
from dlopt.models.coreservation.search import PortfolioSearch
from dlopt.result import Limits, Status


def _feasible(terms, side, increments, choices):
    """Yield the corners of a row: whole choices, each rise at 0, at its length, or what is left."""
    columns = sorted({j for j, _ in terms})
    factor = dict(terms)
    for chosen in product((0, 1), repeat=len(choices)):
        point = dict(zip(choices, map(Fraction, chosen), strict=True))
        ranges = [(Fraction(0), increments[r][1] * point[increments[r][0]]) for r in increments]
        for corner in product(*ranges):
            full = point | dict(zip(increments, corner, strict=True))
            spent = sum(factor[j] * full[j] for j in columns)
            if spent <= side:
                yield full
                continue
            for r in increments:  # one rise takes what the others leave
                rest = side - spent + factor[r] * full[r]
                if 0 <= rest <= factor[r] * full[r]:
                    yield full | {r: rest / factor[r]}


def _cut_off(seed: int) -> int:
    """Hold the rows that random points violate against all whole choices; return how many."""
    draw = random.Random(seed)
    choices = list(range(5))
    increments = {5 + n: (n, Fraction(draw.randint(1, 9))) for n in range(draw.randint(0, 3))}
    factors = [draw.randint(0, 12) for _ in choices] + [draw.choice((1, 1, 2)) for _ in increments]
    terms = [(j, Fraction(a)) for j, a in enumerate(factors)]
    side = Fraction(draw.randint(3, max(3, sum(factors))), draw.choice((1, 2)))
    found = 0
    for _ in range(30):
        point = [draw.choice((0.0, 1.0, draw.random())) for _ in choices]
        point += [draw.random() * float(length) * point[c] for c, length in increments.values()]
        for row, low, high in MirSeparator([(terms, side)], increments)(point):
            found += 1
            assert low is None and sum(float(a) * point[j] for j, a in row) > float(high)
            for corner in _feasible(terms, side, increments, choices):
                assert sum(a * corner[j] for j, a in row) <= high
    return found


def test_no_whole_choice_is_cut_off() -> None:
    assert sum(map(_cut_off, range(40))) > 100


def test_it_ends_and_says_nothing_of_points_that_are_not_there() -> None:
    terms, side = [(0, Fraction(3)), (1, Fraction(3))], Fraction(5)
    cuts = MirSeparator([(terms, side)], {})
    assert cuts([]) == [] and cuts([0.0, 0.0]) == []
    assert cuts([1.0, 2 / 3]) == [(((0, Fraction(1)), (1, Fraction(1))), None, Fraction(1))]
    cuts.rounds = mir_cuts.MAX_ROUNDS
    assert cuts([1.0, 2 / 3]) == []


def test_the_relaxation_is_bounded_better() -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=20, seed=1))
    model = AggregatedRelaxation(scaled)
    step, columns = Fraction(1, 1 << 80), range(len(scaled.requests))
    plain = BranchAndBound(model.program("benefit"), columns, step).minimise(None, 1).bound
    cuts = model.mir_separator()
    cut = BranchAndBound(model.program("benefit"), columns, step, cuts).minimise(None, 1).bound
    assert plain < cut and cuts.rounds > 1


def test_what_the_solver_says_is_between_the_plan_and_the_linear_program() -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=34, seed=1))
    plain = aggregated_relaxation.upper_bound(scaled, "benefit", Limits(), max_nodes=1).value
    said = float_mip_bound(scaled, "benefit", Limits(work=5))
    found = PortfolioSearch(
        scaled, Budget(Limits()), full_model=False, primal_heuristics=False
    ).run({})
    assert float(said) <= float(plain) + 1e-9
    assert found.bounds[0] <= plain
    proven = [("benefit", Fraction(0))]
    assert float_mip_bound(scaled, "benefit", Limits(work=5), fixed_levels=proven) == said


def test_a_solver_that_says_nothing_in_time(monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=34, seed=1))
    monkeypatch.setattr(aggregated_relaxation.LinearSolver, "solve_integral", lambda *_: (None, ()))
    search = PortfolioSearch(scaled, Budget(Limits()), full_model=False)
    assert float_mip_bound(scaled, "benefit", Limits()) is None
    assert upper_bounds.float_relaxation_bound(search.state, "benefit", 1) is None


def test_the_word_of_a_solver_that_a_plan_refutes_is_none(monkeypatch) -> None:
    scaled = ScaledInstance.from_instance(overloaded(requests=34, seed=1))
    monkeypatch.setattr(aggregated_relaxation, "float_mip_bound", lambda *_, **__: Fraction(1, 100))
    search = PortfolioSearch(scaled, Budget(Limits()), full_model=False, primal_heuristics=False)
    found = search.run(greedy_assignment(scaled))
    assert found.bounds[0] > objective_key(scaled, found.incumbent)[0] > Fraction(1, 10)
    assert found.proven_levels == 0 and "HiGHS" not in found.proofs[0]
    claimed = Outcome(Status.LIMIT, None, 0.0, {}, False, "HiGHS", None)
    monkeypatch.setattr(MilpModel, "maximise", lambda *_: claimed)
    found = PortfolioSearch(
        scaled, Budget(Limits()), formulation="milp", primal_heuristics=False
    ).run({})
    assert "HiGHS" not in found.proofs[0]
    wrong = UpperBound(Fraction(0), "a wrong proof", uncertified=False)
    monkeypatch.setattr(searching, "STEPS", (Step("wrong", 1, lambda *_: wrong),))
    with pytest.raises(SolverError, match="but the bound is"):
        PortfolioSearch(scaled, Budget(Limits()), full_model=False, primal_heuristics=False).run(
            found.incumbent
        )
