"""System identification: an ARX model from utilization bounds to miss ratios, by least squares."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

from dlopt.errors import NotApplicableError

SIGNIFICANT = 2.0
"""A gain fewer standard errors away from 0 than this is not significantly different from 0 (about 5
percent)."""


@dataclass(frozen=True, slots=True)
class Model:
    """``y(k) = sum_j a_j y(k-j) + sum_j b_j u(k-j) + offset``, (7.3) with an operating point.

    Parameters
    ----------
    a, b : tuple of float, shape (n,)
        Of the outputs and of the inputs before; as printed, (7.3) has no offset, which holds
        for deviations from an operating point only.
    offset : float
    r2 : float
        Share of the variance of the outputs that one-step predictions explain; 1 if there is
        none.
    gain : float
        What a unit of input does to the output in the long run, ``sum b / (1 - sum a)``.
    gain_error : float
        Its standard error, by linearisation.
    residual : float
        Standard deviation of what is not explained.
    samples : int
        How many equations were fitted.
    """

    a: tuple[float, ...]
    b: tuple[float, ...]
    offset: float
    r2: float
    gain: float
    gain_error: float
    residual: float
    samples: int

    @property
    def order(self) -> int:
        """How many periods back the model looks."""
        return len(self.a)

    @property
    def significant(self) -> bool:
        """Whether the gain is significantly different from 0: by more than two standard errors."""
        return abs(self.gain) > SIGNIFICANT * self.gain_error

    @property
    def poles(self) -> tuple[complex, ...]:
        """Poles of the model itself, the largest first."""
        import numpy as np

        found = np.roots([1.0, *(-coefficient for coefficient in self.a)])
        return tuple(sorted((complex(pole) for pole in found), key=abs, reverse=True))

    def explained_variance(self, inputs: Sequence[float], outputs: Sequence[float]) -> float:
        """Return the share of variance that it explains in data to which it was not fitted.

        It may be negative: then the mean of the data is a better prediction.
        """
        rows, wanted = _equations(inputs, outputs, self.order)
        theta = (*self.a, *self.b, self.offset)
        predicted = [sum(x * y for x, y in zip(row, theta, strict=True)) for row in rows]
        return _explained_variance(wanted, predicted)


def identify(inputs: Sequence[float], outputs: Sequence[float], order: int = 1) -> Model:
    """Fit a model of an order to what was done to a system and how it answered.

    Parameters
    ----------
    inputs : sequence of float
        By period.
    outputs : sequence of float, equally many
        As each period begins: ``outputs[k]`` answers to ``inputs[k-1]`` and what was before.
    order : int, default 1

    Returns
    -------
    Model

    Raises
    ------
    NotApplicableError
        If the data are too few for the order, or move too little to tell its parameters apart, as
        where nothing is ever missed.

    Notes
    -----
    Ordinary least squares; unbiased in the long run if what disturbs the output is white once
    passed through the model's own poles, as ARX models suppose.

    Examples
    --------
    >>> inputs, outputs = [0, 1, 0, 0, 1, 1, 0, 1], [0.0]
    >>> for u in inputs[:-1]:
    ...     outputs.append(0.5 * outputs[-1] + 0.25 * u + 0.125)
    >>> model = identify(inputs, outputs)
    >>> round(model.a[0], 9), round(model.b[0], 9), round(model.gain, 9), round(model.r2, 9)
    (0.5, 0.25, 0.5, 1.0)
    """
    import numpy as np

    if type(order) is not int or order < 1:
        raise NotApplicableError(f"order must be a positive integer, got {order!r}")
    if len(inputs) != len(outputs):
        raise NotApplicableError("inputs and outputs must be equally many")
    equations, wanted = _equations(inputs, outputs, order)
    parameters = 2 * order + 1
    if len(equations) <= parameters:
        least = parameters + order + 1
        raise NotApplicableError(f"order {order} needs at least {least} periods, not {len(inputs)}")
    rows, targets = np.array(equations, dtype=float), np.array(wanted, dtype=float)
    if not (np.isfinite(rows).all() and np.isfinite(targets).all()):
        raise NotApplicableError("inputs and outputs must be finite numbers")
    theta, _, rank, _ = np.linalg.lstsq(rows, targets, rcond=None)
    if rank < parameters:
        text = "inputs or outputs move too little to tell the parameters apart"
        raise NotApplicableError(text)
    predicted = rows @ theta
    residual = float(((targets - predicted) ** 2).sum())
    variance = residual / (len(targets) - parameters)
    spread = variance * np.linalg.inv(rows.T @ rows)
    a, b = theta[:order], theta[order : 2 * order]
    room = 1 - float(a.sum())
    gain = float(b.sum()) / room if room else math.inf
    slope = np.concatenate([np.full(order, gain / room), np.full(order, 1 / room), [0.0]])
    return Model(
        tuple(map(float, a)),
        tuple(map(float, b)),
        float(theta[-1]),
        _explained_variance(wanted, predicted.tolist()),
        gain,
        math.sqrt(max(float(slope @ spread @ slope), 0.0)),
        math.sqrt(variance),
        len(targets),
    )


def excitation(
    periods: int, least: float, most: float, *, hold: int = 2, seed: int = 0
) -> list[float]:
    """Return bounds that move a system: levels at random, each kept for some periods.

    Parameters
    ----------
    periods : int
    least, most : float
        Levels are uniform between these.
    hold : int, default 2
        A level stays for 1 to `hold` periods.
    seed : int

    Examples
    --------
    >>> bounds = excitation(100, 0.3, 1.2)
    >>> len(bounds), 0.3 <= min(bounds), max(bounds) <= 1.2
    (100, True, True)
    """
    draw = random.Random(f"excitation {seed}")
    bounds: list[float] = []
    while len(bounds) < periods:
        bounds += [draw.uniform(least, most)] * draw.randint(1, hold)
    return bounds[:periods]


def _equations(
    inputs: Sequence[float], outputs: Sequence[float], order: int
) -> tuple[list[list[float]], list[float]]:
    rows = [
        [*(outputs[k - j] for j in lags), *(inputs[k - j] for j in lags), 1.0]
        for lags in [range(1, order + 1)]
        for k in range(order, len(outputs))
    ]
    return rows, list(outputs[order:])


def _explained_variance(wanted: Sequence[float], predicted: Sequence[float]) -> float:
    mean = sum(wanted) / len(wanted)
    total = sum((value - mean) ** 2 for value in wanted)
    residual = sum((value - guess) ** 2 for value, guess in zip(wanted, predicted, strict=True))
    return 1 - residual / total if total else 1.0
