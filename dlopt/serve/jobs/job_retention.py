"""Which jobs are removed, and when: the store would else grow for ever."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import sqlalchemy as sql

from dlopt.serve.jobs.job_records import INSTANCES, JOBS
from dlopt.serve.settings import ServiceSettings
from dlopt.serve.store import Store

MIN_KEPT_S = 600.0
"""Seconds for which every job is kept after its end, so that its result can be fetched."""
MAX_REMOVED = 500
"""Jobs that are removed in one transaction: others that write wait for less than a second."""
_LARGE_COLUMNS = (JOBS.c.asked, JOBS.c.result, JOBS.c.certificate, JOBS.c.events)

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class JobRetention:
    """Removes jobs that have ended, the oldest first, and instances that no job is about.

    Parameters
    ----------
    store : Store
    settings : ServiceSettings
        With the age, the number and the size up to which jobs are kept.
    """

    store: Store
    settings: ServiceSettings

    def expired(self, now: float) -> list[int]:
        """Return the numbers of the jobs to be removed; linear in the size of the store.

        The latest jobs are kept. An instance counts with the latest job about it.

        Raises
        ------
        UnavailableError
            If the store cannot be read.
        """
        size = sum((_characters(column) for column in _LARGE_COLUMNS), sql.literal(0))
        columns = (JOBS.c.number, JOBS.c.ended_at, JOBS.c.content, size.label("size"))
        jobs = sql.select(*columns).order_by(JOBS.c.number.desc())
        instances = sql.select(INSTANCES.c.content, _characters(INSTANCES.c.data).label("size"))
        with self.store.transaction() as connection:
            instance_sizes = {row.content: row.size for row in connection.execute(instances)}
            rows = connection.execute(jobs).all()
        found: list[int] = []
        total = 0
        for count, row in enumerate(rows, 1):
            total += row.size + instance_sizes.pop(row.content, 0)
            is_over = count > self.settings.max_stored_jobs or total > self.settings.max_job_bytes
            max_age_s = MIN_KEPT_S if is_over else max(MIN_KEPT_S, self.settings.job_retention_s)
            if row.ended_at is not None and row.ended_at <= now - max_age_s:
                found.append(row.number)
        return found

    def remove(self, numbers: list[int]) -> None:
        """Remove jobs, and the instances that no other job is about.

        Raises
        ------
        UnavailableError
            If the store cannot be written.
        """
        used = sql.select(JOBS.c.content).where(JOBS.c.content.is_not(None))
        with self.store.transaction() as connection:
            connection.execute(sql.delete(JOBS).where(JOBS.c.number.in_(numbers)))
            connection.execute(sql.delete(INSTANCES).where(INSTANCES.c.content.not_in(used)))
        _LOG.info("removed %d old jobs", len(numbers))


def _characters(column: sql.ColumnElement[str]) -> sql.ColumnElement[int]:
    return sql.func.coalesce(sql.func.length(column), 0)
