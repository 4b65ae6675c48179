"""The command that reserves resources of several services in one window."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote

import typer

from dlopt.cli.bearer_token import read_token
from dlopt.cli.console import Exit, err, out
from dlopt.cli.help_texts import option
from dlopt.cli.json_output import print_result
from dlopt.cli.options import AsJson
from dlopt.errors import Fault, InvalidInstanceError, MissingExtraError
from dlopt.json_files import load_json

if TYPE_CHECKING:
    from dlopt.client import RemoteBook
    from dlopt.serve.broker import JointDecision

_PATH = "/v1/books/"
_MESSAGES_IN_TIME_TO_LIVE = 8
"""A domain that does not answer is given up after this part of the time to live, so that the rest
is enough for the others."""


def broker(
    request: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A joint request; without it, only recover."),
    ] = None,
    domain: Annotated[
        list[str] | None,
        option(
            "--domain NAME=URL",
            "A domain: the URL of its book, http://HOST:PORT/v1/books/BOOK. Repeatable.",
        ),
    ] = None,
    token: Annotated[
        list[str] | None,
        option("--token NAME=FILE", "A file with the token of a domain. Repeatable."),
    ] = None,
    log: Annotated[Path, option("--log FILE", "The log of the broker.")] = Path("dlopt-broker.db"),
    time_to_live: Annotated[
        float, option("--ttl S", "Time to live of holds, in seconds.", min=1.0)
    ] = 30.0,
    cancel: Annotated[str | None, option("--cancel ID", "Take back a request.")] = None,
    as_json: AsJson = False,
) -> None:
    """Reserve windows at several services: at all of them or at none.

    First it goes on with what its log says was not settled.
    """
    try:
        from dlopt.serve.broker import Broker, BrokerLog, JointRequest
        from dlopt.serve.store import Store
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "serve") from error

    wanted = None
    if request is not None:
        data = load_json(request)
        try:
            wanted = JointRequest.from_data(data)
        except InvalidInstanceError as error:
            raise error.within(str(request)) from error
    tokens = {name: Path(path) for name, path in _named("--token", token or [])}
    with contextlib.ExitStack() as opened:
        domains = {
            name: _book(opened, url, tokens.get(name), time_to_live)
            for name, url in _named("--domain", domain or [])
        }
        store = opened.enter_context(Store(f"sqlite:///{log.absolute()}"))
        one = Broker(domains, BrokerLog(store), ttl_s=time_to_live)
        unsettled = one.recover()
        decisions = [] if wanted is None else [one.reserve(wanted)]
        decisions += [] if cancel is None else [one.cancel(cancel)]
        _print(decisions, unsettled, as_json=as_json)
    if unsettled or any(decision.unresolved for decision in decisions):
        raise typer.Exit(Exit.NO_ANSWER)
    if wanted is not None and not decisions[0].accepted:
        raise typer.Exit(Exit.INFEASIBLE)


def _print(decisions: list[JointDecision], unsettled: tuple[str, ...], *, as_json: bool) -> None:
    if as_json:
        print_result(
            "broker",
            {
                "decisions": [decision.to_data() for decision in decisions],
                "unsettled": list(unsettled),
            },
        )
        return
    for decision in decisions:
        if decision.accepted:
            window = f"from {decision.start} to {decision.end}"
            out.print(f"{decision.request}: reserved {window}", markup=False)
            for promise in decision.promises:
                out.print(f"  {promise.domain}: {promise.id}", markup=False)
        else:
            out.print(f"{decision.request}: not reserved: {decision.reason}", markup=False)
    for name in unsettled:
        err.print(f"{name} is not settled: a domain does not answer; run it again", markup=False)


def _named(option: str, values: list[str]) -> list[tuple[str, str]]:
    """Return the names and values of an option."""
    pairs = [tuple(value.partition("=")[::2]) for value in values]
    faults = [
        Fault(option, value, "must be NAME=VALUE")
        for value, (name, rest) in zip(values, pairs, strict=True)
        if not name or not rest
    ]
    if faults:
        raise InvalidInstanceError(faults)
    return [(name, rest) for name, rest in pairs]


def _book(
    opened: contextlib.ExitStack, url: str, token: Path | None, time_to_live: float
) -> RemoteBook:
    """Return the book of a URL."""
    from dlopt.client import Client, RetryPolicy

    service, path, name = url.partition(_PATH)
    if not path or not name or "/" in name:
        rule = f"must be the URL of a book, such as http://127.0.0.1:8321{_PATH}NAME"
        raise InvalidInstanceError([Fault("--domain", url, rule)])
    client = Client(
        service,
        token=read_token(token),
        timeout_s=time_to_live / _MESSAGES_IN_TIME_TO_LIVE,
        retry_policy=RetryPolicy(attempts=1),
    )
    return opened.enter_context(client).book(unquote(name))
