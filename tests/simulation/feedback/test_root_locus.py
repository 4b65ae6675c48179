"""The design: what it promises is what the loop does, step by step."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.simulation.feedback import (
    Controller,
    Gains,
    Model,
    Specification,
    closed_loop,
    design,
    plant,
)
from tests.examples import share


def model(a: tuple[float, ...], b: tuple[float, ...]) -> Model:
    return Model(a, b, 0.0, 1.0, sum(b) / (1 - sum(a)), 0.0, 0.0, 99)


@st.composite
def models(draw: Any) -> Model:
    order = draw(st.integers(1, 3))
    a = [draw(st.floats(-0.3, 0.6)) / order for _ in range(order)]
    b = [draw(st.floats(0.05, 0.5)) for _ in range(order)]
    return model(tuple(a), tuple(b))


def simulated(known: Model, gains: Gains, set_point: float, periods: int) -> list[float]:
    """Run the difference equation under the controller that the simulation uses."""
    controller = Controller(gains, set_point, bound=0.0, least=-1e9, most=1e9)
    # Before the step all is at rest, and the error was 0.
    order = known.order
    inputs, outputs = [0.0] * order, [0.0] * (order + 1)
    for _ in range(periods):
        inputs.append(controller.next(outputs[-1]))
        told = sum(x * outputs[-j] for j, x in enumerate(known.a, start=1))
        told += sum(x * inputs[-j] for j, x in enumerate(known.b, start=1))
        outputs.append(told)
    return outputs[order:]


@pytest.mark.property
@given(models(), st.floats(0, 0.95), st.floats(0.05, 1.5))
def test_the_poles_are_those_of_the_loop_simulated_step_by_step(
    known: Model, zero: float, gain: float
) -> None:
    """Cayley and Hamilton: the polynomial with these roots annihilates the response's changes."""
    found = closed_loop(known, Gains.of(gain, zero))
    response = simulated(known, found.gains, 1.0, 40)
    polynomial = np.poly(np.array(found.poles)).real
    assert len(found.poles) == known.order + 1
    changes = np.diff(response)
    for k in range(len(polynomial) + 1, len(changes)):
        window = changes[k - len(polynomial) + 1 : k + 1][::-1]
        size = np.abs(polynomial) @ np.abs(window)
        assert abs(polynomial @ window) <= 1e-7 * size + 1e-12


@pytest.mark.property
@given(models(), st.floats(0, 0.95), st.floats(0.05, 1.0))
def test_settling_and_overshoot_are_those_of_the_loop_simulated(
    known: Model, zero: float, gain: float
) -> None:
    found = closed_loop(known, Gains.of(gain, zero), periods=300)
    response = simulated(known, found.gains, 1.0, 300)
    if not found.stable:
        assert found.settling is None and abs(found.poles[0]) >= 1
        return
    assert found.overshoot == pytest.approx(max(max(response) - 1, 0), abs=1e-6)
    beyond = [k for k, value in enumerate(response) if abs(value - 1) > 0.02]
    if found.settling is not None and found.settling < 300:
        assert abs(found.settling - (beyond[-1] + 1)) <= 1  # at the very edge of the band


@pytest.mark.property
@share(1 / 2)
@given(models())
def test_a_design_meets_what_it_was_made_for(known: Model) -> None:
    wanted = Specification(settling=12, overshoot=0.05, gain_margin=2)
    try:
        found = design(known, wanted)
    except NotApplicableError as error:
        assert "no PI controller settles" in str(error)
        return
    assert found.meets(wanted) and found.stable
    response = simulated(known, found.gains, 0.05, 100)
    assert max(response) <= 0.05 * 1.05 + 1e-9
    assert all(abs(value - 0.05) <= 0.001 + 1e-9 for value in response[12:])
    grown = model(known.a, tuple(found.gain_margin * 0.999 * b for b in known.b))
    assert closed_loop(grown, found.gains).stable
    grown = model(known.a, tuple(found.gain_margin * 1.001 * b for b in known.b))
    assert not closed_loop(grown, found.gains).stable


def test_a_faster_loop_needs_more_gain() -> None:
    known = model((0.1,), (0.2,))
    gains = [design(known, Specification(settling=s)).gains.gain for s in (30, 10, 5)]
    assert gains == sorted(gains) and len(set(gains)) == 3


def test_a_system_without_memory_needs_no_proportional_part() -> None:
    found = design(model((0.0,), (0.25,)))
    assert found.gains.proportional == 0
    assert abs(found.poles[0]) == pytest.approx(1 - 0.25 * found.gains.integral)


def test_a_margin_beyond_a_million_is_endless() -> None:
    assert closed_loop(model((0.5,), (1e-9,)), Gains(0.0, 1.0)).gain_margin == float("inf")
    for known, gains in (
        (model((0.5,), (0.5,)), Gains(0.0, 0.0)),
        (model((0.5,), (0.0,)), Gains(1.0, 1.0)),
    ):
        with pytest.raises(NotApplicableError, match="no loop to close"):
            closed_loop(known, gains)


def test_an_unstable_loop_is_called_so() -> None:
    found = closed_loop(model((0.5,), (1.0,)), Gains(0.0, 9.0))
    assert not found.stable and found.settling is None and not found.meets(Specification())
    assert found.gain_margin < 1


def test_python_control_says_the_same_of_the_response() -> None:
    import control

    known, gains = model((0.5, -0.2), (0.2, 0.1)), Gains(0.5, 0.5)
    found = closed_loop(known, gains)
    loop = control.tf([gains.gain, -gains.proportional], [1, -1], 1.0) * plant(known)
    told = control.step_info(control.feedback(loop, 1), SettlingTimeThreshold=0.02)
    assert found.settling == pytest.approx(told["SettlingTime"], abs=1)
    assert 100 * found.overshoot == pytest.approx(told["Overshoot"], abs=1e-6)


def test_a_slow_loop_does_not_settle_while_it_is_watched() -> None:
    found = closed_loop(model((0.0,), (0.1,)), Gains(0.0, 0.01), periods=20)
    assert found.stable and found.settling is None


def test_the_plant_is_the_model() -> None:
    known = plant(model((0.5, -0.1), (0.2, 0.3)))
    assert known.dt == 1
    assert known.num[0][0] == pytest.approx([0.2, 0.3])
    assert known.den[0][0] == pytest.approx([1, -0.5, 0.1])


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (model((0.2,), (-0.4,)), "does not raise the miss ratio"),
        (model((1.2,), (-0.4,)), "does not raise the miss ratio"),
        (model((0.2,), (0.0,)), "does not raise the miss ratio"),
    ],
)
def test_a_system_that_no_controller_fits(known: Model, told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        design(known)


def test_a_gain_margin_that_fast_loops_do_not_have() -> None:
    """Of the controllers that settle in time, those without the margin are passed over."""
    with pytest.raises(NotApplicableError, match="a gain margin of 4"):
        design(model((0.0,), (0.5,)), Specification(settling=4, gain_margin=4))


def test_a_specification_that_cannot_be_met() -> None:
    wanted = Specification(settling=1, overshoot=0, gain_margin=50)
    with pytest.raises(NotApplicableError, match="within 1 periods with an overshoot"):
        design(model((0.9,), (0.1,)), wanted)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"settling": 0}, "settling must be a number from 1 on, got 0"),
        ({"overshoot": -1}, "overshoot must be a number from 0 on, got -1"),
        ({"gain_margin": float("inf")}, "gain_margin must be a number from 1 on, got inf"),
        ({"settling": "soon"}, "settling must be a number from 1 on, got 'soon'"),
    ],
)
def test_bad_specifications(options: dict[str, Any], told: str) -> None:
    with pytest.raises(NotApplicableError, match=told):
        Specification(**options)


def test_without_python_control_the_extra_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "control", None)
    for work in (lambda: design(model((0.1,), (0.2,))), lambda: plant(model((0.1,), (0.2,)))):
        with pytest.raises(
            MissingExtraError, match=r"this needs control: pip install 'dlopt\[sim\]'"
        ):
            work()


def test_gains_and_locus_speak_of_the_same_controller() -> None:
    gains = Gains.of(2.0, 0.25)
    assert (gains.proportional, gains.integral, gains.gain, gains.zero) == (0.5, 1.5, 2.0, 0.25)
    assert Gains(0.0, 0.0).zero == 0


def test_a_controller_neither_leaves_its_bounds_nor_winds_up() -> None:
    controller = Controller(Gains(0.0, 1.0), 0.05, bound=1.0, least=0.2, most=1.5)
    assert [controller.next(None) for _ in range(30)][-1] == 1.5
    assert controller.next(0.45) == pytest.approx(1.1)
    assert [controller.next(1.0) for _ in range(3)][-1] == 0.2
    assert controller.next(0.0) == pytest.approx(0.25)
