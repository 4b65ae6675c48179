"""The books of a service in this process, without server, store or threads; tests set the clock."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import httpx

from dlopt.json_files import parse_json
from dlopt.serve.answers import Answer
from dlopt.serve.books.book_calls import BookCall
from dlopt.serve.books.logged_book import LoggedBook
from dlopt.serve.books.verbs import VERBS
from dlopt.serve.errors import NotFoundError
from dlopt.serve.problem_details import problem_details, problem_headers
from dlopt.service_api.definitions import read_definition

_PREFIX = ["", "v1", "books"]


class FakeService:
    """Answers requests as the service does.

    Attributes
    ----------
    books : dict
    wall : float
        The clock.
    requests : list
        Those that have come.
    forgets_keys : bool
        Whether it does again what was asked for under an idempotency key before.
    """

    def __init__(self) -> None:
        self.books: dict[str, LoggedBook] = {}
        self.wall = 1000.0
        self.requests: list[httpx.Request] = []
        self.forgets_keys = False

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.handle)

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        try:
            answer = self._answer(request)
        except Exception as error:
            status, body = problem_details(error, "request-1")
            assert status < 500, body
            return httpx.Response(status, json=body, headers=problem_headers(error))
        headers = {} if answer.version is None else {"etag": f'"{answer.version}"'}
        return httpx.Response(answer.status, content=json.dumps(answer.body), headers=headers)

    def call(self, name: str, verb: str, **arguments: Any) -> dict[str, Any]:
        """Call a verb as somebody else would."""
        return self._called(self.books[name], BookCall(VERBS[verb], arguments)).body

    def _called(self, book: LoggedBook, call: BookCall) -> Answer:
        if call.verb.on_copy:
            return book.question(call, self.wall)()
        return book.call(call, self.wall)

    def _answer(self, request: httpx.Request) -> Answer:
        path = [
            unquote(part) for part in request.url.raw_path.decode().partition("?")[0].split("/")
        ]
        assert path[:3] == _PREFIX
        body = parse_json(request.content.decode()) if request.content else {}
        if len(path) == 3:
            return Answer({"books": [book.describe().body for book in self.books.values()]})
        name = path[3]
        if request.method == "PUT" and name not in self.books:
            self.books[name] = LoggedBook(name, read_definition(body))
        if name not in self.books:
            raise NotFoundError(f"there is no book {name}")
        book = self.books[name]
        if request.method == "DELETE":
            del self.books[name]
            return Answer({"name": name})
        if len(path) == 4:
            return book.describe()
        condition = request.headers.get("if-match", "").strip('"')
        key = request.headers.get("idempotency-key")
        if self.forgets_keys:
            book.answers.forget_written(book.version)
        if_match = int(condition) if condition else None
        return self._called(book, BookCall(VERBS[path[4]], body, key, if_match))
