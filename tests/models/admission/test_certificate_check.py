"""The program of a certificate is held against the instance, constraint by constraint."""

from dataclasses import replace
from fractions import Fraction

import pytest

from dlopt.formats import vipr
from dlopt.models.admission.certificate_check import proven_value
from dlopt.models.admission.methods import bound_window
from dlopt.problems.admission import Instance, Task
from dlopt.problems.cluster import Cluster

TASKS = (Task("a", 0, 1, 2), Task("b", 0, 1, 2), Task("c", 1, 1, 6))
INSTANCE = Instance(Cluster(2, tau=1, chi=1), TASKS)
RESULT = bound_window(INSTANCE)
CERTIFICATE = vipr.parse(vipr.to_text(RESULT.certificate))


def flaw(certificate, instance=INSTANCE, result=RESULT):
    return proven_value(instance, result, certificate)[1]


def with_cut(terms, side, sign=-1, certificate=CERTIFICATE):
    """Return the certificate with one more cut; terms by the names of columns."""
    column = {name: j for j, name in enumerate(certificate.names)}
    exactly = {column[name]: Fraction(a) for name, a in terms.items()}
    cut = ("cut99_L", vipr.Constraint(exactly, sign, Fraction(side)))
    return replace(certificate, constraints=(*certificate.constraints, cut))


def test_what_was_written_fits():
    assert proven_value(INSTANCE, RESULT, CERTIFICATE) == (2, None)


def test_a_certificate_of_fewer_tasks_or_other_columns():
    one = replace(INSTANCE, tasks=TASKS[:1])
    smaller = vipr.parse(vipr.to_text(bound_window(one).certificate))
    assert "are missing" in flaw(smaller)
    assert "columns" in flaw(replace(CERTIFICATE, names=(*CERTIFICATE.names, "x")))
    assert "integer columns" in flaw(replace(CERTIFICATE, integers=frozenset()))
    assert "costs" in flaw(replace(CERTIFICATE, costs={0: Fraction(-9)}))


@pytest.mark.parametrize(
    "name", ["value of finished tasks", "time", "load", "instants", "node groups"]
)
def test_remarks_that_say_something_else(name):
    """The columns of such a file would mean something else to another reader."""
    stated = CERTIFICATE.remarks
    for other in (stated | {name: f"{stated[name]} "}, {k: stated[k] for k in stated if k != name}):
        assert f"remark {name!r}" in flaw(replace(CERTIFICATE, remarks=other))


def test_columns_and_remarks_of_set_up_times():
    instance = Instance(Cluster(3, 1, (1, 1, 2), 1, Fraction(1, 2)), TASKS)
    certificate = vipr.parse(vipr.to_text(bound_window(instance).certificate))
    assert certificate.remarks["node groups"] == "0-1; 2"
    assert {name[0] for name in certificate.names} <= set("zcwsuv")
    assert {"u_2_0_2", "v_2_1_3"} < set(certificate.names)


@pytest.mark.parametrize(
    ("terms", "side", "sign", "why"),
    [
        ({"z_0": 1}, 0, -1, "not an upper bound on received"),
        ({"c_0_0_0": 1}, 0, 1, "not an upper bound on received"),
        ({"c_0_0_0": 1, "w_0_0_0": 1}, 0, -1, "not an upper bound on received"),
        ({"c_0_0_0": 10**9}, 10**9, -1, "larger than the load"),
        ({"c_0_0_0": 1, "z_1": -5}, 0, -1, "its acceptance is missing"),
        ({"c_0_0_0": 1, "z_0": 0}, -1, -1, "0 tasks can do more"),
        ({"w_0_0_0": 1}, -1, -1, "0 tasks can do more"),
    ],
)
def test_cuts_that_could_cut_off_a_plan(terms, side, sign, why):
    assert why in flaw(with_cut(terms, side, sign))


def test_a_cut_that_names_another_column():
    stock = next(name for name in CERTIFICATE.names if name.startswith("s_"))
    assert "neither received" in flaw(with_cut({stock: 1}, 0))


def test_a_cut_of_one_chunk_does_not_hold_for_two():
    """Two chunks for each node do a load of 2 until 16/7, one chunk 12/7 of it."""
    instance = Instance(Cluster(2, tau=1, chi=1), (Task("a", 0, 2, Fraction(16, 7)),))
    for installments, why in ((1, None), (2, "1 tasks can do more in its window")):
        result = bound_window(instance, installments=installments)
        certificate = vipr.parse(vipr.to_text(result.certificate))
        unit = Fraction(certificate.remarks["load"].removeprefix("1 is "))
        terms = {"c_0_0_0": 2 / unit, "z_0": Fraction(-12, 7) / unit}
        stated = replace(certificate, remarks=certificate.remarks | {"chunks": str(installments)})
        found = flaw(with_cut(terms, 0, certificate=stated), instance, result)
        assert found == (why and f"cut99_L: {why}")


def test_cuts_that_hold():
    """No task at all receives less than nothing, and none more than its load."""
    load = max(one.terms[j] for _, one in CERTIFICATE.constraints for j in one.terms)
    assert flaw(with_cut({"c_0_0_0": 1}, 9 * load)) is None
    assert flaw(with_cut({"w_2_0_1": 1, "z_2": 0}, 9 * load)) is None


def test_where_sending_takes_no_time_the_nodes_are_the_limit():
    instance = replace(INSTANCE, cluster=Cluster(2, tau=0, chi=2))
    result = bound_window(instance)
    certificate = vipr.parse(vipr.to_text(result.certificate))
    assert flaw(certificate, instance, result) is None
    tight = with_cut({"c_0_0_0": 1, "z_0": 0}, 1, certificate=certificate)
    assert "can do more" in flaw(tight, instance, result)
