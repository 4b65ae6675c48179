"""The command that runs the HTTP service."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Annotated

import typer

from dlopt.cli.console import err, out
from dlopt.errors import MissingExtraError, NotApplicableError, printable

_LOG_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


def _number(flag: str, metavar: str, least: float, text: str) -> object:
    """Return the declaration of an option that is a number."""
    return typer.Option(flag, metavar=metavar, min=least, help=text)


def serve(
    host: Annotated[
        str,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Address to listen at; elsewhere than on the loopback, --tokens is needed.",
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="Port; 0 for any.")
    ] = 8321,
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="FILE|URL",
            help="Database: a file, or postgresql+psycopg://...",
            show_default="dlopt/service.db in the user's data folder",
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(
            "--tokens",
            metavar="FILE",
            help="Who may do what: lines of NAME SCOPE[,SCOPE] TOKEN with the scopes read, "
            "solve, book and admin. Other users must not be able to read it.",
        ),
    ] = None,
    jobs: Annotated[int, _number("--jobs", "N", 1, "Jobs that run at the same time.")] = 1,
    queue: Annotated[int, _number("--queue", "N", 0, "Jobs that may wait.")] = 1_000,
    memory: Annotated[int, _number("--memory", "MB", 64, "Memory limit of a job.")] = 4_096,
    time_limit: Annotated[
        float, _number("--time-limit", "S", 0.001, "Longest time limit of a job, in seconds.")
    ] = 3_600.0,
    keep_days: Annotated[
        float, _number("--keep-days", "N", 0, "Days for which jobs that have ended are kept.")
    ] = 30.0,
    keep_jobs: Annotated[int, _number("--keep-jobs", "N", 1, "Jobs that are kept.")] = 10_000,
    keep_mb: Annotated[
        int, _number("--keep-mb", "MB", 1, "Size of the jobs that are kept.")
    ] = 1_000,
    body: Annotated[
        int, _number("--body", "BYTES", 1_000, "Largest body of a request.")
    ] = 8_000_000,
    connections: Annotated[
        int,
        _number(
            "--connections",
            "N",
            1,
            "Connections of clients, and requests that are answered at the same time.",
        ),
    ] = 500,
    rate: Annotated[
        float, _number("--rate", "N", 0, "Requests a second of one client; 0 for no limit.")
    ] = 0.0,
    books: Annotated[int, _number("--books", "N", 1, "Books, at the most.")] = 1_000,
    nodes: Annotated[
        int, _number("--nodes", "N", 1, "Nodes or machines of a book, at the most.")
    ] = 10_000,
    decisions: Annotated[
        int,
        _number("--decisions", "N", 1, "Decisions of a book that are not archived, at the most."),
    ] = 100_000,
    question_time: Annotated[
        float,
        _number(
            "--question-time", "S", 0.001, "Time limit of a question about a book, in seconds."
        ),
    ] = 30.0,
    log_level: Annotated[
        str,
        typer.Option(
            "--log-level", metavar="LEVEL", help="debug (every request), info or warning."
        ),
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
