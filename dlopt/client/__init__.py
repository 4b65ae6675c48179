"""The typed client of the service: books and jobs of another machine, as if they were local.

`Client` waits for its answers, `AsyncClient` is awaited; both have the same methods. A book takes
the records that the local one takes, and returns the same; ``docs/service.md`` has a whole program.

>>> from dlopt.client import Client
>>> client = Client("http://127.0.0.1:8321")  # nothing is sent yet
>>> book = client.book("lab")  # or client.create("lab", "admission", cluster=Cluster(...))
>>> # book.submit(Task("scan", arrival=0, load=6, deadline=20)).accepted
>>> client.close()

They call the operations of the table `dlopt.service_api.operations`:

- `asynchronous`, `remote_book`, `remote_job`: the methods, which are written once; `blocking` runs
  the same ones;
- `connection`: sends a request until it is answered, as `retry_policy` says;
- `http_messages`: how a request is made, and what a response means;
- `http_io`: input and output, awaited or blocking; `event_stream`: the events of jobs.
"""

from __future__ import annotations

from dlopt.client.asynchronous import AsyncClient, BookOptions, JobOptions
from dlopt.client.blocking import Client, Job, RemoteBook
from dlopt.client.errors import (
    RefusedRequestError,
    UnreachableServiceError,
    UnreadableAnswerError,
)
from dlopt.client.http_messages import ChangeOptions
from dlopt.client.remote_book import AsyncRemoteBook
from dlopt.client.remote_job import AsyncJob
from dlopt.client.retry_policy import RetryPolicy
from dlopt.service_api.book_records import BookDescription, Hold, HoldAnswer
from dlopt.service_api.job_records import JobEvent, JobProgress, JobStatus

__all__ = [
    "AsyncClient",
    "AsyncJob",
    "AsyncRemoteBook",
    "BookDescription",
    "BookOptions",
    "ChangeOptions",
    "Client",
    "Hold",
    "HoldAnswer",
    "Job",
    "JobEvent",
    "JobOptions",
    "JobProgress",
    "JobStatus",
    "RefusedRequestError",
    "RemoteBook",
    "RetryPolicy",
    "UnreachableServiceError",
    "UnreadableAnswerError",
]
