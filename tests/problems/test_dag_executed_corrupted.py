"""What cannot have happened on a grid: the smallest wrong traces, each with its violation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dlopt.problems.dag.trace import Outage, Run, Trace
from dlopt.problems.dag.trace_checker import EXECUTED_KINDS
from tests.problems.executed_grids import (
    AGAIN,
    DOWN,
    FIRST,
    GOOD,
    HOME,
    LATER,
    LOST,
    ONE,
    SECOND,
    WAITED,
    F,
    failed,
    first,
    kinds,
    second,
    with_course,
    with_runs,
)
from tests.problems.test_dag_executed_ends import ENDS

WRONG: dict[str, tuple[set[str], Trace]] = {
    "graph of a course": ({"unknown-graph", "graph-record-missing"}, with_course(graph=1)),
    "graph of a run": ({"unknown-graph"}, with_runs(FIRST, SECOND, replace(FIRST, graph=4))),
    "task": ({"unknown-task"}, with_runs(FIRST, SECOND, replace(FIRST, task=2))),
    "machine": ({"unknown-machine"}, with_runs(FIRST, SECOND, replace(FIRST, machine=3))),
    "lan": ({"unknown-lan", "graph-record-missing"}, with_course(lan=2)),
    "no course": ({"graph-record-missing"}, replace(GOOD, courses=())),
    "two courses": ({"duplicate-graph-record"}, replace(GOOD, courses=(HOME, HOME))),
    "never home": ({"incomplete-without-reason", "graph-not-returned"}, with_course(returned=None)),
    "decided early": ({"decided-before-arrival"}, with_course(decided=9)),
    "received early": ({"received-before-input"}, with_course(received=9)),
    "received undecided": ({"received-before-input"}, with_course(decided=None, received=9)),
    "never received": ({"sent-before-ready"}, with_course(decided=None, received=None)),
    "home early": ({"returned-before-results"}, with_course(returned=26)),
    "dropped": (
        {"task-missing", "returned-before-results"},
        with_runs(FIRST, trace=with_course(returned=9)),
    ),
    "dropped first": ({"task-missing", "sent-before-ready"}, with_runs(SECOND)),
    "done twice": (
        {"completed-twice"},
        with_runs(FIRST, replace(FIRST, sent=16, start=17, end=19, known=21, freed=21), SECOND),
    ),
    "where it cannot run": (
        {"ineligible-machine"},
        second(machine=1, start=19, end=21, known=24, freed=24),
    ),
    "in the other LAN": (
        {"wrong-lan"},
        with_runs(
            FIRST,
            replace(SECOND, machine=2, start=25, end=28, known=40, freed=40),
            trace=with_course(returned=40),
        ),
    ),
    "sent before received": ({"sent-before-ready"}, first(sent=F(21, 2))),
    "sent before a result": ({"sent-before-ready"}, second(sent=15)),
    "starts before data": ({"starts-before-data"}, second(start=19, end=22)),
    "starts before input": ({"starts-before-data"}, first(start=11, end=13)),
    "too short": ({"duration"}, second(end=22)),
    "too long": ({"duration"}, first(end=F(29, 2), known=F(33, 2), freed=F(33, 2))),
    "known early": ({"result-known-before-transfer"}, first(known=15, freed=15)),
    "sent while held": (
        {"sent-twice"},
        failed(runs=(replace(LOST, freed=16), AGAIN, LATER), presumed=()),
    ),
    "sent though never freed": (
        {"sent-twice"},
        failed(runs=(Run(0, 0, 1, 11, "unfinished"), AGAIN, LATER), presumed=()),
    ),
    "starts while down": ({"starts-during-failure"}, failed(down=(DOWN, Outage(1, 16, 17)))),
    "survives": ({"continues-through-failure"}, failed(down=(DOWN, Outage(1, 17)))),
    "down for ever": (
        {"starts-during-failure", "left-queue-without-cause"},
        failed(down=(Outage(1, 13),)),
    ),
    "lost without": ({"lost-without-failure", "left-queue-without-cause"}, failed(down=())),
    "lost before it failed": (
        {"lost-without-failure", "continues-through-failure"},
        failed(down=(Outage(1, F(25, 2), 15),)),
    ),
    "waits and is lost without": (
        {"lost-without-failure", "left-queue-without-cause"},
        failed(runs=(replace(LOST, start=None, end=None), AGAIN, LATER), down=(Outage(1, 5, 10),)),
    ),
    "presumed without cause": ({"suspected-without-cause"}, failed(presumed=(Outage(0, 5, 6),))),
    "sent to the dead": (
        {"sent-to-suspected-machine", "starts-on-suspected-machine", "suspected-without-cause"},
        failed(
            runs=(
                LOST,
                replace(
                    AGAIN,
                    sent=F(31, 2),
                    start=F(33, 2),
                    end=F(37, 2),
                    known=F(41, 2),
                    freed=F(41, 2),
                ),
                replace(
                    LATER,
                    sent=F(41, 2),
                    start=F(47, 2),
                    end=F(53, 2),
                    known=F(61, 2),
                    freed=F(61, 2),
                ),
            ),
            courses=(replace(HOME, returned=31),),
            presumed=(Outage(1, 15, 18),),
        ),
    ),
    "for ever": (
        {"starts-on-suspected-machine", "suspected-without-cause"},
        failed(presumed=(Outage(1, 15),)),
    ),
    "waits in a failure": (
        {"continues-through-failure"},
        replace(WAITED, down=(Outage(1, F(25, 2), 13),)),
    ),
    "comes in a failure": (
        {"continues-through-failure"},
        replace(WAITED, down=(Outage(1, 11, 13),)),
    ),
    "not pulled back": (
        {"left-on-suspected-machine", "suspected-without-cause"},
        failed(presumed=(Outage(1, 17, 17),)),
    ),
    "never pulled back": (
        {
            "left-on-suspected-machine",
            "suspected-without-cause",
            "due-event-missing",
            "graph-abandoned-without-cause",
        },
        with_runs(
            Run(0, 0, 1, 11, "unfinished", 12),
            trace=Trace(
                (replace(HOME, returned=None, reason="stopped"),), (), (), (Outage(1, 15),)
            ),
        ),
    ),
    "sent though done": (
        {"sent-after-result"},
        with_runs(FIRST, Run(0, 0, 1, 19, "ignored", 20, 22, 24, 24), SECOND),
    ),
    "ignored though first": (
        {"discarded-without-other-result"},
        with_runs(
            replace(FIRST, fate="ignored"),
            Run(0, 0, 1, 16, "done", 17, 19, 21, 21),
            replace(SECOND, sent=21, start=24, end=27, known=31, freed=31),
            trace=with_course(returned=31),
        ),
    ),
    "withdrawn before the other was done": (
        {"discarded-without-other-result"},
        with_runs(
            Run(0, 0, 1, 11, "withdrawn", 12, 13, None, 14),
            Run(0, 0, 1, 16, "done", 17, 19, 21, 21),
            replace(SECOND, sent=21, start=24, end=27, known=31, freed=31),
            trace=with_course(returned=31),
        ),
    ),
    "pulled back without cause": (
        {"pulled-back-without-cause"},
        failed(runs=(Run(0, 0, 1, 11, "pulled-back", freed=14), AGAIN, LATER), presumed=()),
    ),
    "pulled back too late": (
        {"pulled-back-without-cause", "suspected-without-cause", "left-on-suspected-machine"},
        failed(
            runs=(Run(0, 0, 1, 11, "pulled-back", freed=14), AGAIN, LATER),
            presumed=(Outage(1, 12, 13),),
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str) -> None:
    wanted, trace = WRONG[name]
    assert kinds(ONE, trace) == wanted


INCOHERENT: list[dict[str, Any]] = [
    {"known": None},
    {"freed": None},
    {"start": None},
    {"end": None},
    {"sent": 13},
    {"freed": 10},
    {"fate": "lost"},
    {"fate": "pulled-back"},
    {"fate": "withdrawn"},
    {"fate": "unfinished"},
    {"fate": "ignored", "known": None},
    {"fate": "lost", "end": None, "known": None},
    {"fate": "unfinished", "start": None, "known": None},
]


@pytest.mark.parametrize("changes", INCOHERENT, ids=str)
def test_a_run_has_the_instants_of_its_fate(changes: dict[str, Any]) -> None:
    assert "inconsistent-run" in kinds(ONE, first(**changes))


def test_every_kind_is_shown() -> None:
    shown = set().union(*(wanted for wanted, _ in WRONG.values()))
    elsewhere = {
        "inconsistent-run",
        "queue-overflow",
        "machine-overlap",
        "not-first-in-first-out",
        "failure-missing",
        "earlier-than-possible",
        *ENDS,
    }
    assert shown | elsewhere == set(EXECUTED_KINDS)
