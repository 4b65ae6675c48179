"""A store that does not have what was written: it is refused, with the place."""

import asyncio

import pytest

from dlopt.serve.books import logged_book, verb_answers
from dlopt.serve.books.book_log import CorruptedLogError
from dlopt.serve.store import Store
from tests.serve.books.services import DEFINITIONS, running, task

_ADMISSION = DEFINITIONS["admission"]


def _corrupt(url, statement):
    with Store(url) as store, store.transaction() as connection:
        assert connection.exec_driver_sql(statement).rowcount == 1


@pytest.mark.parametrize(
    ("statement", "place"),
    [
        (
            "UPDATE dlopt_book_records SET answer = replace(answer, 'true', 'false')"
            " WHERE sequence = 2",
            "book lab: record 2 is corrupted",
        ),
        (
            "UPDATE dlopt_book_records SET arguments = '{' WHERE sequence = 3",
            "book lab: record 3 is corrupted",
        ),
        ("UPDATE dlopt_book_records SET time = 7 WHERE sequence = 1", "record 1 is corrupted"),
        ("DELETE FROM dlopt_book_records WHERE sequence = 2", "record 2 is missing"),
        ("UPDATE dlopt_books SET definition = '{}'", "its definition is corrupted"),
        (
            "UPDATE dlopt_books SET definition = replace(definition, '\"chi\":3', '\"chi\":2')",
            "record 1 is corrupted",
        ),
    ],
)
def test_a_corrupted_record_is_refused_with_its_place(store_url, monkeypatch, statement, place):
    monkeypatch.setattr(logged_book.LoggedBook, "save", lambda book: None)
    asyncio.run(_fill(store_url))
    _corrupt(store_url, statement)

    async def start():
        async with running(store_url):
            raise AssertionError("the service has started")

    with pytest.raises(CorruptedLogError, match=place):
        asyncio.run(start())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dlopt_book_snapshots SET data = replace(data, '\"load\":2', '\"load\":1')",
        "UPDATE dlopt_book_snapshots SET data = '[]'",
    ],
)
def test_a_corrupted_snapshot_is_refused_with_its_place(store_url, statement):
    asyncio.run(_fill(store_url))
    _corrupt(store_url, statement)

    async def start():
        async with running(store_url):
            raise AssertionError("the service has started")

    with pytest.raises(CorruptedLogError, match="book lab: its snapshot after record 3"):
        asyncio.run(start())


async def _fill(url):
    async with running(url) as service:
        await service.create("lab", _ADMISSION)
        for name in "abc":
            await service.call("lab", "submit", task(name, deadline=30))


def test_another_engine_is_noticed(file_url, monkeypatch):
    monkeypatch.setattr(logged_book.LoggedBook, "save", lambda book: None)
    asyncio.run(_fill(file_url))
    engine = logged_book.ENGINES["admission"]
    decide = engine.submit
    monkeypatch.setattr(engine, "submit", lambda head, new: decide(head, _smaller(new)))

    async def start():
        async with running(file_url):
            raise AssertionError("the service has started")

    with pytest.raises(CorruptedLogError, match="record 1 is answered otherwise than it was"):
        asyncio.run(start())


def _smaller(new):
    return type(new)(new.id, new.arrival, new.load * 100, new.deadline)


def test_reasons_may_be_worded_otherwise_by_another_release(store_url, monkeypatch):
    monkeypatch.setattr(logged_book.LoggedBook, "save", lambda book: None)

    async def use(words):
        original = verb_answers.decision_answer
        monkeypatch.setattr(
            verb_answers, "decision_answer", lambda found: original(found) | {"reason": words}
        )
        async with running(store_url) as service:
            await service.create("lab", _ADMISSION)
            found = await service.call("lab", "submit", task("late", load=90), idempotency_key="k")
            return found.body["reason"]

    assert asyncio.run(use("too late")) == asyncio.run(use("beyond the deadline")) == "too late"
