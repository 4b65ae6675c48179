"""A book of which the store has not what was written is refused, with the place; others are not."""

import asyncio
import re

import pytest

from dlopt import Admission
from dlopt.serve.books import logged_book
from dlopt.serve.books.book_log import CorruptedLogError, OtherReleaseError
from dlopt.serve.store import Store
from dlopt.service_api.book_records import DecisionAnswer
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
        (
            "UPDATE dlopt_books SET definition = '{}' WHERE name = 'lab'",
            "its definition is corrupted",
        ),
        (
            "UPDATE dlopt_books SET definition = replace(definition, '\"chi\":3', '\"chi\":2')"
            " WHERE name = 'lab'",
            "record 1 is corrupted",
        ),
    ],
)
def test_a_corrupted_record_is_refused_with_its_place(store_url, monkeypatch, statement, place):
    monkeypatch.setattr(logged_book.LoggedBook, "save", lambda book: None)
    asyncio.run(_fill(store_url))
    _corrupt(store_url, statement)
    asyncio.run(_assert_unreadable(store_url, CorruptedLogError, place))


async def _assert_unreadable(url, kind, place):
    """Assert that calls of a book are refused, that others are served, and that it is deleted."""
    async with running(url) as service:
        for refused in (
            service.call("lab", "plan", {}),
            service.call("lab", "submit", task("d")),
            service.describe("lab"),
            service.create("lab", _ADMISSION),
        ):
            with pytest.raises(kind, match=place):
                await refused
        listed = service.names().body
        assert [book["name"] for book in listed["books"]] == ["other"]
        assert re.search(place, listed["unreadable"].pop("lab")) and not listed["unreadable"]
        assert (await service.call("other", "submit", task("a"))).version == 1
        await service.delete("lab")
        assert (await service.create("lab", _ADMISSION)).status == 201
        assert "unreadable" not in service.names().body


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
    place = "book lab: its snapshot after record 3"
    asyncio.run(_assert_unreadable(store_url, CorruptedLogError, place))


async def _fill(url):
    async with running(url) as service:
        await service.create("lab", _ADMISSION)
        for name in "abc":
            await service.call("lab", "submit", task(name, deadline=30))
        await service.create("other", _ADMISSION)


@pytest.mark.parametrize(
    ("version", "kind", "place"),
    [
        (
            "7.0.0",
            CorruptedLogError,
            "book lab: replaying record 1 gives a different answer than was logged",
        ),
        (
            "7.1.0",
            OtherReleaseError,
            r"replaying record 1 gives .* written by dlopt 7\.0\.0, and this is dlopt 7\.1\.0",
        ),
    ],
)
def test_another_engine_is_noticed(file_url, monkeypatch, version, kind, place):
    monkeypatch.setattr(logged_book.LoggedBook, "save", lambda book: None)
    monkeypatch.setattr(logged_book, "__version__", "7.0.0")
    asyncio.run(_fill(file_url))
    monkeypatch.setattr(logged_book, "__version__", version)
    decide = Admission.submit
    monkeypatch.setattr(Admission, "submit", lambda head, new: decide(head, _smaller(new)))
    asyncio.run(_assert_unreadable(file_url, kind, place))


def _smaller(new):
    return type(new)(new.id, new.arrival, new.load * 100, new.deadline)


def test_reasons_may_be_worded_otherwise_by_another_release(store_url, monkeypatch):
    monkeypatch.setattr(logged_book.LoggedBook, "save", lambda book: None)

    async def use(words):
        monkeypatch.setattr(DecisionAnswer, "of", lambda found: DecisionAnswer(found, reason=words))
        async with running(store_url) as service:
            await service.create("lab", _ADMISSION)
            found = await service.call("lab", "submit", task("late", load=90), idempotency_key="k")
            return found.body["reason"]

    assert asyncio.run(use("too late")) == asyncio.run(use("beyond the deadline")) == "too late"
