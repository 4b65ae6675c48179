"""Engines that several threads use: no promise is lost, none is made twice; copies go on alike."""

import copy
import pickle
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

import dlopt
from dlopt import Admission, CoReservation, MultiStage, registry
from dlopt.errors import DloptError
from dlopt.heuristics.guarded import Guarded
from dlopt.problems import admission, coreservation, multistage
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Part, Request

THREADS, EACH = 4, 60
CLUSTER = Cluster(4, tau=1, chi=5)
COPIES = [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
ALGORITHMS = [
    one.name
    for one in registry.methods("admission")
    if one.kind == "heuristic" and one.name != "local-search"
]


@pytest.fixture(autouse=True)
def _hurried() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """Run work in several threads that start together; return what each gave."""
    gate, found = threading.Barrier(THREADS), [None] * THREADS

    def run(number: int) -> None:
        gate.wait()
        found[number] = work(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def stream(number: int) -> list[admission.Task]:
    """Return the tasks of a thread: some fit, some do not."""
    return [
        admission.Task(f"t{number}-{k}", 0, 1 + (k * 7 + number) % 5, 40 + 9 * (k * 11 % EACH))
        for k in range(EACH)
    ]


@pytest.mark.parametrize("algorithm", ["edf-iit-2", "fifo-opr-mn", "fast-edf-iit"])
def test_no_task_is_lost_or_planned_twice(algorithm: str) -> None:
    head = Admission(CLUSTER, algorithm)

    def submit(number: int) -> int:
        accepted = 0
        for task in stream(number):
            accepted += head.submit(task).accepted
            head.plan()
        return accepted

    accepted = sum(at_once(submit))
    tasks = {task.id: task for number in range(THREADS) for task in stream(number)}
    assert len(head.decisions) == len(tasks) and 10 < accepted < len(tasks)
    order = tuple(tasks[decision.task] for decision in head.decisions)
    assert dlopt.check(admission.Instance(CLUSTER, order), head.plan()) == ()
    assert sum(one.accepted for one in head.plan().decisions) == accepted


def test_the_same_task_is_decided_once() -> None:
    head = Admission(CLUSTER)
    task = admission.Task("same", 0, 1, 50)
    decisions = at_once(lambda _: head.submit(task))
    assert set(decisions) == set(head.decisions) and len(head.decisions) == 1


def test_an_id_is_taken_once() -> None:
    head = Admission(CLUSTER)

    def submit(number: int) -> bool:
        try:
            return head.submit(admission.Task("same", 0, 1, 50 + number)).accepted
        except DloptError:
            return False

    assert sorted(at_once(submit)) == [False] * (THREADS - 1) + [True]
    assert len(head.decisions) == 1


def test_reservations_and_tasks_of_several_threads() -> None:
    head = MultiStage(CLUSTER)

    def submit(number: int) -> None:
        for k, task in enumerate(stream(number)[:20]):
            head.submit(multistage.Task(task.id, 0, task.load, task.deadline))
            start = 10 + 20 * k + 5 * number
            head.reserve(multistage.Reservation(f"r{number}-{k}", 0, start, start + 3, nodes=1))

    at_once(submit)
    plan = head.plan()
    assert len(plan.decisions) == 20 * THREADS == len(plan.grants)
    known = {task.id: task for number in range(THREADS) for task in stream(number)}
    tasks = (known[decision.task] for decision in plan.decisions)
    wanted = (one.reservation.removeprefix("r").split("-") for one in plan.grants)
    starts = [(number, k, 10 + 20 * int(k) + 5 * int(number)) for number, k in wanted]
    instance = multistage.Instance(
        CLUSTER,
        tuple(multistage.Task(one.id, 0, one.load, one.deadline) for one in tasks),
        tuple(
            multistage.Reservation(f"r{number}-{k}", 0, start, start + 3, nodes=1)
            for number, k, start in starts
        ),
    )
    assert dlopt.check(instance, plan) == ()


def test_a_reservation_is_granted_once() -> None:
    head = MultiStage(CLUSTER)
    wanted = multistage.Reservation("same", 0, 5, 9, nodes=3)
    grants = at_once(lambda _: head.reserve(wanted))
    assert set(grants) == {head.grants[0]} and len(head.grants) == 1

    def take_back(_: int) -> bool:
        try:
            head.cancel("same")
        except DloptError:
            return False
        return True

    assert sorted(at_once(take_back)) == [False] * (THREADS - 1) + [True]
    assert head.grants == ()


def asked(number: int) -> list[Request]:
    return [
        Request(f"q{number}-{k}", 0, k, k + 3, 1 + k % 3, (Part(4 + (k + number) % 5),))
        for k in range(EACH)
    ]


def test_cpu_shares_of_several_threads() -> None:
    machines = (Machine("a", 10), Machine("b", 8))
    engine = CoReservation(machines)
    at_once(lambda number: [engine.submit([one]) for one in asked(number)])
    requests = {one.id: one for number in range(THREADS) for one in asked(number)}
    order = tuple(requests[one.request] for one in engine.decisions)
    assert len(order) == len(requests)
    assert dlopt.check(coreservation.Instance(machines, order), engine.plan()) == ()
    held = Counter((share.request, share.part) for share in engine.plan().shares)
    accepted = [one for one in engine.decisions if one.accepted]
    assert set(held.values()) == {1} and len(held) == len(accepted)


def test_calendars_that_are_read_meanwhile_are_whole() -> None:
    """A request has both of its parts, or none; what is tried on a calendar stays there."""
    engine = CoReservation([Machine("a", 10), Machine("b", 10)])

    def submit_and_ask(number: int) -> None:
        for k in range(EACH):
            parts = (Part(1 + number, machine=0), Part(1 + number, machine=1))
            engine.submit([Request(f"q{number}-{k}", 0, k, k + 3, 1, parts)])
            calendar = engine.calendar
            assert calendar.allocated(0, 0, 3 * EACH) == calendar.allocated(1, 0, 3 * EACH)
            free = calendar.smallest_free(0, k, k + 1)
            calendar.add_span(0, k, k + 1, free)

    at_once(submit_and_ask)
    shares = sum(share.cpu * 3 for share in engine.plan().shares if share.machine == 0)
    steps = engine.calendar.allocated(0, 0, 3 * EACH)
    assert shares == sum((until - since) * amount for since, until, amount in steps)


class Slow(Guarded):
    """Its call lasts until one of another object has ended in another thread."""

    def wait_for(self, other: "Slow", seconds: float) -> None:
        with ThreadPoolExecutor(1) as pool, self._lock:
            ended = threading.Event()
            pool.submit(other.tell, ended)
            if not ended.wait(seconds):
                raise TimeoutError

    def tell(self, ended: threading.Event) -> None:
        with self._lock:
            ended.set()


@pytest.mark.parametrize("engine", [Admission, MultiStage, CoReservation])
def test_the_engines_are_guarded_and_make_no_state_of_their_own(engine: type) -> None:
    assert issubclass(engine, Guarded)
    assert engine.__getstate__ is Guarded.__getstate__ and engine.__new__ is Guarded.__new__


@pytest.mark.parametrize("copied", [*COPIES, copy.copy])
def test_a_copy_does_not_wait_for_its_original(copied: Any) -> None:
    original = Slow()
    original.wait_for(copied(original), 60)
    with pytest.raises(TimeoutError):
        original.wait_for(original, 0.05)


@pytest.mark.parametrize("copied", COPIES)
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_copy_decides_as_its_original(algorithm: str, exact: bool, copied: Any) -> None:
    head = Admission(CLUSTER, algorithm, exact_numbers=exact)
    for task in stream(0)[:12]:
        head.submit(task)
    twin = copied(head)
    for task in stream(1)[:12]:
        late = replace(task, arrival=3)
        assert twin.submit(late) == head.submit(late)
    assert twin.plan() == head.plan() and twin.decisions == head.decisions


def test_copies_of_the_other_engines() -> None:
    machines = (Machine("a", 10), Machine("b", 8))
    engine, head = CoReservation(machines), MultiStage(CLUSTER)
    for one in asked(0)[:9]:
        engine.submit([one])
        head.submit(multistage.Task(one.id, 0, 2, 40))
    twin, other = copy.deepcopy(engine), pickle.loads(pickle.dumps(head))
    assert twin.submit(asked(1)[:3]) == engine.submit(asked(1)[:3])
    late = multistage.Task("late", 1, 2, 30)
    assert other.submit(late) == head.submit(late) and other.plan() == head.plan()
    assert other.decisions == head.decisions


@pytest.mark.parametrize("copied", COPIES)
def test_copies_around_reservations_go_on_as_their_original(copied: Any) -> None:
    head = MultiStage(CLUSTER)
    for task in stream(2)[:10]:
        head.submit(multistage.Task(task.id, 0, task.load, task.deadline))
        head.reserve(multistage.Reservation(f"r-{task.id}", 0, 10, 14, nodes=1))
    twin = copied(head)
    for task in stream(3)[:10]:
        late = multistage.Task(task.id, 2, task.load, task.deadline)
        assert twin.submit(late) == head.submit(late)
        wanted = multistage.Reservation(f"r-{task.id}", 2, 40, 50, nodes=2)
        assert twin.reserve(wanted) == head.reserve(wanted)
    assert twin.plan() == head.plan()
