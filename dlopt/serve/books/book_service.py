"""The books of a service: made, described, called, deleted; durable before they answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from dlopt.errors import Fault, InvalidInstanceError
from dlopt.serve.answers import Answer, JsonObject
from dlopt.serve.books import book_log
from dlopt.serve.books.book_calls import BookCall
from dlopt.serve.books.book_executor import BookExecutor
from dlopt.serve.books.book_log import UnreadableBookError
from dlopt.serve.books.commit_thread import CommitThread
from dlopt.serve.books.limits import DEFAULT_LIMITS, BookLimits
from dlopt.serve.books.logged_book import LoggedBook, definition_data
from dlopt.serve.books.question_pool import QuestionPool
from dlopt.serve.books.restored_books import restored_books
from dlopt.serve.books.verbs import VERBS
from dlopt.serve.errors import (
    ConflictingStateError,
    LimitReachedError,
    NotFoundError,
    PreconditionError,
    UnavailableError,
)
from dlopt.serve.store import Store
from dlopt.service_api.arguments import LogRange
from dlopt.service_api.definitions import Definition, read_definition

T = TypeVar("T")

EXPIRY_INTERVAL_S = 0.25
"""Seconds between two looks for holds whose time to live is over, if nobody calls their book."""
MAX_THREADS = 256
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
    limits : BookLimits
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

    def __init__(
        self,
        store: Store,
        *,
        limits: BookLimits = DEFAULT_LIMITS,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._limits, self._wall_clock = store, limits, wall_clock
        self._books: dict[str, BookExecutor] = {}
        self._unreadable: dict[str, UnreadableBookError] = {}
        self._questions = QuestionPool(limits)
        self._naming = asyncio.Lock()  # acquired while a book is made or deleted
        self._executor = ThreadPoolExecutor(MAX_THREADS, "dlopt-book")
        self._committer: CommitThread | None = None
        self._timer: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Load every book from its latest snapshot and its log.

        A book that cannot be restored is logged as an error, and its calls are refused; other books
        are served.

        Raises
        ------
        UnavailableError
            If the store cannot be read.
        """
        books, self._unreadable = await asyncio.to_thread(restored_books, self._store, self._limits)
        self._committer = CommitThread(self._store, asyncio.get_running_loop())
        for book in books:
            self._add(book)
        self._timer = asyncio.create_task(self._expire_regularly())

    async def stop(self) -> None:
        """Refuse further calls, write what is pending and a snapshot of each book, and end."""
        async with self._naming:
            committer, timer = self._committer, self._timer
            if committer is None or timer is None:
                return
            self._committer = None
            timer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await timer
            saved = [self._done(book, _save) for book in self._books.values()]
            await asyncio.gather(*saved, return_exceptions=True)
            await asyncio.to_thread(self._executor.shutdown)
            await asyncio.to_thread(committer.stop)

    async def create(
        self, name: str, definition: Mapping[str, Any], *, if_match: int | None = None
    ) -> Answer:
        """Make a book; one that is there and was made in the same way stays as it is.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            If the name or the definition cannot be.
        ConflictingStateError, PreconditionError
            If there is a book of the name with another definition or version.
        LimitReachedError
            If there are as many books as there may be.
        """
        if not _NAME.fullmatch(name) or len(name) > book_log.MAX_NAME_LENGTH:
            rule = (
                f"must be 1 to {book_log.MAX_NAME_LENGTH} letters, digits, dots, hyphens or "
                "underscores, and begin with a letter or a digit"
            )
            raise InvalidInstanceError([Fault("name", name, rule)])
        return await asyncio.shield(
            self._create(name, definition, if_match)
        )  # also if the client leaves

    async def _create(
        self, name: str, definition: Mapping[str, Any], if_match: int | None
    ) -> Answer:
        async with self._naming:
            self._require_running()
            wanted = await asyncio.to_thread(read_definition, definition)
            if name in self._unreadable:
                raise self._unreadable[name]
            if name in self._books:
                return await self._present(name, wanted, if_match)
            if if_match is not None:
                raise PreconditionError(f"there is no book {name}, If-Match asked for {if_match}")
            most = self._limits.max_books
            if len(self._books) + len(self._unreadable) >= most:
                raise LimitReachedError(f"there are {most} books, and there may be no more")
            self._limits.check_definition(wanted)
            made = self._add(await asyncio.to_thread(self._make, name, wanted))
            return Answer(made.description, 201, version=0, location=f"/v1/books/{name}")

    async def _present(self, name: str, wanted: Definition, if_match: int | None) -> Answer:
        book = self._books[name]
        if definition_data(book.definition) != definition_data(wanted):
            raise ConflictingStateError(f"book {name} already exists with a different definition")
        return await self._described(book, if_match)

    async def delete(self, name: str, *, if_match: int | None = None) -> Answer:
        """Delete a book with its log.

        Raises
        ------
        NotFoundError
            If there is none of the name.
        PreconditionError
            If it has another version.
        """
        return await asyncio.shield(self._delete(name, if_match))  # also if the client leaves

    async def _delete(self, name: str, if_match: int | None) -> Answer:
        async with self._naming:
            if name in self._unreadable and if_match is None:
                await asyncio.to_thread(book_log.delete_book, self._store, name)
                del self._unreadable[name]
                return Answer({"name": name})
            book = self._book(name)
            await self._done(book, book.closing(if_match))
            try:
                await asyncio.to_thread(book_log.delete_book, self._store, name)
            except BaseException as error:
                book.restore(is_doubtful=isinstance(error, UnavailableError))
                raise
            del self._books[name]
            return Answer({"name": name})

    def names(self) -> Answer:
        """Return the descriptions of all books, as they were after their latest calls.

        Books that could not be restored are named with the reason.
        """
        body: JsonObject = {"books": [book.description for _, book in sorted(self._books.items())]}
        if self._unreadable:
            body["unreadable"] = {name: str(error) for name, error in self._unreadable.items()}
        return Answer(body)

    async def describe(self, name: str, *, if_match: int | None = None) -> Answer:
        """Return what a book is, and how much it promises.

        Raises
        ------
        NotFoundError
            If there is none of the name.
        PreconditionError
            If it has another version.
        """
        return await self._described(self._book(name), if_match)

    async def _described(self, book: BookExecutor, if_match: int | None) -> Answer:
        def describe(logged: LoggedBook, now: float) -> Answer:
            logged.expire_holds(now)
            logged.require_version(if_match)
            return logged.describe()

        return await self._done(book, describe)

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
            The same call with the same key gets the answer that it got before, as long as the book
            exists.
        if_match : int, optional
            The version that the book must have.

        Raises
        ------
        InvalidInstanceError, NotApplicableError
            If the call is impossible.
        NotFoundError
            If there is no such book or hold.
        PreconditionError, ConflictingStateError
            If the book has another version; if the key was used for another call.
        LimitReachedError
            If the book would become too large.
        UnavailableError, TooManyRequestsError
            If nothing can be written, a question takes too long or too many calls wait: nothing was
            done.
        UnknownOutcomeError
            If the store failed while it wrote, and cannot be asked whether it did.
        UnreadableBookError
            If the book could not be restored.
        """
        book, found = self._book(name), VERBS[verb]
        if idempotency_key is not None and not (
            len(idempotency_key) <= book_log.MAX_KEY_LENGTH and _KEY.fullmatch(idempotency_key)
        ):
            rule = (
                f"must have 1 to {book_log.MAX_KEY_LENGTH} printable ASCII characters and no spaces"
            )
            raise InvalidInstanceError([Fault("Idempotency-Key", idempotency_key, rule)])
        if found.apply is None:
            return await self._read_log(book, LogRange.from_data(arguments), if_match)
        call = BookCall(found, arguments, idempotency_key, if_match)
        if found.on_copy:
            return await self._questions.answer(lambda: _called(book, call))
        answer: Answer = await _called(book, call)
        return answer

    @property
    def is_alive(self) -> bool:
        """Whether calls are taken, and the thread that makes them durable is there."""
        return self._committer is not None and self._committer.is_alive

    def counts(self) -> dict[str, int]:
        """Return the number of books, of commits since the start, and of log records in these."""
        committer = self._committer
        return {
            "books": len(self._books),
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
        return self._book(name).definition.exact_numbers is True

    def expire_holds(self) -> None:
        """Take back the promises whose holds have expired; it is done soon."""
        for book in self._books.values():
            if book.has_holds:
                book.put(LoggedBook.expire_holds)

    async def _expire_regularly(self) -> None:
        while True:
            await asyncio.sleep(EXPIRY_INTERVAL_S)
            self.expire_holds()

    async def _read_log(self, book: BookExecutor, wanted: LogRange, if_match: int | None) -> Answer:
        described = await self._described(book, if_match)
        records = await asyncio.to_thread(
            book_log.read_log, self._store, book.name, wanted.after, wanted.limit
        )
        body = await asyncio.to_thread(lambda: {"records": [one.to_data() for one in records]})
        return Answer(body, version=described.version)

    async def _done(self, book: BookExecutor, action: Callable[[LoggedBook, float], T]) -> T:
        """Return what an action answers, after all calls before it."""
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        book.put(action, future)
        return await future

    def _make(self, name: str, definition: Definition) -> LoggedBook:
        text = book_log.to_text(definition_data(definition))
        book = LoggedBook(name, read_definition(json.loads(text)), self._limits)
        book_log.add_book(self._store, name, text)
        return book

    def _add(self, logged: LoggedBook) -> BookExecutor:
        assert self._committer is not None
        book = BookExecutor(logged, self._store, self._committer, self._executor, self._wall_clock)
        self._books[book.name] = book
        return book

    def _book(self, name: str) -> BookExecutor:
        self._require_running()
        book = self._books.get(name)
        if name in self._unreadable:
            raise self._unreadable[name]
        if book is None:
            raise NotFoundError(f"there is no book {name}")
        return book

    def _require_running(self) -> None:
        if self._committer is None:
            raise UnavailableError("the service is about to stop", retry_after_s=1.0)


async def _called(book: BookExecutor, call: BookCall) -> Any:
    """Return what a call gets: an answer, or the question whose answer it wants."""
    future = asyncio.get_running_loop().create_future()
    book.put_call(call, future)
    return await future


def _save(book: LoggedBook, now: float) -> None:
    book.expire_holds(now)
    book.save()
