"""What a broker accepts, when, where, and why not."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from dlopt.errors import InvalidInstanceError, NotApplicableError
from dlopt.problems.cluster import Cluster
from dlopt.problems.multistage import Reservation
from dlopt.serve.broker import (
    Alternative,
    Broker,
    JointPart,
    JointRequest,
    UnplacedReservation,
)
from dlopt.serve.errors import ConflictingStateError, NotFoundError
from dlopt.serve.store import Store
from tests.serve.broker.domains import Grid, broker, wanting


def test_all_parts_in_one_window(store: Store) -> None:
    grid = Grid("north", "south")
    one = broker(grid, store)
    decision = one.reserve(wanting("south", "north"))
    assert decision.accepted and (decision.start, decision.end) == (10, 20)
    north, south = decision.promises
    assert (north.domain, south.domain) == ("north", "south")
    assert re.fullmatch(r"r/[0-9a-f]{16}/1", north.id)
    assert south.id == north.id.removesuffix("1") + "0"
    assert grid.confirmed() == ["north", "south"]
    grid.assert_nothing_is_held()


def test_the_earliest_start_that_all_domains_have(store: Store) -> None:
    grid = Grid("a", "b", "c")
    grid.busy("a", 0, 13)
    grid.busy("a", 24, 31)
    grid.busy("b", 15, 40)
    grid.busy("c", 0, 12, 50)
    grid.busy("c", 55, 60)
    one = broker(grid, store)
    decision = one.reserve(wanting("a", "b", "c"))
    assert (decision.start, decision.end) == (40, 50)


def test_fractions_stay_exact(store: Store) -> None:
    grid = Grid("a", "b")
    grid.busy("a", 0, Fraction(43, 3))
    one = broker(grid, store)
    decision = one.reserve(wanting("a", "b"))
    assert one.reserve(wanting("a", "b")) == decision
    assert (decision.start, decision.end) == (Fraction(43, 3), Fraction(73, 3))


def test_no_start_until_the_latest(store: Store) -> None:
    grid = Grid("north", "south")
    grid.busy("south", 0, 30)
    one = broker(grid, store)
    decision = one.reserve(wanting("north", "south", latest=29))
    assert not decision.accepted
    assert "south: " in str(decision.reason) and "30" in str(decision.reason)
    assert "north: " not in str(decision.reason)
    assert one.reserve(wanting("north", "south", latest=29)) == decision
    assert one.reserve(wanting("north", "south", identity="s", latest=30)).start == 30
    assert not one.reserve(wanting("north", "south", identity="t", latest=None)).accepted


def test_what_no_domain_ever_has(store: Store) -> None:
    grid = Grid("north", "south")
    one = broker(grid, store)
    decision = one.reserve(wanting("north", "south", cpu=101))
    assert not decision.accepted and "101" in str(decision.reason)
    assert grid.confirmed() == []
    grid.assert_nothing_is_held()


def test_alternatives_in_their_order(store: Store) -> None:
    grid = Grid("a", "b", "c")
    one = broker(grid, store)
    first = one.reserve(wanting(("b", "a"), "c"))
    assert [promise.domain for promise in first.promises] == ["b", "c"]
    again = one.reserve(wanting(("b", "a"), identity="s"))
    assert [promise.domain for promise in again.promises] == ["a"] and again.start == 10
    later = one.reserve(wanting(("b", "a"), identity="t"))
    assert later.start == 20


def test_every_part_at_another_domain(store: Store) -> None:
    grid = Grid("a", "b")
    one = broker(grid, store)
    both = one.reserve(wanting(("a", "b"), ("a",), identity="q"))
    assert [promise.domain for promise in both.promises] == ["a", "b"]
    assert re.fullmatch(r"q/[0-9a-f]{16}/0", both.promises[1].id)
    never = one.reserve(wanting("a", "a"))
    assert not never.accepted and "each part needs a domain of its own" in str(never.reason)


def test_a_domain_that_is_not_reached_or_not_known(store: Store) -> None:
    grid = Grid("a", "b")
    grid.unreachable = {"b"}
    one = broker(grid, store)
    assert "there is no connection" in str(one.reserve(wanting("a", "b")).reason)
    assert "no domain z" in str(one.reserve(wanting("a", "z", identity="z")).reason)
    assert one.reserve(wanting(("b", "z", "a"), identity="alternatives")).accepted


def test_others_take_in_between_what_was_free(store: Store) -> None:
    grid = Grid("north", "south")
    ask, taken = grid.domains["south"].ask, []

    def asked(submission):  # type: ignore[no-untyped-def]
        answer = ask(submission)
        if not taken:
            taken.append(grid.busy("south", 10, 15))
        return answer

    grid.domains["south"].ask = asked  # type: ignore[method-assign]
    one = broker(grid, store)
    decision = one.reserve(wanting("north", "south"))
    assert decision.start == 15
    assert grid.confirmed() == ["north", "south"]
    grid.assert_nothing_is_held()


def test_two_brokers_want_the_last(store: Store, tmp_path: Path) -> None:
    grid = Grid("north", "south")
    with Store(f"sqlite:///{tmp_path}/other.db") as second_store:
        one, other = broker(grid, store), broker(grid, second_store)
        first = one.reserve(wanting("north", "south", identity="one"))
        second = other.reserve(wanting("south", "north", identity="other"))
    assert (first.start, second.start) == (10, 20)
    grid.assert_nothing_is_oversold()


def test_two_brokers_with_the_same_request_share_no_promises(store: Store, tmp_path: Path) -> None:
    grid = Grid("north", "south")
    with Store(f"sqlite:///{tmp_path}/other.db") as second_store:
        one, other = broker(grid, store), broker(grid, second_store)
        first, second = (each.reserve(wanting("north", "south")) for each in (one, other))
        assert (first.start, second.start) == (10, 20)
        assert not other.cancel("r").accepted
    assert grid.confirmed() == ["north", "south"]
    grid.assert_nothing_is_oversold()


def test_a_request_is_cancelled(store: Store) -> None:
    grid = Grid("north", "south")
    one = broker(grid, store)
    assert one.reserve(wanting("north", "south")).accepted
    decision = one.cancel("r")
    assert not decision.accepted and decision.reason == "it was cancelled"
    assert one.cancel("r") == decision == one.reserve(wanting("north", "south"))
    with pytest.raises(NotFoundError):
        one.cancel("s")
    assert grid.confirmed() == []


def test_another_content_under_the_same_identity(store: Store) -> None:
    grid = Grid("north", "south")
    one = broker(grid, store)
    one.reserve(wanting("north"))
    with pytest.raises(ConflictingStateError):
        one.reserve(wanting("south"))


def test_nodes_and_shares_together(store: Store) -> None:
    grid = Grid("shares")
    client = grid.clients[0]
    nodes = client.create("nodes", "multistage", cluster=Cluster(4, tau=1, chi=1))
    grid.domains["nodes"] = nodes
    reserved = UnplacedReservation(nodes=3, io_ratio=Fraction(1, 4))
    assert nodes.reserve(Reservation("maintenance", 0, 5, 25, nodes=2)).accepted
    shares = wanting("shares").parts
    parts = (JointPart((Alternative("nodes", reservation=reserved),)), *shares)
    one = broker(grid, store)
    decision = one.reserve(JointRequest("r", 10, 20, parts, latest_start=60))
    assert decision.accepted and decision.start == 25
    assert [grant.accepted for grant in nodes.plan().grants] == [True, True]  # type: ignore[union-attr]


def test_faults_of_a_request() -> None:
    data = {
        "id": "",
        "start": 5,
        "end": 5,
        "latest_start": 4,
        "parts": [{"alternatives": [{"domain": "a"}, {"domain": "b", "request": {"priority": 0}}]}],
    }
    with pytest.raises(InvalidInstanceError) as error:
        JointRequest.from_data(data)
    assert {fault.path for fault in error.value.faults} == {
        "id",
        "end",
        "latest_start",
        "parts[0].alternatives[0].request",
        "parts[0].alternatives[1].request.priority",
        "parts[0].alternatives[1].request.parts",
    }


def test_a_time_to_live_is_positive() -> None:
    with pytest.raises(NotApplicableError):
        Broker({}, None, ttl_s=0.0)  # type: ignore[arg-type]
