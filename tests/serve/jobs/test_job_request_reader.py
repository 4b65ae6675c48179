"""Requests: all faults at once, and which of them are the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dlopt import io, solve
from dlopt.child_processes import processors
from dlopt.errors import InvalidInstanceError
from dlopt.serve.jobs.job_request_reader import read_job_request
from dlopt.serve.jobs.stored_requests import JobRequest, time_limit_s
from dlopt.serve.settings import ServiceSettings
from tests.serve.jobs.services import Data, shipped, three_nodes

SETTINGS = ServiceSettings(store="", job_time_s=600)
NODES = shipped("iit/three-nodes")
HASH = io.instance_hash(io.instance_from_data(NODES))


def read(request: Any) -> JobRequest:
    return read_job_request(request, SETTINGS, {HASH: NODES}.get)


def faults(request: Any) -> dict[str, str]:
    with pytest.raises(InvalidInstanceError) as refused:
        read(request)
    return {fault.path: fault.rule for fault in refused.value.faults}


def test_all_faults_are_found_at_once() -> None:
    found = faults(
        {
            "instance": NODES | {"load": -1, "weight": 2},
            "method": "opt",
            "objective": 7,
            "limits": {"time_s": 601, "threads": 10_000},
            "seed": "one",
            "priority": 2_000,
            "metod": "opr",
        }
    )
    assert set(found) == {
        "instance.load",
        "instance.weight",
        "method",
        "objective",
        "limits.time_s",
        "limits.threads",
        "seed",
        "priority",
        "metod",
    }
    assert "did you mean opr?" in found["method"]
    assert found["limits.time_s"] == "must be at most 600"
    assert found["limits.threads"].startswith(f"must be at most {processors()}")


@pytest.mark.parametrize(
    ("data", "path", "rule"),
    [
        ([], "", "must be a JSON object"),
        ({"kind": "guess"}, "kind", "must be one of solve, certificate, compare, check, falsify"),
        ({"kind": ["solve"]}, "kind", "must be one of"),
        ({}, "instance", "is missing"),
        ({"instance": NODES, "hash": HASH}, "instance", "must not be given together"),
        ({"instance": "three-nodes"}, "instance", "must be a JSON object"),
        ({"hash": "0" * 64}, "hash", "must be the hash of an instance that was sent before"),
        ({"hash": [HASH]}, "hash", "must be a text"),
        ({"hash": HASH, "method": None}, "method", "must be a text"),
        ({"hash": HASH, "objective": "makespan"}, "objective", "known: completion, nodes"),
        ({"hash": HASH, "objective": "nodes"}, "objective", "needs absolute_deadline"),
        ({"hash": HASH, "options": []}, "options", "must be an object"),
        ({"hash": HASH, "options": {"solver": 3}}, "options.solver", "must be an option"),
        ({"hash": HASH, "options": {"fast": 1}}, "options.fast", "known: formulation"),
        ({"hash": HASH, "limits": 5}, "limits", "must be an object"),
        ({"hash": HASH, "limits": {"memory": 5}}, "limits.memory", "is not a field (known: time_s"),
        ({"hash": HASH, "limits": {"work": 0}}, "limits.work", "must be at least 1"),
        ({"hash": HASH, "limits": {"gap": True}}, "limits.gap", "must be a finite number"),
        ({"hash": HASH, "seed": True}, "seed", "must be an integer"),
        ({"kind": "check", "hash": HASH}, "solution", "is missing"),
        ({"kind": "check", "hash": HASH, "solution": 3}, "solution", "must be"),
        ({"kind": "check", "hash": HASH, "solution": {"chunks": 5}}, "solution.chunks", "must be"),
        (
            {"kind": "compare", "hash": HASH, "methods": []},
            "methods",
            "must be a list of at least 1",
        ),
        ({"kind": "compare", "hash": HASH, "methods": ["x"]}, "methods[0]", "no method 'x'"),
        ({"kind": "compare", "hash": HASH, "methods": [3]}, "methods[0]", "must be a text"),
        ({"kind": "compare", "hash": HASH, "objective": "x"}, "objective", "no objective 'x'"),
        (
            {"kind": "compare", "hash": HASH, "methods": ["opr", "epr"], "limits": {"time_s": 301}},
            "limits.time_s",
            "must be at most 300 for each of 2 methods",
        ),
        ({"kind": "compare", "hash": HASH, "method": "opr"}, "method", "is not a field"),
        ({"hash": HASH, "certified": "yes"}, "certified", "must be true or false"),
        (
            {"hash": HASH, "kind": "check", "solution": {"chunks": []}, "certified": True},
            "certified",
            "is not a field",
        ),
        ({"kind": "compare", "hash": HASH, "options": []}, "options", "must be an object"),
        (
            {"kind": "compare", "hash": HASH, "options": {"exact.installments": "two"}},
            "options.exact.installments",
            "must be an option of the methods: option installments takes a value of type int",
        ),
        (
            {"kind": "compare", "hash": HASH, "methods": ["opr"], "options": {"installments": 2}},
            "options.installments",
            "none of the methods that are run has the option 'installments'; exact has it",
        ),
        ({"kind": "falsify", "problem": "tsp"}, "problem", "must be one of iit, admission"),
        ({"kind": "falsify", "problem": "iit", "instance": NODES}, "instance", "is not a field"),
        ({"kind": "falsify", "problem": "iit", "target": "x"}, "target", "claim, gap"),
        ({"kind": "falsify", "problem": "iit", "claim": "x"}, "claim", "must be a claim"),
        ({"kind": "falsify", "problem": "iit", "claim": 3}, "claim", "must be a text"),
        (
            {"kind": "falsify", "problem": "iit", "claim": "sound", "target": "gap"},
            "claim",
            "must be absent",
        ),
        (
            {"kind": "falsify", "problem": "iit", "method": "opr", "objective": "makespan"},
            "objective",
            "must be an objective of the method: known: completion",
        ),
        (
            {"kind": "falsify", "problem": "iit", "method": "/etc/passwd.py:main"},
            "method",
            "must be a registered method",
        ),
    ],
)
def test_each_rule(data: Any, path: str, rule: str) -> None:
    found = faults(data)
    assert list(found) == [path]
    assert rule in found[path]


def test_a_method_is_refused_even_if_the_instance_has_faults() -> None:
    found = faults({"instance": {"problem": "dag", "version": 1}, "method": "opr"})
    assert "dag has no method 'opr'" in found["method"]


def test_the_same_request_has_the_same_key() -> None:
    plain = read(three_nodes("exact"))
    assert plain.hash == HASH and plain.kind == "solve" and plain.method == "exact"
    renamed = NODES | {"name": "another", "origin": "elsewhere"}
    for same in (
        {"hash": HASH},
        {"instance": renamed, "seed": 0, "objective": "completion", "kind": "solve"},
        {"hash": HASH, "priority": 5, "limits": {"time_s": 600, "gap": 0}, "options": {}},
    ):
        assert read(same).key == plain.key
    for other in (
        {"hash": HASH, "seed": 1},
        {"hash": HASH, "method": "opr"},
        {"hash": HASH, "kind": "certificate"},
        {"hash": HASH, "options": {"installments": 2}},
        {"instance": NODES | {"load": 3.0}},  # it is answered in floats
    ):
        assert read(other).key_without_limits != plain.key_without_limits
    limited = read({"hash": HASH, "limits": {"time_s": 5}})
    assert limited.key != plain.key
    assert limited.key_without_limits == plain.key_without_limits


def test_a_result_or_a_plan_can_be_checked() -> None:
    instance = io.instance_from_data(NODES)
    result = io.result_to_data(instance, solve(instance, "opr"))
    for solution in (result, result["solution"]):
        assert read({"kind": "check", "hash": HASH, "solution": solution}).method is None


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        ({"kind": "solve", "limits": {"time_s": 100}}, 100),
        ({"kind": "compare", "runs": 3, "limits": {"time_s": 100}}, 315),
        ({"kind": "compare", "runs": 2, "limits": {"time_s": 1}}, 3),
        ({"kind": "falsify", "limits": {"time_s": 10}}, 25),
        ({"kind": "falsify", "limits": {"time_s": 100}}, 150),
        ({"kind": "check"}, None),
    ],
)
def test_how_long_a_request_may_take(asked: Data, seconds: float | None) -> None:
    assert time_limit_s(asked) == seconds


def test_certificates_and_options_are_part_of_the_key() -> None:
    plain, asked = read({"hash": HASH}), read({"hash": HASH, "certified": True})
    assert read({"hash": HASH, "certified": False}) == plain
    assert plain.key != asked.key and plain.key_without_limits != asked.key_without_limits
    assert json.loads(asked.asked)["certified"] is True
    compared = {"kind": "compare", "hash": HASH}
    given = {"exact.installments": 2, "assignment": "all"}
    assert read(compared | {"options": {}}) == read(compared) != read(compared | {"options": given})
    request = read(compared | {"options": given, "certified": True})
    assert json.loads(request.asked)["options"] == given
    assert json.loads(request.asked)["certified"] is True
