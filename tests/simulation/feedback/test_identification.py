"""Least squares: known models are found again, and what cannot be told is not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import NotApplicableError
from dlopt.simulation.feedback import excitation, identify


def answers(
    inputs: list[float], a: list[float], b: list[float], offset: float, noise: list[float]
) -> list[float]:
    outputs = [0.0] * len(a)
    for k in range(len(a), len(inputs)):
        told = sum(x * outputs[k - j] for j, x in enumerate(a, start=1))
        told += sum(x * inputs[k - j] for j, x in enumerate(b, start=1))
        outputs.append(told + offset + noise[k])
    return outputs


@st.composite
def models(draw: Any) -> tuple[list[float], list[float], float]:
    order = draw(st.integers(1, 4))
    a = draw(st.lists(st.floats(-0.9 / order, 0.9 / order), min_size=order, max_size=order))
    b = draw(st.lists(st.floats(0.1, 2), min_size=order, max_size=order))
    return a, b, draw(st.floats(-1, 1))


@pytest.mark.property
@given(models(), st.integers(0, 10**6))
def test_a_known_model_is_found_again(
    known: tuple[list[float], list[float], float], seed: int
) -> None:
    a, b, offset = known
    inputs = excitation(120, 0.2, 1.5, seed=seed)
    outputs = answers(inputs, a, b, offset, [0.0] * 120)
    found = identify(inputs, outputs, len(a))
    assert found.a == pytest.approx(a, abs=1e-6) and found.b == pytest.approx(b, abs=1e-6)
    assert found.offset == pytest.approx(offset, abs=1e-6)
    assert found.gain == pytest.approx(sum(b) / (1 - sum(a)), rel=1e-5)
    assert found.r2 == pytest.approx(1, abs=1e-9) and found.significant
    assert found.explained_variance(inputs, outputs) == pytest.approx(1, abs=1e-9)
    assert found.order == len(a) and found.samples == 120 - len(a)
    for pole in found.poles:  # a root of z^n - a_1 z^(n-1) - ...
        rest = pole ** len(a) - sum(x * pole ** (len(a) - j) for j, x in enumerate(a, start=1))
        assert abs(rest) < 1e-6


def test_the_error_of_the_gain_is_what_it_varies_by() -> None:
    draw, gains, told = random.Random(7), [], []
    for seed in range(200):
        inputs = excitation(150, 0.3, 1.2, hold=3, seed=seed)
        noise = [draw.gauss(0, 0.1) for _ in inputs]
        found = identify(inputs, answers(inputs, [0.4], [0.3], 0.1, noise))
        gains.append(found.gain)
        told.append(found.gain_error)
    mean = sum(gains) / len(gains)
    spread = (sum((gain - mean) ** 2 for gain in gains) / (len(gains) - 1)) ** 0.5
    assert mean == pytest.approx(0.5, abs=0.02)
    assert sum(told) / len(told) == pytest.approx(spread, rel=0.15)


def test_a_gain_that_is_not_there_is_seldom_told_from_none() -> None:
    draw = random.Random(3)
    sure = 0
    for seed in range(200):
        inputs = excitation(100, 0.3, 1.2, seed=seed)
        outputs = [draw.gauss(0.05, 0.03) for _ in inputs]
        found = identify(inputs, outputs)
        sure += found.significant
        assert found.r2 < 0.2
    assert sure < 25  # about one in twenty


def test_what_another_run_says_may_be_worse_than_its_mean() -> None:
    inputs = excitation(100, 0.3, 1.2)
    found = identify(inputs, answers(inputs, [0.4], [0.3], 0.1, [0.0] * 100))
    assert found.explained_variance(inputs, [1.0 - x for x in inputs]) < 0


@pytest.mark.parametrize(
    ("inputs", "outputs", "order", "told"),
    [
        ([1.0] * 50, [0.1, 0.2] * 25, 1, "move too little"),
        ([1.0, 2.0, 4.0] * 20, [0.0] * 60, 1, "move too little"),
        ([0.0, 1.0] * 3, [0.0] * 5, 1, "equally many"),
        ([0.0, 1.0, 0.0, 1.0], [0.0] * 4, 1, "order 1 needs at least 5 periods, not 4"),
        ([0.0, 1.0] * 9, [0.0] * 18, 0, "order must be a positive integer, got 0"),
        ([0.0, 1.0] * 9, [0.0] * 18, True, "order must be a positive integer, got True"),
        ([0.0, float("nan")] * 9, [0.0] * 18, 1, "must be finite numbers"),
    ],
)
def test_bad_data(inputs: Any, outputs: Any, order: Any, told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        identify(inputs, outputs, order)


def test_excitation_holds_each_level() -> None:
    bounds = excitation(500, 0.3, 1.2, hold=3, seed=4)
    assert bounds == excitation(500, 0.3, 1.2, hold=3, seed=4) != excitation(500, 0.3, 1.2, hold=3)
    lengths, run = set(), 1
    for before, after in zip(bounds[:-1], bounds[1:-1], strict=False):
        if before == after:
            run += 1
        else:
            lengths.add(run)
            run = 1
    assert lengths == {1, 2, 3} and len(bounds) == 500
