"""The books of a service: made, described, called, deleted; durable before they answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.serve.answers import Answer
from dlopt.serve.books import book_log
from dlopt.serve.books.book_host import Action, BookHost
from dlopt.serve.books.group_commit import GroupCommit
from dlopt.serve.books.logged_book import BookCall, LoggedBook, definition_data
from dlopt.serve.books.verbs import verb_named
from dlopt.serve.errors import ConflictingStateError, NotFoundError, UnavailableError
from dlopt.serve.store import Store
from dlopt.service_api.arguments import LogRange
from dlopt.service_api.definitions import Definition, read_definition

EXPIRY_INTERVAL_S = 0.25
"""Seconds between two looks for holds whose time to live is over, if nobody calls their book."""
MOST_THREADS = 256
"""Books that can be busy at the same time; others wait. A thread takes little when it is idle."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_KEY = re.compile(r"[!-~]+")


class BookService:
    """Books that outlive their server.

    A call is answered when what it changed, and what it saw, is written. Calls of one book are
    applied one after the other; several books, and writing, go on at the same time.

    Parameters
    ----------
    store : Store
    wall_clock : callable, optional
        Returns the time in seconds. It may go backwards: clocks of books do not.

    Examples
    --------
    >>> import tempfile
    >>> async def decide(url):
    ...     with Store(url) as store:
    ...         books = BookService(store)
    ...         await books.start()
    ...         cluster = {"nodes": 2, "tau": 1, "chi": 3}
    ...         await books.create("lab", {"problem": "admission", "cluster": cluster})
    ...         task = {"id": "a", "arrival": 0, "load": 2, "deadline": 9}
    ...         answer = await books.call("lab", "submit", {"task": task})
    ...         await books.stop()
    ...         return answer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     answer = asyncio.run(decide(f"sqlite:///{folder}/books.db"))
    >>> answer.body, answer.version
    ({'decision': {'task': 'a', 'accepted': True, 'at': 0}}, 1)
    """

    def __init__(self, store: Store, *, wall_clock: Callable[[], float] = time.time) -> None:
        self._store, self._wall_clock = store, wall_clock
        self._hosts: dict[str, BookHost] = {}
        self._naming = asyncio.Lock()  # acquired while a book is made or deleted
        self._executor: ThreadPoolExecutor | None = None
        self._committer: GroupCommit | None = None
        self._timer: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load every book from its latest snapshot and its log.

        Raises
        ------
        CorruptedLogError
            If what is stored of a book is not what was written; its place is named.
        """
        books = await asyncio.to_thread(self._load)
        self._executor = ThreadPoolExecutor(MOST_THREADS, "dlopt-book")
        self._committer = GroupCommit(self._store, asyncio.get_running_loop())
        for book in books:
            self._add(book)
        self._timer = asyncio.create_task(self._expire_regularly())

    async def stop(self) -> None:
        """Refuse further calls, write what is pending and a snapshot of each book, and end."""
        async with self._naming:
            committer, executor, timer = self._committer, self._executor, self._timer
            if committer is None or executor is None or timer is None:
                return
            self._committer = None
            timer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await timer
            saved = [self._done(host, _save) for host in self._hosts.values()]
            await asyncio.gather(*saved, return_exceptions=True)
            await asyncio.to_thread(executor.shutdown)
            await asyncio.to_thread(committer.stop)

    async def create(self, name: str, definition: Mapping[str, Any]) -> Answer:
        """Make a book; one that is there and was made in the same way stays as it is.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            If the name or the definition cannot be.
        ConflictingStateError
            If there is a book of the name that was made in another way.
        """
        if not _NAME.fullmatch(name) or len(name) > book_log.LONGEST_NAME:
            rule = (
                f"must be 1 to {book_log.LONGEST_NAME} letters, digits, dots, hyphens or "
                "underscores, and begin with a letter or a digit"
            )
            raise InvalidInstanceError([Fault("name", name, rule)])
        return await asyncio.shield(self._create(name, definition))  # also if the client leaves

    async def _create(self, name: str, definition: Mapping[str, Any]) -> Answer:
        async with self._naming:
            self._require_running()
            _require_object(definition)
            wanted = await asyncio.to_thread(read_definition, definition)
            if name in self._hosts:
                return await self._present(name, wanted)
            book = await asyncio.to_thread(self._make, name, wanted)
            host = self._add(book)
            return Answer(host.description, 201, version=0, location=f"/v1/books/{name}")

    async def _present(self, name: str, wanted: Definition) -> Answer:
        host = self._hosts[name]
        if definition_data(host.definition) != definition_data(wanted):
            raise ConflictingStateError(f"there is a book {name}, which was made in another way")
        return await self._done(host, _describe)

    async def delete(self, name: str) -> Answer:
        """Delete a book with its log.

        Raises
        ------
        NotFoundError
            If there is none of the name.
        """
        return await asyncio.shield(self._delete(name))  # also if the client leaves

    async def _delete(self, name: str) -> Answer:
        async with self._naming:
            host = self._host(name)
            closed = asyncio.get_running_loop().create_future()
            host.delete(closed)
            try:
                await closed
                await asyncio.to_thread(book_log.delete_book, self._store, name)
            except BaseException:
                host.restore()
                raise
            del self._hosts[name]
            return Answer({"name": name})

    def names(self) -> Answer:
        """Return the descriptions of all books, as they were after their latest calls."""
        return Answer({"books": [host.description for _, host in sorted(self._hosts.items())]})

    async def describe(self, name: str) -> Answer:
        """Return what a book is, and how much it promises.

        Raises
        ------
        NotFoundError
            If there is none of the name.
        """
        return await self._done(self._host(name), _describe)

    async def call(
        self,
        name: str,
        verb: str,
        arguments: Mapping[str, Any],
        *,
        idempotency_key: str | None = None,
        if_match: int | None = None,
    ) -> Answer:
        """Ask something of a book; see `dlopt.serve.books.verbs` for what can be asked.

        Parameters
        ----------
        name, verb : str
        arguments : dict
            Plain data.
        idempotency_key : str, optional
            The same call with the same key gets the answer that it got before. The latest keys of
            a book are known, see `dlopt.serve.books.logged_book.LoggedBook`.
        if_match : int, optional
            The version that the book must have.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            If the call is impossible.
        NotFoundError
            If there is no such book, verb or hold.
        PreconditionError, ConflictingStateError
            If the book has another version; if the key was used for another call.
        UnavailableError, TooManyRequestsError
            If nothing can be written, or too many calls wait: nothing was done.
        """
        host, found = self._host(name), verb_named(verb)
        if idempotency_key is not None and not (
            len(idempotency_key) <= book_log.LONGEST_KEY and _KEY.fullmatch(idempotency_key)
        ):
            rule = f"must have 1 to {book_log.LONGEST_KEY} printable ASCII characters and no spaces"
            raise InvalidInstanceError([Fault("Idempotency-Key", idempotency_key, rule)])
        _require_object(arguments)
        if found.apply is None:
            return await self._read_log(host, LogRange.from_data(arguments))
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        host.put_call(BookCall(found, arguments, idempotency_key, if_match), future)
        return await future

    @property
    def is_alive(self) -> bool:
        """Whether calls are taken, and the thread that makes them durable is there."""
        return self._committer is not None and self._committer.is_alive

    def counts(self) -> dict[str, int]:
        """Return the number of books, of commits since the start, and of log records in these."""
        committer = self._committer
        return {
            "books": len(self._hosts),
            "commits": 0 if committer is None else committer.commits,
            "records": 0 if committer is None else committer.records,
        }

    def exact_numbers(self, name: str) -> bool:
        """Tell whether decimals in what is sent to a book are read as rational numbers.

        Raises
        ------
        NotFoundError
            If there is no book of the name.
        """
        return self._host(name).definition.exact_numbers is True

    def expire_holds(self) -> None:
        """Take back the promises whose holds have expired; it is done soon."""
        for host in self._hosts.values():
            if host.has_holds:
                host.put(_expire)

    async def _expire_regularly(self) -> None:
        while True:
            await asyncio.sleep(EXPIRY_INTERVAL_S)
            self.expire_holds()

    async def _read_log(self, host: BookHost, wanted: LogRange) -> Answer:
        described = await self._done(host, _describe)
        records = await asyncio.to_thread(
            book_log.read_log, self._store, host.name, wanted.after, wanted.limit
        )
        body = {"records": [record.to_data() for record in records]}
        return Answer(body, version=described.version)

    async def _done(self, host: BookHost, action: Action) -> Answer:
        """Return what an action answers, after all calls before it."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        host.put(action, future)
        return await future

    def _load(self) -> list[LoggedBook]:
        return [
            LoggedBook.replayed(book_log.load_book(self._store, name))
            for name in book_log.book_names(self._store)
        ]

    def _make(self, name: str, definition: Definition) -> LoggedBook:
        text = book_log.to_text(definition_data(definition))
        book = LoggedBook(name, read_definition(json.loads(text)))
        book_log.add_book(self._store, name, text)
        return book

    def _add(self, book: LoggedBook) -> BookHost:
        assert self._committer is not None and self._executor is not None
        host = BookHost(book, self._store, self._committer, self._executor, self._wall_clock)
        self._hosts[book.name] = host
        return host

    def _host(self, name: str) -> BookHost:
        self._require_running()
        host = self._hosts.get(name)
        if host is None:
            raise NotFoundError(f"there is no book {name}")
        return host

    def _require_running(self) -> None:
        if self._committer is None:
            raise UnavailableError("the service is about to stop", retry_after_s=1.0)


def _require_object(data: object) -> None:
    if not isinstance(data, Mapping):
        raise InvalidInstanceError([Fault("", data, "must be an object with named fields")])


def _describe(book: LoggedBook, now: float) -> Answer:
    book.expire_holds(now)
    return book.describe()


def _expire(book: LoggedBook, now: float) -> Answer:
    book.expire_holds(now)
    return Answer({})


def _save(book: LoggedBook, now: float) -> Answer:
    book.expire_holds(now)
    book.save()
    return Answer({})
