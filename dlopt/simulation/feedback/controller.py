"""PI controller from the measured miss ratio to the next utilization bound."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gains:
    """A PI controller, ``u(k) - u(k-1) = proportional (e(k) - e(k-1)) + integral e(k)``.

    Its transfer function is ``gain (z - zero) / (z - 1)``.

    Parameters
    ----------
    proportional, integral : float

    Examples
    --------
    >>> Gains.of(gain=0.5, zero=0.75)
    Gains(proportional=0.375, integral=0.125)
    """

    proportional: float
    integral: float

    @classmethod
    def of(cls, gain: float, zero: float) -> Gains:
        """Return the gains of a controller with the given gain and zero, as in a root locus."""
        return cls(gain * zero, gain - gain * zero)

    @property
    def gain(self) -> float:
        """Immediate change of the bound per unit of error."""
        return self.proportional + self.integral

    @property
    def zero(self) -> float:
        """Zero of the transfer function."""
        return self.proportional / self.gain if self.gain else 0.0


class Controller:
    """A PI controller in velocity form, which has no integrator wind-up while the bound is clipped.

    Parameters
    ----------
    gains : Gains
    set_point : float, default 0.05
        Desired miss ratio.
    bound : float, default 1
        The first bound.
    least, most : float
        Limits of the bound. The paper gives none.

    Examples
    --------
    >>> controller = Controller(Gains(0.5, 0.25), set_point=0.05)
    >>> round(controller.next(0.25), 6), round(controller.next(0.05), 6)
    (0.85, 0.95)
    """

    def __init__(
        self,
        gains: Gains,
        set_point: float = 0.05,
        bound: float = 1.0,
        least: float = 0.05,
        most: float = 1.5,
    ) -> None:
        self.gains = gains
        self.set_point = set_point
        self.bound = bound
        self.least, self.most = least, most
        self._before = 0.0

    def next(self, measured: float | None) -> float:
        """Return the bound for the next period.

        A period without completed or missed tasks counts as one without a miss: else a bound that
        admits nothing would stay forever.
        """
        error = self.set_point - (measured or 0.0)
        change = self.gains.proportional * (error - self._before) + self.gains.integral * error
        self._before = error
        self.bound = min(self.most, max(self.least, self.bound + change))
        return self.bound
