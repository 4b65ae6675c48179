"""Rounded rows hold wherever choices are whole, and cut off points where they are not."""

import random
from fractions import Fraction
from itertools import product

import pytest

from dlopt.backends.branch_and_bound import BranchAndBound
from dlopt.backends.time_budget import Budget
from dlopt.errors import SolverError
from dlopt.generation.coreservation import overloaded
from dlopt.models.coreservation import aggregated_relaxation, mir_cuts
from dlopt.models.coreservation.aggregated_relaxation import PooledModel, said_bound
from dlopt.models.coreservation.construction import greedy
from dlopt.models.coreservation.mir_cuts import Rounding
from dlopt.models.coreservation.objective import key_of
from dlopt.models.coreservation.scaled_instance import Case
from dlopt.models.coreservation.search import Bound, Search
from dlopt.result import Limits


def _feasible(terms, side, rises, choices):
    """Yield the corners of a row: whole choices, each rise at 0, at its length, or what is left."""
    columns = sorted({j for j, _ in terms})
    factor = dict(terms)
    for chosen in product((0, 1), repeat=len(choices)):
        point = dict(zip(choices, map(Fraction, chosen), strict=True))
        ranges = [(Fraction(0), rises[r][1] * point[rises[r][0]]) for r in rises]
        for corner in product(*ranges):
            full = point | dict(zip(rises, corner, strict=True))
            spent = sum(factor[j] * full[j] for j in columns)
            if spent <= side:
                yield full
                continue
            for r in rises:  # one rise takes what the others leave
                rest = side - spent + factor[r] * full[r]
                if 0 <= rest <= factor[r] * full[r]:
                    yield full | {r: rest / factor[r]}


def _cut_off(seed: int) -> int:
    """Hold the rows that random points violate against all whole choices; return how many."""
    draw = random.Random(seed)
    choices = list(range(5))
    rises = {5 + n: (n, Fraction(draw.randint(1, 9))) for n in range(draw.randint(0, 3))}
    factors = [draw.randint(0, 12) for _ in choices] + [draw.choice((1, 1, 2)) for _ in rises]
    terms = [(j, Fraction(a)) for j, a in enumerate(factors)]
    side = Fraction(draw.randint(3, max(3, sum(factors))), draw.choice((1, 2)))
    found = 0
    for _ in range(30):
        point = [draw.choice((0.0, 1.0, draw.random())) for _ in choices]
        point += [draw.random() * float(length) * point[c] for c, length in rises.values()]
        for row, low, high in Rounding([(terms, side)], rises)(point):
            found += 1
            assert low is None and sum(float(a) * point[j] for j, a in row) > float(high)
            for corner in _feasible(terms, side, rises, choices):
                assert sum(a * corner[j] for j, a in row) <= high
    return found


def test_no_whole_choice_is_cut_off() -> None:
    assert sum(map(_cut_off, range(40))) > 100


def test_it_ends_and_says_nothing_of_points_that_are_not_there() -> None:
    terms, side = [(0, Fraction(3)), (1, Fraction(3))], Fraction(5)
    cuts = Rounding([(terms, side)], {})
    assert cuts([]) == [] and cuts([0.0, 0.0]) == []
    assert cuts([1.0, 2 / 3]) == [(((0, Fraction(1)), (1, Fraction(1))), None, Fraction(1))]
    cuts.rounds = mir_cuts._ROUNDS
    assert cuts([1.0, 2 / 3]) == []


def test_the_relaxation_is_bounded_better() -> None:
    case = Case.of(overloaded(requests=20, seed=1))
    model = PooledModel(case)
    step, columns = Fraction(1, 1 << 80), range(len(case.wishes))
    plain = BranchAndBound(model.program("benefit"), columns, step).minimise(None, 1).bound
    cuts = model.rounding()
    cut = BranchAndBound(model.program("benefit"), columns, step, cuts).minimise(None, 1).bound
    assert plain < cut and cuts.rounds > 1


def test_what_the_solver_says_is_between_the_plan_and_the_linear_program() -> None:
    case = Case.of(overloaded(requests=34, seed=1))
    plain = aggregated_relaxation.upper_bound(case, "benefit", Limits(), most=1).worth
    said = said_bound(case, "benefit", Limits(work=5))
    found = Search(case, Budget(Limits()), whole=False, neighbours=False).run({})
    assert float(said) <= float(plain) + 1e-9
    assert found.bounds[0] <= plain
    proven = [("benefit", Fraction(0))]
    assert said_bound(case, "benefit", Limits(work=5), pinned=proven) == said


def test_a_solver_that_says_nothing_in_time(monkeypatch) -> None:
    case = Case.of(overloaded(requests=34, seed=1))
    monkeypatch.setattr(aggregated_relaxation.LinearSolver, "solve_integral", lambda *_: (None, ()))
    search = Search(case, Budget(Limits()), whole=False)
    assert said_bound(case, "benefit", Limits()) is None
    assert search._by_word("benefit") == (1, "all that could be accepted", False, False)


def test_the_word_of_a_solver_that_a_plan_refutes_is_none(monkeypatch) -> None:
    case = Case.of(overloaded(requests=34, seed=1))
    monkeypatch.setattr(aggregated_relaxation, "said_bound", lambda *_, **__: Fraction(1, 100))
    search = Search(case, Budget(Limits()), whole=False, neighbours=False)
    found = search.run(greedy(case))
    assert found.bounds[0] > key_of(case, found.held)[0] > Fraction(1, 10)
    assert found.proven == 0 and "word" not in found.proofs[0]
    linear_said = Bound(Fraction(0), "the word of HiGHS, in floats", said=True)
    monkeypatch.setattr(Search, "_by_linear", lambda *_: linear_said)
    found = Search(case, Budget(Limits()), formulation="milp", neighbours=False).run({})
    assert "word" not in found.proofs[0]
    refuted = linear_said._replace(said=False)
    monkeypatch.setattr(Search, "_by_relaxation", lambda *_: refuted)
    with pytest.raises(SolverError, match="but its bound is"):
        Search(case, Budget(Limits()), whole=False, neighbours=False).run(found.held)
