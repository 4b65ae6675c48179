"""Bid-price control: sound by the test of its base, online, and good where small tasks are lost."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt import Status, registry, simulate, solve
from dlopt.arithmetic import exact
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.generation.paper_workloads import mamat4
from dlopt.heuristics.admission.engine import Admission
from dlopt.heuristics.admission.planner_factory import parse
from dlopt.heuristics.admission.priced_algorithm import PricedAlgorithm
from dlopt.problems.admission import Instance, Task, violations
from dlopt.problems.cluster import Cluster
from tests.examples import share
from tests.heuristics.admission.strategies import PROMISING, few, random_stream, streams

F = Fraction
BASES = ("edf-iit-2", "edf-opr-an", "mwf-opr-mn", "fifo-epr-mn", "mcdf", "edf-iit-1")
SMALL_AND_LARGE = tuple(
    sorted(
        [
            *(Task(f"small-{i}", F(i, 2), 1, 2) for i in range(60)),
            *(Task(f"large-{i}", F(i, 2), 6, 20) for i in range(11, 60, 8)),
        ],
        key=lambda task: task.arrival,
    )
)
ONE_NODE = Cluster(1, tau=0, chi=1)


@pytest.mark.property
@few
@given(stream=streams(tasks=24), base=st.sampled_from(BASES))
def test_the_base_decides_unless_the_price_is_too_high(stream, base):
    """With the same tasks waiting, the base accepts what is accepted or rejected for its price."""
    priced, inner = stream.engine(f"priced-{base}"), stream.engine(base)
    for task in stream.tasks:
        decision, fits = priced.submit(task), inner.ask(task)
        if decision.accepted:
            assert inner.submit(task).accepted
        elif decision.of == "price":
            assert fits.accepted
            assert (decision.missed, decision.by > 0) == (task.id, True)
        else:
            assert fits == decision
    assert priced.plan().chunks == inner.plan().chunks
    assert violations(stream.instance, priced.plan()) == ()


@pytest.mark.property
@few
@given(stream=streams(tasks=24), base=st.sampled_from(BASES), data=st.data())
def test_later_arrivals_change_no_earlier_decision(stream, base, data):
    count = data.draw(st.integers(1, len(stream.tasks)))
    engine = stream.engine(f"priced-{base}")
    for task in stream.tasks[:count]:
        engine.submit(task)
    assert engine.decisions == stream.decided(f"priced-{base}").decisions[:count]


@pytest.mark.property
@share(3 / 20)
@given(stream=streams(tasks=24), base=st.sampled_from(BASES))
def test_what_is_asked_is_decided_so_and_is_not_part_of_the_forecast(stream, base):
    engine, silent = (stream.engine(f"priced-{base}") for _ in range(2))
    for task in stream.tasks:
        engine.ask(Task("asked", task.arrival, 50, 1000))
        asked = engine.ask(task)
        assert engine.submit(task) == asked == silent.submit(task)


@pytest.mark.parametrize("count", [20, 40, 59])
def test_later_arrivals_change_no_price(count):
    """As above, on a stream in which some are rejected for their price."""
    stream = random_stream(5, nodes=8, tasks=60, setup=True, load=2)
    engine = stream.engine("priced")
    for task in stream.tasks[:count]:
        engine.submit(task)
    assert engine.decisions == stream.decided("priced").decisions[:count]
    assert sum(decision.of == "price" for decision in engine.decisions) >= count // 20


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("setup", [False, True])
def test_a_simulation_decides_as_the_engine(base, setup):
    stream = random_stream(5, nodes=8, tasks=60, setup=setup, load=2)
    engine = stream.decided(f"priced-{base}")
    rejected = sum(not decision.accepted for decision in engine.decisions)
    outcome = simulate(stream.instance, f"priced-{base}", check=True)
    assert (outcome.rejected, outcome.violations, outcome.misses) == (rejected, 0, 0)


def test_some_are_rejected_for_their_price_alone():
    """So that the properties above are not about the base only."""
    stream = random_stream(5, nodes=8, tasks=60, setup=True, load=2)
    reasons = {decision.of for decision in stream.decided("priced-edf-iit-2").decisions}
    assert {"price", "load", None} <= reasons


@pytest.mark.parametrize("base", ["", "edf-opr-mn", "mwf-opr-mn", "fifo-iit-an"])
def test_small_tasks_are_not_lost_for_large_ones(base):
    instance = Instance(ONE_NODE, SMALL_AND_LARGE)
    found = solve(instance, "priced", base=base)
    assert (found.status, found.value) == (Status.FEASIBLE, 31)
    accepted = {one.task for one in found.solution.decisions if one.accepted}
    assert all(name.startswith("small") for name in accepted)
    reasons = {one.task: one.reason for one in found.solution.decisions}
    assert reasons["large-11"] == "task large-11 takes 5 more time than the bid prices allow"
    assert solve(instance, base or "edf-iit-2").value <= 20


def weighted(weight_of_large):
    return tuple(
        replace(task, weight=weight_of_large) if task.id.startswith("large") else task
        for task in SMALL_AND_LARGE
    )


@pytest.mark.parametrize("exact_numbers", [True, False])
def test_large_tasks_are_accepted_if_their_weights_pay_for_them(exact_numbers):
    """A large task takes the time of six small ones: it must have as much weight."""
    accepted = {}
    for weight in (1, 5, 7):
        head = Admission(ONE_NODE, "priced", exact_numbers=exact_numbers)
        names = [head.submit(task).accepted and task.id for task in weighted(weight)]
        accepted[weight] = sum(str(name).startswith("large") for name in names)
    assert accepted == {1: 0, 5: 0, 7: 7}


@pytest.mark.parametrize("base", BASES)
def test_the_unit_of_weight_changes_no_decision(base):
    stream = random_stream(5, nodes=8, tasks=60, number=exact, setup=True, load=2)
    engines = [stream.engine(f"priced-{base}") for _ in range(3)]
    for number, task in enumerate(stream.tasks):
        weights = F(1 + number % 3), F(1 + number % 3, 7), F(1)
        pairs = zip(engines, weights, strict=True)
        found = [engine.submit(replace(task, weight=weight)) for engine, weight in pairs]
        assert found[0] == found[1]
    assert engines[0].decisions != engines[2].decisions


def test_prices_follow_a_load_that_changes():
    """Heavy, light, and heavy again: while it is light, the large ones are accepted."""

    def tasks(name, begin, count, gap):
        for i in range(count):
            load = 6 if i % 4 == 3 else 1
            yield Task(f"{name}-{i}", begin + gap * i, load, 20.0)

    heavy, light = list(tasks("heavy", 0, 80, 0.5)), list(tasks("light", 100, 600, 4))
    again = list(tasks("again", 3000, 80, 0.5))
    head = Admission(ONE_NODE, "priced", exact_numbers=False)
    large = {"heavy": 0, "light": 0, "again": 0}
    for task in (*heavy, *light, *again):
        if head.submit(task).accepted and task.load == 6:
            large[task.id.partition("-")[0]] += 1
    assert large["light"] == 150
    assert large["heavy"] < 10
    assert large["again"] < 10


@pytest.mark.parametrize("base", ["edf-iit-2", "mwf-opr-mn", "mcdf"])
def test_a_long_task_does_not_reject_all_others(base):
    """It takes a node for 150 times as long as small ones may wait: they use the others."""
    head = Admission(Cluster(4, tau=0, chi=1), f"priced-{base}")
    loads = [F(2, 5), F(6, 5)]
    small = [Task(f"small-{i}", F(i, 4), loads[i % 2], 2) for i in range(160)]
    for task in small[:20]:
        assert head.submit(task).accepted
    assert head.submit(Task("long", 5, 300, 310)).accepted
    assert not any(head.submit(task).of == "price" for task in small[20:])


@pytest.mark.parametrize("count", [2, 9, 40])
@pytest.mark.parametrize("name", ["priced", "edf-iit-2", "mwf-epr-mn", "mcdf", "fifo-opr-an"])
def test_no_algorithm_has_a_competitive_ratio(name, count):
    """One that accepts the first of these loses all others; one that rejects it may lose all."""
    first = Task("first", 0, count, count)
    others = [Task(f"t{i}", i, 1, 1) for i in range(count)]
    found = solve(Instance(ONE_NODE, (first, *others)), name)
    assert found.value == 1
    assert solve(Instance(ONE_NODE, (others[0], first, *others[1:])), name).value == count


def test_the_base_is_chosen_for_the_cluster():
    """For each task if all nodes take hardly more time than one; the fewest if they take more."""
    priced = PricedAlgorithm()
    assert priced.chosen((1, 1000, 0, 0), 256) is None
    assert priced.chosen((1, 100, 0, 0), 256).name == "edf-iit-2"
    assert priced.chosen((1, 1000, 1, 0), 256).name == "edf-iit-2"
    assert priced.chosen((1, 1000, 0, 1), 256).name == "edf-iit-2"
    assert priced.chosen((1, 0, 0, 0), 2).name == "edf-iit-2"
    assert priced.chosen((0, 1, 0, 0), 9) is None
    assert PricedAlgorithm(parse("mcdf")).chosen((1, 1, 0, 0), 2).name == "mcdf"


@pytest.mark.parametrize("base", PROMISING)
def test_the_name_of_an_algorithm_is_the_one_that_is_parsed(base):
    assert parse(f"priced-{base}").name == f"priced-{base}"
    assert parse(f"priced-{base}").order == parse(base).order


@pytest.mark.parametrize(
    ("base", "text"),
    [
        ("edf-anna", "prices are for algorithms that promise deadlines, and keep them, not for"),
        ("edf-opr-mn:literal", "and keep them, not for edf-opr-mn:literal"),
        ("fast-edf-iit", "unknown algorithm 'fast-edf-iit'"),
        ("hybrid", "unknown algorithm 'hybrid'"),
        ("priced", "unknown algorithm 'priced'"),
    ],
)
def test_what_cannot_be_priced(base, text):
    with pytest.raises(NotApplicableError, match=text):
        parse(f"priced-{base}")
    with pytest.raises(NotApplicableError, match=text):
        solve(Instance(ONE_NODE, SMALL_AND_LARGE[:2]), "priced", base=base)


def test_a_book_with_prices_goes_on_after_a_cancellation():
    """Its planner is another one then; its forecast is the same."""
    head, other = (Admission(ONE_NODE, "priced-edf-opr-mn") for _ in range(2))
    for task in SMALL_AND_LARGE[:40]:
        assert head.submit(task) == other.submit(task)
    late = Task("late", SMALL_AND_LARGE[39].arrival, F(1, 100), 50)
    assert head.submit(late).accepted
    head.cancel("late")
    other.submit(late)
    other.cancel("late")
    answers = [(head.submit(task), other.submit(task)) for task in SMALL_AND_LARGE[40:]]
    assert all(one == two for one, two in answers)
    assert [one.of for one, _ in answers if one.task.startswith("large")] == ["price"] * 3


def test_a_copy_has_its_own_prices():
    head = Admission(ONE_NODE, "priced", exact_numbers=False)
    for task in SMALL_AND_LARGE[:30]:
        head.submit(task)
    copied = copy.deepcopy(head)
    for number in range(600):  # nothing but large ones: the copy's price rises
        copied.submit(Task(f"other-{number}", 15 + number / 100, 9, 20))
    again = copy.deepcopy(head)
    rest = SMALL_AND_LARGE[30:]
    assert [head.submit(task) for task in rest] == [again.submit(task) for task in rest]


def test_no_offers():
    head = Admission(ONE_NODE, "priced")
    task = Task("a", 0, 3, 1)
    assert not head.submit(task).accepted
    for verb in (head.offer, head.why, head.earliest_deadline):
        with pytest.raises(NotApplicableError, match="priced makes no counter-offers to tasks"):
            verb(task)


@pytest.mark.parametrize("exact_numbers", [True, False])
def test_a_restored_book_has_the_same_prices(exact_numbers):
    head, tasks = Admission(ONE_NODE, "priced", exact_numbers=exact_numbers), weighted(F(9, 2))
    for task in tasks[:40]:
        head.submit(task)
    again = Admission.restore(json.loads(json.dumps(head.snapshot())))
    assert again.snapshot() == head.snapshot()
    answers = [(head.submit(task), again.submit(task)) for task in tasks[40:]]
    assert all(one == two for one, two in answers)
    assert "price" in {one.of for one, _ in answers}
    assert again.snapshot() == head.snapshot()


def test_a_forecast_is_for_prices_only():
    head = Admission(ONE_NODE, "priced")
    head.submit(Task("a", 0, 3, 9))
    saved = head.snapshot() | {"algorithm": "edf-opr-an"}
    with pytest.raises(InvalidInstanceError, match="must be known: edf-opr-an has no forecast"):
        Admission.restore(saved)


def test_a_restored_book_keeps_nodes_until_the_promise_as_its_base_does():
    """EDF-IIT-1 keeps nodes busy after their work has ended; with prices, too."""
    head = Admission(Cluster(2, tau=1, chi=1), "priced-edf-iit-1", ready_times=(0, 1))
    assert head.submit(Task("a", 0, 3, 5)).accepted
    head.advance(F(1, 2))
    assert Admission.restore(json.loads(json.dumps(head.snapshot()))).plan() == head.plan()


@pytest.mark.parametrize("name", ["priced", "priced-fifo-opr-mn"])
def test_a_snapshot_that_contradicts_itself_is_refused(name):
    head = Admission(ONE_NODE, name)
    for number in range(3):
        head.submit(Task(f"t{number}", 0, 1, 9 + number))
    saved = json.loads(json.dumps(head.snapshot()))
    planner = saved["planner"]
    fast = {key: value for key, value in planner.items() if key != "placements"} | {"fast": True}
    with pytest.raises(InvalidInstanceError, match=r"planner\.fast: must be false"):
        Admission.restore(saved | {"planner": fast})
    turned = planner | {"waiting": planner["waiting"][::-1]}
    with pytest.raises(InvalidInstanceError, match=r"waiting\[1\].rank: must not be less than"):
        Admission.restore(saved | {"planner": turned})


def test_a_large_task_does_not_block_many_small_ones():
    """There is time for all of them, but small ones cannot wait, and a large one takes all nodes.

    A twentieth of the time is asked for by small tasks, and a fifth by large ones.
    """
    cluster = Cluster(2, tau=F(1, 10), chi=1)
    small = [Task(f"small-{i}", 2 * i, F(1, 10), F(1, 2)) for i in range(200)]
    large = [Task(f"large-{i}", F(50 * i + 25), 15, 500) for i in range(8)]
    tasks = sorted([*small, *large], key=lambda task: task.arrival)
    for name, lost in (("edf-opr-an", "small"), ("priced-edf-opr-an", "large")):
        head = Admission(cluster, name)
        rejected = [d.task for d in map(head.submit, tasks) if not d.accepted]
        assert len(rejected) >= 5 and all(task.startswith(lost) for task in rejected)
    assert {d.of for d in head.decisions if not d.accepted} == {"price"}


def test_a_printed_setting_of_the_papers():
    """Figure 4.6 at load 1, where large tasks occupy the channel."""
    stream = mamat4(system_load=1, horizon=1_000_000, seed=7)
    ratios = {name: simulate(stream, name).reject_ratio for name in ("edf-opr-mn", "priced")}
    assert ratios["priced"] < ratios["edf-opr-mn"] * 2 / 3


def test_the_registered_method():
    entry = registry.method("admission", "priced")
    assert (entry.kind, entry.claim, entry.plan_class) == ("heuristic", "sound", "single")
    assert [option.name for option in entry.options] == ["base"]
