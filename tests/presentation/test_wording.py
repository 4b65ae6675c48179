"""Durations in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlopt.batch import report_page
from dlopt.presentation.wording import seconds

UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (0.99949, "999 ms"),
        (0.9996, "1 s"),
        (0.00099949, "999 us"),
        (0.0009996, "1 ms"),
        (999.4, "999 s"),
        (999.6, "1000 s"),
        (12345.6, "12346 s"),
        (0.0, "0 us"),
    ],
)
def test_durations_beside_a_change_of_unit(time: float, text: str) -> None:
    assert seconds(time) == text


@given(st.floats(1e-6, 1e6))
def test_a_duration_has_no_exponent_and_fits_its_unit(time: float) -> None:
    number, unit = seconds(time).split()
    assert "e" not in number
    assert float(number) * UNITS[unit] == pytest.approx(time, rel=5.1e-3, abs=5.1e-7)
    assert float(number) >= 1 and (unit == "s" or float(number) < 1000)


@given(st.floats(1e-6, 1e6))
def test_reports_have_no_exponents_of_milliseconds_and_seconds_either(time: float) -> None:
    number, unit = report_page.seconds(time).split()
    assert unit in ("s", "ms")
    assert "e" not in number or time < 1e-4
