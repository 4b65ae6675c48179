"""Certificates of bounds: they prove what results say, of the instance they are of."""

import csv
import math
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given

import dlopt
from dlopt import registry
from dlopt.certificate_files import check_certificate, check_own_certificate, write_certificate
from dlopt.certificates import BoundCertificate, Leaf
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.formats import vipr
from dlopt.problems.admission import Instance, Task
from dlopt.problems.bag import Instance as BagInstance
from dlopt.problems.bag import Machine
from dlopt.problems.bag import Task as BagTask
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Instance as SharesInstance
from dlopt.problems.coreservation import Machine as SharedMachine
from dlopt.problems.coreservation import Part, Request
from dlopt.result import Limits, Result, Status, levels_of
from tests.heuristics.admission.strategies import streams
from tests.instance_files import ROOT

INSTANCES = ROOT / "instances"
ONE = Machine("m")

STREAMS = sorted((INSTANCES / "admission").glob("*.json"))
CASES = [
    (file, method)
    for file in STREAMS
    for method in ("bound-fluid", "bound-window-cuts", "exact", "feasibility")
    if method == "bound-fluid" or file.stem != "random-30"  # its tree of cases is large
]


SMALL_BYTES = 700
"""Size of a file of a small instance."""


def objectives_of(file, method):
    """Return the objectives that bounds are proven for.

    Whether all tasks can be accepted does not depend on the objective (`test_battery.py` has a test
    of it), and takes longest to prove: of all objectives for small instances alone.
    """
    one = method == "feasibility" and file.stat().st_size > SMALL_BYTES
    return ("accepted",) if one else ("accepted", "accepted-load", "reject-ratio")


@pytest.mark.parametrize(("file", "method"), CASES, ids=lambda of: getattr(of, "stem", of))
def test_bounds_of_shipped_instances_are_proven(file, method, tmp_path):
    instance = dlopt.read(file, exact_numbers=True)
    for objective in objectives_of(file, method):
        result = dlopt.solve(instance, method, objective=objective, limits=Limits(work=30))
        if result.certificate is not None:
            write_certificate(result, tmp_path / "proof.vipr")
            assert check_certificate(instance, result, tmp_path / "proof.vipr") == ()
        else:
            said = "not certified" in (result.reason or "")
            assert said or result.status in (Status.OPTIMAL, Status.LIMIT, Status.UNKNOWN)


SLOW = {"random-30", "braun-24", "between-grid-points", "nodes-that-differ", "bursts-6"}
"""Instances whose searches take long, or whose trees of cases are large; `make baselines` has them.
"""


def certified_baselines():
    """Return the lines of instances/BASELINES.csv whose optima are certified, by instance."""
    found = {}
    with (INSTANCES / "BASELINES.csv").open(newline="", encoding="utf-8") as table:
        for line in csv.DictReader(table):
            if line["proof"] == "certificate" and line["optimum"] and line["instance"] not in SLOW:
                found.setdefault((line["problem"], line["instance"]), []).append(line)
    return found


BASELINES = certified_baselines()


@pytest.mark.parametrize("key", BASELINES, ids="-".join)
def test_the_optima_of_shipped_instances_are_certified(key):
    """Each has a certificate of its own, which the checker accepts."""
    stem, name = key
    (file,) = (INSTANCES / stem).rglob(f"{name}.json")
    instance = dlopt.read(file)
    for line in BASELINES[key]:
        result = dlopt.solve(instance, objective=line["objective"], certified=True)
        assert (result.status, result.proof) == (Status.OPTIMAL, "certificate")
        optimum = [float(Fraction(level)) for level in line["optimum"].split()]
        assert [float(level) for level in levels_of(result.value)] == optimum


def test_the_page_of_the_instances_states_the_shares():
    with (INSTANCES / "BASELINES.csv").open(newline="", encoding="utf-8") as table:
        optima = [line for line in csv.DictReader(table) if line["optimum"]]
    proofs, stems = ("certificate", "exact", "solver"), registry.stems()
    assert {line["proof"] for line in optima} <= set(proofs)
    counts = Counter((line["problem"], line["proof"]) for line in optima)
    rows = [[stem, *(str(counts[stem, proof]) for proof in proofs)] for stem in stems]
    page = (INSTANCES / "README.md").read_text(encoding="utf-8").splitlines()
    cells = ([cell.strip() for cell in line.split("|")[1:-1]] for line in page)
    assert [row for row in cells if len(row) == 4 and row[0] in stems] == rows


@pytest.mark.property
@given(streams(tasks=4, most=2, huge=False))
def test_certificates_of_random_streams(tmp_path_factory, stream):
    instance = stream.instance
    path = tmp_path_factory.getbasetemp() / "proof.vipr"
    for method in ("bound-fluid", "bound-window-cuts"):
        result = dlopt.solve(instance, method)
        if result.certificate is not None:
            write_certificate(result, path)
            assert check_certificate(instance, result, path) == ()


@pytest.fixture
def proven(tmp_path):
    """A stream of which one task is accepted at the most, and the proof of it."""
    instance = dlopt.read(INSTANCES / "admission" / "two-tasks-one-channel.json")
    result = dlopt.solve(instance, "bound-window-cuts")
    path = tmp_path / "proof.vipr"
    write_certificate(result, path)
    return instance, result, path


def kinds(instance, result, path):
    return [violation.kind for violation in check_certificate(instance, result, path)]


@pytest.mark.parametrize(
    ("pattern", "new", "kind"),
    [
        (r"chunks: 1", "chunks: 2", "program"),
        (r"chunks: 1", "chunks: any", "program"),
        (r"(cut0_L L) \S+", r"\1 1/8", "proof program"),
        (r"(row4_L L) \S+", r"\1 1/8", "proof program"),
        (r"z_1 c_0", "z_2 c_0", "program"),
        (r"(z_0_L L) 1 ", r"\1 0 ", "proof program"),
        (r"INT 2\n0 1", "INT 3\n0 1 2", "program"),
        (r"OBJ min\n2 0 -1", "OBJ min\n2 0 -1/2", "proof program"),
        (r"lin 1 (\d+) 1", r"lin 1 \1 2", "proof"),
    ],
)
def test_what_is_tampered_with_is_found(proven, pattern, new, kind):
    instance, result, path = proven
    text = path.read_text()
    changed = re.sub(pattern, new, text)
    assert changed != text
    path.write_text(changed)
    assert set(kinds(instance, result, path)) <= set(kind.split())
    assert kinds(instance, result, path) != []


def test_a_better_bound_than_proven_is_refuted(proven):
    instance, _, path = proven
    better = Result(Status.BOUND, objective="accepted", bound=0, plan_class="single")
    (violation,) = check_certificate(instance, better, path)
    assert (violation.kind, violation.amount) == ("bound", 1)
    assert "(the certificate proves 1, the result claims 0)" in str(violation)
    worse = replace(better, bound=2)
    assert kinds(instance, worse, path) == []
    nothing = replace(better, status=Status.INFEASIBLE)
    assert kinds(instance, nothing, path) == ["bound"]
    assert kinds(instance, replace(nothing, bound=None), path) == ["bound"]
    assert kinds(instance, replace(better, bound=(1, 2)), path) == ["bound"]


def test_a_file_is_read_to_its_end_before_it_is_accepted(proven, tmp_path):
    """A remark after the steps counts, too; an invalid step is reported before what follows it."""
    instance, result, path = proven
    text, statement = path.read_text(), tmp_path / "statement.vipr"
    for end, found in (("% end: 1", []), ("% chunks: 2", ["program"])):
        path.write_text(text + end)
        assert kinds(instance, result, path) == found
    for end, why in ((b"more", "the end of the file is expected"), (b"% \xff", "not UTF-8 at")):
        path.write_bytes(text.encode() + end)
        with pytest.raises(InvalidInstanceError, match=why):
            check_certificate(instance, result, path, statement)
        assert not statement.exists()
    path.write_bytes(re.sub(r"lin 1 (\d+) 1", r"lin 1 \1 2", text).encode() + b"more")
    (violation,) = check_certificate(instance, result, path, statement)
    assert violation.kind == "proof" and not statement.exists()


@pytest.mark.parametrize("bound", [math.inf, -math.inf, math.nan, 10**400, (1, math.inf)])
def test_bounds_that_no_plan_can_have_are_not_proven(proven, bound):
    instance, _, path = proven
    claimed = Result(Status.BOUND, objective="accepted", bound=bound, plan_class="single")
    assert kinds(instance, claimed, path) == ["bound"]


def test_dates_in_floats_are_compared_from_their_origin(tmp_path):
    """At the date of today a billionth is more than a second."""
    now = 1_700_000_000
    instance = BagInstance((BagTask("a", 2, release=now), BagTask("b", 2, release=now)), (ONE,))
    result = dlopt.solve(instance, objective="makespan")
    write_certificate(result, tmp_path / "proof.vipr")
    for bound, found in ((now + 4.0, []), (now + 4.001, ["bound"]), (now + 5.0, ["bound"])):
        claimed = Result(Status.BOUND, objective="makespan", bound=bound)
        assert kinds(instance, claimed, tmp_path / "proof.vipr") == found
    rounded = Result(Status.BOUND, objective="makespan", bound=math.nextafter(now + 4, math.inf))
    assert kinds(instance, rounded, tmp_path / "proof.vipr") == []


def test_what_holds_for_few_chunks_does_not_for_many(proven):
    instance, result, path = proven
    for wider in ("any", "k", "per-stage", None):
        assert kinds(instance, replace(result, plan_class=wider), path) == ["program"]
    two = dlopt.solve(instance, "bound-window-cuts", installments=2)
    write_certificate(two, path)
    assert kinds(instance, two, path) == []
    assert kinds(instance, replace(two, plan_class="single"), path) == []
    assert two.installments == 2
    for unproven in (3, None):  # a certificate for two chunks does not serve for three
        assert kinds(instance, replace(two, installments=unproven), path) == ["program"]
    three = dlopt.solve(instance, "bound-window-cuts", installments=3)
    assert kinds(instance, three, path) == ["program"]
    write_certificate(three, path)
    assert kinds(instance, three, path) == kinds(instance, two, path) == []


def test_acceptances_prove_nothing_of_other_objectives(proven):
    instance, result, path = proven
    for other in ("misses", "utilization"):
        assert kinds(instance, replace(result, objective=other), path) == ["program"]
    for unknown in ("", "makespan"):
        with pytest.raises(NotApplicableError, match="no objective"):
            check_certificate(instance, replace(result, objective=unknown), path)


@pytest.mark.parametrize("remark", ["\u00b2", "9" * 5000, "0", "-1", "1.5", ""])
def test_a_strange_number_of_chunks_is_none(proven, remark):
    instance, result, path = proven
    path.write_text(path.read_text().replace("chunks: 1", f"chunks: {remark}"))
    assert kinds(instance, result, path) == ["program"]


def test_floats_at_large_instants_have_room_for_their_rounding(tmp_path):
    """The check lets an instant be off by its last digits; so does the bound."""
    task = Task("a", 1.7e9, 0.01000001, 0.01)
    instance = Instance(Cluster(1, 0.5, 0.5), (task,))
    assert dlopt.solve(instance, "bound-window-cuts").bound == 1


def test_a_proof_of_another_instance_is_none(proven):
    _, result, path = proven
    other = dlopt.read(INSTANCES / "admission" / "two-of-three.json")
    first, second = check_certificate(other, result, path)
    assert str(first) == (
        "program on instance 'two-tasks-one-channel', not on 'two-of-three': "
        "the certificate is of another instance"
    )
    assert second.kind == "program"
    renamed = replace(other, name="two-tasks-one-channel")
    assert check_certificate(renamed, result, path) == (second,)


def test_an_instance_may_have_been_renamed(proven):
    instance, result, path = proven
    assert check_certificate(replace(instance, name="another"), result, path) == ()


def test_that_not_all_are_in_time_is_proven(tmp_path):
    """One of the first two is late; but neither is promised."""
    tasks = (Task("a", 0, 2, 6), Task("b", 0, 2, 6), Task("c", 0, 1, 50))
    instance = Instance(Cluster(1, 1, 1), tasks)
    result = dlopt.solve(instance, "feasibility")
    assert result.status is Status.INFEASIBLE
    path = tmp_path / "proof.vipr"
    write_certificate(result, path)
    assert vipr.parse(path.read_text()).claim is None
    assert kinds(instance, result, path) == []
    exact = Result(Status.INFEASIBLE, objective="accepted", method="exact")
    assert kinds(instance, exact, path) == ["program"]  # nothing is promised
    bounded = replace(result, status=Status.BOUND, bound=0)  # that not all fit bounds nothing
    assert kinds(instance, bounded, path) == ["program"]


def test_without_a_certificate_it_says_why(proven, tmp_path):
    instance, result, path = proven
    heuristic = dlopt.solve(instance, "edf-iit-2")
    with pytest.raises(NotApplicableError, match="edf-iit-2 proves no bound"):
        write_certificate(heuristic, tmp_path / "none.vipr")
    assert not (tmp_path / "none.vipr").exists()
    with pytest.raises(NotApplicableError, match="no bound"):
        check_certificate(instance, heuristic, path)
    load = dlopt.read(INSTANCES / "iit" / "three-nodes.json")
    with pytest.raises(NotApplicableError, match="iit has no objective 'accepted'"):
        check_certificate(load, result, path)
    with pytest.raises(InvalidInstanceError, match="cannot be read"):
        check_certificate(instance, result, tmp_path / "none.vipr")


@pytest.mark.parametrize("cpu", [4, 4.0])
def test_a_level_within_rounding_leaves_the_next_one_open(cpu: float) -> None:
    """That 1 + 1e-10 cannot be reached says nothing of plans that reach 1: one rejects nothing."""
    instance = SharesInstance(
        (SharedMachine("m", 4),), (Request("a", 0, 1, 2, priority=1, parts=(Part(cpu),)),)
    )
    name, one = "benefit-then-rejections", Fraction(1)
    beyond = one + Fraction(1, 10**10)
    proof = BoundCertificate(
        names=("x_0", "y_0_0_0_4_4", "w"),
        costs=(0 * one, -one, -one),
        rows=(((1, one), (2, -beyond)),),
        row_bounds=((0 * one, None),),
        column_bounds=((0 * one, one),) * 3,
        binaries=(0, 1, 2),
        cuts=0,
        step=None,
        bound=-beyond,
        leaves=(Leaf(((2, 0),), (), False), Leaf(((2, 1),), ((0, one),), True)),
        remarks=("unit: 1", "groups: 0", "rejections: 1"),
        row_names=("level_0",),
    )
    claim = Result(Status.BOUND, bound=(1.0, 1), objective=name, certificate=proof)
    (found,) = check_own_certificate(instance, claim)
    assert found.kind == "bound"
    assert check_own_certificate(instance, replace(claim, bound=(beyond, 1))) == ()
    solved = dlopt.solve(instance, "exact", objective=name)
    assert (solved.certificate is None) == isinstance(cpu, float)
