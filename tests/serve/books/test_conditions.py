"""Calls that are made twice, and calls that depend on the version of the book."""

import asyncio
import json

import pytest
import sqlalchemy as sql

from dlopt.serve.errors import ConflictingStateError, PreconditionError
from dlopt.serve.store import Store
from tests.serve.books.services import DEFINITIONS, running, task

_ADMISSION = DEFINITIONS["admission"]


def test_a_book_of_another_version_is_not_changed(file_url):
    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
            assert (await service.call("book", "submit", task("a"), if_match=0)).version == 1
            for verb, data in (("submit", task("b")), ("plan", {}), ("log", {})):
                with pytest.raises(PreconditionError, match="has version 1, If-Match asked for 0"):
                    await service.call("book", verb, data, if_match=0)
            for refused in (
                service.delete("book", if_match=0),
                service.describe("book", if_match=0),
                service.create("book", _ADMISSION, if_match=0),
                service.create("other", _ADMISSION, if_match=0),
            ):
                with pytest.raises(PreconditionError, match="If-Match asked for 0"):
                    await refused
            assert (await service.call("book", "plan", {}, if_match=1)).version == 1
            assert [book["version"] for book in service.names().body["books"]] == [1]
            await service.delete("book", if_match=1)
            assert service.names().body["books"] == []

    asyncio.run(use())


def test_the_same_key_gets_the_same_answer(store_url):
    async def use():
        async with running(store_url) as service:
            await service.create("book", _ADMISSION)
            first = await service.call("book", "submit", task("a"), idempotency_key="k1")
            await service.call("book", "advance", {"now": 3}, idempotency_key="k2")
            again = await service.call(
                "book", "submit", task("a"), idempotency_key="k1", if_match=0
            )
            assert again == first and json.dumps(again.body) == json.dumps(first.body)
            with pytest.raises(ConflictingStateError, match="key k1 was used"):
                await service.call("book", "submit", task("b"), idempotency_key="k1")
            with pytest.raises(ConflictingStateError, match="key k1 was used"):
                await service.call("book", "cancel", {"id": "a"}, idempotency_key="k1")
            with pytest.raises(ValueError, match="must not lie before"):  # errors are not kept
                await service.call("book", "advance", {"now": 1}, idempotency_key="k3")
        async with running(store_url) as service:  # from the snapshot
            assert await service.call("book", "submit", task("a"), idempotency_key="k1") == first
            await service.call("book", "advance", {"now": 4}, idempotency_key="k3")
            latest = await service.call("book", "advance", {"now": 3}, idempotency_key="k2")
            assert latest.body == {"now": 3} and latest.version == 2
            with pytest.raises(ValueError, match="must not lie before now"):
                await service.call("book", "ask", task("c"), idempotency_key="k1")
            await service.delete("book")
            await service.create("book", _ADMISSION)  # another book, whose keys are new
            fresh = await service.call("book", "submit", task("b"), idempotency_key="k1")
            assert fresh.version == 1
            await service.create("other", _ADMISSION)
            other = await service.call("other", "submit", task("c"), idempotency_key="k1")
            assert other.version == 1

    asyncio.run(use())


def test_a_late_repetition_is_not_done_again(file_url):
    """Cancelling is not idempotent by itself: whoever repeats it must not cancel a new promise."""

    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
            answers = [
                await service.call("book", "submit", task("a", arrival=0)),
                await service.call("book", "cancel", {"id": "a"}, idempotency_key="late"),
            ]
            calls = [
                service.call("book", "advance", {"now": k}, idempotency_key=f"k{k}")
                for k in range(1, 1_202)
            ]
            answers += await asyncio.gather(*calls)
            await service.call("book", "archive", {})
            await service.call("book", "submit", task("a", arrival=1_300))
            repeated = await service.call("book", "cancel", {"id": "a"}, idempotency_key="late")
            assert repeated == answers[1]
            first = await service.call("book", "advance", {"now": 1}, idempotency_key="k1")
            assert first == answers[2]
            assert (await service.describe("book")).body["promises"] == 1

    asyncio.run(use())


def test_keys_are_found_without_reading_the_log(file_url):
    statements = []

    def note(_connection, _cursor, statement, parameters, *_):
        if "IN (" in statement:
            statements.append((statement, parameters))

    async def use(store):
        async with running(store) as service:
            await service.create("book", _ADMISSION)
            await service.call("book", "submit", task("a"), idempotency_key="k")

    with Store(file_url) as store:
        sql.event.listen(sql.Engine, "before_cursor_execute", note)
        asyncio.run(use(store))
        sql.event.remove(sql.Engine, "before_cursor_execute", note)
        ((statement, parameters),) = statements
        with store.reading() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    assert [row.detail for row in plan] == [
        "SEARCH dlopt_book_records USING INDEX dlopt_book_record_keys (key=?)"
    ]


def test_calls_with_one_key_that_wait_together_are_done_once(file_url):
    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
            calls = [
                service.call("book", "hold", task("a") | {"ttl_s": 5}, idempotency_key="k")
                for _ in range(20)
            ]
            answers = await asyncio.gather(*calls)
            assert all(answer == answers[0] for answer in answers)
            assert (await service.describe("book")).version == 1

    asyncio.run(use())


@pytest.mark.parametrize("key", ["", "x" * 201, "line\n", "schlüssel"])
def test_keys_that_are_none(file_url, key):
    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
            await service.call("book", "submit", task("a"), idempotency_key=key)

    with pytest.raises(ValueError, match="Idempotency-Key"):
        asyncio.run(use())
