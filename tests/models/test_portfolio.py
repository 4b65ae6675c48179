"""The steps of a portfolio: their order, their shares of the time, and what ends them."""

from __future__ import annotations

from dlopt.models.common.lexicographic import Bound, LexicographicSearch
from dlopt.models.common.portfolio import Step, run_steps


class Digit(LexicographicSearch[str, tuple[int, ...], int]):
    """A digit, as large as it can be."""

    def objective_key(self, incumbent: tuple[int, ...]) -> tuple[int, ...]:
        return incumbent

    def trivial_bound(self, level: str) -> Bound[int]:
        return Bound(9, "digit")


def test_steps_run_until_the_gap_is_closed() -> None:
    search, ran = Digit(("only",), (5,)), list[str]()

    def bound(value: int | None, improve: int = 0):
        def run(search: Digit, level: str, share: float) -> Bound[int] | None:
            ran.append(f"{value} in {share}")
            search.update_incumbent((improve,))
            return None if value is None else Bound(value, "step")

        return run

    steps = [
        Step("bounds", 1 / 8, bound(8)),
        Step("improves", 1 / 4, bound(None, improve=7)),
        Step("closes", 1 / 2, bound(7)),
        Step("too late", 1, bound(6)),
        Step("always", 1 / 16, bound(7), only_if_open=False),
    ]
    search.prove_levels(
        lambda level, bounds: run_steps(steps, search, level, bounds, search.is_closed)
    )
    assert ran == ["8 in 0.125", "None in 0.25", "7 in 0.5", "7 in 0.0625"]
    assert (search.result.incumbent, search.result.bounds) == ((7,), [7])
    assert search.result.proven_levels == 1


def test_a_step_without_time_leaves_the_next_ones_theirs() -> None:
    search = Digit(("only",), (5,))

    def late(search: Digit, level: str, share: float) -> Bound[int]:
        raise TimeoutError

    steps = [
        Step("late", 1 / 2, late),
        Step("left out", 1, late, lambda search, level: level == "another"),
        Step("last", 1, lambda search, level, share: Bound(5, "last")),
    ]
    search.prove_levels(
        lambda level, bounds: run_steps(steps, search, level, bounds, search.is_closed)
    )
    assert search.result.proofs == ["last"]
    assert search.open_bounds == [Bound(9, "digit"), Bound(5, "last")]
