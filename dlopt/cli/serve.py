"""The command that runs the HTTP service."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Annotated

from dlopt.cli.console import err, out
from dlopt.cli.help_texts import option
from dlopt.errors import MissingExtraError, NotApplicableError, printable

_LOG_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


def serve(
    host: Annotated[
        str,
        option(
            "--host ADDRESS",
            "Address to listen at; elsewhere than on the loopback, --tokens is needed.",
        ),
    ] = "127.0.0.1",
    port: Annotated[int, option("--port N", "Port; 0 for any.", min=0, max=65535)] = 8321,
    store: Annotated[
        str | None,
        option(
            "--store FILE|URL",
            "Database: a file, or postgresql+psycopg://...",
            "dlopt/service.db in the user's data folder",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        option(
            "--tokens FILE",
            "Who may do what: lines of NAME SCOPE[,SCOPE] TOKEN with the scopes read, "
            "solve, book and admin. Other users must not be able to read it.",
        ),
    ] = None,
    jobs: Annotated[int, option("--jobs N", "Jobs that run at the same time.", min=1)] = 1,
    queue: Annotated[int, option("--queue N", "Jobs that may wait.", min=0)] = 1_000,
    memory: Annotated[int, option("--memory MB", "Memory limit of a job.", min=64)] = 4_096,
    time_limit: Annotated[
        float, option("--time-limit S", "Longest time limit of a job, in seconds.", min=0.001)
    ] = 3_600.0,
    keep_days: Annotated[
        float, option("--keep-days N", "Days for which jobs that have ended are kept.", min=0)
    ] = 30.0,
    keep_jobs: Annotated[int, option("--keep-jobs N", "Jobs that are kept.", min=1)] = 10_000,
    keep_mb: Annotated[
        int, option("--keep-mb MB", "Size of the jobs that are kept.", min=1)
    ] = 1_000,
    body: Annotated[
        int, option("--body BYTES", "Largest body of a request.", min=1_000)
    ] = 8_000_000,
    connections: Annotated[
        int,
        option(
            "--connections N",
            "Connections of clients, and requests that are answered at the same time.",
            min=1,
        ),
    ] = 500,
    rate: Annotated[
        float, option("--rate N", "Requests a second of one client; 0 for no limit.", min=0)
    ] = 0.0,
    books: Annotated[int, option("--books N", "Books, at the most.", min=1)] = 1_000,
    nodes: Annotated[
        int, option("--nodes N", "Nodes or machines of a book, at the most.", min=1)
    ] = 10_000,
    decisions: Annotated[
        int,
        option("--decisions N", "Decisions of a book that are not archived, at the most.", min=1),
    ] = 100_000,
    question_time: Annotated[
        float,
        option(
            "--question-time S", "Time limit of a question about a book, in seconds.", min=0.001
        ),
    ] = 30.0,
    log_level: Annotated[
        str, option("--log-level LEVEL", "debug (every request), info or warning.")
    ] = "info",
) -> None:
    """Run the HTTP service: jobs that solve, and books that decide.

    It needs no configuration. SIGTERM and Ctrl-C stop it once all requests are answered.
    """
    try:
        from dlopt.serve.app import run
        from dlopt.serve.books.limits import BookLimits
        from dlopt.serve.observability import log_to_standard_error
        from dlopt.serve.settings import ServiceSettings
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "serve") from error

    if log_level not in _LOG_LEVELS:
        raise NotApplicableError(f"--log-level takes {', '.join(_LOG_LEVELS)}; got {log_level!r}")
    settings = ServiceSettings(
        store=_store_url(store),
        host=host,
        port=port,
        token_file=tokens,
        max_body_bytes=body,
        max_connections=connections,
        max_requests_per_s=rate,
        concurrent_jobs=jobs,
        queued_jobs=queue,
        job_memory_mb=memory,
        job_time_s=time_limit,
        job_retention_s=keep_days * 86_400.0,
        max_stored_jobs=keep_jobs,
        max_job_bytes=keep_mb * 1_000_000,
        books=BookLimits(
            max_books=books,
            max_nodes=nodes,
            max_decisions=decisions,
            question_time_s=question_time,
        ),
    )
    log_to_standard_error(_LOG_LEVELS[log_level])

    def print_address(address: str) -> None:
        out.print(f"dlopt service at {address} (documentation: {address}/docs)", soft_wrap=True)
        if store is None:
            out.print(printable(f"store: {settings.store}"), markup=False, soft_wrap=True)
        bearer = "" if tokens is None else ' -H "Authorization: Bearer $TOKEN"'
        out.print(f"try: curl{bearer} {address}/v1/books", markup=False, soft_wrap=True)

    run(settings, listening=print_address)
    err.print("stopped")


def _store_url(given: str | None) -> str:
    """Return the URL of the store; a file is meant if it is none.

    The default is a file in the data folder of the user, and not in the present folder: books are
    to be found again wherever the service is started.
    """
    if given is not None and "://" in given:
        return given
    if given is not None:
        return f"sqlite:///{os.path.abspath(given)}"
    folder = os.environ.get("XDG_DATA_HOME") or os.path.join(Path.home(), ".local", "share")
    path = Path(folder, "dlopt")
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise NotApplicableError(f"cannot create {path}: {error.strerror}; see --store") from error
    return f"sqlite:///{path / 'service.db'}"
