"""Controller design by root locus: the PI gains that meet a specification."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from dlopt.arithmetic import is_finite
from dlopt.errors import MissingExtraError, NotApplicableError
from dlopt.simulation.feedback.controller import Gains
from dlopt.simulation.feedback.identification import Model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SETTLING_BAND = 0.02
"""A response is settled while it stays within this share of the step (the usual 2 % criterion)."""

CONTROLLER_ZEROS = tuple(number / 20 for number in range(20))
"""Zeros of the controller that are tried; chosen by hand."""
GAINS_PER_DECADE = 40
"""Resolution of the gains on the locus; chosen by hand."""
GAIN_DECADES = 3
"""Range of the gains on the locus, below 20 by the gain of the model; chosen by hand."""
MAX_GAIN_MARGIN = 1e6
"""Larger gain margins are reported as infinite."""
BISECTION_STEPS = 40
"""Steps of the bisection for the gain margin; 40 determine it to more digits than are returned."""
RESPONSE_LENGTH = 20
"""Length of the simulated step response, in specified settling times; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Specification:
    """Requirements on the response of a closed loop to a step of its set point.

    Parameters
    ----------
    settling : float, default 10
        Settling time: periods after which the response stays within 2 % of the step.
    overshoot : float, default 0.1
        Largest overshoot, as a share of the step.
    gain_margin : float, default 3
        Least gain margin: factor by which the gain of the system may grow before the loop is
        unstable.

    Raises
    ------
    NotApplicableError
        If a number is out of its range.
    """

    settling: float = 10
    overshoot: float = 0.1
    gain_margin: float = 3

    def __post_init__(self) -> None:
        least = {"settling": 1, "overshoot": 0, "gain_margin": 1}
        for item in fields(self):
            value = getattr(self, item.name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not is_finite(value) or value < least[item.name]:
                rule = f"must be a number from {least[item.name]} on"
                raise NotApplicableError(f"specification: {item.name} {rule}, got {value!r}")


@dataclass(frozen=True, slots=True)
class Design:
    """A controller for a model, and the properties of their closed loop.

    Parameters
    ----------
    gains : Gains
    poles : tuple of complex
        Of the closed loop, the largest first; the loop is stable if all are within the unit circle.
    settling : int, optional
        In periods; None if it does not settle.
    overshoot : float
        Share of the step.
    gain_margin : float
        Infinite if it is beyond a million.
    """

    gains: Gains
    poles: tuple[complex, ...]
    settling: int | None
    overshoot: float
    gain_margin: float

    @property
    def stable(self) -> bool:
        """Whether every pole lies within the unit circle."""
        return abs(self.poles[0]) < 1

    def meets(self, wanted: Specification) -> bool:
        """Return whether a specification is met."""
        return (
            self.stable
            and self.settling is not None
            and self.settling <= wanted.settling
            and self.overshoot <= wanted.overshoot
            and self.gain_margin >= wanted.gain_margin
        )


def design(model: Model, wanted: Specification | None = None) -> Design:
    """Return the PI controller of least gain that meets a specification.

    Parameters
    ----------
    model : Model
    wanted : Specification, optional

    Returns
    -------
    Design

    Raises
    ------
    NotApplicableError
        If the model says that a higher bound lowers the miss ratio, or no controller on the
        locus meets the specification.
    MissingExtraError
        If python-control is not installed.

    Notes
    -----
    For each zero of the controller from 0 to 0.95, the root locus of ``(z - zero) / (z - 1)``
    times the model gives the poles over the gain. Of all that meet the specification the least
    gain is taken: it passes on the least of what disturbs the measured miss ratio.

    Reference: Mamat 2011, section 7.2.3, which gives neither specification nor gains.

    Examples
    --------
    >>> model = Model((0.2,), (0.4,), 0.0, 1.0, 0.5, 0.0, 0.0, 9)
    >>> found = design(model)
    >>> found.stable, found.settling <= 10, found.overshoot <= 0.1
    (True, True, True)
    """
    control, wanted = _control(), wanted or Specification()
    if model.gain <= 0 or not math.isfinite(model.gain) or model.poles[0].real >= 1:
        text = "a higher bound does not raise the miss ratio of the identified system"
        raise NotApplicableError(f"{text}: no PI controller fits")
    periods = RESPONSE_LENGTH * math.ceil(wanted.settling)
    for gain, zero in sorted(_candidates(control, model, wanted)):
        gains = Gains.of(gain, zero)
        loop = _controller(control, gains) * plant(model)
        settling, overshoot = _response(loop, periods)
        if settling is None or settling > wanted.settling or overshoot > wanted.overshoot:
            continue
        found = closed_loop(model, gains, periods)
        if found.meets(wanted):
            return found
    text = (
        f"no PI controller settles within {wanted.settling:g} periods with an overshoot of at most "
        f"{wanted.overshoot:.0%} and a gain margin of {wanted.gain_margin:g}"
    )
    raise NotApplicableError(text)


def closed_loop(model: Model, gains: Gains, periods: int = 200) -> Design:
    """Return the closed loop of a controller and a model, whether it meets a specification or not.

    Parameters
    ----------
    model : Model
    gains : Gains
    periods : int, default 200
        Length of the simulated step response.

    Raises
    ------
    NotApplicableError
        If the controller has no gain, or the model no input.
    MissingExtraError
        If python-control is not installed.

    Examples
    --------
    >>> model = Model((0.0,), (0.5,), 0.0, 1.0, 0.5, 0.0, 0.0, 9)
    >>> loop = closed_loop(model, Gains(0.0, 1.0))
    >>> [round(abs(pole), 6) for pole in loop.poles], loop.settling, loop.gain_margin
    ([0.5, 0.0], 6, 4.0)
    """
    control = _control()
    if not any(model.b) or gains.proportional == gains.integral == 0:
        raise NotApplicableError("there is no loop to close: the controller or the model is 0")
    loop = _controller(control, gains) * plant(model)
    found = control.poles(control.feedback(loop, 1))
    poles = tuple(sorted((complex(pole) for pole in found), key=abs, reverse=True))
    settling, overshoot = None, math.inf
    if abs(poles[0]) < 1:
        settling, overshoot = _response(loop, periods)
    return Design(gains, poles, settling, overshoot, _margin(loop))


def plant(model: Model) -> Any:
    """Return a model as a transfer function of python-control, sampled once a period."""
    control = _control()
    return control.tf([*model.b], [1.0, *(-coefficient for coefficient in model.a)], 1.0)


def _candidates(control: Any, model: Model, wanted: Specification) -> Iterator[tuple[float, float]]:
    """Yield gains and zeros on the locus whose poles decay about as fast as specified."""
    import numpy as np

    top = 2 / abs(model.gain) * 10
    gains = np.geomspace(top / 10**GAIN_DECADES, top, GAIN_DECADES * GAINS_PER_DECADE + 1)
    # Half the decay that one real pole would need: others may help, the response decides.
    slowest = SETTLING_BAND ** (0.5 / wanted.settling)
    for zero in CONTROLLER_ZEROS:
        loop = _controller(control, Gains.of(1.0, zero)) * plant(model)
        loci = _root_locus(loop, gains)
        largest = np.abs(loci).max(axis=1)
        # A pole that the zero cancels does not show in the response.
        hidden = np.abs(loci - zero).min(axis=1) < 1e-6
        for gain in gains[(largest < 1) & ((largest <= slowest) | hidden)]:
            yield float(gain), zero


def _root_locus(loop: Any, gains: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Return the poles of the closed loop, a row for each gain, in any order.

    They are eigenvalues of companion matrices, all computed by one call: the root locus of
    python-control finds the roots gain by gain, which takes most of the time of a design.
    """
    import numpy as np

    _, characteristic = _closed(loop, gains[:, np.newaxis])
    monic = characteristic / characteristic[:, :1]
    companions = np.tile(np.eye(monic.shape[1] - 1, k=-1), (len(gains), 1, 1))
    companions[:, 0] = -monic[:, 1:]
    poles: NDArray[np.complex128] = np.linalg.eigvals(companions).astype(complex)
    return poles


def _controller(control: Any, gains: Gains) -> Any:
    return control.tf([gains.gain, -gains.proportional], [1.0, -1.0], 1.0)


def _closed(loop: Any, factor: float | NDArray[np.float64] = 1.0) -> tuple[Any, Any]:
    """Return numerator and denominator of a closed loop, of equal length; a row for each factor.

    Equal to `control.feedback`, which is too slow for the thousands of calls of a design.
    """
    import numpy as np

    above, below = loop.num[0][0], loop.den[0][0]
    above = factor * np.concatenate([np.zeros(len(below) - len(above)), above])
    return above, below + above


def _response(loop: Any, periods: int) -> tuple[int | None, float]:
    """Return when a stable closed loop settles after a step, and by how much it overshoots."""
    import numpy as np
    from scipy.signal import lfilter

    response = lfilter(*_closed(loop), np.ones(periods + 1))
    beyond = np.flatnonzero(np.abs(response - 1) > SETTLING_BAND)
    last = int(beyond[-1]) if len(beyond) else -1
    return (last + 1 if last < periods else None), max(float(response.max()) - 1, 0.0)


def _margin(loop: Any) -> float:
    """Return the gain margin: the factor of the gain at which a pole leaves the unit circle."""
    import numpy as np

    def stable(factor: float) -> bool:
        return bool(np.abs(np.roots(_closed(loop, factor)[1])).max() < 1)

    low, high = 0.0, 1.0
    while stable(high):
        low, high = high, 2 * high
        if high > MAX_GAIN_MARGIN:
            return math.inf
    for _ in range(BISECTION_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if stable(middle) else (low, middle)
    return round(high, 6)


def _control() -> Any:
    try:
        import control
    except ImportError as error:
        raise MissingExtraError("control", "sim") from error
    return control
