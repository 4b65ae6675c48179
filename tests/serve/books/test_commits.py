"""Commits that fail on the way: what is answered is what the log says, or that nobody knows."""

import asyncio
import contextlib

import pytest
import sqlalchemy as sql

from dlopt.errors import NotApplicableError
from dlopt.serve.errors import UnavailableError, UnknownOutcomeError
from dlopt.serve.store import Store
from tests.serve.books.services import DEFINITIONS, running, snapshot, task
from tests.serve.lost_commits import failing_network

_ADMISSION = DEFINITIONS["admission"]


@pytest.fixture
def network():
    with failing_network() as found:
        yield found


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_connection_lost_in_the_commit(store_url, network, is_committed):
    """What was committed is not done again, what was not is; the caller learns that it is done."""

    async def use():
        async with running(store_url) as service:
            await service.create("book", _ADMISSION)
            network.loses_before, network.loses_after = not is_committed, is_committed
            hold = task("a") | {"ttl_s": 5}
            assert (await service.call("book", "hold", hold)).version == 1
            assert not (network.loses_before or network.loses_after)
            assert (await service.call("book", "submit", task("b"))).version == 2
            kept = await snapshot(service, "book")
        async with running(store_url) as service:
            assert await snapshot(service, "book") == kept
            assert len((await service.call("book", "log", {})).body["records"]) == 2

    asyncio.run(use())


@pytest.mark.parametrize("is_committed", [False, True])
def test_a_commit_of_which_nobody_knows(store_url, network, is_committed):
    """The book stops until the log can be read; then it says what has happened."""

    async def use():
        async with running(store_url) as service:
            await service.create("book", _ADMISSION)
            network.loses_before, network.loses_after = not is_committed, is_committed
            network.stays_down = True
            call = ("book", "submit", task("a"))
            with pytest.raises(UnknownOutcomeError, match="not known yet whether this was done"):
                await service.call(*call, idempotency_key="k")
            for verb, arguments in (("submit", task("b")), ("plan", {})):
                with pytest.raises(UnavailableError, match="has stopped") as refused:
                    await service.call("book", verb, arguments)
                assert refused.value.status == 503
            network.is_down = False
            decided = [one["task"] for one in (await _plan(service))["decisions"]]
            assert decided == (["a"] if is_committed else [])
            assert (await service.call(*call, idempotency_key="k")).version == 1

    asyncio.run(use())


async def _plan(service):
    return (await service.call("book", "plan", {})).body["plan"]


@contextlib.contextmanager
def _nothing_done():
    with pytest.raises(UnavailableError, match="nothing was done") as refused:
        yield
    assert (refused.value.status, refused.value.retry_after_s) == (503, 1)


@pytest.mark.parametrize("is_committed", [False, True])
def test_books_of_which_nobody_knows_whether_they_were_made(store_url, network, is_committed):
    """A repeated request makes the book, or finds it."""

    async def use():
        async with running(store_url) as service:
            network.loses_before, network.loses_after = not is_committed, is_committed
            network.stays_down = True
            with pytest.raises(UnknownOutcomeError):
                await service.create("book", _ADMISSION)
            network.is_down = False
            assert (await service.create("book", _ADMISSION)).status == 201
            network.loses_before, network.loses_after = not is_committed, is_committed
            with pytest.raises(UnknownOutcomeError):
                await service.delete("book")
            network.is_down = False
        async with running(store_url) as service:
            assert len(service.names().body["books"]) == 1 - is_committed

    asyncio.run(use())


@pytest.mark.parametrize("is_committed", [False, True])
def test_books_that_are_made_and_deleted_in_lost_commits(store_url, network, is_committed):
    async def use():
        async with running(store_url) as service:
            network.loses_before, network.loses_after = not is_committed, is_committed
            if is_committed:
                assert (await service.create("book", _ADMISSION)).status == 201
            else:
                with _nothing_done():
                    await service.create("book", _ADMISSION)
                assert service.names().body["books"] == []
                assert (await service.create("book", _ADMISSION)).status == 201
            await service.call("book", "submit", task("a"))
            network.loses_before, network.loses_after = not is_committed, is_committed
            if is_committed:
                await service.delete("book")
            else:
                with _nothing_done():
                    await service.delete("book")
                assert [one["task"] for one in (await _plan(service))["decisions"]] == ["a"]
        async with running(store_url) as service:
            assert len(service.names().body["books"]) == 1 - is_committed

    asyncio.run(use())


@pytest.fixture
def postgresql_url(new_postgresql_database):
    return new_postgresql_database()


def _end_holder_of_lock(url):
    """End the connection that holds the advisory lock, as a failing network does."""
    engine = sql.create_engine(url)
    with engine.connect() as connection:
        ended = connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_locks"
            " WHERE locktype = 'advisory' AND granted"
        )
        assert ended.scalars().all() == [True]
    engine.dispose()


def test_a_lost_lock_is_acquired_again(postgresql_url):
    async def use():
        async with running(postgresql_url) as service:
            await service.create("book", _ADMISSION)
            _end_holder_of_lock(postgresql_url)
            assert (await service.call("book", "submit", task("a"))).version == 1
            with pytest.raises(NotApplicableError, match="another server uses the store"):
                Store(postgresql_url)

    asyncio.run(use())


def test_a_server_that_has_lost_its_lock_to_another_writes_nothing(postgresql_url):
    async def use():
        async with running(postgresql_url) as service:
            await service.create("book", _ADMISSION)
            _end_holder_of_lock(postgresql_url)
            other, uses = Store(postgresql_url), "another server uses the store"
            with other, pytest.raises(UnavailableError, match=uses):
                await service.call("book", "submit", task("a"))
            for _ in range(2):  # the other one may have written, and has ended
                with pytest.raises(UnavailableError, match=r"restart this one|has stopped"):
                    await service.call("book", "submit", task("a"))
        async with running(postgresql_url) as service:
            assert (await service.call("book", "submit", task("a"))).version == 1

    asyncio.run(use())


def test_a_settled_transaction_waits_for_those_before_it(postgresql_url):
    """A database may still commit what a lost connection sent: to look at once proves nothing."""
    table = sql.table("dlopt_books", sql.column("name"), sql.column("definition"))
    with Store(postgresql_url) as store, contextlib.ExitStack() as earlier:
        connection = earlier.enter_context(store.transaction())
        connection.execute(sql.insert(table).values(name="a", definition="{}"))

        async def use():
            settled = asyncio.create_task(asyncio.to_thread(_names, store, table))
            while not await asyncio.to_thread(_waits, store):
                assert not settled.done()
            earlier.close()
            return await settled

        assert asyncio.run(use()) == ["a"]


def _names(store, table):
    with store.settled(table) as connection:
        return connection.execute(sql.select(table.c.name)).scalars().all()


def _waits(store):
    waiting = sql.text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    with store.transaction() as connection:
        return connection.execute(waiting).scalar_one() > 0
