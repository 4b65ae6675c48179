"""The campaign that asks solvers again: verdicts, and what it hears of a solve."""

import random

import pytest

from benchmarks import random_models
from benchmarks.other_engines import by_brute_force, by_other_methods
from benchmarks.solver_claims import rows_of, summary
from benchmarks.solver_instances import SolverTask, drawn, generated
from benchmarks.solver_settings import (
    CP_SAT,
    NO_PRESOLVE,
    PRESOLVE,
    SAME,
    SCIP,
    SolverAnswer,
    SolverClaim,
    ask,
    watched,
)
from dlopt import Limits, solve
from dlopt.backends import cpsat, pulp
from dlopt.generation import generate
from dlopt.result import Status

OPTIMAL, FEASIBLE, INFEASIBLE, LIMIT = (
    Status.OPTIMAL,
    Status.FEASIBLE,
    Status.INFEASIBLE,
    Status.LIMIT,
)


@pytest.mark.parametrize(
    ("said", "other", "verdict"),
    [
        (SolverAnswer(OPTIMAL, True, 5, 5), SolverAnswer(OPTIMAL, True, 5, 5), "agree"),
        (SolverAnswer(OPTIMAL, True, 5, 5), SolverAnswer(OPTIMAL, True, 6, 6), "disagree"),
        (SolverAnswer(OPTIMAL, True, 6, 6), SolverAnswer(OPTIMAL, True, 5, 5), "disagree"),
        (SolverAnswer(OPTIMAL, True, 5, 5), SolverAnswer(FEASIBLE, True, 4, 7), "undecided"),
        (SolverAnswer(OPTIMAL, True, 5, 5), SolverAnswer(FEASIBLE, True, 6, 7), "disagree"),
        (SolverAnswer(OPTIMAL, True, 5, 5), SolverAnswer(FEASIBLE, True, 3, 4), "disagree"),
        (SolverAnswer(OPTIMAL, True, 5, 5), SolverAnswer(LIMIT, False), "undecided"),
        (SolverAnswer(FEASIBLE, True, 4, 6), SolverAnswer(OPTIMAL, True, 5, 5), "agree"),
        (SolverAnswer(FEASIBLE, True, 4, 6), SolverAnswer(FEASIBLE, True, 5, 7), "undecided"),
        (SolverAnswer(INFEASIBLE, False), SolverAnswer(INFEASIBLE, False), "agree"),
        (SolverAnswer(INFEASIBLE, False), SolverAnswer(FEASIBLE, True, 1, 9), "disagree"),
        (SolverAnswer(OPTIMAL, True), SolverAnswer(INFEASIBLE, False), "disagree"),
        (SolverAnswer(OPTIMAL, True), SolverAnswer(OPTIMAL, True), "agree"),
    ],
)
def test_a_solution_that_an_answer_excludes_is_a_disagreement(said, other, verdict):
    assert SolverClaim("", said, 1, 0.0, {}).verdict(other) == verdict
    turned = [
        SolverAnswer(
            one.status, one.found, *(None if x is None else -x for x in (one.value, one.bound))
        )
        for one in (said, other)
    ]
    assert SolverClaim("", turned[0], -1, 0.0, {}).verdict(turned[1]) == verdict


def test_a_difference_within_the_slack_is_none():
    said, other = (
        SolverAnswer(OPTIMAL, True, 1e6, 1e6),
        SolverAnswer(OPTIMAL, True, 1e6 + 5, 1e6 + 5),
    )
    assert SolverClaim("", said, 1, 1e-5, {}).verdict(other) == "agree"
    assert SolverClaim("", said, 1, 1e-6, {}).verdict(other) == "disagree"


def test_what_cp_sat_proves_is_heard_and_asked_again():
    instance = generate("dag", "topcuoglu", tasks=8, machines=3)
    before = cpsat.optimise, cpsat.SETTINGS
    with watched() as claims:
        solve(instance)
    own = [claim for claim in claims if claim.solver == cpsat.NAME]
    assert own and set(own[0].again) == set(CP_SAT)
    assert {own[0].verdict(again(9.0)) for again in own[0].again.values()} == {"agree"}
    assert (cpsat.optimise, cpsat.SETTINGS) == before


def test_what_highs_proves_is_heard_and_asked_again():
    instance = generate("iit", "random", nodes=3, theta_cm=1, theta_cp=2, spread=2.0)
    before = pulp.solve_by_highs
    with watched() as claims:
        solve(instance)
    own = [claim for claim in claims if claim.solver == pulp.DEFAULT]
    assert own and set(own[0].again) == {PRESOLVE, NO_PRESOLVE, SCIP}
    assert {own[-1].verdict(again(9.0)) for again in own[-1].again.values()} == {"agree"}
    assert pulp.solve_by_highs is before


def test_a_false_optimum_of_highs_is_found():
    """HiGHS 1.12 without presolve; the result is right, for it is solved with presolve, too."""
    case = list(drawn("dag", 325))[-1]
    with watched() as claims:
        found = solve(case.make(), "milp", objective=case.objective)
    assert (found.status, found.value) == (OPTIMAL, 14)
    own = [claim for claim in claims if claim.solver == pulp.DEFAULT]
    assert "disagree" in {claim.verdict(claim.again[PRESOLVE](9.0)) for claim in own}


def test_a_false_proof_is_reported(monkeypatch):
    ask_cp_sat = cpsat.optimise

    def lying(model, limits, **options):
        said = ask_cp_sat(model, limits, **options)
        if said.status is not OPTIMAL or lies:
            return said
        lies.append(said)
        return cpsat.Outcome(INFEASIBLE, None, None, None, said.version)

    lies = []
    model = cpsat.new_model()
    model.maximize(model.new_int_var(0, 3, "x"))
    monkeypatch.setattr(cpsat, "optimise", lying)
    with watched() as claims:
        cpsat.optimise(model, Limits())
    (claim,) = claims
    assert claim.verdict(claim.again[SAME](9.0)) == "disagree"


def test_rows_of_an_instance(capsys):
    made = generate("dag", "topcuoglu", tasks=6, machines=3)
    case = SolverTask("dag", "generated", "small", lambda: made)
    rows = list(rows_of(case, 5.0, 2))
    assert rows and {row["verdict"] for row in rows} <= {"agree", "undecided"}
    assert {row["setting"] for row in rows if row["solver"] == cpsat.NAME} == set(CP_SAT)
    assert any(row["setting"] == "milp" for row in rows)
    summary(rows)
    told = capsys.readouterr().out
    assert "no presolve" in told and "DISAGREE" not in told
    summary([{**rows[0], "verdict": "disagree"}])
    assert "DISAGREE" in capsys.readouterr().out


@pytest.mark.parametrize("stem", ["dag", "bag", "coreservation"])
def test_small_instances_are_tried_by_brute_force(stem):
    case = next(case for case in generated(stem, 1) if case.tiny)
    instance = case.make()
    found = solve(instance)
    answers = [*by_brute_force(case, instance, found), *by_other_methods(case, instance, found, 5)]
    assert {verdict for _, verdict, _ in answers} == {"agree"}
    assert "brute force" in {name for name, *_ in answers}


@pytest.mark.parametrize("kind", random_models.KINDS)
def test_random_models_are_valid(kind):
    for number in range(5):
        model = random_models.KINDS[kind](random.Random(number))
        assert model.validate() == ""
        assert ask(model, CP_SAT[SAME], 9.0).status in (OPTIMAL, INFEASIBLE)


def test_who_claims_less_than_another_has_found_is_refuted():
    answers = {
        "good": SolverAnswer(OPTIMAL, True, 4, 4),
        "bad": SolverAnswer(OPTIMAL, True, 5, 5),
        "worse": SolverAnswer(INFEASIBLE, False),
        "slow": SolverAnswer(FEASIBLE, True, 6, 1),
    }
    assert random_models.refuted_by_others(answers, -1) == ["bad", "worse"]
