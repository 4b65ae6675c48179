"""Limits of the number and the size of books, each at its bound and beyond."""

import asyncio
from fractions import Fraction
from itertools import chain

import pytest

from dlopt.errors import InvalidInstanceError
from dlopt.serve.answers import Answer
from dlopt.serve.books import book_log, book_size, logged_book
from dlopt.serve.books.limits import BookLimits
from dlopt.serve.errors import LimitReachedError
from dlopt.version import __version__
from tests.serve.books.services import DEFINITIONS, running, task

_ADMISSION = DEFINITIONS["admission"]


def test_the_number_of_books(file_url):
    async def use():
        async with running(file_url, limits=BookLimits(max_books=2)) as service:
            for name in "ab":
                await service.create(name, _ADMISSION)
            with pytest.raises(LimitReachedError, match="there are 2 books"):
                await service.create("c", _ADMISSION)
            assert (await service.create("b", _ADMISSION)).status == 200
            await service.delete("a")
            assert (await service.create("c", _ADMISSION)).status == 201

    asyncio.run(use())


@pytest.mark.parametrize(
    ("problem", "path", "added"),
    [
        ("admission", "cluster.nodes", {"add": 1}),
        ("coreservation", "machines", {"add": [{"id": "c", "capacity": 1}]}),
    ],
)
def test_the_number_of_nodes_and_machines(file_url, problem, path, added):
    size = 4 if problem == "admission" else 2

    async def use():
        async with running(file_url, limits=BookLimits(max_nodes=size)) as service:
            await service.create("book", DEFINITIONS[problem])
            with pytest.raises(InvalidInstanceError, match="add: must be at most 0"):
                await service.call("book", "resources", added)
        async with running(file_url, limits=BookLimits(max_nodes=size - 1)) as service:
            await service.call("book", "plan", {})  # what is there is served
            with pytest.raises(InvalidInstanceError, match=f"{path}: must be at most {size - 1}"):
                await service.create("other", DEFINITIONS[problem])

    asyncio.run(use())


def test_the_number_of_decisions(file_url):
    async def use():
        async with running(file_url, limits=BookLimits(max_decisions=2)) as service:
            await service.create("book", DEFINITIONS["multistage"])
            await service.call("book", "submit", task("late", load=90))
            reservation = {"id": "r", "arrival": 0, "start": 2, "end": 3}
            await service.call("book", "submit", {"reservation": reservation})
            for verb, more in (("submit", {}), ("hold", {"ttl_s": 5})):
                with pytest.raises(LimitReachedError, match="keeps 2 decisions, and may keep 2"):
                    await service.call("book", verb, task("a") | more)
            again = await service.call("book", "submit", {"reservation": reservation})
            assert again.body["decision"]["accepted"]  # it was decided before
            changed = {"reservation": reservation | {"end": 4}}
            assert (await service.call("book", "change", changed)).body["decision"]["accepted"]
            assert (await service.call("book", "ask", task("a"))).body["decision"]["accepted"]
            await service.call("book", "advance", {"now": 5})
            await service.call("book", "archive", {})
            assert (await service.call("book", "submit", task("a", arrival=5))).version == 7

    asyncio.run(use())


def test_the_digits_of_fractions_in_requests(file_url):
    long, longer = Fraction(1, 10**4), Fraction(1, 10**5)

    async def use():
        async with running(file_url, limits=BookLimits(max_request_digits=5)) as service:
            await service.create("book", _ADMISSION | {"exact_numbers": True})
            await service.call("book", "submit", task("a", load=long))
            for verb, data in (
                ("submit", task("b", load=longer)),
                ("ask", task("b", deadline=10**6)),
                ("advance", {"now": longer}),
            ):
                with pytest.raises(InvalidInstanceError, match="more than 5 digits"):
                    await service.call("book", verb, data)
            await service.create("floats", _ADMISSION | {"exact_numbers": False})
            await service.call("floats", "submit", task("b", deadline=10**6))
            cluster = {"nodes": 1, "tau": longer, "chi": 1}
            with pytest.raises(InvalidInstanceError, match=r"cluster.*tau.*more than 5 digits"):
                await service.create("other", {"problem": "admission", "cluster": cluster})

    asyncio.run(use())


def test_powers_of_a_cluster(file_url):
    """The shares of n nodes are powers of chi / (tau + chi), which have n times as many digits."""
    cluster = {"nodes": 9, "tau": 3, "chi": 100}

    async def use():
        async with running(file_url, limits=BookLimits(max_digits=26)) as service:
            with pytest.raises(InvalidInstanceError, match=r"cluster\.nodes: must be at most 8 "):
                await service.create("book", {"problem": "admission", "cluster": cluster})
            for more in ({"cluster": cluster | {"nodes": 8}}, {"exact_numbers": False}):
                await service.create(
                    f"book{len(more)}{'cluster' in more}",
                    {"problem": "admission", "cluster": cluster} | more,
                )

    asyncio.run(use())


def test_the_digits_that_arithmetic_makes(file_url, monkeypatch):
    monkeypatch.setattr(book_size, "MIN_MEASURE_EVERY", 2)

    async def use():
        async with running(file_url, limits=BookLimits(max_digits=12)) as service:
            await service.create("book", _ADMISSION | {"exact_numbers": True})
            loads = [Fraction(number * 2 - 1, number * 2 + 1) for number in range(2, 60)]
            calls = [
                service.call("book", "submit", task(f"t{number}", 0, load, 10**6))
                for number, load in enumerate(loads)
            ]
            found = await asyncio.gather(*calls, return_exceptions=True)
            accepted = sum(isinstance(one, Answer) for one in found)
            assert accepted > 2
            assert {type(one) for one in found[accepted:]} == {LimitReachedError}
            assert "digits, and may have 12" in str(found[-1])
            for verb in ("ask", "offer"):  # nothing new, but questions
                await service.call("book", verb, task("next"))
            await service.call("book", "advance", {"now": 10_000})
            await service.call("book", "archive", {})
            assert (await service.call("book", "submit", task("next", 10_000))).version > accepted

    asyncio.run(use())


def test_the_size_of_a_snapshot(file_url, monkeypatch):
    monkeypatch.setattr(logged_book, "SNAPSHOT_EVERY", 3)

    async def use():
        async with running(file_url, limits=BookLimits(max_snapshot_bytes=1_000)) as service:
            await service.create("book", _ADMISSION)
            for name in "abc":
                await service.call("book", "submit", task(name, load=1, deadline=90))
        async with running(file_url, limits=BookLimits(max_snapshot_bytes=1_000)) as service:
            with pytest.raises(LimitReachedError, match=r"snapshot of book book has \d{4} bytes"):
                await service.call("book", "submit", task("d"))
            await service.call("book", "advance", {"now": 80})
            await service.call("book", "archive", {})
            assert (await service.call("book", "submit", task("d", 80))).version == 6

    asyncio.run(use())


def test_a_page_of_the_log_ends_where_it_becomes_large(store_url, monkeypatch):
    async def use():
        async with running(store_url) as service:
            await service.create("book", _ADMISSION)
            for name in "abcde":
                await service.call("book", "submit", task(name, deadline=30))
            whole = await _records(service, {})
            assert [one["sequence"] for one in whole] == [1, 2, 3, 4, 5]
            assert {one["release"] for one in whole} == {__version__}
            for most, sizes in ((1, [1] * 5), (200, [2, 2, 1]), (10**6, [5])):
                monkeypatch.setattr(book_log, "MAX_PAGE_BYTES", most)
                pages = []
                while page := await _records(service, {"after": sum(map(len, pages))}):
                    pages.append(page)
                assert list(map(len, pages)) == sizes and list(chain(*pages)) == whole

    asyncio.run(use())


async def _records(service, wanted):
    return (await service.call("book", "log", wanted)).body["records"]
