"""The log of a broker: every step is durable before its first message is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import sqlalchemy as sql

from dlopt.serve.store import METADATA, Store

StepKind: TypeAlias = Literal["asked", "holding", "aborted", "confirming", "cancelling", "ended"]

_STEPS = sql.Table(
    "dlopt_broker_step",
    METADATA,
    sql.Column("sequence", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("request", sql.Text, nullable=False, index=True),
    sql.Column("kind", sql.Text, nullable=False),
    sql.Column("data", sql.Text, nullable=False),
)
_OPEN = ("holding", "confirming", "cancelling")
"""Steps after which a domain may hold or have confirmed something that is to be settled."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a request.

    Parameters
    ----------
    kind : {"asked", "holding", "aborted", "confirming", "cancelling", "ended"}
    data : mapping
        Of *asked* the request, of *holding* the holds and until when they live at least, of
        *cancelling* the reason, of *ended* the answer.
    """

    kind: StepKind
    data: Mapping[str, Any]


class BrokerLog:
    """The steps of all requests, in a store that one broker owns.

    Parameters
    ----------
    store : Store

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Store(f"sqlite:///{folder.name}/broker.db") as store:
    ...     log = BrokerLog(store)
    ...     log.append("r", "asked", {})
    ...     log.append("r", "holding", {"holds": []})
    ...     [step.kind for step in log.steps("r")], log.unsettled()
    (['asked', 'holding'], ('r',))
    >>> folder.cleanup()
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def append(self, request: str, kind: StepKind, data: Mapping[str, object]) -> None:
        """Add a step; it is durable when this returns.

        Raises
        ------
        UnavailableError
            If it cannot be written.
        """
        row = {"request": request, "kind": kind, "data": json.dumps(data, allow_nan=False)}
        with self._store.transaction() as connection:
            connection.execute(sql.insert(_STEPS).values(row))

    def steps(self, request: str) -> tuple[Step, ...]:
        """Return the steps of a request, in their order."""
        chosen = sql.select(_STEPS.c.kind, _STEPS.c.data).where(_STEPS.c.request == request)
        with self._store.transaction() as connection:
            rows = connection.execute(chosen.order_by(_STEPS.c.sequence)).all()
        return tuple(Step(row.kind, json.loads(row.data)) for row in rows)

    def unsettled(self) -> tuple[str, ...]:
        """Return the requests of which domains may hold or have confirmed something."""
        last = sql.select(sql.func.max(_STEPS.c.sequence)).group_by(_STEPS.c.request)
        chosen = sql.select(_STEPS.c.request).where(
            _STEPS.c.sequence.in_(last), _STEPS.c.kind.in_(_OPEN)
        )
        with self._store.transaction() as connection:
            return tuple(connection.execute(chosen.order_by(_STEPS.c.sequence)).scalars())
