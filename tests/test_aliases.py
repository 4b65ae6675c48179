"""Former names: each works, is what the new name is, and gives one warning."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest

import dlopt
from dlopt import aliases, api, generate, io, registry
from dlopt.aliases import RenamedWarning
from dlopt.batch import Failure, plan_runs
from dlopt.batch.record_reading import record_from_line
from dlopt.batch.runs import solve_run
from dlopt.errors import InvalidInstanceError
from dlopt.json_files import to_text
from dlopt.problems import admission, coreservation, dag, multistage
from dlopt.problems.coreservation import Machine
from dlopt.simulation.grid import Policy, simulate_grid, variant
from dlopt.simulation.grid.offline_optimum import compare_with_optimum
from dlopt.simulation.grid.sweep import GridExperiment, sweep
from dlopt.verify.claim import CLAIM_KINDS
from tests.method_table import MethodTable

THREE = dlopt.read("instances/iit/three-nodes.json")
METHODS = [
    ("admission", "all-or-nothing", "feasibility"),
    ("admission", "bound-window", "bound-window-cuts"),
    ("admission", "fast-edf-iit-r0", "fast-edf-iit-minimal"),
    ("admission", "fast-edf-iit-r1", "fast-edf-iit-linear"),
    ("admission", "fast-edf-iit-replay", "fast-edf-iit-simulated"),
    ("admission", "fast-mwf-iit-r1", "fast-mwf-iit-linear"),
    ("admission", "fast-mwf-iit-replay", "fast-mwf-iit-simulated"),
    ("multistage", "all-or-nothing", "feasibility"),
    ("multistage", "structured", "stage-optimal"),
    ("coreservation", "all-or-nothing", "feasibility"),
    ("coreservation", "bound-pooled", "bound-aggregated"),
    ("coreservation", "bound-lp", "bound-aggregated-lp"),
    ("coreservation", "exact-per-batch", "rolling-exact"),
    ("dag", "lookahead", "heft-lookahead"),
    ("bag", "sa", "switching"),
    ("bag", "greedy", "duplex"),
]
NO_YES = {"no": False, "yes": True}
OPTIONS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("admission", "relax", "relax", NO_YES),
    ("admission", "events", "tie_break", {}),
    ("multistage", "relax", "relax", NO_YES),
    ("coreservation", "trim", "trim", NO_YES),
    ("coreservation", "share", "allocation", {"greedy": "max", "least": "min"}),
    ("coreservation", "symmetric", "symmetry_breaking", {"no": True, "yes": False}),
    ("dag", "slots", "insertion", {"insertion": True, "append": False}),
    ("dag", "choice", "machine_rule", {"finish": "eft", "start": "est"}),
    ("bag", "late", "tardy", {"drop": "reject"}),
]
OBJECTIVES = [
    ("dag", "late-graphs", "tardy-graphs"),
    ("dag", "response", "total-response-time"),
    ("dag", "late-then-response", "tardy-then-response-time"),
]
KINDS = [
    ("beaten", "bound-violated"),
    ("before-input", "starts-before-input"),
    ("before-ready", "machine-not-ready"),
    ("before-release", "starts-before-release"),
    ("cannot-run", "ineligible-machine"),
    ("changes-differ", "history-mismatch"),
    ("decided-twice", "duplicate-decision"),
    ("decision-time", "wrong-decision-time"),
    ("dropped-needlessly", "discarded-without-other-result"),
    ("failure-ignored", "failure-missing"),
    ("failure-survived", "continues-through-failure"),
    ("freed-without-cause", "left-queue-without-cause"),
    ("given-up-without-cause", "graph-abandoned-without-cause"),
    ("heard-from-the-dead", "suspicion-ended-without-cause"),
    ("incoherent-run", "inconsistent-run"),
    ("known-before-result", "result-known-before-transfer"),
    ("never-served", "graph-not-served"),
    ("no-course", "graph-record-missing"),
    ("node-down", "starts-during-failure"),
    ("not-placed", "task-missing"),
    ("not-pulled-back", "left-on-suspected-machine"),
    ("not-ready", "node-not-ready"),
    ("not-returned", "graph-not-returned"),
    ("overdue", "due-event-missing"),
    ("overlap", "machine-overlap"),
    ("part-twice", "duplicate-part"),
    ("placed-twice", "duplicate-task"),
    ("presumed-without-cause", "suspected-without-cause"),
    ("promise-broken", "promised-task-rejected"),
    ("refuted", "failed-verification"),
    ("rejected-holds", "rejected-request-allocated"),
    ("reservation-broken", "guaranteed-reservation-rejected"),
    ("reservation-decided-twice", "duplicate-reservation-decision"),
    ("reservation-decision-time", "wrong-reservation-decision-time"),
    ("reservation-nodes", "wrong-reservation-nodes"),
    ("reservation-on-channel", "reservation-channel-overlap"),
    ("reservation-on-node", "reservation-node-overlap"),
    ("sent-though-done", "sent-after-result"),
    ("sent-to-presumed-dead", "sent-to-suspected-machine"),
    ("several-lans", "graph-in-several-lans"),
    ("share-above", "share-above-maximum"),
    ("share-below", "share-below-minimum"),
    ("starts-on-presumed-dead", "starts-on-suspected-machine"),
    ("task-twice", "duplicate-task"),
    ("two-courses", "duplicate-graph-record"),
    ("unexplained", "incomplete-without-reason"),
    ("worse", "worse-than-claimed"),
]
STATUSES = [
    ("died", "crashed"),
    ("left-out", "not-applicable"),
    ("out-of-time", "timeout"),
    ("refuted", "invalid"),
]


def with_one_warning(call: Callable[[], Any], *texts: str) -> Any:
    """Return what a call returns, which must warn once of a former name, in so many words."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = call()
    renamed = [one for one in caught if issubclass(one.category, RenamedWarning)]
    (message,) = [str(one.message) for one in renamed]
    assert all(text in message for text in texts), message
    assert renamed[0].filename == __file__  # the caller, for Python hides those of libraries
    return value


@pytest.mark.parametrize(("stem", "former", "current"), METHODS)
def test_methods(stem: str, former: str, current: str) -> None:
    entry = with_one_warning(lambda: registry.method(stem, former), former, current)
    assert entry is registry.method(stem, current)
    assert former not in {one.name for one in registry.methods(stem)}


@pytest.mark.parametrize(("stem", "former", "name", "values"), OPTIONS)
def test_options(stem: str, former: str, name: str, values: dict[str, Any]) -> None:
    entries = [
        entry
        for entry in registry.methods(stem)
        if name in {option.name for option in entry.options}
    ]
    assert entries
    for entry in entries:
        option = next(one for one in entry.options if one.name == name)
        for value, current in values.items():
            given = {former: value}
            read = with_one_warning(lambda e=entry, g=given: e.read_options(g), former, name)
            assert read == {name: current}
            assert entry.read_options(read) == read and option.read(current) == current
        if former != name:
            given = {former: option.default}
            read = with_one_warning(lambda e=entry, g=given: e.read_options(g), name)
            assert read == {name: option.default}


def test_a_method_and_its_option_are_solved_by_their_former_names() -> None:
    bag = dlopt.read("instances/bag/small-etc.json")
    found = with_one_warning(
        lambda: dlopt.solve(bag, "sa"), "method 'sa' is called 'switching' now"
    )
    assert found.method == "switching" and found == dlopt.solve(bag, "switching")
    late = with_one_warning(lambda: dlopt.solve(bag, "mct", late="drop"), "tardy=reject")
    assert late == dlopt.solve(bag, "mct", tardy="reject")
    table = with_one_warning(lambda: dlopt.compare(bag, ["sa"]))
    assert [row.method.name for row in table.rows] == ["switching"]
    (run,) = with_one_warning(lambda: plan_runs([bag], ["sa"])).runs
    assert run.key.method == "switching"
    (run,) = with_one_warning(lambda: plan_runs([bag], ["mct"], options={"late": "run"})).runs
    assert run.key.options == (("tardy", "run"),)


@pytest.mark.parametrize(("stem", "former", "current"), OBJECTIVES)
def test_objectives(stem: str, former: str, current: str, method_table: MethodTable) -> None:
    """Each is solved, compared, planned, registered and evaluated by its former name."""
    goals = registry.problem(stem).module.OBJECTIVES
    assert former not in goals and former not in goals[current].levels
    graphs = dlopt.read("instances/dag/deadlines.json")
    texts = (f"objective {former!r} is called {current!r} now",)
    found = with_one_warning(lambda: dlopt.solve(graphs, "heft", objective=former), *texts)
    assert found.objective == current
    assert found == dlopt.solve(graphs, "heft", objective=current)
    table = with_one_warning(lambda: dlopt.compare(graphs, ["heft"], objective=former), *texts)
    assert table.objective == current
    plan = with_one_warning(lambda: plan_runs([graphs], ["heft"], objectives=[former]), *texts)
    assert [run.key.objective for run in plan.runs] == [current]
    value = with_one_warning(lambda: dag.objective(graphs, found.solution, former), *texts)
    assert value == found.value
    own = with_one_warning(
        lambda: registry.register(stem, "own", registry.method(stem, "heft").load(),
                                  objectives=[former]), *texts
    )  # fmt: skip
    assert own.objectives == (current,)


def test_an_objective_of_a_search_and_of_a_simulation() -> None:
    search = with_one_warning(
        lambda: dlopt.falsify("dag", "heft", objective="response", examples=1),
        "total-response-time",
    )
    assert search.tried == 1
    run = simulate_grid(generate("dag", "chen", lans=3, nodes=3, tasks=3))
    method = "bound-critical-path"
    both = with_one_warning(lambda: compare_with_optimum(run, objective="response", method=method))
    assert both.objective == "total-response-time"


def test_rules_of_a_grid() -> None:
    renamed = "'eq6-behind' is called 'eq6-not-advanced' now"
    policy = with_one_warning(lambda: variant("corrected+eq6-behind"), renamed)
    assert policy == variant("corrected+eq6-not-advanced")
    case = with_one_warning(lambda: GridExperiment(variant="literal+eq6-behind"), renamed)
    assert case == GridExperiment(variant="literal+eq6-not-advanced")
    for name, former, current in (
        ("free_time", "behind", "not-advanced"),
        ("recovery", "told", "reported"),
    ):
        policy = with_one_warning(lambda n=name, f=former: Policy(**{n: f}), former, current)
        assert getattr(policy, name) == current
    small = GridExperiment(lans=2, nodes=2, tasks=1)
    rows = with_one_warning(lambda: sweep(cases=[small]), "cases is called experiments now")
    assert [row.case for row in rows] == [small]
    outcome = small.run().outcome
    assert with_one_warning(lambda: outcome.fates) == outcome.job_outcomes


@pytest.mark.parametrize(("former", "current"), KINDS)
def test_kinds_of_violations(former: str, current: str) -> None:
    """No problem gives a former name to anything now; a search for it is one for the new name."""
    every = dict.fromkeys(entry.stem for entry in registry.methods())
    stems = [stem for stem in every if current in kinds_of(stem)]
    assert not any(former in kinds_of(stem) for stem in every)
    executed = {*admission.EXECUTED_KINDS, *dag.EXECUTED_KINDS}
    assert former not in executed and (stems or current in executed)
    for stem in stems:
        method = registry.methods(stem)[0].name
        search = with_one_warning(
            lambda s=stem, m=method: dlopt.falsify(s, m, kind=former, examples=1), former, current
        )
        assert search.finding is None or search.finding.kind == current


def kinds_of(stem: str) -> set[str]:
    return {*registry.problem(stem).module.KINDS, *CLAIM_KINDS}


def test_every_former_name_is_tried_here() -> None:
    """They are written down twice, as nobody may rename what older programs and files say."""
    assert {(stem, former) for stem, former, _ in METHODS} == aliases.METHODS.keys()
    assert {(stem, former) for stem, former, *_ in OPTIONS} == aliases.OPTIONS.keys()
    assert {(stem, former) for stem, former, _ in OBJECTIVES} == aliases.OBJECTIVES.keys()
    assert {former for former, _ in KINDS} == aliases.VIOLATION_KINDS.keys()
    assert set(aliases.GRID_VARIANTS) == {"eq6-behind"}
    assert set(aliases.POLICY_VALUES) == {("free_time", "behind"), ("recovery", "told")}
    assert {former for former, _ in STATUSES} == aliases.RECORD_STATUSES.keys()


def test_a_limit_of_runs() -> None:
    runs = with_one_warning(
        lambda: plan_runs([THREE], ["opr"], kill_after_s=9), "kill_after_s is called hard_timeout_s"
    ).runs
    assert [run.hard_timeout_s for run in runs] == [9]


def test_engines() -> None:
    from dlopt.problems.cluster import Cluster

    engine = with_one_warning(lambda: dlopt.Admission(Cluster(2, 1, 1), "fast-edf-iit-r1"))
    assert engine.algorithm.name == "fast-edf-iit-linear"
    shares = with_one_warning(
        lambda: dlopt.CoReservation([Machine("a", 70)], "best-fit", share="least"), "allocation=min"
    )
    assert shares.algorithm.allocation == "min"


@pytest.mark.parametrize(
    ("record", "former", "current"),
    [
        (coreservation.Decision("r", False, 0, reason="no room"), "because", "reason"),
        (multistage.Grant("r", False, 0, conflict="channel"), "because", "conflict"),
        (api.ComparisonRow(registry.method("iit", "opr"), None, 0.5), "behind", "gap_to_best"),
        (api.ComparisonRow(registry.method("iit", "opr"), None, None), "refuted", "invalid"),
        (api.Comparison(THREE, "completion", None, (), ()), "left_out", "skipped"),
        (api.Comparison(THREE, "completion", None, (), ()), "measured_from", "gap_reference"),
    ],
)
def test_attributes(record: Any, former: str, current: str) -> None:
    value = with_one_warning(lambda: getattr(record, former), f".{former} is called .{current} now")
    assert value == getattr(record, current)


def test_fields_of_older_files() -> None:
    decision = {"request": "r", "accepted": False, "at": 0, "because": "no room"}
    assert coreservation.Decision.from_data(decision).reason == "no room"
    grant = {"reservation": "r", "accepted": False, "at": 0, "because": "task", "missed": "b"}
    read = multistage.Grant.from_data(grant)
    assert read.conflict == "task" and "because" not in read.to_data()
    with pytest.raises(InvalidInstanceError, match="why: is not a field"):
        coreservation.Decision.from_data(decision | {"why": ""})


@pytest.mark.parametrize(
    ("module", "former", "current"),
    [
        ("dlopt", "RefutedAnswerError", "InvalidResultError"),
        ("dlopt.api", "RefutedAnswerError", "InvalidResultError"),
        ("dlopt.api", "Row", "ComparisonRow"),
        ("dlopt.result_checker", "RefutedAnswerError", "InvalidResultError"),
        ("dlopt.batch", "Cell", "Run"),
        ("dlopt.batch", "Item", "NamedInstance"),
        ("dlopt.batch", "Key", "RunKey"),
        ("dlopt.batch", "Plan", "ExperimentPlan"),
        ("dlopt.batch", "Row", "Record"),
        ("dlopt.batch", "Summary", "BatchSummary"),
        ("dlopt.batch", "Trouble", "Failure"),
        ("dlopt.batch", "plan_cells", "plan_runs"),
        ("dlopt.batch", "read_rows", "read_records"),
    ],
)
def test_names_of_modules(module: str, former: str, current: str) -> None:
    home = importlib.import_module(module)
    assert with_one_warning(lambda: getattr(home, former), current) is getattr(home, current)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        home.nothing  # noqa: B018


def test_records_of_version_1() -> None:
    (run,) = plan_runs([dlopt.read("instances/bag/small-etc.json")], ["switching"]).runs
    record = solve_run(run).record
    data: Mapping[str, Any] = record.to_data()
    assert data["version"] == 2
    line = to_text(dict(data) | {"version": 1, "method": "sa", "options": {"late": "run"}})
    read = record_from_line(line.encode())
    assert read.key.method == "switching" and read.key.options == (("tardy", "run"),)
    for former, current in STATUSES:
        line = to_text(dict(data) | {"version": 1, "status": former})
        assert record_from_line(line.encode()).status is Failure(current)
        with pytest.raises(InvalidInstanceError, match="status: must be one of"):
            record_from_line(to_text(dict(data) | {"status": former}).encode())


def test_an_objective_in_older_files() -> None:
    """Records of both versions, and results, are read with what the objective is called now."""
    graphs = dlopt.read("instances/dag/deadlines.json")
    (run,) = plan_runs([graphs], ["heft"], objectives=["tardy-then-response-time"]).runs
    record = solve_run(run).record
    for version in (1, 2):
        data = record.to_data() | {"version": version, "objective": "late-then-response"}
        line = to_text(data).encode()
        assert with_one_warning(lambda one=line: record_from_line(one)) == record
    found = dlopt.solve(graphs, "heft", objective="total-response-time")
    data = io.result_to_data(graphs, found) | {"objective": "response"}
    assert with_one_warning(lambda: io.result_from_data(data, graphs)) == found
    known = {"objective": "response", "plan_class": "any", "value": 1}
    graphs_data = io.instance_to_data(graphs) | {"best_known": [known]}
    read = with_one_warning(lambda: io.instance_from_data(graphs_data))
    assert [best.objective for best in read.best_known] == ["total-response-time"]


def test_former_kinds_in_older_results_are_no_fault() -> None:
    """What a result says of violations is checked again, and so is not read."""
    bag = dlopt.read("instances/bag/small-etc.json")
    found = dlopt.solve(bag, "switching")
    kind = {"kind": "placed-twice", "resource": "task a", "start": None, "end": None, "amount": 2}
    data = io.result_to_data(bag, found) | {"violations": [kind]}
    assert io.result_from_data(data, bag) == found


def test_a_result_of_an_older_file() -> None:
    bag = dlopt.read("instances/bag/small-etc.json")
    data = io.result_to_data(bag, dlopt.solve(bag, "switching")) | {"method": "sa"}
    assert io.result_from_data(data, bag).method == "switching"
