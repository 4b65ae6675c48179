"""What can be set of a service."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dlopt.serve.books.limits import DEFAULT_LIMITS, BookLimits

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """What can be set of a service; every default is safe on a machine of many users.

    Parameters
    ----------
    store : str
        A database by its URL: ``sqlite:///FILE`` or ``postgresql+psycopg://...``.
    host : str
        Address to listen at. Elsewhere than on the loopback, tokens are needed.
    port : int
        0 for any that is free.
    token_file : Path, optional
        Who may do what: a line of a token file has a name, scopes and a token.
    max_body_bytes : int
        Largest body of a request.
    max_connections : int
        Connections of clients, and requests that are answered at the same time. Each takes a file
        descriptor, of which a process has 1,024 where nothing else is configured.
    max_requests_per_s : float
        Requests a second of one client, over which it must wait; 0 for no limit.
    concurrent_jobs : int
        Jobs that run at the same time, each in a process of its own.
    queued_jobs : int
        Jobs that may wait.
    job_memory_mb : int
        Memory of the process of a job.
    job_time_s : float
        Longest time limit that a job may ask for.
    books : BookLimits
        How many books there may be, how large they may become, and how long questions may take.
    job_retention_s : float
        Seconds for which a job that has ended is kept, with its result.
    max_stored_jobs : int
        Jobs that are kept; more than these, the oldest are removed.
    max_job_bytes : int
        Size of the jobs that are kept, with their results and instances.
    """

    store: str
    host: str = LOOPBACK
    port: int = 8321
    token_file: Path | None = None
    max_body_bytes: int = 8_000_000
    max_connections: int = 500
    max_requests_per_s: float = 0.0
    concurrent_jobs: int = 1
    queued_jobs: int = 1_000
    job_memory_mb: int = 4_096
    job_time_s: float = 3_600.0
    books: BookLimits = DEFAULT_LIMITS
    job_retention_s: float = 30 * 86_400.0
    max_stored_jobs: int = 10_000
    max_job_bytes: int = 1_000_000_000
