"""The typed client of the service: books and jobs of another machine, as if they were local.

`Client` waits for its answers, `AsyncClient` is awaited; both have the same methods, which are
written once:

- `operations`: the table of all operations: method, path, fields;
- `book_calls`, `job_calls`: a typed function for each, which returns a `Call`: what is sent, and
  how the answer is read; `records` reads answers into the records of dlopt; `verbs` makes methods
  of both clients of each function;
- `exchange`: what is sent again, and when; it knows no socket and no clock;
- `blocking` and `asynchronous`: the two shells, which send, wait and listen.

>>> from dlopt.client import Client
>>> client = Client("http://127.0.0.1:8321")
>>> book = client.book("cluster-a")  # book.submit(task), book.offer(task), ...
>>> client.close()
"""

from __future__ import annotations

from dlopt.client.asynchronous import AsyncClient, AsyncJob, AsyncRemoteBook
from dlopt.client.blocking import Client, Job, RemoteBook
from dlopt.client.errors import (
    RefusedRequestError,
    UnreachableServiceError,
    UnreadableAnswerError,
)
from dlopt.client.exchange import Retries
from dlopt.client.records import (
    BookDescription,
    Hold,
    HoldAnswer,
    JobEvent,
    JobProgress,
    JobStatus,
)

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "AsyncRemoteBook",
    "BookDescription",
    "Client",
    "Hold",
    "HoldAnswer",
    "Job",
    "JobEvent",
    "JobProgress",
    "JobStatus",
    "RefusedRequestError",
    "RemoteBook",
    "Retries",
    "UnreachableServiceError",
    "UnreadableAnswerError",
]
