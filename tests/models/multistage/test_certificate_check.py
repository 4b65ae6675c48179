"""The program of a certificate is held against tasks and reservations, constraint by constraint."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given

import dlopt
from dlopt.certificate_files import check_certificate, write_certificate
from dlopt.formats import vipr
from dlopt.models.admission.fluid_relaxation import NodeGroup, TimeGrid
from dlopt.models.multistage import certificate_check, fluid_relaxation
from dlopt.models.multistage.certificate_check import proven_value
from dlopt.models.multistage.methods import bound_fluid, exact_plan, feasible_together
from dlopt.models.multistage.scaled_instance import ScaledInstance
from dlopt.models.multistage.upper_bounds import upper_bound
from dlopt.result import Limits, Result, Status
from tests.examples import share
from tests.instance_files import ROOT
from tests.models.multistage.sample_instances import around, mixed

INSTANCES = sorted((ROOT / "instances" / "multistage").rglob("*.json"))
OBJECTIVES = (
    "accepted",
    "accepted-tasks",
    "accepted-reservations",
    "accepted-load",
    "reject-ratio",
)
# Two tasks that the channel cannot serve both; r and s want the channel, s and t node 1; u any.
TASKS = ((0, 2, 3), (0, 2, 3))
HELD = ((0, 1, 2, 4, 1), (0, 1, 3, 6, (1,)), (0, 3, 3, 5, (1,)))
INSTANCE = around(2, 1, 1, *TASKS, held=HELD)
PROOF = bound_fluid(INSTANCE)
CERTIFICATE = vipr.parse(vipr.to_text(PROOF.certificate))


def flaw(certificate, instance=INSTANCE, result=PROOF):
    return proven_value(instance, result, certificate)[1]


def kinds(instance, result, path):
    return [violation.kind for violation in check_certificate(instance, result, path)]


def together(instance, objective="accepted"):
    """Ask whether everything fits; there is a certificate if not even flows do."""
    scaled = ScaledInstance.from_instance(instance, objective, accept_all=True)
    found = upper_bound(scaled, Limits(), relaxation_only=True)
    proof = found.certificate if found.value is None else None
    return Result(Status.INFEASIBLE, objective=objective, method="feasibility", certificate=proof)


@pytest.fixture
def file(tmp_path):
    write_certificate(PROOF, tmp_path / "proof.vipr")
    return tmp_path / "proof.vipr"


def test_what_was_written_fits():
    assert proven_value(INSTANCE, PROOF, CERTIFICATE) == (PROOF.bound, None)
    # Something of every kind of constraint is there.
    letters = {name[0] for name in CERTIFICATE.names}
    assert letters == {"z", "q", "c", "w", "s", "h"}


@pytest.mark.parametrize("name", ["time", "load", "instants", "node groups"])
def test_remarks_that_say_something_else(name):
    other = CERTIFICATE.remarks | {name: "0"}
    assert f"remark {name!r}" in flaw(replace(CERTIFICATE, remarks=other))


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: path.stem)
def test_bounds_of_shipped_instances_are_proven(path, tmp_path):
    instance, proven = dlopt.read(path), 0
    for objective in OBJECTIVES:
        for result in (bound_fluid(instance, objective=objective), together(instance, objective)):
            if result.certificate is not None:
                write_certificate(result, tmp_path / "proof.vipr")
                assert kinds(instance, result, tmp_path / "proof.vipr") == []
                proven += 1
    assert proven >= len(OBJECTIVES) - 1  # without reservations, these have no value


@pytest.mark.property
@share(1 / 4)
@given(mixed(most=3, tasks=2, wanted=3, identical=False, state=True))
def test_certificates_of_chance(tmp_path_factory, instance):
    path = tmp_path_factory.getbasetemp() / "proof.vipr"
    for result in (bound_fluid(instance), together(instance)):
        if result.certificate is not None:
            write_certificate(result, path)
            assert kinds(instance, result, path) == []


def test_merged_intervals_and_kinds(monkeypatch):
    whole = len(CERTIFICATE.names)
    monkeypatch.setattr(fluid_relaxation, "MAX_CELLS", 4)
    monkeypatch.setattr(fluid_relaxation, "MAX_GROUPS", 1)
    result = bound_fluid(INSTANCE)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert len(certificate.names) < whole
    assert flaw(certificate, result=result) is None


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_every_objective_has_its_own_costs(objective):
    result = bound_fluid(INSTANCE, objective=objective)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert proven_value(INSTANCE, result, certificate) == (result.bound, None)
    same_costs = {"accepted", "reject-ratio"}
    for other in OBJECTIVES:
        if other != objective and {other, objective} != same_costs:
            assert flaw(certificate, result=replace(result, objective=other)) is not None
    assert "do not support" in flaw(certificate, result=replace(result, objective="utilization"))


def test_other_columns():
    assert "columns" in flaw(replace(CERTIFICATE, names=(*CERTIFICATE.names, "x")))
    assert "integer columns" in flaw(replace(CERTIFICATE, integers=frozenset()))
    assert "costs" in flaw(replace(CERTIFICATE, costs={0: Fraction(-9)}))


def test_every_coefficient_and_every_side_counts():
    """A program with one number changed is another program, whichever number it is."""
    for place, (name, one) in enumerate(CERTIFICATE.constraints):
        changed = [replace(one, side=one.side - one.sign)]
        changed += [replace(one, terms={**one.terms, j: a / 2}) for j, a in one.terms.items()]
        for wrong in changed:
            stated = list(CERTIFICATE.constraints)
            stated[place] = (name, wrong)
            found = flaw(replace(CERTIFICATE, constraints=tuple(stated)))
            assert found == f"{name} is not a constraint of the instance"


@pytest.mark.parametrize(
    ("pattern", "new"),
    [
        (r"(row16_L L 256 .*) 256\n", r"\1 128\n"),  # a coefficient: the I/O of s
        (r"(row16_L L) 256", r"\1 255"),  # a side: how long the interval is
        (r"(row25_L L 256 3 38 256 3) 256", r"\1 512"),  # s on node 1
        (r"(row28_L L 1 2 2 1 3) 1", r"\1 2"),  # r and s want the channel
        (r"(q_0_L L) 1 ", r"\1 0 "),  # the bound of a column
        (r"z_0 z_1 q_0", "z_0 z_1 q_7"),  # a name
        (r"INT 5\n0 1 2 3 4", "INT 6\n0 1 2 3 4 5"),
        (r"OBJ min\n5 0 -1", "OBJ min\n5 0 -1/2"),
        (r"(row16_L) L", r"\1 G"),
        (r"lin 1 (\d+) 1 ", r"lin 1 \1 2 "),
    ],
)
def test_what_is_tampered_with_is_found(pattern, new, file):
    text = file.read_text()
    changed = re.sub(pattern, new, text, count=1)
    assert changed != text
    file.write_text(changed)
    assert set(kinds(INSTANCE, PROOF, file)) & {"proof", "program"}


def test_a_row_that_is_dropped_no_longer_proves(file):
    """Without a constraint that the proof needs, its steps rest on another one."""
    used = {
        int(word)
        for _, _, reason, _ in CERTIFICATE.steps
        if reason[0] in ("lin", "rnd")
        for word in reason[2::2]
    }
    place = min(used & set(range(len(CERTIFICATE.constraints))))
    stated = CERTIFICATE.constraints
    less = replace(CERTIFICATE, constraints=(*stated[:place], *stated[place + 1 :]))
    assert less.flaw() is not None
    name = stated[place][0]
    file.write_text(re.sub(rf"^{name} .*\n", "", file.read_text(), flags=re.MULTILINE))
    with pytest.raises(dlopt.errors.InvalidInstanceError, match="VIPR"):
        check_certificate(INSTANCE, PROOF, file)


def test_a_proof_of_another_instance_is_none(file):
    for other in (
        around(2, 1, 1, *TASKS, held=HELD[:2]),
        around(2, 1, 1, *TASKS[:1], held=HELD),
        around(2, 1, 2, *TASKS, held=HELD),
        around(3, 1, 1, *TASKS, held=HELD),
        around(2, 1, 1, *TASKS, held=(HELD[0], (0, 1, 2, 6, (1,)), HELD[2])),
        around(2, 1, 1, *TASKS, held=(HELD[0], HELD[1], (0, 3, 3, 5, (0,)))),
        around(2, 1, 1, *TASKS, held=HELD, ready_times=(0, 1)),
        around(2, 1, 1, *TASKS, held=HELD, task_weight=2),
    ):
        assert kinds(other, PROOF, file) == ["program"]


def test_fewer_tasks_or_reservations_bound_nothing():
    for fewer in (around(2, 1, 1, *TASKS[:1], held=HELD), around(2, 1, 1, *TASKS, held=HELD[:2])):
        smaller = vipr.parse(vipr.to_text(bound_fluid(fewer).certificate))
        assert flaw(smaller) is not None
    # Even where time and nodes are divided in the same way.
    late = (*HELD, (0, 30, 30, 40, (0,)), (0, 30, 30, 40, (0,)))
    more = around(2, 1, 1, *TASKS, held=late)
    one = vipr.parse(vipr.to_text(bound_fluid(around(2, 1, 1, *TASKS, held=late[:-1])).certificate))
    assert flaw(one, more) == "tasks or reservations of the instance are missing"


def test_the_fluid_relaxation_bounds_every_plan_class(file):
    for wider in ("single", "per-stage", "k", "any", None):
        assert kinds(INSTANCE, replace(PROOF, plan_class=wider), file) == []


def test_there_are_no_cuts():
    """Of streams, cuts hold for plans with few chunks; no chunk is counted here."""
    cut = ("cut0_L", vipr.Constraint({0: Fraction(1)}, -1, Fraction(0)))
    more = replace(CERTIFICATE, constraints=(*CERTIFICATE.constraints, cut))
    assert flaw(more) == "cut0_L is not a constraint of the instance"
    assert flaw(more, result=replace(PROOF, plan_class="single")) is not None


def test_a_better_bound_than_proven_is_refuted(file):
    assert kinds(INSTANCE, replace(PROOF, bound=PROOF.bound - 1), file) == ["bound"]
    assert kinds(INSTANCE, replace(PROOF, bound=PROOF.bound + 1), file) == []
    nothing = Result(Status.INFEASIBLE, objective="accepted", method="exact")
    assert kinds(INSTANCE, nothing, file) == ["bound"]
    together = replace(nothing, method="feasibility")
    assert kinds(INSTANCE, together, file) == ["program"]


def test_that_not_everything_fits_is_proven(tmp_path):
    """The channel cannot send to both; but neither is promised."""
    crowd = around(1, 1, 1, (0, 2, 6), (0, 2, 6), (0, 1, 50), held=((0, 60, 61, 62, 1),))
    result = replace(feasible_together(crowd), method="feasibility")
    path = tmp_path / "proof.vipr"
    write_certificate(result, path)
    assert result.status is Status.INFEASIBLE
    assert kinds(crowd, result, path) == []
    exact = Result(Status.INFEASIBLE, objective="accepted", method="exact")
    assert kinds(crowd, exact, path) == ["program"]  # nothing is promised
    bounded = replace(result, status=Status.BOUND, bound=0)  # that not all fit bounds nothing
    assert kinds(crowd, bounded, path) == ["program"]


def test_that_promises_cannot_be_kept_is_proven_of_them_alone(tmp_path):
    """What may be refused has no part in it, and need not be named."""
    held = ((0, 3, 3, 5, (0,)), (5, 6, 6, 9, (0,)))
    late = around(1, 1, 1, (0, 2, 5), (5, 1, 9), held=held, now=4)
    result = exact_plan(late)
    path = tmp_path / "proof.vipr"
    write_certificate(result, path)
    assert result.status is Status.INFEASIBLE
    assert kinds(late, result, path) == []
    names = vipr.parse(path.read_text()).names
    assert "z_0" in names and "z_1" not in names and "q_1" not in names


@pytest.mark.parametrize("wrong", ["twice", "missing", "turned", "folded", "late", "early"])
def test_an_invalid_division_is_reported(wrong, monkeypatch):
    instants, groups = fluid_relaxation.time_grid(ScaledInstance.from_instance(INSTANCE))
    first_group = groups[0]
    if wrong == "twice":
        groups = [*groups, first_group]
    elif wrong == "missing":
        without = NodeGroup(first_group.tau, first_group.chi, first_group.nodes[1:])
        groups = [without, *groups[1:]]
    elif wrong == "turned":
        instants = instants[::-1]
    elif wrong == "folded":
        first, *middle, last = instants
        instants = [first, *middle, middle[0], last]
    elif wrong == "late":
        instants = instants[1:]
    else:
        instants = instants[:2]
    monkeypatch.setattr(certificate_check, "time_grid", lambda _: TimeGrid(instants, groups))
    assert "counts something twice or not at all" in flaw(CERTIFICATE)


def test_set_up_costs_and_nodes_that_differ():
    cluster = dlopt.problems.cluster.Cluster(2, (1, 2), (3, 1), theta_cm=1, theta_cp=2)
    instance = replace(INSTANCE, cluster=cluster, tasks=_longer(INSTANCE.tasks))
    result = bound_fluid(instance)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert flaw(certificate, instance, result) is None
    cheaper = replace(instance, cluster=replace(cluster, theta_cp=1))
    assert flaw(certificate, cheaper, result) is not None


def _longer(tasks):
    return tuple(replace(task, deadline=60) for task in tasks)


def test_a_task_that_no_node_can_do_and_a_reservation_that_cannot_be_had():
    busy = around(2, 1, 1, (0, 9, 1), (0, 2, 20), held=((0, 2, 4, 6, 1),), channel_ready=3)
    result = bound_fluid(busy)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert proven_value(busy, result, certificate) == (1, None)


def merged(instance, monkeypatch):
    """Return a certificate where few intervals and few kinds of nodes are kept apart."""
    monkeypatch.setattr(fluid_relaxation, "MAX_CELLS", 1)
    monkeypatch.setattr(fluid_relaxation, "MAX_GROUPS", 1)
    result = bound_fluid(instance)
    return result, vipr.parse(vipr.to_text(result.certificate))


@pytest.mark.parametrize(("tau", "chi"), [((1, 2), 1), (1, (1, 2))])
def test_merged_nodes_count_as_the_fastest(tau, chi, monkeypatch):
    cluster = dlopt.problems.cluster.Cluster(2, tau, chi)
    instance = replace(INSTANCE, cluster=cluster, tasks=_longer(INSTANCE.tasks))
    result, certificate = merged(instance, monkeypatch)
    assert proven_value(instance, result, certificate) == (result.bound, None)
    fastest = replace(instance, cluster=replace(cluster, tau=1, chi=1))
    assert flaw(certificate, fastest, result) is None
    slowest = replace(instance, cluster=replace(cluster, tau=2 if chi == 1 else 1, chi=2))
    assert flaw(certificate, slowest, result) is not None


def test_a_reservation_holds_its_part_of_a_merged_interval(monkeypatch):
    one = around(2, 1, 1, *TASKS, held=((0, 1, 2, 4, (1,)), (0, 5, 5, 7, (0,)), (0, 8, 8, 9, (0,))))
    result, certificate = merged(one, monkeypatch)
    assert proven_value(one, result, certificate) == (result.bound, None)


def test_a_reservation_that_has_begun_holds_what_is_left_of_it():
    begun = around(2, 1, 1, *TASKS, held=((0, 1, 2, 9, (0,)), (0, 1, 1, 4, (1,))), now=3)
    begun = replace(begun, tasks=_longer(begun.tasks))
    result = bound_fluid(begun)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert proven_value(begun, result, certificate) == (result.bound, None)
    first = certificate.names.index("q_0")
    instants = fluid_relaxation.time_grid(ScaledInstance.from_instance(begun)).instants
    past = {Fraction(end - start) for start, end in pairwise(instants) if end <= 0}
    assert past
    for time in past:  # nothing is free before now, and no reservation is in the way there
        forged = vipr.Constraint({first: time}, -1, Fraction(0))
        more = replace(certificate, constraints=(*certificate.constraints, ("forged", forged)))
        assert flaw(more, begun, result) == "forged is not a constraint of the instance"


@pytest.mark.parametrize(
    "held",
    [
        ((0, 1, 2, 4, (0,)), (0, 2, 3, 6, (1,))),  # the I/O of one ends as the other's begins
        ((0, 1, 1, 4, (0,)), (0, 4, 4, 6, (0,))),  # on one node, one after the other
        ((0, 1, 1, 4, 1), (0, 2, 2, 6, 1)),  # at one time, but there are two nodes
    ],
)
def test_reservations_that_only_touch_do_not_exclude_each_other(held):
    apart = around(2, 1, 1, *TASKS, held=held)
    result = bound_fluid(apart)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert flaw(certificate, apart, result) is None
    first = certificate.names.index("q_0")
    forged = vipr.Constraint({first: Fraction(1), first + 1: Fraction(1)}, -1, Fraction(1))
    more = replace(certificate, constraints=(*certificate.constraints, ("forged", forged)))
    assert flaw(more, apart, result) == "forged is not a constraint of the instance"


def test_a_window_that_is_full_has_no_room_to_spare():
    """The right side of a node's row is what is free of it: not a unit more, or less."""
    for name, one in CERTIFICATE.constraints:
        if len(one.terms) > 1 and one.side > 1:
            for off in (-1, 1):
                wrong = replace(one, side=one.side + off)
                stated = dict(CERTIFICATE.constraints) | {name: wrong}
                changed = replace(CERTIFICATE, constraints=tuple(stated.items()))
                assert flaw(changed) == f"{name} is not a constraint of the instance"


def test_a_task_of_which_nothing_remains_counts():
    done = around(2, 1, 1, *TASKS, held=((1, 30, 30, 40, (1,)),), now=1)
    first, second = _longer(done.tasks)
    done = replace(done, tasks=(replace(first, remaining=0), second))
    result = bound_fluid(done)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert proven_value(done, result, certificate) == (result.bound, None)
    assert "z_0" not in certificate.names and result.bound == 3
