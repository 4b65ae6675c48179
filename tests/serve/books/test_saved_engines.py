"""Engines in floats go on from the numbers of a snapshot: it is made only where the log says so.

Sums of floats depend on how they came about; whether a later decision depends on them shows too
rarely to be tested by decisions. So these tests look at which engine is saved, and when.
"""

import asyncio

import pytest

from dlopt import Admission
from dlopt.serve.books import logged_book
from dlopt.serve.books.book_log import load_book
from dlopt.serve.books.logged_book import LoggedBook
from dlopt.serve.store import Store
from tests.serve.books.services import DEFINITIONS, running, task


@pytest.fixture
def uses(monkeypatch):
    """What was called of which engine: its verb, the engine, and how many decisions it had."""
    found = []

    def record(verb):
        method = getattr(Admission, verb)

        def recorded(head, *arguments):
            found.append((verb, head, len(head.decisions)))
            return method(head, *arguments)

        monkeypatch.setattr(Admission, verb, recorded)

    for verb in ("submit", "snapshot", "state"):
        record(verb)
    return found


@pytest.mark.parametrize("verb", ["snapshot", "state"])
def test_a_question_does_not_touch_the_engine_that_decides(file_url, uses, verb):
    async def use():
        async with running(file_url) as service:
            await service.create("book", DEFINITIONS["admission"])
            await service.call("book", "submit", task("a"))
            await service.call("book", verb, {})

    asyncio.run(use())
    (_, deciding, _), (asked, other, count), *_ = uses
    assert (asked, count) == (verb, 1) and other is not deciding


def test_the_whole_log_saves_the_engine_where_it_was_saved(file_url, uses, monkeypatch):
    monkeypatch.setattr(logged_book, "SNAPSHOT_EVERY", 2)

    async def use():
        async with running(file_url) as service:
            await service.create("book", DEFINITIONS["admission"])
            for name in "abcde":
                await service.call("book", "submit", task(name, load=1, deadline=90))

    def saved():
        return [count for verb, _, count in uses if verb == "snapshot"]

    asyncio.run(use())
    assert saved() == [2, 4, 5]
    uses.clear()
    with Store(file_url) as store:
        assert LoggedBook.replayed(load_book(store, "book")).version == 5
        assert saved() == []
        assert LoggedBook.replayed(load_book(store, "book", whole=True)).version == 5
        assert saved() == [2, 4, 5]
