"""What jobs are asked, as it is stored, and the keys by which the same answer is found again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from dlopt import arithmetic, io
from dlopt.method_run import GRACE_S, GRACE_SHARE
from dlopt.problems.validated_record import HEADER_FIELDS, Header
from dlopt.serve.answers import JsonObject
from dlopt.version import __version__


@dataclass(frozen=True, slots=True)
class JobRequest:
    """A request without faults, as it is stored and handed to a process.

    Parameters
    ----------
    kind : str
    method : str or None
        None of a comparison and of a check.
    priority : int
    asked : str
        JSON of all that is asked, but the instance.
    instance : str or None
        JSON of the instance; None of a search, which has none.
    hash : str or None
        `dlopt.io.instance_hash` of the instance.
    key : str
        Equal of requests that have the same answer.
    key_without_limits : str
        Equal of requests that have the same answer if that is proven optimal.
    """

    kind: str
    method: str | None
    priority: int
    asked: str
    instance: str | None
    hash: str | None
    key: str
    key_without_limits: str


def job_request_of(
    kind: str, priority: int, asked: JsonObject, instance: Header | None
) -> JobRequest:
    """Return the request that is asked about an instance.

    A key is made of the instance as it is written: an instance in floats and the same one in
    fractions have one hash, but are answered in floats and in fractions.
    """
    data = None if instance is None else io.instance_to_data(instance)
    content = data and {key: value for key, value in data.items() if key not in HEADER_FIELDS}
    same = {"content": content, "dlopt": __version__} | asked
    without_limits = {key: value for key, value in same.items() if key != "limits"}
    return JobRequest(
        kind,
        asked.get("method"),
        priority,
        to_json_text(asked),
        None if data is None else to_json_text(data),
        None if instance is None else io.instance_hash(instance),
        _digest(same),
        _digest(without_limits),
    )


def time_limit_s(asked: JsonObject) -> float | None:
    """Return the seconds that a request may take in all, None if it has no limit of its own.

    A comparison has its limit, and what a method may exceed it by, for each method. A search for a
    counterexample makes smaller what it has found, after its time; see `dlopt.verify.falsify`.
    """
    from dlopt.verify.falsification import MIN_SHRINKING_S, SHRINKING_TIME_RATIO

    if "limits" not in asked:
        return None
    time_s: float = asked["limits"]["time_s"]
    if asked["kind"] == "falsify":
        return time_s + max(MIN_SHRINKING_S, SHRINKING_TIME_RATIO * time_s)
    if asked["kind"] == "compare":
        runs: int = asked["runs"]
        return runs * (time_s + max(GRACE_S, GRACE_SHARE * time_s))
    return time_s


def to_json_text(data: object) -> str:
    """Return JSON in one line; fractions are texts, as everywhere."""
    return json.dumps(data, default=arithmetic.to_json, sort_keys=True, allow_nan=False)


def _digest(data: object) -> str:
    return hashlib.sha256(to_json_text(data).encode()).hexdigest()
