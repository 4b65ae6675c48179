"""Each verb of each problem answers what the engine answers that is called directly."""

import asyncio

import pytest

from dlopt import Admission, CoReservation, MultiStage
from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.admission import Task
from dlopt.problems.cluster import Cluster
from dlopt.problems.coreservation import Machine, Part, Request
from dlopt.problems.multistage import Reservation
from dlopt.serve.books.verbs import VERBS
from dlopt.serve.errors import NotFoundError
from tests.serve.books.services import DEFINITIONS, running


async def _answers(url, problem, calls):
    """Return the answers of calls, and the verbs that were called."""
    async with running(url) as service:
        await service.create("book", DEFINITIONS[problem])
        return [(await service.call("book", verb, data)).body for verb, data in calls]


def _decided(decision):
    answer = {"decision": decision.to_data()}
    return answer if decision.accepted else answer | {"reason": decision.reason}


def _offered(offers, kind):
    return {
        "offers": [
            {
                "dimension": offer.dimension,
                "value": _text(offer.value),
                "submission": {kind: offer.submission.to_data()},
                "concession": _text(offer.concession),
                "least": offer.least,
            }
            for offer in offers
        ]
    }


def _text(number):
    return number if isinstance(number, int) else str(number)


def _conflict(found):
    parts = [{"kind": part.kind, "id": part.id} for part in found.parts]
    return {"conflict": {"parts": parts, "reason": found.reason, "irreducible": found.irreducible}}


def _done(consequences):
    return {
        "consequences": {
            "broken": list(consequences.broken),
            "moved": list(consequences.moved),
            "least": consequences.least,
        }
    }


def _archived(archive):
    return {
        "until": _text(archive.until),
        "decisions": [one.to_data() for one in archive.decisions],
        "allocations": [one.to_data() for one in archive.allocations],
    }


def _state(state):
    instance, plan = state.instance, state.plan
    header = {"problem": instance.problem, "version": 1}
    return {"instance": header | instance.to_data(), "plan": plan.to_data()}


def test_tasks(file_url):
    head = Admission(Cluster(4, tau=1, chi=3))
    one, late = Task("a", 0, 6, 20), Task("late", 1, 80, 20)
    data, other = {"task": one.to_data()}, {"task": late.to_data()}
    calls, expected = [], []

    def add(verb, arguments, answer):
        calls.append((verb, arguments))
        expected.append(answer)

    add("ask", data, _decided(head.ask(one)))
    add("submit", data, _decided(head.submit(one)))
    add("submit", other, _decided(head.submit(late)))
    add("offer", other | {"k": 2}, _offered(head.offer(late, k=2), "task"))
    add("why", other, _conflict(head.why(late)))
    bigger = Task("a", 0, 7, 21)
    add("change", {"task": bigger.to_data()}, _decided(head.change(bigger)))
    add("plan", {}, {"plan": head.plan().to_data()})
    head.advance(3)
    add("advance", {"now": 3}, {"now": 3})
    failed = head.resources(fail=[3], add=1)
    add("resources", {"fail": [3], "add": 1}, _done(failed))
    add("state", {}, {"state": _state(head.state()) | {"nodes": list(head.state().nodes)}})
    add("snapshot", {}, {"snapshot": head.snapshot()})
    add("finished", {"id": "a", "at": 5}, _done(head.finished("a", 5)))
    head.advance(50)
    add("advance", {"now": 50}, {"now": 50})
    add("archive", {}, _archived(head.archive()))
    add("state", {}, {"state": None})
    next_one = Task("b", 50, 1, 9)
    add("submit", {"task": next_one.to_data()}, _decided(head.submit(next_one)))
    add("cancel", {"id": "b"}, _done(head.cancel("b")))
    assert asyncio.run(_answers(file_url, "admission", calls)) == expected


def test_tasks_and_reservations(file_url):
    head = MultiStage(Cluster(4, tau=1, chi=3))
    demo = Reservation("x", arrival=0, start=16, end=24, nodes=3)
    scan, rush = Task("x", 0, 6, 20), Task("rush", 1, 12, 20)
    late = Reservation("late", arrival=0, start=17, end=20, nodes=2)
    calls, expected = [], []

    def add(verb, arguments, answer):
        calls.append((verb, arguments))
        expected.append(answer)

    add("ask", {"reservation": demo.to_data()}, _decided(head.ask(demo)))
    add("submit", {"reservation": demo.to_data()}, _decided(head.reserve(demo)))
    add("submit", {"task": scan.to_data()}, _decided(head.submit(scan)))
    add("submit", {"reservation": late.to_data()}, _decided(head.reserve(late)))
    add("offer", {"reservation": late.to_data()}, _offered(head.offer(late), "reservation"))
    add("why", {"reservation": late.to_data()}, _conflict(head.why(late)))
    add("why", {"task": rush.to_data()}, _conflict(head.why(rush)))
    longer = Reservation("x", arrival=0, start=16, end=25, nodes=3)
    add("change", {"reservation": longer.to_data()}, _decided(head.change(longer)))
    add("plan", {}, {"plan": head.plan().to_data()})
    state = head.state()
    add("state", {}, {"state": _state(state) | {"nodes": list(state.nodes)}})
    head.advance(2)
    add("advance", {"now": 2}, {"now": 2})
    ended = head.finished("x", 4, kind="task")
    add("finished", {"id": "x", "at": 4, "kind": "task"}, _done(ended))
    add("snapshot", {}, {"snapshot": head.snapshot()})
    add("resources", {"fail": [0]}, _done(head.resources(fail=[0])))
    head.advance(30)
    add("advance", {"now": 30}, {"now": 30})
    over = head.archive()
    more = {
        "grants": [grant.to_data() for grant in over.grants],
        "reservations": [one.to_data() for one in over.reservations],
    }
    add("archive", {}, _archived(over) | more)
    again = Reservation("x", arrival=30, start=40, end=50)
    add("submit", {"reservation": again.to_data()}, _decided(head.reserve(again)))
    gone = head.cancel("x", kind="reservation")
    add("cancel", {"id": "x", "kind": "reservation"}, _done(gone))
    assert asyncio.run(_answers(file_url, "multistage", calls)) == expected


def test_requests_for_shares(file_url):
    head = CoReservation([Machine("a", 70), Machine("b", 50)])
    one, two = (Request(name, 0, 5, 15, 1, (Part(cpu),)) for name, cpu in (("p", 60), ("q", 40)))
    large = Request("large", 0, 6, 12, 1, (Part(45),))
    calls, expected = [], []

    def add(verb, arguments, answer):
        calls.append((verb, arguments))
        expected.append(answer)

    batch = {"requests": [one.to_data(), two.to_data()], "at": 1}
    asked = [decision.to_data() for decision in head.ask([one, two], at=1)]
    add("ask", batch, {"decisions": asked})
    done = [decision.to_data() for decision in head.submit([one, two], at=1)]
    add("submit", batch, {"decisions": done})
    (refused,) = head.submit([large])
    add("submit", {"request": large.to_data()}, _decided(refused))
    add("offer", {"request": large.to_data()}, _offered(head.offer(large), "request"))
    add("why", {"request": large.to_data()}, _conflict(head.why(large)))
    smaller = Request("q", 0, 5, 15, 1, (Part(30),))
    add("change", {"request": smaller.to_data()}, _decided(head.change(smaller)))
    add("plan", {}, {"plan": head.plan().to_data()})
    add("state", {}, {"state": _state(head.state())})
    add("snapshot", {}, {"snapshot": head.snapshot()})
    head.advance(7)
    add("advance", {"now": 7}, {"now": 7})
    add("finished", {"id": "p", "at": 9}, _done(head.finished("p", 9)))
    new = Machine("c", 80)
    changed = head.resources(add=[new], remove=[0], fail=[1])
    machines = {"add": [new.to_data()], "remove": [0], "fail": [1]}
    add("resources", machines, _done(changed))
    head.advance(20)
    add("advance", {"now": 20}, {"now": 20})
    add("archive", {}, _archived(head.archive()))
    third = Request("r", 20, 25, 30, 1, (Part(5),))
    add("submit", {"request": third.to_data()}, _decided(head.submit([third])[0]))
    add("cancel", {"id": "r"}, _done(head.cancel("r")))
    assert asyncio.run(_answers(file_url, "coreservation", calls)) == expected


@pytest.mark.parametrize(
    ("problem", "verb", "arguments", "faults"),
    [
        ("admission", "submit", {}, [("task", "is missing")]),
        (
            "admission",
            "submit",
            {"task": {"id": "a", "arrival": "x", "load": 0, "deadline": 3}, "then": 1},
            [
                ("task.arrival", "must be a finite number"),
                ("task.load", "must be positive"),
                ("then", "is not a field"),
            ],
        ),
        (
            "admission",
            "offer",
            {"k": 0},
            [("task", "is missing"), ("k", "must be at least 1")],
        ),
        ("admission", "hold", {"ttl_s": 0}, [("task", "is missing"), ("ttl_s", "positive")]),
        ("admission", "finished", {"id": 3}, [("id", "must be a text"), ("at", "is missing")]),
        ("admission", "archive", {"now": 3}, [("now", "is not a field")]),
        ("admission", "log", {"limit": 0}, [("limit", "must be at least 1")]),
        ("multistage", "submit", {}, [("task", "is missing, or reservation")]),
        (
            "multistage",
            "submit",
            {
                "task": {"id": "a", "arrival": 0, "load": 1, "deadline": 3},
                "reservation": {"id": "a", "arrival": 0, "start": 1, "end": 3},
            },
            [("reservation", "must not be given together with task")],
        ),
        ("multistage", "cancel", {"id": "a", "kind": "x"}, [("kind", "must be")]),
        ("coreservation", "submit", {}, [("request", "is missing, or requests")]),
        (
            "coreservation",
            "resources",
            {"add": [{"id": "c"}], "fail": [-1]},
            [("add[0].capacity", "is missing"), ("fail[0]", "must not be negative")],
        ),
        (
            "coreservation",
            "submit",
            {
                "requests": [
                    {"id": "a", "arrival": 0, "start": 0, "end": 1, "priority": 1, "parts": []}
                ]
            },
            [("requests[0].parts", "must")],
        ),
    ],
)
def test_faults_of_arguments_have_their_paths(file_url, problem, verb, arguments, faults):
    with pytest.raises(InvalidInstanceError) as caught:
        asyncio.run(_answers(file_url, problem, [(verb, arguments)]))
    found = [(fault.path, fault.rule) for fault in caught.value.faults]
    assert [path for path, _ in found] == [path for path, _ in faults]
    for (_, rule), (_, expected) in zip(found, faults, strict=True):
        assert expected in rule


@pytest.mark.parametrize(
    ("problem", "submission", "path"),
    [
        ("admission", {"task": {"id": "a", "arrival": 1, "load": 1, "deadline": 3}}, "task"),
        (
            "multistage",
            {"reservation": {"id": "a", "arrival": 1, "start": 1, "end": 3}},
            "reservation",
        ),
        (
            "coreservation",
            {
                "request": {
                    "id": "a",
                    "arrival": 1,
                    "start": 1,
                    "end": 3,
                    "priority": 1,
                    "parts": [{"cpu": 1}],
                }
            },
            "request",
        ),
    ],
)
def test_faults_of_the_engine_have_the_paths_of_the_request(file_url, problem, submission, path):
    calls = [("advance", {"now": 2}), ("submit", submission)]
    with pytest.raises(InvalidInstanceError) as caught:
        asyncio.run(_answers(file_url, problem, calls))
    wanted = f"{path}.start" if problem == "coreservation" else f"{path}.arrival"
    assert [fault.path for fault in caught.value.faults] == [wanted]


def test_nobody_can_ask_for_the_expiry_of_a_hold():
    assert "expire" not in VERBS


def test_what_is_not_there(file_url):
    async def use():
        async with running(file_url) as service:
            with pytest.raises(NotFoundError, match="no book other"):
                await service.call("other", "plan", {})
            await service.create("book", DEFINITIONS["admission"])
            with pytest.raises(NotApplicableError, match="was never accepted"):
                await service.call("book", "cancel", {"id": "a"})

    asyncio.run(use())


@pytest.mark.parametrize(
    ("definition", "path"),
    [
        ({}, "problem"),
        ({"problem": "iit"}, "problem"),
        ({"problem": ["admission"]}, "problem"),
        ({"problem": "admission"}, "cluster"),
        (DEFINITIONS["admission"] | {"clock": "sun"}, "clock"),
        (DEFINITIONS["admission"] | {"ready_times": [0]}, "ready_times"),
        (DEFINITIONS["multistage"] | {"machines": []}, "machines"),
        (DEFINITIONS["coreservation"] | {"machines": []}, "machines"),
    ],
)
def test_definitions_that_are_none(file_url, definition, path):
    async def use():
        async with running(file_url) as service:
            with pytest.raises(InvalidInstanceError) as caught:
                await service.create("book", definition)
            assert [fault.path for fault in caught.value.faults] == [path]
            assert service.names().body == {"books": []}

    asyncio.run(use())


def test_every_verb_is_called_here():
    with open(__file__, encoding="utf-8") as file:
        text = file.read()
    elsewhere = {"hold", "confirm", "release", "log"}
    assert [verb for verb in VERBS if verb not in elsewhere and f'add("{verb}"' not in text] == []
