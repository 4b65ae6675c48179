"""What is answered is in the store; what cannot be written or read has not happened."""

import asyncio
import threading

import pytest
import sqlalchemy as sql

from dlopt import Admission
from dlopt.serve.books import book_executor, commit_thread
from dlopt.serve.books.limits import BookLimits
from dlopt.serve.errors import (
    ConflictingStateError,
    NotFoundError,
    ServiceError,
    TooManyRequestsError,
    UnavailableError,
)
from dlopt.serve.store import Store
from tests.serve.books.services import DEFINITIONS, running, snapshot, task

_ADMISSION = DEFINITIONS["admission"]


def test_books_are_there_after_a_restart(store_url):
    async def use():
        async with running(store_url) as service:
            for problem, definition in DEFINITIONS.items():
                made = await service.create(problem, definition)
                assert (made.status, made.version) == (201, 0)
                assert made.location == f"/v1/books/{problem}"
            answer = await service.call("admission", "submit", task("a"))
            assert answer.version == 1
            before = await snapshot(service, "admission")
            described = service.names().body
        async with running(store_url) as service:
            assert service.names().body == described
            assert await snapshot(service, "admission") == before
            assert (await service.create("admission", _ADMISSION)).status == 200
            with pytest.raises(ConflictingStateError, match="with a different definition"):
                await service.create("admission", DEFINITIONS["multistage"])
            assert (await service.call("admission", "submit", task("b"))).version == 2

    asyncio.run(use())


def test_many_callers_get_the_answers_of_one_order(store_url):
    async def use():
        async with running(store_url) as service:
            for name in ("one", "two"):
                await service.create(name, _ADMISSION)
            calls = [
                service.call(name, "submit", task(f"t{k}", load=1, deadline=40))
                for k in range(100)
                for name in ("one", "two")
            ]
            answers = await asyncio.gather(*calls)
            assert [answer.version for answer in answers[::2]] == list(range(1, 101))
            assert [a.body for a in answers[::2]] == [a.body for a in answers[1::2]]
            log = (await service.call("one", "log", {"limit": 1000})).body["records"]
            assert [record["answer"] for record in log] == [a.body for a in answers[::2]]
            assert [record["sequence"] for record in log] == list(range(1, 101))
            part = (await service.call("one", "log", {"after": 98, "limit": 1})).body["records"]
            assert part == [log[98]]

    asyncio.run(use())


@pytest.mark.parametrize(
    ("name", "status"),
    [("", 422), ("a/b", 422), ("..", 422), ("x" * 101, 422), ("a b", 422), ("A.b-c_9", 201)],
)
def test_names_of_books(file_url, name, status):
    async def use():
        async with running(file_url) as service:
            return (await service.create(name, _ADMISSION)).status

    if status == 201:
        assert asyncio.run(use()) == status
    else:
        with pytest.raises(ValueError, match="letters, digits, dots"):
            asyncio.run(use())


def test_a_deleted_book_is_gone(store_url):
    async def use():
        async with running(store_url) as service:
            await service.create("book", _ADMISSION)
            await service.call("book", "submit", task("a"))
            pending = asyncio.ensure_future(service.call("book", "submit", task("b")))
            await asyncio.sleep(0)
            await service.delete("book")
            assert (await pending).version == 2
            with pytest.raises(NotFoundError):
                await service.call("book", "plan", {})
            with pytest.raises(NotFoundError):
                await service.delete("book")
            await service.create("book", DEFINITIONS["coreservation"])
        async with running(store_url) as service:
            (described,) = service.names().body["books"]
            assert (described["problem"], described["version"]) == ("coreservation", 0)

    asyncio.run(use())


def test_a_failed_commit_puts_books_back(store_url, monkeypatch):
    write, is_full = commit_thread.write_changes, []

    def write_unless_full(connection, records, snapshots):
        write(connection, records, snapshots)
        if is_full and any(record.book == "one" for record in records):
            raise OSError("the disk is full")

    monkeypatch.setattr(commit_thread, "write_changes", write_unless_full)

    async def use():
        async with running(store_url) as service:
            for name in ("one", "two"):
                await service.create(name, _ADMISSION)
                await service.call(name, "submit", task("before"))
            before = await snapshot(service, "one")
            is_full.append(True)
            calls = [
                service.call(name, "submit", task(f"t{k}"))
                for k in range(20)
                for name in ("one", "two")
            ]
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert {type(one) for one in found[::2]} == {UnavailableError}
            assert "nothing was done" in str(found[0])
            assert [one.version for one in found[1::2]] == list(range(2, 22))
            assert await snapshot(service, "one") == before
            assert service.names().body["books"][0]["version"] == 1
            is_full.clear()
            assert (await service.call("one", "submit", task("after"))).version == 2
            kept = await snapshot(service, "one")
        async with running(store_url) as service:
            assert await snapshot(service, "one") == kept

    asyncio.run(use())


def test_a_full_disk(file_url):
    async def use():
        with Store(file_url) as store:
            await use_store(store)
        async with running(file_url) as service:
            plan = (await service.call("book", "plan", {})).body["plan"]
            assert [decision["task"] for decision in plan["decisions"]] == accepted

    async def use_store(store):
        async with running(store) as service:
            await service.create("book", _ADMISSION)
            with store.transaction() as connection:
                used = connection.execute(sql.text("PRAGMA page_count")).scalar_one()
                connection.execute(sql.text(f"PRAGMA max_page_count = {used + 2}"))
            refused = 0
            for number in range(200):
                try:
                    await service.call("book", "submit", task(f"t{number}", load=1, deadline=400))
                except UnavailableError as error:
                    assert "disk is full" in str(error)
                    refused += 1
                else:
                    accepted.append(f"t{number}")
            assert accepted and refused > 100
            plan = (await service.call("book", "plan", {})).body["plan"]
            assert [decision["task"] for decision in plan["decisions"]] == accepted
            with store.transaction() as connection:
                connection.execute(sql.text(f"PRAGMA max_page_count = {used + 1000}"))
            accepted.append("last")
            await service.call("book", "submit", task("last", load=1, deadline=900))

    accepted = []
    asyncio.run(use())


def test_an_error_of_ours_leaves_the_book_as_it_was(store_url, monkeypatch):
    submit = Admission.submit

    def fail(head, new):
        decision = submit(head, new)
        if new.id.startswith("bad"):
            raise ZeroDivisionError("an error of ours")
        return decision

    monkeypatch.setattr(Admission, "submit", fail)

    async def use():
        async with running(store_url) as service:
            await service.create("book", _ADMISSION)
            names = [f"{kind}{number}" for number in range(3) for kind in ("good", "bad")]
            calls = [service.call("book", "submit", task(name)) for name in names]
            found = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(one) for one in found[1::2]] == [ServiceError] * 3
            assert [one.version for one in found[::2]] == [1, 2, 3]
            plan = (await service.call("book", "plan", {})).body["plan"]
            assert [one["task"] for one in plan["decisions"]] == ["good0", "good1", "good2"]

    asyncio.run(use())


def test_a_slow_question_holds_up_neither_its_book_nor_others(file_url, monkeypatch):
    is_asked, may_answer = threading.Event(), threading.Event()
    offer = Admission.offer

    def wait(head, new, *, k):
        is_asked.set()
        assert may_answer.wait(60)
        return offer(head, new, k=k)

    monkeypatch.setattr(Admission, "offer", wait)

    async def use():
        async with running(file_url) as service:
            for name in ("slow", "other"):
                await service.create(name, _ADMISSION)
            asked = asyncio.ensure_future(service.call("slow", "offer", task("b")))
            await asyncio.to_thread(is_asked.wait, 60)
            for name in ("slow", "other"):
                assert (await service.call(name, "submit", task("a", load=6))).version == 1
            assert not asked.done()
            may_answer.set()
            answer = await asked
            assert (answer.body, answer.version) == ({"offers": []}, 0)  # of the book as it was
            assert (await service.call("slow", "offer", task("b"))).body["offers"] != []

    asyncio.run(use())


@pytest.fixture
def blocked_offers(monkeypatch):
    """Let offers wait for the second event, and set the first one when one does."""
    is_asked, may_answer = threading.Event(), threading.Event()

    def wait(head, new, *, k):
        is_asked.set()
        assert may_answer.wait(60)
        return ()

    monkeypatch.setattr(Admission, "offer", wait)
    yield is_asked, may_answer
    may_answer.set()


def test_questions_are_limited_in_number(file_url, blocked_offers):
    is_asked, may_answer = blocked_offers

    async def use():
        limits = BookLimits(max_questions=1, max_waiting_questions=0)
        async with running(file_url, limits=limits) as service:
            await service.create("book", _ADMISSION)
            slow = asyncio.ensure_future(service.call("book", "offer", task("t")))
            await asyncio.to_thread(is_asked.wait, 60)
            with pytest.raises(UnavailableError, match="0 questions about books wait") as refused:
                await service.call("book", "plan", {})
            assert refused.value.retry_after_s == 1.0
            assert (await service.call("book", "submit", task("a"))).version == 1
            may_answer.set()
            assert (await slow).body == {"offers": []}
            plan = (await service.call("book", "plan", {})).body["plan"]
            assert [decision["task"] for decision in plan["decisions"]] == ["a"]

    asyncio.run(use())


@pytest.mark.usefixtures("blocked_offers")
def test_questions_have_a_limit_of_time(file_url):
    async def use():
        limits = BookLimits(max_questions=1, question_time_s=0.05)
        async with running(file_url, limits=limits) as service:
            await service.create("book", _ADMISSION)
            for _ in range(2):  # the second one waits for the thread of the first
                with pytest.raises(UnavailableError, match="not answered within"):
                    await service.call("book", "offer", task("t"))
            assert (await service.call("book", "submit", task("a"))).version == 1

    asyncio.run(use())


def test_too_many_calls_are_refused(file_url, monkeypatch):
    monkeypatch.setattr(book_executor, "MAX_WAITING_CALLS", 3)
    is_asked, may_answer = threading.Event(), threading.Event()

    advance = Admission.advance

    def wait(head, now):
        is_asked.set()
        assert may_answer.wait(60)
        return advance(head, now)

    monkeypatch.setattr(Admission, "advance", wait)

    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
            asked = asyncio.ensure_future(service.call("book", "advance", {"now": 0}))
            await asyncio.to_thread(is_asked.wait, 60)
            calls = [service.call("book", "submit", task(f"t{k}")) for k in range(9)]
            gathered = asyncio.gather(*calls, return_exceptions=True)
            await asyncio.sleep(0)
            may_answer.set()
            found = await gathered
            assert [one.version for one in found[:3]] == [2, 3, 4]
            assert {type(one) for one in found[3:]} == {TooManyRequestsError}
            assert found[3].retry_after_s == 1.0 and (await asked).body == {"now": 0}

    asyncio.run(use())


def test_a_service_that_has_stopped_does_nothing(file_url):
    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
        for refused in (
            service.call("book", "plan", {}),
            service.create("other", _ADMISSION),
            service.describe("book"),
            service.delete("book"),
        ):
            with pytest.raises(UnavailableError):
                await refused
        await service.stop()

    asyncio.run(use())


def test_a_printed_algorithm_is_replayed_from_its_first_record(file_url):
    definition = DEFINITIONS["multistage"] | {"algorithm": "multi-stage:literal"}

    async def use():
        async with running(file_url) as service:
            await service.create("book", definition)
            await service.call("book", "submit", task("a"))
            before = (await service.call("book", "plan", {})).body
        async with running(file_url) as service:
            assert (await service.call("book", "plan", {})).body == before
            assert (await service.describe("book")).body["version"] == 1

    asyncio.run(use())
