"""How many examples a property is tried on: a share of what the profile says.

A property that costs more than others takes fewer examples, and still more of them under
``make falsify`` than in the ordinary tests: a fixed number would be the same in both.
"""

from __future__ import annotations

from hypothesis import settings

EXAMPLES = 40
"""Examples of a property in the ordinary tests; in those of `--fast`, see `slow_tests.py`."""


def share(fraction: float) -> settings:
    """Return settings with a share of the examples that the loaded profile asks for.

    Parameters
    ----------
    fraction : float
        Positive; more than one for properties that cost little. At least one example is tried.

    Returns
    -------
    hypothesis.settings
        A decorator: ``@share(1 / 4)``.

    Examples
    --------
    >>> share(2).max_examples == 2 * settings.default.max_examples
    True
    >>> share(1e-9).max_examples
    1
    """
    return settings(max_examples=max(1, round(settings.default.max_examples * fraction)))
