"""Arguments as callers have them: numbers of NumPy and decimals, sequences, and wrong types."""

from collections import Counter, deque
from decimal import Decimal
from fractions import Fraction

import networkx as nx
import numpy
import pytest

import dlopt
from dlopt import (
    Admission,
    CoReservation,
    Limits,
    MultiStage,
    NotApplicableError,
    OnlinePolicy,
    Result,
    SolverError,
    Status,
)
from dlopt.arithmetic import converted, integer_argument, plain_integers
from dlopt.batch import plan_runs, run_batch
from dlopt.errors import short_text
from dlopt.io import read_plan
from dlopt.problems.admission import Cluster, Task
from dlopt.problems.coreservation import Machine
from dlopt.problems.earliest_schedule import earliest_plan, last_result
from dlopt.problems.iit import Instance
from dlopt.problems.multistage import Reservation
from dlopt.registry import Option
from dlopt.verify import Size

THREE = dlopt.load("iit/three-nodes")
GRAPHS = dlopt.load("dag/topcuoglu-10")


def one_node(instance, *, objective, limits, hint, seed):
    plan = earliest_plan(instance, [0], [instance.load])
    return Result(Status.FEASIBLE, solution=plan, value=last_result(plan))


def halving(instance, *, objective, limits, hint, seed):
    """Answer for another load than the given one, which it replaces in the instance."""
    object.__setattr__(instance, "load", Fraction(instance.load) / 2)
    return one_node(instance, objective=objective, limits=limits, hint=hint, seed=seed)


def register(name, function, **options):
    return dlopt.register("iit", name, function, objectives=("completion",), **options)


# numbers of NumPy, decimals and fractions


@pytest.mark.parametrize(
    ("given", "plain"),
    [
        (numpy.int64(3), 3),
        (numpy.uint8(200), 200),
        (numpy.float32(0.5), 0.5),
        (numpy.float64(0.1), 0.1),
        (numpy.array(7), 7),
        (numpy.bool_(True), True),
        (Decimal("0.25"), Fraction(1, 4)),
        (Decimal("4.0"), 4),
    ],
)
def test_numbers_of_others_become_those_of_python(given, plain):
    found = converted(given)
    assert found == plain and type(found) is type(plain)


@pytest.mark.parametrize(
    "value", [None, "3", 1j, Decimal("inf"), Decimal("1e999999"), numpy.array([3, 4]), [3], object]
)
def test_what_is_no_number_stays(value):
    assert converted(value) is value


def test_limits_take_any_number():
    limits = Limits(
        time_s=numpy.float32(2),
        work=numpy.int64(40),
        threads=numpy.int32(2),
        gap=Fraction(1, 8),
        target_value=[1, numpy.int64(2)],
        no_improvement_s=Decimal("0.5"),
    )
    assert limits == Limits(2.0, 40, 2, 0.125, (1, 2), 0.5)
    assert [type(value) for value in (limits.time_s, limits.work, limits.gap)] == [
        float,
        int,
        float,
    ]
    assert Limits(target_value=Fraction(39, 8)).target_value == Fraction(39, 8)


@pytest.mark.parametrize(
    "wrong",
    [
        {"time_s": Fraction(10**400)},
        {"time_s": Fraction(1, 10**400)},
        {"time_s": numpy.bool_(True)},
        {"work": numpy.float64(2)},
        {"gap": numpy.float64("nan")},
        {"gap": numpy.array([0.1, 0.2])},
        {"target_value": []},
    ],
)
def test_limits_that_are_no_numbers_are_refused(wrong):
    with pytest.raises(NotApplicableError, match=rf"limits: {next(iter(wrong))} \(--"):
        Limits(**wrong)


def test_seeds_of_numpy_count_as_integers():
    found = dlopt.solve(GRAPHS, "list-plus", seed=numpy.int64(3), limits=Limits(work=2))
    assert type(found.seed) is int
    assert found == dlopt.solve(GRAPHS, "list-plus", seed=3, limits=Limits(work=2))
    assert dlopt.compare(THREE, ["opr"], seed=numpy.uint8(3)).seed == 3


def test_generators_take_integers_of_numpy():
    sizes = numpy.arange(4, 6)
    for tasks in sizes:
        made = dlopt.generate("dag", "layered", tasks=tasks, layers=2, seed=sizes[0])
        assert made == dlopt.generate("dag", "layered", tasks=int(tasks), layers=2, seed=4)


def test_options_take_numbers_of_numpy():
    found = dlopt.solve(THREE, installments=numpy.int64(2))
    assert found.value == Fraction(14, 3) and type(found.installments) is int
    flag = Option("flag", "bool", False, "help")
    share = Option("share", "float", 0.5, "help")
    assert flag.read(numpy.bool_(True)) is True and share.read(Decimal("0.25")) == 0.25
    with pytest.raises(NotApplicableError, match="takes a value of type int"):
        Option("count", "int", 1, "help").read(numpy.float64(2))


def test_truth_values_and_texts_of_numpy_are_those_of_python():
    reservation = Reservation(
        numpy.str_("r"), arrival=0, start=1, end=2, nodes=1, mandatory=numpy.bool_(True)
    )
    assert type(reservation.id) is str and reservation.mandatory is True


@pytest.mark.parametrize("times", [range(3), deque([0, 1, 2]), numpy.arange(3), [0, 1, 2]])
def test_every_sequence_is_a_list(times):
    made = Instance(Cluster(3, tau=1, chi=2), times, load=3)
    assert made.ready_times == (0, 1, 2) and type(made.ready_times) is tuple


@pytest.mark.parametrize("times", ["012", b"012", {0, 1, 2}, iter((0, 1, 2)), {0: 1, 1: 2, 2: 3}])
def test_what_has_no_order_or_is_a_text_is_no_list(times):
    with pytest.raises(dlopt.InvalidInstanceError, match="ready_times: must be a list"):
        Instance(Cluster(3, tau=1, chi=2), times, load=3)


def test_books_take_numbers_of_resources_of_numpy():
    for book in (Admission(Cluster(2, tau=1, chi=1)), MultiStage(Cluster(2, tau=1, chi=1))):
        book.resources(fail=numpy.array([0]))
        book.resources(repair=[numpy.int64(0)])
        assert book.submit(Task("a", arrival=0, load=1, deadline=9)).accepted
        assert len(book.offer(Task("b", arrival=0, load=9, deadline=2), k=numpy.int64(1))) == 1
        with pytest.raises(dlopt.InvalidInstanceError, match="must be one of the nodes 0 to 1"):
            book.resources(fail=numpy.array([0.0]))
        with pytest.raises(dlopt.InvalidInstanceError, match="must be a sequence of nodes"):
            book.resources(fail="0")
    machines = CoReservation([Machine("a", 1), Machine("b", 1)])
    assert machines.resources(fail=numpy.array([1])).broken == ()


def test_messages_name_the_type_of_a_number_of_numpy():
    assert short_text(numpy.int64(3)) == "np.int64(3)" and short_text(3) == "3"


def test_what_stays_no_integer_is_refused():
    assert plain_integers([numpy.int8(3), 0.5]) == (3, 0.5)
    assert integer_argument("count", numpy.int64(2), 2) == 2
    with pytest.raises(NotApplicableError, match=r"^count must be an integer from 2 on, got 1$"):
        integer_argument("count", 1, 2)


# wrong types


@pytest.mark.parametrize("seed", ["1", 1.5, None, True, numpy.bool_(True)])
def test_seeds_are_integers(seed):
    for call in (
        lambda: dlopt.solve(THREE, seed=seed),
        lambda: dlopt.compare(THREE, seed=seed),
        lambda: dlopt.generate("dag", "layered", seed=seed),
        lambda: dlopt.falsify("iit", "opr", seed=seed, examples=1),
    ):
        with pytest.raises(NotApplicableError, match="seed must be an integer"):
            call()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"limits": None}, "limits are Limits, not a NoneType"),
        ({"limits": {"time_s": 3}}, "limits are Limits, not a dict"),
        ({"progress": 3}, "progress is a callable, not a int"),
        ({"stop": 3}, "stop is a threading.Event, not a int"),
        ({"certified": "no"}, "certified is True or False, not a str"),
        ({"objective": ["completion"]}, r"given by its name, not by \['completion'\]"),
        ({"objective": 3}, "given by its name, not by 3"),
    ],
)
def test_solve_and_compare_refuse_the_same_arguments(arguments, text):
    for function in (dlopt.solve, dlopt.compare):
        with pytest.raises(NotApplicableError, match=text):
            function(THREE, **arguments)


@pytest.mark.parametrize("methods", ["exact", 3])
def test_methods_of_a_comparison_are_a_list(methods):
    with pytest.raises(NotApplicableError, match=f"methods are a list of names, got {methods!r}"):
        dlopt.compare(THREE, methods)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: dlopt.solve(THREE, solver_parameters=[1]), "are a mapping, not a list"),
        (lambda: dlopt.check(THREE, dlopt.solve(THREE), "x"), r"must lie in \[0, 1\), got x"),
        (lambda: dlopt.load(None), "given by its name, not by None"),
        (lambda: dlopt.solve(THREE, hint=3), "a hint is a Solution of iit, not a int"),
        (
            lambda: dlopt.solve(THREE, hint=dlopt.solve(GRAPHS, "heft").solution),
            "a hint is a Solution of iit, not a dlopt.problems.dag.data.Solution",
        ),
        (lambda: OnlinePolicy(3), "a policy is a function, not a int"),
        (lambda: dlopt.falsify("iit", "opr", seconds="x"), "seconds must be positive, got 'x'"),
        (lambda: dlopt.falsify("iit", "opr", examples=1.5), "an integer from 1 on, got 1.5"),
        (lambda: dlopt.falsify("iit", "opr", size=3), "a size is a Size, not a int"),
        (lambda: dlopt.falsify("iit", "opr", progress=3), "progress is a callable, not a int"),
        (lambda: dlopt.falsify("iit", "opr", options=3), "options are a mapping, not a int"),
        (lambda: Size(jobs=1.5), "jobs must be an integer from 1 on, got 1.5"),
        (lambda: dlopt.dag_to_networkx(THREE), "an instance of dag is needed, not a Instance"),
        (lambda: dlopt.dag_to_networkx(GRAPHS, 1), "a number from 0 to 0, got 1"),
        (lambda: dlopt.dag_to_networkx(GRAPHS, -1), "an integer from 0 on, got -1"),
    ],
)
def test_other_wrong_arguments_are_named(call, text):
    with pytest.raises(NotApplicableError, match=text):
        call()


def test_machines_of_a_graph_are_a_number_or_powers():
    graph = nx.DiGraph()
    graph.add_node("a", work=3)
    assert len(dlopt.dag_from_networkx(graph, numpy.int64(2)).machines) == 2
    with pytest.raises(NotApplicableError, match=r"a number or powers, got 2\.0"):
        dlopt.dag_from_networkx(graph, 2.0)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"options": ("k",)}, r"options must be a tuple of Option, got \('k',\)"),
        ({"options": 3}, "options must be a tuple of Option, got 3"),
        ({"applies": 3}, "applies is a function, not a int"),
    ],
)
def test_a_method_is_registered_with_options_and_a_function(method_table, given, text):
    with pytest.raises(NotApplicableError, match=text):
        register("wrong", one_node, **given)


def test_a_reason_is_a_text(method_table):
    register("reasons", lambda *_, **__: Result(Status.UNKNOWN, reason=3))
    with pytest.raises(SolverError, match="its reason is 3, not a text"):
        dlopt.solve(THREE, "reasons")


def test_machines_of_a_book_have_names_of_their_own():
    with pytest.raises(dlopt.InvalidInstanceError, match=r"machines\[1\].id: must be given once"):
        CoReservation([Machine("a", 1), Machine("a", 2)])


# results and instances


def test_a_result_is_written_as_check_reads_it(tmp_path):
    found = dlopt.solve(THREE)
    dlopt.write(found, tmp_path / "result.json")
    again = read_plan(tmp_path / "result.json", THREE)
    assert (again.value, again.bound, again.solution) == (found.value, found.bound, found.solution)
    assert dlopt.check(THREE, again) == ()


def test_a_result_that_states_no_instance_is_not_written(tmp_path):
    with pytest.raises(NotApplicableError, match="does not state its instance"):
        dlopt.write(Result(Status.UNKNOWN), tmp_path / "result.json")


def test_a_method_must_not_change_the_instance(method_table):
    register("halving", halving)
    for given in ({}, {"limits": Limits(time_s=60)}):
        instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
        with pytest.raises(SolverError, match="halving failed: it changed the instance"):
            dlopt.solve(instance, "halving", **given)


@pytest.mark.parametrize("error", [None, NotApplicableError("too small"), ZeroDivisionError()])
def test_nothing_is_compared_once_a_method_changed_the_instance(method_table, error):
    def changing(instance, **arguments):
        answer = halving(instance, **arguments)
        if error is not None:
            raise error
        return answer

    register("changing", changing)
    instance = Instance(Cluster(3, tau=1, chi=2), (0, 1, 4), load=3)
    with pytest.raises(SolverError, match="changing failed: it changed the instance"):
        dlopt.compare(instance, ["opr", "changing", "exact"])


def test_a_changed_instance_is_a_counterexample():
    found = dlopt.falsify("iit", halving, examples=3, objective="completion").finding
    assert found.kind == "failed" and "it changed the instance" in found.texts[0]


def test_a_search_does_not_wait_for_a_function_that_never_ends(monkeypatch):
    from dlopt.verify import falsification, method_under_test

    monkeypatch.setattr(method_under_test, "OWN_METHOD_LIMIT_S", 0.05)
    monkeypatch.setattr(falsification, "MIN_SHRINKING_S", 0.1)

    def endless(instance, *, objective, limits, hint, seed):
        while True:
            pass

    found = dlopt.falsify("iit", endless, seconds=0.1, objective="completion").finding
    assert (found.kind, found.texts) == (
        "failed",
        ("endless failed: no answer within 0.05 s",),
    )


# experiments


def test_experiments_take_iterables_for_all_methods():
    plan = plan_runs(
        iter([THREE, GRAPHS]),
        iter(["opr", "epr", "heft"]),
        limits=iter([Limits(), Limits(work=numpy.int64(3))]),
        seeds=numpy.arange(2),
    )
    counts = Counter(run.key.method for run in plan.runs)
    assert counts == {"opr": 4, "epr": 4, "heft": 4}
    assert {type(run.key.seed) for run in plan.runs} == {int}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"methods": "opr"}, "methods are a list, got 'opr'"),
        ({"methods": [3]}, "methods are a list of str, got 3 in it"),
        ({"objectives": "completion"}, "objectives are a list, got 'completion'"),
        ({"limits": Limits()}, "limits are a list, got Limits"),
        ({"limits": [5]}, "limits are a list of Limits, got 5 in it"),
        ({"limits": []}, "limits must have an entry"),
        ({"seeds": 3}, "seeds are a list, got 3"),
        ({"seeds": ["x"]}, "seed must be an integer, got 'x'"),
        ({"hard_timeout_s": "x"}, "hard-timeout must be positive, got 'x'"),
    ],
)
def test_arguments_of_experiments_are_lists(arguments, text):
    with pytest.raises(NotApplicableError, match=text):
        plan_runs([THREE], **arguments)


@pytest.mark.parametrize(
    ("instances", "text"), [(None, "instances are a list, got None"), (["x"], "not a str")]
)
def test_instances_of_experiments_are_a_list(instances, text):
    with pytest.raises(NotApplicableError, match=text):
        plan_runs(instances)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"workers": 1.5}, "workers must be an integer from 1 on, got 1.5"),
        ({"memory_mb": "x"}, "memory must be an integer from 1 on, got 'x'"),
        ({"modules": "mine.py"}, "modules are a list, got 'mine.py'"),
    ],
)
def test_a_batch_has_a_number_of_workers_and_a_list_of_modules(tmp_path, arguments, text):
    with pytest.raises(NotApplicableError, match=text):
        run_batch(plan_runs([THREE], ["opr"]), tmp_path / "records.jsonl", **arguments)
