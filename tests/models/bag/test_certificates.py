"""Certificates of independent tasks: they are accepted, prove the optimum, and nothing above it."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

from benchmarks.second_checker import first_verdict, second_verdict
from dlopt import Status, generate, solve
from dlopt.arithmetic import exact
from dlopt.certificate_files import check_certificate, write_certificate
from dlopt.formats import vipr
from dlopt.formats.vipr.certificate import Certificate, Constraint
from dlopt.models.bag import proof_flowtime, proof_programs
from dlopt.models.bag.proof_flowtime import total_completion_certificate
from dlopt.models.bag.scaled_instance import ScaledInstance
from dlopt.problems.bag import OBJECTIVES, Instance, Link, Machine, Site, Task
from dlopt.problems.bag.certified_program import (
    BagTimes,
    PositionProgram,
    TotalProgram,
    proven_value,
)
from dlopt.problems.certificate_units import TimeGrid
from dlopt.result import levels_of
from tests.examples import share
from tests.strategies_bag import bags, bags_in_floats

ETC = Instance(etc=((9, 9), (5, 6), (7, 8), (6, 8), (9, 6)))
DATED = Instance(
    (
        Task("a", 2, absolute_deadline=3, priority="critical"),
        Task("b", 2, absolute_deadline=3),
        Task("c", 2, release=1, absolute_deadline=4, priority="soft"),
        Task("d", 1, priority="critical"),
    ),
    (Machine("m"),),
)
RELEASED = Instance((Task("a", 4), Task("b", 1, release=1)), (Machine("m"),))


def goals(instance):
    """Return the objectives that an instance has."""
    return [
        name
        for name, goal in OBJECTIVES.items()
        if goal.requires_field is None or getattr(instance, goal.requires_field) is not None
    ]


@pytest.mark.property
@share(1 / 6)
@given(bags())
def test_certificates_prove_the_optimum_and_no_more(instance):
    for name in goals(instance):
        for method in ("exact", "bound-lp"):
            result = solve(instance, method, objective=name)
            if result.certificate is None:
                assert method == "bound-lp" or result.proof == "solver" or name == "flowtime"
                continue
            certificate = vipr.parse(vipr.to_text(result.certificate))
            assert certificate.flaw() is None
            proven, flaw = proven_value(instance, result, certificate)
            assert flaw is None
            assert levels_of(proven) == tuple(map(exact, levels_of(result.bound)))


@pytest.mark.property
@share(1 / 4)
@given(bags_in_floats())
def test_certificates_of_instances_in_floats(tmp_path_factory, instance):
    path = tmp_path_factory.getbasetemp() / "bag.vipr"
    for name in goals(instance):
        result = solve(instance, objective=name)
        if result.certificate is not None:
            write_certificate(result, path)
            assert check_certificate(instance, result, path) == ()


@pytest.mark.parametrize("method", ["exact", "bound-lp"])
@pytest.mark.parametrize(
    ("instance", "name"),
    [
        *((ETC, name) for name in ("makespan", "flowtime")),
        (RELEASED, "flowtime"),
        *((DATED, name) for name in ("accepted", "critical-then-all", "by-priority")),
        (Instance(etc=((5, 7), (1, 1))), "makespan"),  # one task alone decides
        (Instance(etc=((2, 3), (2, 3), (2, None))), "makespan"),  # the duals decide
    ],
)
def test_every_objective_has_certificates(instance, name, method, tmp_path):
    result = solve(instance, method, objective=name)
    write_certificate(result, tmp_path / "p.vipr")
    assert check_certificate(instance, result, tmp_path / "p.vipr") == ()
    assert result.status is Status.BOUND or result.proof == "certificate"
    first = levels_of(result.bound)[0]
    sharper = first + (1 if OBJECTIVES[name].sense == "min" else -1)
    better = (sharper, *levels_of(result.bound)[1:])
    claimed = replace(result, bound=better if len(better) > 1 else sharper)
    (violation,) = check_certificate(instance, claimed, tmp_path / "p.vipr")
    assert violation.kind == "bound"


def test_levels_are_compared_one_after_another(tmp_path):
    result = solve(DATED, objective="critical-then-all")
    write_certificate(result, tmp_path / "p.vipr")
    (first, second) = result.bound
    for weaker in ((first + 1, 0), (first, second + 1)):
        assert check_certificate(DATED, replace(result, bound=weaker), tmp_path / "p.vipr") == ()
    found = check_certificate(
        DATED, replace(result, bound=(first, second - 1)), tmp_path / "p.vipr"
    )
    assert str(found[0]) == (
        f"bound on critical-then-all (the certificate proves ({first}, {second}), "
        f"the result claims ({first}, {second - 1})) by 1"
    )
    for bound, levels in (((1, 1, 1), 3), ((), 0)):
        found = check_certificate(DATED, replace(result, bound=bound), tmp_path / "p.vipr")
        assert f"it has {levels} levels, and the certificate proves 2" in str(found[0])


LINKED = Instance(
    (Task("a", 4, site=0, input=2), Task("b", 4, site=0, input=2), Task("c", 4, site=1)),
    (Machine("m"), Machine("n", site=1, power=2, ready=1)),
    (Site("x"), Site("y")),
    (Link((0, 1), bandwidth=2, latency=1),),
)


def test_sites_and_ready_times_are_in_the_program(tmp_path):
    faster = replace(LINKED, links=(Link((0, 1), bandwidth=4),))
    ready = replace(LINKED, machines=(Machine("m"), Machine("n", site=1, power=2)))
    for name, of_faster in (("makespan", ["program"]), ("flowtime", [])):
        result = solve(LINKED, "bound-lp", objective=name)
        write_certificate(result, tmp_path / "p.vipr")
        assert check_certificate(LINKED, result, tmp_path / "p.vipr") == ()
        # positions count from the first task of a machine, which is at its site already
        for other, kinds in ((faster, of_faster), (ready, ["program"])):
            found = check_certificate(other, result, tmp_path / "p.vipr")
            assert [violation.kind for violation in found] == kinds


@pytest.mark.parametrize(
    ("instance", "name", "change", "flaw"),
    [
        (ETC, "makespan", ("unit: 1", "unit: -1"), "do not state unit"),
        (ETC, "makespan", ("origin: 0", "origin: 1"), "can start before the origin"),
        (ETC, "makespan", ("makespan: 17", "makespan: x"), "do not state the makespan"),
        (ETC, "makespan", ("makespan: 17", "makespan: 18"), "may start later"),
        (ETC, "makespan", ("RTP infeas", "RTP range 0 inf"), "does not claim that there is no"),
        (DATED, "accepted", ("RTP range -2 inf", "RTP infeas"), "tasks may be left out"),
        (DATED, "accepted", ("OBJ min\n3 0 -1", "OBJ min\n3 0 0"), "does not count as it should"),
        (DATED, "accepted", ("z_0_0_1", "z_0_0_0"), "does not count as it should"),
        (DATED, "accepted", ("% unit: 1", "% total: 3\n% unit: 1"), None),
        (RELEASED, "flowtime", ("total: 8", "total: x"), "do not state the total"),
        (RELEASED, "flowtime", ("total: 8", "total: 17/2"), "do not state the total"),
        (RELEASED, "flowtime", ("total: 8", "total: 9"), "may start later"),
        (RELEASED, "flowtime", ("total: 8", "total: 7"), None),
        (RELEASED, "flowtime", ("RTP infeas", "RTP range 0 inf"), "does not claim that there is"),
        (RELEASED, "flowtime", ("total_L L 7", "total_L L 6"), "completions may be more"),
        (RELEASED, "flowtime", ("total_L L 7", "total_L G 7"), "completions may be more"),
        (RELEASED, "flowtime", ("0 -1 1 5 2", "0 -1 1 6 2"), "task 0 for more than its completion"),
        (RELEASED, "flowtime", ("0 -1 1 5 2", "0 0 1 5 2"), "task 0 for more than its completion"),
        (RELEASED, "flowtime", ("0 -1 1 5 2", "0 -2 1 5 2"), None),
        (ETC, "flowtime", ("RTP range 55 inf", "RTP infeas"), "but there is one"),
        (ETC, "flowtime", ("y_0_0_0", "y_9_0_0"), "positions"),
        (ETC, "flowtime", ("y_0_0_0", "y_0_0_999"), "positions are missing"),
        (ETC, "flowtime", ("0 9 1 5", "0 8 1 5"), "costs are not those of the positions"),
        (ETC, "flowtime", ("task_0_G G 1", "task_0_G G 2"), "no constraint of the assignment"),
        (ETC, "flowtime", ("task_0_G", "task_1_G"), "no constraint of the assignment"),
        (ETC, "flowtime", ("task_0_G", "row_0_G"), "no constraint of the assignment"),
        (
            ETC,
            "flowtime",
            ("task_0_G G 1 10 0 1 5 1 10 1 15 1 20 1 25 1 30 1 35 1 40 1 45 1", "task_5_G G 1 0"),
            "no constraint of the as",
        ),
        (ETC, "flowtime", ("place_0_0_L L 1", "place_0_0_L L 0"), "no constraint of the assign"),
        (ETC, "flowtime", ("place_0_0_L", "place_7_0_L"), "no constraint of the assignment"),
    ],
)
def test_what_a_file_says_is_compared_with_the_instance(instance, name, change, flaw):
    result = solve(instance, objective=name)
    text = vipr.to_text(result.certificate)
    assert change[0] in text
    _, found = proven_value(instance, result, vipr.parse(text.replace(*change, 1)))
    assert found is None if flaw is None else flaw in (found or ""), found


@pytest.mark.parametrize(
    ("name", "terms", "side", "flaw"),
    [
        ("total", {"z_0_1_0": -1, "z_0_1_1": -1, "z_0_1_2": -1, "z_0_1_3": 5}, 7, None),
        ("total", {"z_0_1_0": -1, "z_0_1_1": -1, "z_0_1_3": 5}, 7, "counts task 0 for more"),
        ("total", {"z_0_1_0": -1, "z_0_1_1": -1, "z_0_1_3": 4}, 7, None),
        ("total", {"z_0_1_3": 5, "z_0_1_0": -3}, 7, "counts task 0 for more"),  # from 1 on it is 5
        ("total", {"z_0_1_0": -1, "z_0_1_3": 3}, 6, "completions may be more"),
        ("total", {"z_0_0_0": 4, "z_0_1_0": 2, "z_1_0_1": 3, "z_1_1_1": 2}, 7, None),
        ("total", {"z_0_1_0": 3}, 7, "counts task 0 for more"),  # 4 on the other machine
        ("total", {"z_1_0_0": 100}, 7, None),  # before its release
        ("total", {"z_1_0_0": -5, "z_1_0_1": 3}, 7, None),
        ("total", {"z_1_0_0": -5, "z_1_0_1": 8}, 7, "counts task 1 for more"),
        ("total", {"z_0_1_3": -95, "z_0_1_9": 97}, 7, None),  # it starts by 3
        ("total", {"z_0_1_9": 3}, 7, "counts task 0 for more"),
        ("assigned_0_G", {"z_0_0_1": 1, "z_0_1_3": 1}, 1, None),
        ("assigned_0_G", {"z_0_0_1": 1, "z_0_1_2": 1}, 1, "may start later"),
        ("assigned_0_G", {"z_0_0_0": 1, "z_0_1_3": 1}, 1, "may start later"),
        ("assigned_0_G", {"z_0_1_3": 1}, 1, "may start later"),
        ("capacity_1_0_2", {"z_0_1_0": 2}, 2, None),
        ("capacity_1_0_2", {"z_0_1_1": 2}, 2, "counts task 0 for more"),
        ("capacity_1_0_2", {"z_0_1_0": 3}, 2, "counts task 0 for more"),
        ("capacity_1_0_2", {"z_0_1_0": 2}, 1, "machines may do more"),
    ],
)
def test_rows_about_totals(name, terms, side, flaw):
    """Alone the tasks are complete at 2 on the second machine: of 7 units three are to spare."""
    tasks = Task("a", 4), Task("b", 2, release=1)
    instance = Instance(tasks, (Machine("m"), Machine("n", power=2)))
    times = BagTimes(instance, TimeGrid(Fraction(1), Fraction(0)))
    coefficients = {column: Fraction(a) for column, a in enumerate(terms.values())}
    row = Constraint(coefficients, 1 if name.endswith("G") else -1, Fraction(side))
    program = Certificate(tuple(terms), frozenset(), {}, ((name, row),), None, ())
    found = TotalProgram(times.step_times_of_total(7), program, 7).flaw()
    assert found is None if flaw is None else flaw in (found or ""), found


FIRST = {f"y_{j}_0_0": 1 for j in range(3)}
OF_TASK = {"y_1_0_0": 1, "y_1_0_1": 1, "y_1_1_0": 1}


@pytest.mark.parametrize(
    ("name", "terms", "sign", "side", "holds"),
    [
        ("place_0_0_L", FIRST, -1, 1, True),
        ("place_0_0_L", FIRST, -1, 0, False),
        ("place_0_0_G", FIRST, 1, 1, False),
        ("place_0_0", FIRST, 0, 1, False),
        ("place_0_0_L", FIRST | {"y_0_0_1": 1}, -1, 1, False),
        ("place_0_0_L", FIRST | {"y_0_0_0": 2}, -1, 1, False),
        ("place_0_1_L", {f"y_{j}_0_1": 1 for j in range(3)}, -1, 1, False),  # all later ones
        ("place_1_0_L", {f"y_{j}_1_0": 1 for j in range(3)}, -1, 1, False),  # the only one
        ("place_2_0_L", {}, -1, 1, False),
        ("task_1_G", OF_TASK, 1, 1, True),
        ("task_1_L", OF_TASK, -1, 1, True),
        ("task_1_G", OF_TASK, 1, 2, False),
        ("task_1_L", OF_TASK, -1, 0, False),
        ("task_1", OF_TASK, 0, 2, False),
        ("task_0_G", OF_TASK, 1, 1, False),
        ("task_1_G", {"y_1_0_0": 1, "y_1_0_1": 1}, 1, 1, False),
        ("task_1_G", {"y_1_0_0": 1, "y_1_0_1": 1, "y_2_1_0": 1}, 1, 1, False),
        ("task_1_L", OF_TASK | {"y_1_0_0": 2}, -1, 1, False),
        ("y_1_0_0_G", {"y_1_0_0": 1}, 1, 0, True),
        ("y_1_0_0_G", {"y_1_0_0": 1}, 1, 1, False),
        ("y_1_0_0_L", {"y_1_0_0": 1}, -1, 0, False),
        ("y_1_0_0_G", {"y_1_0_0": -1}, 1, 0, False),
    ],
)
def test_rows_about_positions(name, terms, sign, side, holds):
    """Of two positions on the first machine the second one stands for all later ones."""
    times = BagTimes(Instance(etc=((1, 2), (2, 3), (3, 4))), TimeGrid(Fraction(1), Fraction(0)))
    costs = {
        f"y_{j}_{k}_{q}": (q + 1) * (1 + j + k)
        for j in range(3)
        for k, q in ((0, 0), (0, 1), (1, 0))
    }
    columns = {column: number for number, column in enumerate(costs)}
    coefficients = {columns[column]: Fraction(a) for column, a in terms.items()}
    row = Constraint(coefficients, sign, Fraction(side))
    exactly = {columns[column]: Fraction(cost) for column, cost in costs.items()}
    program = Certificate(tuple(costs), frozenset(), exactly, ((name, row),), Fraction(1), ())
    flaw = f"{name}: it is no constraint of the assignment"
    assert PositionProgram(times, program).flaw() == (None if holds else flaw)


def test_a_position_for_every_task_holds_one_and_no_column_is_anything_else():
    times = BagTimes(Instance(etc=((1,), (2,))), TimeGrid(Fraction(1), Fraction(0)))
    names = "y_0_0_0", "y_1_0_0", "y_0_0_1", "y_1_0_1"
    costs = dict(enumerate(map(Fraction, (1, 2, 2, 4))))
    row = "place_0_1_L", Constraint({2: Fraction(1), 3: Fraction(1)}, -1, Fraction(1))
    program = Certificate(names, frozenset(), costs, (row,), Fraction(1), ())
    assert PositionProgram(times, program).flaw() is None
    more = replace(program, names=(*names, "y"), constraints=())
    assert PositionProgram(times, more).flaw() == "its columns are not the positions of all tasks"


@pytest.mark.property
@share(1 / 4)
@given(bags(deadlines=False, tasks=3))
def test_no_total_above_the_optimum_is_certified(instance):
    result = solve(instance, objective="flowtime")
    assert result.status is Status.OPTIMAL
    scaled = ScaledInstance.from_instance(instance, "flowtime")
    units = (scaled.total_release + exact(result.value)) * scaled.scale
    assert total_completion_certificate(scaled, units + 1) is None
    for total in (units, units - 1):
        certificate = total_completion_certificate(scaled, total)
        if certificate is None:  # it has too many starts
            assert result.proof == "certificate" or scaled.scale > 1
            continue
        parsed = vipr.parse(vipr.to_text(certificate))
        assert parsed.flaw() is None
        lacking = (units - total) / scaled.scale
        assert proven_value(instance, result, parsed) == (exact(result.value) - lacking, None)


def test_many_starts_are_a_program_that_may_be_searched(monkeypatch):
    """Ten tasks that arrive one after another on three machines, with 749 starts."""
    instance = generate("bag", "small", seed=3, tasks=10, span=6, deadlines="none")
    result = solve(instance, objective="flowtime")
    assert (result.value, result.proof) == (Fraction(56, 3), "certificate")
    assert len(result.certificate.names) > proof_programs.MAX_PAIRS_FOR_SEARCH
    text = vipr.to_text(result.certificate)
    first, second = (check(instance, result, text) for check in (first_verdict, second_verdict))
    assert first == second and first.bound == (Fraction(56, 3),)
    monkeypatch.setattr(proof_flowtime, "MAX_STARTS", 700)
    assert solve(instance, objective="flowtime").proof == "exact"


def test_dates_exclude_times_as_objectives():
    for name in ("makespan", "flowtime"):
        result = solve(ETC, objective=name)
        certificate = vipr.parse(vipr.to_text(result.certificate))
        assert "may be left out" in proven_value(DATED, result, certificate)[1]


def test_limits_end_the_search_for_a_proof(monkeypatch):
    for name, objective in (("MAX_PAIRS", "flowtime"), ("MAX_PAIRS", "makespan")):
        with monkeypatch.context() as patch:
            patch.setattr(proof_programs, name, 1)
            assert solve(ETC, objective=objective).certificate is None
    for limit in ("MAX_PAIRS_FOR_SEARCH", "MAX_SUBPROBLEMS"):
        with monkeypatch.context() as patch:
            patch.setattr(proof_programs, limit, 0)
            assert solve(ETC).proof == "solver"
            assert solve(DATED).certificate is None or limit == "MAX_SUBPROBLEMS"


@pytest.mark.parametrize(
    ("instance", "name", "claim"),
    [
        (ETC, "makespan", "no schedule is complete by 17, the makespan, in units since the origin"),
        (
            RELEASED,
            "flowtime",
            "no completions have a total less than 8, in units since the origin",
        ),
    ],
)
def test_the_claim_is_stated_with_its_number(instance, name, claim):
    certificate = vipr.parse(vipr.to_text(solve(instance, objective=name).certificate))
    assert certificate.remarks["claim"] == claim
