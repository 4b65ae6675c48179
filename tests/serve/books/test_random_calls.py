"""All verbs at random, with restarts: the books are those of engines that are called directly."""

import asyncio
import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import DloptError
from dlopt.serve.books import logged_book
from dlopt.serve.books.book_calls import BookCall
from dlopt.serve.books.book_log import load_book
from dlopt.serve.books.book_service import BookService
from dlopt.serve.books.logged_book import LoggedBook
from dlopt.serve.books.verbs import VERBS
from dlopt.serve.store import Store
from tests.examples import share
from tests.serve.books.random_calls import (
    ALGORITHMS,
    READS,
    PlainBook,
    RandomCalls,
    definition_of,
)
from tests.serve.books.services import ManualClock

_SNAPSHOT_EVERY = 7
_BOOKS = [(problem, name) for problem, names in ALGORITHMS.items() for name in names]


@pytest.fixture(autouse=True)
def _frequent_snapshots(monkeypatch):
    monkeypatch.setattr(logged_book, "SNAPSHOT_EVERY", _SNAPSHOT_EVERY)


class _Twins:
    """A book of a service, and a plain engine with what changed the book."""

    def __init__(self, store, problem, algorithm, exact, seed):
        self.store, self.clock = store, ManualClock()
        self._definition = definition_of(problem, algorithm, exact, 1 + seed % 4)
        self._plain = PlainBook(self._definition)
        self._calls = RandomCalls(seed, self._plain, exact)
        self._version = self._saved = 0

    async def start(self):
        self.service = BookService(self.store, wall_clock=self.clock)
        await self.service.start()
        await self.service.create("book", self._definition)

    async def restart(self):
        await self.service.stop()
        await self.start()
        self._save()

    async def call(self):
        """Call a verb, and do the same to the plain engine if the book was changed."""
        verb, arguments = self._calls.next()
        self.clock.time += 1
        try:
            answer = await self.service.call("book", verb, arguments)
        except DloptError:
            answer = None
        await self._follow_expiries(verb if answer is not None and verb not in READS else None)
        return answer

    async def _follow_expiries(self, changing):
        log = (await self.service.call("book", "log", {"after": self._version})).body["records"]
        assert [record["verb"] for record in log if record["verb"] != "expire"] == (
            [] if changing is None else [changing]
        )
        for record in log:
            if record["verb"] == "expire" and not self._is_promised(record["arguments"]):
                continue
            try:
                self._plain.apply(record["verb"], record["arguments"])
            except DloptError as error:
                assert record["verb"] == "expire", error
            self._version += 1
            if self._version - self._saved >= _SNAPSHOT_EVERY:
                self._save()

    def _is_promised(self, hold):
        engine, kind = self._plain.engine, hold["kind"]
        decisions = engine.grants if kind == "reservation" else engine.decisions
        return any(
            decision.accepted and getattr(decision, kind) == hold["id"] for decision in decisions
        )

    def _save(self):
        if self._saved != self._version:
            self._plain.engine.snapshot()
            self._saved = self._version

    def check(self):
        """Compare what the latest snapshot and the whole log give with the plain engine."""
        expected = copy.deepcopy(self._plain.engine).snapshot()
        for whole in (False, True):
            replayed = LoggedBook.replayed(load_book(self.store, "book", whole=whole))
            answer = replayed.question(BookCall(VERBS["snapshot"], {}), 0.0)()
            assert answer.version == self._version
            assert json.dumps(answer.body["snapshot"]) == json.dumps(expected)

    async def check_service(self):
        """Compare the book of the service with the plain engine, bit by bit."""
        answer = await self.service.call("book", "snapshot", {})
        expected = copy.deepcopy(self._plain.engine).snapshot()
        assert json.dumps(answer.body["snapshot"]) == json.dumps(expected)
        described = (await self.service.describe("book")).body
        decided = [*self._plain.engine.decisions, *getattr(self._plain.engine, "grants", ())]
        assert described["promises"] == sum(decision.accepted for decision in decided)
        answer = await self.service.call("book", "plan", {})
        assert answer.body["plan"] == self._plain.engine.plan().to_data()


async def _assert_equal_to_engine(url, problem, algorithm, exact, seed, count):
    with Store(url) as store:
        twins = _Twins(store, problem, algorithm, exact, seed)
        await twins.start()
        for number in range(count):
            await twins.call()
            if number % 10 == 9:
                twins.check()
                await twins.check_service()
            if number % 25 == 24:
                await twins.restart()
        await twins.service.stop()


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "floats"])
@pytest.mark.parametrize(("problem", "algorithm"), _BOOKS)
def test_a_book_is_what_changed_it(file_url, problem, algorithm, exact):
    asyncio.run(_assert_equal_to_engine(file_url, problem, algorithm, exact, seed=1, count=60))


@pytest.mark.parametrize("problem", ["admission", "coreservation"])
def test_a_book_in_any_store(store_url, problem):
    algorithm = {"admission": "fast-edf-iit", "coreservation": "co-rspb"}[problem]
    asyncio.run(
        _assert_equal_to_engine(store_url, problem, algorithm, exact=False, seed=2, count=40)
    )


@share(1 / 3)
@given(
    book=st.sampled_from(_BOOKS),
    exact=st.booleans(),
    seed=st.integers(0, 10**6),
)
def test_any_calls(tmp_path_factory, book, exact, seed):
    url = f"sqlite:///{tmp_path_factory.mktemp('store')}/books.db"
    asyncio.run(_assert_equal_to_engine(url, *book, exact, seed, count=40))
