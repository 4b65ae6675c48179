"""Calls that are made twice, and calls that depend on the version of the book."""

import asyncio
import json

import pytest

from dlopt.serve.books import logged_book
from dlopt.serve.errors import ConflictingStateError, PreconditionError
from tests.serve.books.services import DEFINITIONS, running, task

_ADMISSION = DEFINITIONS["admission"]


def test_a_book_of_another_version_is_not_changed(file_url):
    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
            assert (await service.call("book", "submit", task("a"), if_match=0)).version == 1
            for verb, data in (("submit", task("b")), ("plan", {})):
                with pytest.raises(PreconditionError, match="version 1, not 0"):
                    await service.call("book", verb, data, if_match=0)
            assert (await service.call("book", "plan", {}, if_match=1)).version == 1

    asyncio.run(use())


def test_the_same_key_gets_the_same_answer(store_url, monkeypatch):
    monkeypatch.setattr(logged_book, "MOST_STORED_ANSWERS", 2)

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
            fresh = await service.call("book", "submit", task("a"), idempotency_key="k1")
            assert fresh.version == 4  # the key was forgotten: the engine knows the task itself
        async with running(store_url) as service:
            assert await service.call("book", "submit", task("a"), idempotency_key="k1") == fresh

    asyncio.run(use())


@pytest.mark.parametrize("key", ["", "x" * 201, "line\n", "schlüssel"])
def test_keys_that_are_none(file_url, key):
    async def use():
        async with running(file_url) as service:
            await service.create("book", _ADMISSION)
            await service.call("book", "submit", task("a"), idempotency_key=key)

    with pytest.raises(ValueError, match="Idempotency-Key"):
        asyncio.run(use())
