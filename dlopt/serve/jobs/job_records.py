"""The jobs of a service as they are stored, with the instances that they are about."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sql

from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import NotFoundError
from dlopt.serve.jobs.event_history import Event
from dlopt.serve.jobs.questions import Question
from dlopt.serve.store import METADATA, Store
from dlopt.service_api.job_records import JobState

MAX_LISTED = 1_000
"""Jobs in a list, the latest ones; chosen by hand."""

_INSTANCES = sql.Table(
    "dlopt_job_instances",
    METADATA,
    sql.Column("content", sql.String(64), primary_key=True),
    sql.Column("hash", sql.String(64), index=True),
    sql.Column("seen_at", sql.Float),
    sql.Column("data", sql.Text),
)
_JOBS = sql.Table(
    "dlopt_jobs",
    METADATA,
    sql.Column("number", sql.Integer, primary_key=True, autoincrement=True),
    sql.Column("id", sql.String(32), unique=True),
    sql.Column("kind", sql.String(32)),
    sql.Column("state", sql.String(16), index=True),
    sql.Column("owner", sql.Text),
    sql.Column("priority", sql.Integer),
    sql.Column("created_at", sql.Float),
    sql.Column("started_at", sql.Float),
    sql.Column("ended_at", sql.Float),
    sql.Column("hash", sql.String(64)),
    sql.Column("method", sql.Text),
    sql.Column("progress", sql.Text),
    sql.Column("reason", sql.Text),
    sql.Column("asked", sql.Text),
    sql.Column("content", sql.String(64)),
    sql.Column("result", sql.Text),
    sql.Column("certificate", sql.Text),
    sql.Column("last_event", sql.Integer),
    sql.Column("events", sql.Text),
    sql.Column("key", sql.String(64)),
    sql.Column("key_without_limits", sql.String(64)),
    # The keys under which the answer is found: of an answer that may be given again.
    sql.Column("answer_key", sql.String(64), index=True),
    sql.Column("optimum_key", sql.String(64), index=True),
)
_NAME = re.compile("[0-9a-f]{32}")
_HASH = re.compile("[0-9a-f]{64}")
_STATUS = (
    "id",
    "kind",
    "state",
    "created_at",
    "started_at",
    "ended_at",
    "hash",
    "method",
    "progress",
    "reason",
)


@dataclass(frozen=True, slots=True)
class Task:
    """What a process is asked, as JSON: the question, and the instance if there is one."""

    asked: str
    instance: str | None


@dataclass(frozen=True, slots=True)
class UnfinishedJob:
    """A job that a former server has left queued or running, see `JobRecords.unfinished`."""

    id: str
    state: JobState
    owner: str
    priority: int
    last_event: int


@dataclass(frozen=True, slots=True)
class JobEnd:
    """How a job has ended.

    Parameters
    ----------
    state : {"done", "failed", "cancelled", "interrupted"}
    reason : str or None
    result : dict or None
        The last checked result; None keeps the one that is stored.
    certificate : str or None
    is_proven : bool
        Whether the result is proven optimal, or that there is no plan: whatever the limits.
    """

    state: JobState
    reason: str | None = None
    result: JsonObject | None = None
    certificate: str | None = None
    is_proven: bool = False


class JobRecords:
    """The tables of jobs; each method is one transaction.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, question: Question, owner: str, now: float) -> str:
        """Store a question as a queued job; return the name of the job."""
        name = uuid.uuid4().hex
        with self._store.transaction() as connection:
            content = None
            if question.instance is not None:
                content = _keep_instance(connection, question.instance, question.hash, now)
            connection.execute(
                sql.insert(_JOBS).values(
                    id=name,
                    kind=question.kind,
                    state="queued",
                    owner=owner,
                    priority=question.priority,
                    created_at=now,
                    hash=question.hash,
                    method=question.method,
                    asked=question.asked,
                    content=content,
                    last_event=1,
                    key=question.key,
                    key_without_limits=question.key_without_limits,
                )
            )
        return name

    def answered(self, question: Question) -> str | None:
        """Return the job that has answered a question, or None."""
        same = (_JOBS.c.answer_key == question.key) | (
            _JOBS.c.optimum_key == question.key_without_limits
        )
        with self._store.transaction() as connection:
            found = sql.select(_JOBS.c.id).where(same).order_by(_JOBS.c.number).limit(1)
            name: str | None = connection.execute(found).scalar_one_or_none()
        return name

    def start(self, job: str, now: float, last_event: int) -> None:
        """Store that a job is running."""
        self._update(job, state="running", started_at=now, last_event=last_event)

    def keep_progress(
        self, job: str, progress: JsonObject, result: JsonObject, last_event: int
    ) -> None:
        """Store the best checked result of a running job."""
        self._update(
            job, progress=json.dumps(progress), result=json.dumps(result), last_event=last_event
        )

    def end(
        self,
        job: str,
        end: JobEnd,
        status: JsonObject,
        events: Sequence[Event],
    ) -> None:
        """Store how a job has ended, with its status and its events."""
        values: dict[str, object] = {
            **{key: status[key] for key in ("state", "reason", "started_at", "ended_at")},
            "certificate": end.certificate,
            "events": json.dumps(events),
            "last_event": events[-1]["id"],
        }
        if status["progress"] is not None:
            values["progress"] = json.dumps(status["progress"])
        if end.result is not None:
            values["result"] = json.dumps(end.result)
        if end.state == "done":
            values["answer_key"] = _JOBS.c.key
            if end.is_proven:
                values["optimum_key"] = _JOBS.c.key_without_limits
        self._update(job, **values)

    def status(self, job: str) -> JsonObject:
        """Return the status of a job.

        Raises
        ------
        NotFoundError
            If there is none of this name.
        """
        return _status_of(self._row(job, *_STATUS))

    def recent(self) -> list[JsonObject]:
        """Return the statuses of the latest jobs, the last one first."""
        columns = [_JOBS.c[name] for name in _STATUS]
        latest = sql.select(*columns).order_by(_JOBS.c.number.desc()).limit(MAX_LISTED)
        with self._store.transaction() as connection:
            rows = connection.execute(latest).mappings().all()
        return [_status_of(dict(row)) for row in rows]

    def unfinished(self) -> list[UnfinishedJob]:
        """Return the jobs that are queued or running, in the order of their arrival."""
        names = ("id", "state", "owner", "priority", "last_event")
        found = sql.select(*(_JOBS.c[name] for name in names)).order_by(_JOBS.c.number)
        with self._store.transaction() as connection:
            rows = connection.execute(found.where(_JOBS.c.state.in_(["queued", "running"])))
            return [UnfinishedJob(*row) for row in rows]

    def task(self, job: str) -> Task:
        """Return what the process of a job is asked."""
        row = self._row(job, "asked", "content")
        instance = None
        if row["content"] is not None:
            instance = self._instance_where(_INSTANCES.c.content == row["content"])
        return Task(row["asked"], instance)

    def instance_of_hash(self, hashed: str) -> object | None:
        """Return the data of the instance of a hash as it was sent last, or None."""
        if _HASH.fullmatch(hashed) is None:  # what databases do with other texts differs
            return None
        text = self._instance_where(_INSTANCES.c.hash == hashed)
        return None if text is None else json.loads(text)

    def result(self, job: str) -> JsonObject | None:
        """Return the last checked result of a job, or None."""
        text = self._row(job, "result")["result"]
        result: JsonObject | None = None if text is None else json.loads(text)
        return result

    def certificate(self, job: str) -> str | None:
        """Return the certificate of a job, or None."""
        certificate: str | None = self._row(job, "certificate")["certificate"]
        return certificate

    def events(self, job: str) -> list[Event]:
        """Return the events of a job that has ended."""
        text = self._row(job, "events")["events"]
        events: list[Event] = [] if text is None else json.loads(text)
        return events

    def _instance_where(self, condition: sql.ColumnElement[bool]) -> str | None:
        found = sql.select(_INSTANCES.c.data).where(condition)
        with self._store.transaction() as connection:
            text: str | None = connection.execute(
                found.order_by(_INSTANCES.c.seen_at.desc()).limit(1)
            ).scalar_one_or_none()
        return text

    def _row(self, job: str, *names: str) -> JsonObject:
        row = None
        if _NAME.fullmatch(job) is not None:
            found = sql.select(*(_JOBS.c[name] for name in names)).where(_JOBS.c.id == job)
            with self._store.transaction() as connection:
                row = connection.execute(found).mappings().one_or_none()
        if row is None:
            raise NotFoundError(f"there is no job {job!r}")
        return dict(row)

    def _update(self, job: str, **values: object) -> None:
        with self._store.transaction() as connection:
            connection.execute(sql.update(_JOBS).where(_JOBS.c.id == job).values(**values))


def _keep_instance(connection: sql.Connection, data: str, hashed: str | None, now: float) -> str:
    """Store an instance, or that it was seen again; return the key of its content."""
    content = hashlib.sha256(data.encode()).hexdigest()
    seen = sql.update(_INSTANCES).where(_INSTANCES.c.content == content).values(seen_at=now)
    if connection.execute(seen).rowcount == 0:
        connection.execute(
            sql.insert(_INSTANCES).values(content=content, hash=hashed, seen_at=now, data=data)
        )
    return content


def _status_of(row: JsonObject) -> JsonObject:
    progress = row["progress"]
    return row | {"progress": None if progress is None else json.loads(progress)}
