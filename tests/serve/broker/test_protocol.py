"""The broker stopped at every step: all or nothing after it has run again."""

from __future__ import annotations

import contextlib
import tempfile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.serve.broker import JointRequest
from dlopt.serve.store import Store
from dlopt.service_api.book_records import HoldAnswer
from tests.examples import share
from tests.serve.broker.domains import TTL_S, Grid, Stopped, broker, wanting

ORDERS = (("north", "south"), ("south", "north"))
DELAYS_S = (0.0, TTL_S / 2, TTL_S + 1)
POINTS = 2 * (2 * 4 + 4)
"""Of an undisturbed run: for each of two domains describe, ask, hold and confirm, and four records
of the log; before and after each."""


def assert_settled(grid: Grid, store: Store, request: JointRequest) -> bool:
    """Run the broker again, undisturbed; assert that all is confirmed, or nothing; return which."""
    began, everywhere = grid.now, sorted(grid.services)
    again = broker(grid, store)
    assert again.recover() == ()
    confirmed = sorted(grid.confirmed())
    assert confirmed in ([], everywhere), "confirmed in part"
    assert grid.now - began < TTL_S / 2
    grid.assert_nothing_is_oversold()
    decision = again.reserve(request)
    assert decision == again.reserve(request)
    assert decision.accepted or not confirmed
    assert sorted(grid.confirmed()) == (everywhere if decision.accepted else [])
    grid.assert_nothing_is_oversold()
    grid.now += TTL_S
    grid.confirmed()
    grid.assert_nothing_is_held()
    return decision.accepted


def stop_at(point: int, grid: Grid, store: Store, request: JointRequest) -> None:
    """Let a broker decide on a request, and end it at a point."""
    grid.stop_at = point
    with pytest.raises(Stopped):
        broker(grid, store).reserve(request)


def test_points_are_between_all_messages(store: Store) -> None:
    grid = Grid("north", "south")
    assert broker(grid, store).reserve(wanting("north", "south")).accepted
    assert grid.point == POINTS


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("delay_s", DELAYS_S)
def test_stopped_at_any_point(order: tuple[str, str], delay_s: float, store: Store) -> None:
    for point in range(POINTS):
        grid, request = Grid(*order), wanting(*order, identity=f"r{point}")
        stop_at(point, grid, store, request)
        grid.now += delay_s
        assert assert_settled(grid, store, request) or delay_s > TTL_S


def test_domains_that_forget_idempotency_keys(store: Store) -> None:
    for point in range(POINTS):
        grid, request = Grid("north", "south"), wanting("north", "south", identity=f"r{point}")
        for service in grid.services.values():
            service.forgets_keys = True
        stop_at(point, grid, store, request)
        assert_settled(grid, store, request)


@share(1 / 5)
@given(st.data())
def test_stopped_again_and_again_while_messages_are_lost(data: st.DataObject) -> None:
    grid, request = Grid(*data.draw(st.sampled_from(ORDERS))), wanting("north", "south")
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(f"sqlite:///{folder}/broker.db") as store,
    ):
        grid.lose = frozenset(data.draw(st.lists(st.integers(0, 3 * POINTS), max_size=4)))
        for _ in range(data.draw(st.integers(1, 4))):
            grid.stop_at = grid.point + data.draw(st.integers(0, POINTS))
            with contextlib.suppress(Stopped):
                one = broker(grid, store)
                one.recover()
                one.reserve(request)
            grid.stop_at = None
            grid.now += data.draw(st.sampled_from(DELAYS_S))
        grid.lose = frozenset()
        assert_settled(grid, store, request)


@pytest.mark.parametrize("name", ["north", "south"])
def test_a_domain_that_is_not_reached_after_a_stop(name: str, store: Store) -> None:
    for point in range(POINTS):
        grid, request = Grid("north", "south"), wanting("north", "south", identity=f"r{point}")
        stop_at(point, grid, store, request)
        grid.unreachable, began = {name}, grid.now
        left = broker(grid, store).recover()
        assert grid.now <= began + TTL_S
        confirmed = grid.confirmed()
        assert confirmed in ([], [name], ["north", "south"]), "what is reached is taken back"
        grid.unreachable = set()
        assert broker(grid, store).recover() == ()
        assert not left or grid.confirmed() == []
        assert_settled(grid, store, request)


def test_a_domain_that_comes_back_in_time(store: Store) -> None:
    grid, request = Grid("north", "south"), wanting("north", "south")
    stop_at(POINTS - 4, grid, store, request)  # north has confirmed
    assert grid.confirmed() == ["north"]
    grid.unreachable = {"south"}
    pauses = 0

    def pause(seconds: float) -> None:
        nonlocal pauses
        grid.now += seconds
        pauses += 1
        grid.unreachable = set() if pauses == 3 else grid.unreachable

    grid.pause = pause  # type: ignore[method-assign]
    assert broker(grid, store).recover() == ()
    assert pauses == 3 and grid.confirmed() == ["north", "south"]


@pytest.mark.parametrize("status", [404, 409, 502])
def test_a_proxy_knows_nothing_of_promises(status: int, store: Store) -> None:
    grid, request = Grid("north", "south"), wanting("north", "south")
    stop_at(POINTS - 4, grid, store, request)  # north has confirmed
    grid.unreachable, grid.proxy_status = {"south"}, status
    pauses = 0

    def pause(seconds: float) -> None:
        nonlocal pauses
        grid.now += seconds
        pauses += 1
        grid.unreachable = set() if pauses == 3 else grid.unreachable

    grid.pause = pause  # type: ignore[method-assign]
    assert broker(grid, store).recover() == ()
    assert pauses == 3 and grid.confirmed() == ["north", "south"]


def test_the_decision_needs_half_of_the_time_to_live(store: Store) -> None:
    grid = Grid("north", "south")
    hold = grid.domains["south"].hold

    def hold_slowly(*arguments: Any, **terms: Any) -> HoldAnswer:
        grid.now += TTL_S / 2
        return hold(*arguments, **terms)

    grid.domains["south"].hold = hold_slowly  # type: ignore[method-assign]
    decision = broker(grid, store).reserve(wanting("north", "south"))
    assert not decision.accepted and "half of the time to live" in str(decision.reason)
    assert grid.confirmed() == []
    grid.assert_nothing_is_held()
