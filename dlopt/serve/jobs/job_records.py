"""The jobs of a service as they are stored, with the instances that they are about."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from functools import partial
from typing import ParamSpec, TypeVar

import sqlalchemy as sql

from dlopt.serve.answers import JsonObject
from dlopt.serve.errors import NotFoundError, UnknownOutcomeError
from dlopt.serve.jobs.event_history import Event
from dlopt.serve.jobs.stored_requests import JobRequest
from dlopt.serve.store import METADATA, Store
from dlopt.service_api.job_records import JobState, JobStatus

P = ParamSpec("P")
T = TypeVar("T")

MAX_LISTED = 1_000
"""Jobs in a list, the latest ones; chosen by hand."""

INSTANCES = sql.Table(
    "dlopt_job_instances",
    METADATA,
    sql.Column("content", sql.String(64), primary_key=True),
    sql.Column("hash", sql.String(64), index=True),
    sql.Column("seen_at", sql.Float),
    sql.Column("data", sql.Text),
)
JOBS = sql.Table(
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
"""The tables of jobs and of their instances: each job names its instance by ``content``."""
_NAME = re.compile("[0-9a-f]{32}")
_HASH = re.compile("[0-9a-f]{64}")
_STATUS = tuple(field.name for field in fields(JobStatus))


@dataclass(frozen=True, slots=True)
class JobInput:
    """What a process is asked, as JSON: the request, and the instance if there is one."""

    asked: str
    instance: str | None


@dataclass(frozen=True, slots=True)
class UnfinishedJob:
    """A job that a former server has left queued or running, see `JobRecords.unfinished`.

    Parameters
    ----------
    id, owner : str
    priority : int
    last_event : Event
        The last one that a reader of the former server may know.
    """

    id: str
    owner: str
    priority: int
    last_event: Event


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
    """The tables of jobs; methods use short transactions, and writers take turns.

    Parameters
    ----------
    store : Store
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        # One thread writes all: in order, and never in two transactions at once.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="dlopt-jobs")

    async def in_turn(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the answer of some work on the store, done in its turn."""
        call = partial(work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._writer, call)

    def close(self) -> None:
        """End the thread that writes, once it has done its work."""
        self._writer.shutdown()

    def add(self, job: str, request: JobRequest, owner: str, now: float) -> JsonObject:
        """Store a request as a queued job of a new name; return the status of the job.

        Raises
        ------
        UnknownOutcomeError
            If it cannot be known now whether it is stored: `added` tells later.
        """
        row: JsonObject = {"id": job, "state": "queued", "owner": owner, "created_at": now}
        row |= asdict(request) | {"last_event": 1}
        instance = row.pop("instance")
        try:
            with self._store.transaction() as connection:
                if instance is not None:
                    row["content"] = _keep_instance(connection, instance, request.hash, now)
                connection.execute(sql.insert(JOBS).values(**row))
        except UnknownOutcomeError as error:
            self._store.ensure_written(JOBS, partial(_has_job, job), error)
        return _status_of({name: row.get(name) for name in _STATUS})

    def added(self, job: str) -> JsonObject | None:
        """Return the status of a job that `add` may have stored; None if it never will be stored.

        Raises
        ------
        UnavailableError
            If it cannot be known now.
        """
        with self._store.reading() as connection:  # which waits for nothing
            is_added = _has_job(job, connection)
        if not is_added:
            with self._store.settled(JOBS) as connection:
                is_added = _has_job(job, connection)
        return self.status(job) if is_added else None

    def answered(self, request: JobRequest) -> JsonObject | None:
        """Return the status of the job that has answered a request, or None."""
        same = (JOBS.c.answer_key == request.key) | (
            JOBS.c.optimum_key == request.key_without_limits
        )
        with self._store.reading() as connection:
            found = sql.select(JOBS.c.id).where(same).order_by(JOBS.c.number).limit(1)
            name: str | None = connection.execute(found).scalar_one_or_none()
        return None if name is None else self.status(name)

    def start(self, job: str, now: float, last_event: int) -> JsonObject:
        """Store that a job is running; return its status."""
        self._update(job, state="running", started_at=now, last_event=last_event)
        return self.status(job)

    def keep_progress(
        self, job: str, progress: JsonObject, result: JsonObject, last_event: int
    ) -> None:
        """Store the best checked result of a running job."""
        self._update(
            job, progress=json.dumps(progress), result=json.dumps(result), last_event=last_event
        )

    def end(self, job: str, end: JobEnd, changes: JsonObject, events: Sequence[Event]) -> Event:
        """Store how a job has ended, with its events; return the last one.

        Parameters
        ----------
        job : str
        end : JobEnd
        changes : dict
            What is new in its status.
        events : sequence of Event
            All so far.
        """
        status = self.status(job) | changes
        ended: Event = {"id": events[-1]["id"] + 1, "event": "ended", "data": status}
        values: dict[str, object] = {
            **changes,
            "certificate": end.certificate,
            "events": json.dumps([*events, ended]),
            "last_event": ended["id"],
        }
        if "progress" in changes:
            values["progress"] = json.dumps(changes["progress"])
        if end.result is not None:
            values["result"] = json.dumps(end.result)
        if end.state == "done":
            values["answer_key"] = JOBS.c.key
            if end.is_proven:
                values["optimum_key"] = JOBS.c.key_without_limits
        self._update(job, **values)
        return ended

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
        columns = [JOBS.c[name] for name in _STATUS]
        latest = sql.select(*columns).order_by(JOBS.c.number.desc()).limit(MAX_LISTED)
        with self._store.reading() as connection:
            rows = connection.execute(latest).mappings().all()
        return [_status_of(dict(row)) for row in rows]

    def unfinished(self) -> list[UnfinishedJob]:
        """Return the jobs that are queued or running, in the order of their arrival."""
        names = (*_STATUS, "owner", "priority", "last_event")
        found = sql.select(*(JOBS.c[name] for name in names)).order_by(JOBS.c.number)
        with self._store.reading() as connection:
            rows = connection.execute(found.where(JOBS.c.state.in_(["queued", "running"])))
            return [_unfinished_job(dict(row)) for row in rows.mappings()]

    def input(self, job: str) -> JobInput:
        """Return what the process of a job is asked."""
        row = self._row(job, "asked", "content")
        instance = None
        if row["content"] is not None:
            instance = self._instance_where(INSTANCES.c.content == row["content"])
        return JobInput(row["asked"], instance)

    def instance_of_hash(self, hashed: str) -> object | None:
        """Return the data of the instance of a hash as it was sent last, or None."""
        if _HASH.fullmatch(hashed) is None:  # what databases do with other texts differs
            return None
        text = self._instance_where(INSTANCES.c.hash == hashed)
        return None if text is None else json.loads(text)

    def result(self, job: str) -> JsonObject | None:
        """Return the last checked result of a job, or None."""
        return _read_json(self._row(job, "result")["result"])

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
        found = sql.select(INSTANCES.c.data).where(condition)
        with self._store.reading() as connection:
            text: str | None = connection.execute(
                found.order_by(INSTANCES.c.seen_at.desc()).limit(1)
            ).scalar_one_or_none()
        return text

    def _row(self, job: str, *names: str) -> JsonObject:
        row = None
        if _NAME.fullmatch(job) is not None:
            found = sql.select(*(JOBS.c[name] for name in names)).where(JOBS.c.id == job)
            with self._store.reading() as connection:
                row = connection.execute(found).mappings().one_or_none()
        if row is None:
            raise NotFoundError(f"there is no job {job!r}")
        return dict(row)

    def _update(self, job: str, **values: object) -> None:
        with self._store.transaction() as connection:
            connection.execute(sql.update(JOBS).where(JOBS.c.id == job).values(**values))


def _has_job(job: str, connection: sql.Connection) -> bool:
    named = sql.select(JOBS.c.id).where(JOBS.c.id == job)
    return connection.execute(named).one_or_none() is not None


def _keep_instance(connection: sql.Connection, data: str, hashed: str | None, now: float) -> str:
    """Store an instance, or that it was seen again; return the key of its content."""
    content = hashlib.sha256(data.encode()).hexdigest()
    seen = sql.update(INSTANCES).where(INSTANCES.c.content == content).values(seen_at=now)
    if connection.execute(seen).rowcount == 0:
        connection.execute(
            sql.insert(INSTANCES).values(content=content, hash=hashed, seen_at=now, data=data)
        )
    return content


def _status_of(row: JsonObject) -> JsonObject:
    return row | {"progress": _read_json(row["progress"])}


def _read_json(text: str | None) -> JsonObject | None:
    data: JsonObject | None = None if text is None else json.loads(text)
    return data


def _unfinished_job(row: JsonObject) -> UnfinishedJob:
    status = _status_of({name: row[name] for name in _STATUS})
    event: Event = {"id": row["last_event"], "event": "queued", "data": status}
    if status["state"] == "running":
        event["event"] = "started"
        if status["progress"] is not None:
            event |= {"event": "progress", "data": status["progress"]}
    return UnfinishedJob(row["id"], row["owner"], row["priority"], event)
