"""Promises with a time to live, by a clock that the test sets; and books of the wall clock."""

import asyncio

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.serve.books.holds import Hold, Holds
from dlopt.serve.errors import ConflictingStateError, NotFoundError
from tests.serve.books.services import CLUSTER, DEFINITIONS, ManualClock, running, task

_DEMO = {"reservation": {"id": "x", "arrival": 0, "start": 16, "end": 24, "nodes": 3}}


async def _promises(service):
    described = (await service.describe("book")).body
    return described["promises"], described["holds"]


def test_a_confirmed_hold_stays(store_url):
    async def use():
        clock = ManualClock(1_000.0)
        async with running(store_url, clock) as service:
            await service.create("book", DEFINITIONS["admission"])
            held = await service.call("book", "hold", task("a") | {"ttl_s": 5})
            hold = {"id": "a", "expires_at": 1_005.0, "ttl_s": 5.0}
            assert held.body == {
                "decision": {"task": "a", "accepted": True, "at": 0},
                "hold": hold,
            }
            clock.time += 4
            again = await service.call("book", "hold", task("a") | {"ttl_s": 5})
            assert again.body == held.body  # a repetition does not last longer
            assert (await service.call("book", "confirm", {"id": "a"})).body == {"hold": hold}
            clock.time += 100
            assert await _promises(service) == (1, 0)
            with pytest.raises(NotFoundError, match="no hold a"):
                await service.call("book", "release", {"id": "a"})
            with pytest.raises(ConflictingStateError, match="promised already"):
                await service.call("book", "hold", task("a") | {"ttl_s": 5})

    asyncio.run(use())


@pytest.mark.parametrize(
    ("problem", "submission"), [("admission", task("a")), ("multistage", _DEMO)]
)
def test_what_is_submitted_after_its_hold_stays(file_url, problem, submission):
    async def use():
        clock = ManualClock(1_000.0)
        async with running(file_url, clock) as service:
            await service.create("book", DEFINITIONS[problem])
            await service.call("book", "hold", submission | {"ttl_s": 5})
            assert (await service.call("book", "submit", submission)).body["decision"]["accepted"]
            assert await _promises(service) == (1, 0)
            clock.time += 10
            service.expire_holds()
            assert await _promises(service) == (1, 0)

    asyncio.run(use())


def test_a_rejected_hold_holds_nothing(file_url):
    async def use():
        async with running(file_url) as service:
            await service.create("book", DEFINITIONS["admission"])
            held = await service.call("book", "hold", task("a", load=90) | {"ttl_s": 5})
            assert not held.body["decision"]["accepted"] and held.body["hold"] is None
            assert "would miss its deadline" in held.body["reason"]
            assert await _promises(service) == (0, 0)

    asyncio.run(use())


def test_a_released_hold_leaves_room(file_url):
    async def use():
        async with running(file_url) as service:
            await service.create("book", DEFINITIONS["multistage"])
            await service.call("book", "hold", _DEMO | {"ttl_s": 5})
            await service.call("book", "hold", task("x") | {"ttl_s": 5})
            other = {"reservation": _DEMO["reservation"] | {"id": "y"}}
            assert not (await service.call("book", "ask", other)).body["decision"]["accepted"]
            with pytest.raises(ConflictingStateError, match="kind is needed"):
                await service.call("book", "release", {"id": "x"})
            done = await service.call("book", "release", {"id": "x", "kind": "reservation"})
            assert done.body == {"consequences": {"broken": [], "moved": [], "least": True}}
            assert (await service.call("book", "submit", other)).body["decision"]["accepted"]
            await service.call("book", "confirm", {"id": "x"})
            assert await _promises(service) == (2, 0)

    asyncio.run(use())


def test_a_hold_expires_at_its_time(store_url):
    async def use():
        clock = ManualClock(1_000.0)
        async with running(store_url, clock) as service:
            await service.create("book", DEFINITIONS["admission"])
            await service.call("book", "hold", task("a") | {"ttl_s": 5})
            await service.call("book", "hold", task("b", load=1) | {"ttl_s": 2.5})
            clock.time = 1_002.5
            service.expire_holds()
            assert await _promises(service) == (1, 1)
            clock.time = 900.0  # the wall clock goes back: nothing expires, nothing breaks
            service.expire_holds()
            assert await _promises(service) == (1, 1)
        clock.time = 1_004.9
        async with running(store_url, clock) as service:
            service.expire_holds()
            assert await _promises(service) == (1, 1)
            clock.time = 1_005.0
            with pytest.raises(NotFoundError, match="may have expired"):
                await service.call("book", "confirm", {"id": "a"})
            assert await _promises(service) == (0, 0)
            log = (await service.call("book", "log", {})).body["records"]
            assert [(one["time"], one["verb"]) for one in log] == [
                (1_000.0, "hold"),
                (1_000.0, "hold"),
                (1_002.5, "expire"),
                (1_005.0, "expire"),
            ]

    asyncio.run(use())


def test_the_timer_looks_for_expired_holds(file_url, monkeypatch):
    async def use():
        clock = ManualClock()
        async with running(file_url, clock) as service:
            looked = asyncio.Event()
            expire = service.expire_holds

            def look():
                expire()
                looked.set()

            monkeypatch.setattr(service, "expire_holds", look)
            await service.create("book", DEFINITIONS["admission"])
            await service.call("book", "hold", task("a") | {"ttl_s": 1})
            clock.time += 1
            looked.clear()
            await looked.wait()
            assert (await service.describe("book")).version == 2

    asyncio.run(use())


def test_what_has_run_while_it_was_held_is_left_as_it_is(file_url):
    async def use():
        clock = ManualClock()
        async with running(file_url, clock) as service:
            await service.create("book", DEFINITIONS["admission"])
            await service.call("book", "hold", task("a") | {"ttl_s": 5})
            await service.call("book", "hold", task("b", load=1, deadline=20) | {"ttl_s": 5})
            await service.call("book", "advance", {"now": 30})
            with pytest.raises(NotApplicableError, match="is over"):
                await service.call("book", "release", {"id": "a"})
            clock.time += 5
            assert await _promises(service) == (2, 0)

    asyncio.run(use())


@pytest.mark.parametrize("verb", ["cancel", "resources", "archive"])
def test_a_promise_that_is_gone_has_no_hold(file_url, verb):
    async def use():
        clock = ManualClock()
        async with running(file_url, clock) as service:
            await service.create("book", DEFINITIONS["admission"])
            await service.call("book", "hold", task("a") | {"ttl_s": 5})
            if verb == "archive":
                await service.call("book", "advance", {"now": 30})
            arguments = {"cancel": {"id": "a"}, "resources": {"fail": [0, 1, 2, 3]}}
            await service.call("book", verb, arguments.get(verb, {}))
            assert await _promises(service) == (0, 0)
            with pytest.raises(NotFoundError):
                await service.call("book", "confirm", {"id": "a"})
            if verb == "archive":  # its identity is new again, and nothing takes it back
                await service.call("book", "submit", task("a", arrival=30))
                clock.time += 10
                assert await _promises(service) == (1, 0)

    asyncio.run(use())


def test_a_printed_algorithm_holds_nothing(file_url):
    async def use():
        async with running(file_url) as service:
            definition = DEFINITIONS["multistage"] | {"algorithm": "multi-stage:literal"}
            await service.create("book", definition)
            await service.call("book", "hold", task("a") | {"ttl_s": 5})

    with pytest.raises(NotApplicableError, match="cannot take back"):
        asyncio.run(use())


@pytest.mark.parametrize("exact", [True, False])
def test_a_book_of_the_wall_clock(store_url, exact):
    definition = {
        "problem": "admission",
        "cluster": CLUSTER,
        "clock": "wall",
        "exact_numbers": exact,
    }

    def now_at(text, number):
        return text if exact else number

    async def use():
        clock = ManualClock(100.25)
        async with running(store_url, clock) as service:
            await service.create("book", definition)
            new = {"task": {"id": "a", "load": 1, "deadline": 9}}
            decided = await service.call("book", "submit", new, idempotency_key="k")
            at = now_at("401/4", 100.25)
            assert decided.body["decision"] == {"task": "a", "accepted": True, "at": at}
            clock.time = 101.5
            assert (await service.call("book", "submit", new, idempotency_key="k")) == decided
            asked = await service.call(
                "book", "ask", {"task": {"id": "b", "load": 1, "deadline": 9}}
            )
            assert asked.body["decision"]["at"] == now_at("203/2", 101.5)
            demo = _DEMO["reservation"] | {"arrival": 101.5, "start": 102, "end": 103}
            await service.create("rooms", definition | {"problem": "multistage"})
            call = ("rooms", "submit", {"reservation": demo})
            reserved = await service.call(*call, idempotency_key="r")
            clock.time = 110.0  # it has begun, and could not be submitted now
            assert (await service.call(*call, idempotency_key="r")) == reserved
            clock.time = 50.0  # backwards: the clock of the book stays
            later = await service.call("book", "cancel", {"id": "a"})
            assert (await service.describe("book")).body["now"] == at and later.version == 2
            with pytest.raises(NotApplicableError, match="clock of this book"):
                await service.call("book", "advance", {"now": 500})
            clock.time = 102.0
            with pytest.raises(NotApplicableError, match="is cancelled already"):
                await service.call("book", "cancel", {"id": "a"})
            assert (await service.describe("book")).body["now"] == now_at(102, 102.0)
            with pytest.raises(InvalidInstanceError, match="must not lie before now"):
                await service.call("book", "submit", task("c", arrival=0))
            with pytest.raises(InvalidInstanceError, match="arrival: must not lie in the future"):
                await service.call("book", "submit", task("c", arrival=10**15))
            assert (await service.describe("book")).body["now"] == now_at(102, 102.0)
        clock.time = 103.0
        async with running(store_url, clock) as service:
            assert (await service.describe("book")).body["now"] == now_at(102, 102.0)
            state = await service.call("book", "state", {})
            assert state.body == {"state": None}
            log = (await service.call("book", "log", {})).body["records"]
            assert [(one["verb"], one["now"]) for one in log[:2]] == [
                ("submit", at),
                ("cancel", at),
            ]
            assert log[2]["verb"] == "advance"

    asyncio.run(use())


def test_reservations_and_requests_arrive_now(file_url):
    async def use():
        async with running(file_url, ManualClock(10.0)) as service:
            await service.create("book", DEFINITIONS["multistage"] | {"clock": "wall"})
            demo = {"id": "r", "start": 16, "end": 24}
            decided = await service.call("book", "submit", {"reservation": demo})
            assert decided.body["decision"]["at"] == 10
            await service.create("shares", DEFINITIONS["coreservation"] | {"clock": "wall"})
            batch = [
                {"id": name, "start": 16, "end": 24, "priority": 1, "parts": [{"cpu": 9}]}
                for name in "pq"
            ]
            decided = await service.call("shares", "submit", {"requests": batch})
            assert [one["at"] for one in decided.body["decisions"]] == [10, 10]

    asyncio.run(use())


def test_decimals_are_exact_where_the_book_says_so(file_url):
    async def use():
        async with running(file_url) as service:
            await service.create("book", DEFINITIONS["admission"])
            await service.create("exact", DEFINITIONS["admission"] | {"exact_numbers": True})
            return service.exact_numbers("book"), service.exact_numbers("exact")

    assert asyncio.run(use()) == (False, True)


def test_holds_are_due_in_the_order_of_their_expiry():
    holds = Holds()
    kept = {}
    for number in range(300):  # most are confirmed before they are due
        hold = Hold("task", str(number), expires_at=float(number * 7 % 300), ttl_s=1.0)
        holds.add(hold)
        if number % 10:
            holds.remove(hold)
        else:
            kept[hold.expires_at] = hold
    again = Hold("task", "0", expires_at=500.0, ttl_s=1.0)  # released, and made again
    holds.remove(kept.pop(0.0))
    holds.add(again)
    assert holds.due(150.0) == [kept[at] for at in sorted(kept) if at <= 150]
    assert holds.due(150.0) == []
    assert holds.due(500.0) == [*(kept[at] for at in sorted(kept) if at > 150), again]
